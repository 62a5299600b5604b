#include "test_main.h"

#include "maths/blas.h"

#include <float.h>
#include <gsl/gsl_errno.h>

RG_TEST(first_failure_is_kept)
{
  RgFailure failure = {0};

  assert_false(failure.failed);
  rg_failure_set(&failure, "pivot %d is %g", 3, -0.5);
  assert_true(failure.failed);
  assert_string_equal(failure.message, "pivot 3 is -0.5");
  rg_failure_set(&failure, "something later");
  assert_string_equal(failure.message, "pivot 3 is -0.5");
}

RG_TEST(failure_is_one_line_that_fits)
{
  RgFailure failure = {0};
  char word[400];

  memset(word, 'x', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  rg_failure_set(&failure, "a\nb\r%s", word);
  assert_int_equal(strlen(failure.message), sizeof failure.message - 1);
  assert_memory_equal(failure.message, "a b xxx", 7);
}

RG_TEST(subnormals_are_flushed_until_set_back)
{
  volatile double tiny = DBL_MIN, half = 0.5;
  RgNumerics before;

  assert_true(tiny * half > 0.0);
  rg_numerics_set(&before);
#if defined(__SSE2__)
  assert_true(tiny * half == 0.0);
#endif
  assert_true(tiny > 0.0);
  rg_numerics_restore(&before);
  assert_true(tiny * half > 0.0);
}

RG_TEST(blas_has_one_thread_until_set_back)
{
  double a[4] = {2, 1, 1, 3}, b[2] = {1, 2}, c[2] = {0, 0};
  RgNumerics before;

  rg_blas_set_threads(2);
  rg_numerics_set(&before);
  assert_int_equal(rg_blas_threads(), 1);
  cblas_dgemv(CblasRowMajor, CblasNoTrans, 2, 2, 1.0, a, 2, b, 1, 0.0, c, 1);
  RG_CLOSE(c[0], 4.0, 0.0);
  RG_CLOSE(c[1], 7.0, 0.0);
  rg_numerics_restore(&before);
  assert_int_equal(rg_blas_threads(), 2);
}

static void failing_handler(const char *reason, const char *file, int line, int error)
{
  (void)reason, (void)file, (void)line, (void)error;
}

RG_TEST(handler_of_gsl_is_set_back)
{
  RgNumerics before;

  gsl_error_handler_t *first = gsl_set_error_handler(failing_handler);
  rg_numerics_set(&before);
  rg_numerics_restore(&before);
  assert_ptr_equal(gsl_set_error_handler(first), failing_handler);
}
