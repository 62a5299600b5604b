/* Common frame of the C tests: a file of tests is a list of RG_TEST(what_must_hold) { ... }, which run
   in their order by the main of test_main.c, where PETSc is initialised once. */
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

/* The call fails with this PETSc error code, and prints nothing. */
#define RG_FAILS(call, code)                                                                       \
  do {                                                                                             \
    RG_OK(PetscPushErrorHandler(PetscIgnoreErrorHandler, NULL));                                   \
    const int code_ = (int)(call);                                                                 \
    RG_OK(PetscPopErrorHandler());                                                                 \
    assert_int_equal(code_, code);                                                                 \
  } while (0)

/* Before a declaration: the object is destroyed at the end of its block. It has to be created by then. */
#define RG_OWNED(destroy) __attribute__((cleanup(destroy)))

/* Declares a failure that must not come to pass: where its block ends, the test fails with its message. */
#define RG_NO_FAILURE(name) RG_OWNED(rg_test_no_failure) RgFailure name = {0}

static inline void rg_test_no_failure(RgFailure *failure)
{
  if (failure->failed) fail_msg("%s", failure->message);
}

/* A test, which adds itself to those of the program. `state` is what cmocka hands to it. */
#define RG_TEST(name)                                                                              \
  static void name(void **state);                                                                  \
  __attribute__((constructor)) static void add_##name(void)                                        \
  {                                                                                                \
    rg_test_add(#name, name);                                                                      \
  }                                                                                                \
  static void name(__attribute__((unused)) void **state)

void rg_test_add(const char *name, CMUnitTestFunction test);

#endif
