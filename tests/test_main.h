/* Common frame of the C tests: PETSc is initialised once, every test returns through cmocka. */
#ifndef RG_TESTS_TEST_MAIN_H
#define RG_TESTS_TEST_MAIN_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "regatta/error.h"

/* A PETSc error code fails the test. */
#define RG_OK(call) assert_int_equal((int)(call), 0)

/* |a - b| <= relative * max(1, |b|), with the numbers in the message. */
#define RG_CLOSE(a, b, relative)                                                                   \
  do {                                                                                             \
    double a_ = (a), b_ = (b), limit_ = (relative)*fmax(1.0, fabs(b_));                            \
    if (!(fabs(a_ - b_) <= limit_))                                                                \
      fail_msg("%s = %.17g, expected %.17g (difference %.3g > %.3g)", #a, a_, b_, a_ - b_,         \
               limit_);                                                                            \
  } while (0)

#define RG_TEST_MAIN(tests)                                                                        \
  int main(int argc, char **argv)                                                                  \
  {                                                                                                \
    if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;                                       \
    int failed = cmocka_run_group_tests(tests, NULL, NULL);                                        \
    return PetscFinalize() || failed ? 1 : 0;                                                      \
  }

#endif
