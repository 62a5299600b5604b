#include "test_main.h"

#include "regatta/domain.h"

RG_TEST(rows_are_appended_in_order)
{
  RG_OWNED(rg_domain_destroy) RgDomain domain = {0};
  RgHistory history;
  double lower[2] = {0, 0}, upper[2] = {1, 2};

  RG_OK(rg_space_box(&domain.design, 2, lower, upper));
  RG_OK(rg_space_box(&domain.context, 1, lower, upper));
  RG_OK(rg_history_create(&domain, 2, &history));
  assert_int_equal(history.n, 0);
  assert_int_equal(history.capacity, 2);
  RG_OK(rg_history_append(&history, (double[]){0.1, 0.2}, -1, (double[]){0.3}, -1, 4.0));
  RG_OK(rg_history_append(&history, (double[]){0.5, 0.6}, 8, (double[]){0.7}, 9, -1.0));
  assert_int_equal(history.n, 2);
  RG_CLOSE(history.x[1], 0.2, 0.0);
  RG_CLOSE(history.x[2], 0.5, 0.0);
  RG_CLOSE(history.c[1], 0.7, 0.0);
  RG_CLOSE(history.y[0], 4.0, 0.0);
  assert_int_equal(history.index[0], -1);
  assert_int_equal(history.index[1], 8);
  assert_int_equal(history.context_index[1], 9);

  RG_FAILS(rg_history_append(&history, lower, -1, lower, -1, 0.0), PETSC_ERR_ARG_SIZ);
  assert_int_equal(history.n, 2);
  RG_OK(rg_history_destroy(&history));
  assert_null(history.x);
}

RG_TEST(context_is_optional_only_without_contexts)
{
  RG_OWNED(rg_domain_destroy) RgDomain domain = {0};
  RG_OWNED(rg_history_destroy) RgHistory history;
  double lower[1] = {0}, upper[1] = {1};

  RG_OK(rg_space_box(&domain.design, 1, lower, upper));
  RG_OK(rg_history_create(&domain, 1, &history));
  RG_OK(rg_history_append(&history, upper, -1, NULL, -1, 2.0));
  RG_OK(rg_history_destroy(&history));

  RG_OK(rg_space_box(&domain.context, 1, lower, upper));
  RG_OK(rg_history_create(&domain, 1, &history));
  RG_FAILS(rg_history_append(&history, upper, -1, NULL, -1, 2.0), PETSC_ERR_ARG_NULL);
}

RG_TEST(the_best_is_the_first_of_equal_ones)
{
  static const double y[] = {1, 3, 2, 3};
  double lower[1] = {0}, upper[1] = {1};
  RG_OWNED(rg_domain_destroy) RgDomain domain = {0};
  RG_OWNED(rg_history_destroy) RgHistory history;

  RG_OK(rg_space_box(&domain.design, 1, lower, upper));
  RG_OK(rg_history_create(&domain, 4, &history));
  assert_int_equal(rg_history_best(&history), -1);
  for (int i = 0; i < 4; i++) RG_OK(rg_history_append(&history, upper, -1, NULL, -1, y[i]));
  assert_int_equal(rg_history_best(&history), 1);
}
