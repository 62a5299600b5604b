/* Common frame of the fuzzers: rg_fuzz_one runs one input. Built with libFuzzer, or, by the unit
   tests that replay earlier findings, as a plain function. */
#ifndef RG_TESTS_FUZZ_FUZZ_H
#define RG_TESTS_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regatta/error.h"

/* A find: printed, and the process ends. */
#define FUZZ_HOLDS(condition)                                                                      \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)
#define FUZZ_OK(call) FUZZ_HOLDS((call) == 0)

int rg_fuzz_one(const uint8_t *data, size_t size);

#endif
