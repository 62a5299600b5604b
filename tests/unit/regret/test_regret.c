/* Regret of a trial: hand-computed cases, clipping, unknown optimum, recommendations. */
#include "regret/regret.h"
#include "test_main.h"

RG_TEST(test_by_hand)
{
  const double F[] = {1, 3, 2, 4.5, 0};
  double r[5], s[5], c[5];
  RgExcess excess = {0};

  RG_OK(
    rg_regret(&(RgScores){5, 2, false, 5, 0, F, NULL, NULL, NULL}, &(RgRegrets){r, s, c}, &excess));
  assert_memory_equal(r, ((const double[]){4, 2, 3, 0.5, 5}), sizeof r);
  assert_memory_equal(s, ((const double[]){4, 2, 2, 0.5, 0.5}), sizeof s);
  assert_true(isnan(c[0]) && isnan(c[1]));
  assert_memory_equal(c + 2, ((const double[]){3, 3.5, 8.5}), 3 * sizeof *c);
  assert_int_equal(excess.first, -1);

  RG_OK(rg_regret(&(RgScores){5, 2, true, 5, 0, F, NULL, NULL, NULL}, &(RgRegrets){r, s, c}, NULL));
  assert_memory_equal(c, ((const double[]){4, 6, 9, 9.5, 14.5}), sizeof c);
}

/* The empty initial design, the empty trial. */
RG_TEST(test_edges)
{
  const double F = 1;
  double r, s, c;

  RG_OK(rg_regret(&(RgScores){1, 0, false, 2, 0, &F, NULL, NULL, NULL}, &(RgRegrets){&r, &s, &c},
                  NULL));
  assert_true(r == 1 && s == 1 && c == 1);
  RG_OK(rg_regret(&(RgScores){0, 0, false, 2, 0, NULL, NULL, NULL, NULL},
                  &(RgRegrets){NULL, NULL, NULL}, NULL));
}

RG_TEST(test_recommendations)
{
  const double F[] = {1, 2, 3}, G[] = {NAN, 4, 1};
  double r[3], s[3], c[3];

  RG_OK(rg_regret(&(RgScores){3, 1, false, 5, 0, F, G, NULL, NULL}, &(RgRegrets){r, s, c}, NULL));
  assert_memory_equal(r, ((const double[]){4, 1, 4}), sizeof r);
  assert_memory_equal(s, ((const double[]){4, 3, 2}), sizeof s);
  assert_memory_equal(c + 1, ((const double[]){1, 5}), 2 * sizeof *c);
}

/* Rounding counts as 0, also relative to a large optimum; a true excess is kept and reported. */
RG_TEST(test_above_the_optimum)
{
  const double small[] = {1e-13, 0.5e-12, -1}, large[] = {1e6 + 0.9e-6, 1e6, 1e6 - 1};
  const double wrong[] = {-1, 1.1e-12, 0};
  double r[3], s[3], c[3];
  RgExcess excess;

  RG_OK(rg_regret(&(RgScores){3, 0, false, 0, 0, small, NULL, NULL, NULL}, &(RgRegrets){r, s, c},
                  &excess));
  assert_memory_equal(r, ((const double[]){0, 0, 1}), sizeof r);
  assert_memory_equal(s, ((const double[]){0, 0, 0}), sizeof s);
  assert_int_equal(excess.first, -1);
  RG_OK(rg_regret(&(RgScores){3, 0, false, 1e6, 0, large, NULL, NULL, NULL}, &(RgRegrets){r, s, c},
                  &excess));
  assert_true(r[0] == 0 && r[1] == 0 && r[2] == 1);
  assert_int_equal(excess.first, -1);
  RG_OK(rg_regret(&(RgScores){3, 0, false, 0, 0, wrong, NULL, NULL, NULL}, &(RgRegrets){r, s, c},
                  &excess));
  assert_memory_equal(r, ((const double[]){1 + 1.1e-12, 0, 1.1e-12}), sizeof r);
  assert_memory_equal(s, ((const double[]){1 + 1.1e-12, 0, 0}), sizeof s);
  assert_int_equal(excess.first, 1);
  assert_true(excess.amount == 1.1e-12);
}

/* If the optimum is wrong, regret counts from the best value, whether queried or recommended. */
RG_TEST(test_regret_from_the_best_value)
{
  const double F[] = {1, 6, NAN, 7, 2}, G[] = {NAN, NAN, NAN, 7.5, 8};
  double r[5], s[5], c[5];
  RgExcess excess;

  RG_OK(
    rg_regret(&(RgScores){5, 1, false, 5, 0, F, NULL, NULL, NULL}, &(RgRegrets){r, s, c}, &excess));
  assert_true(r[0] == 6 && r[1] == 1 && isnan(r[2]) && r[3] == 0 && r[4] == 5);
  assert_memory_equal(s, ((const double[]){6, 1, 1, 0, 0}), sizeof s);
  assert_true(excess.first == 1 && excess.amount == 1);

  RG_OK(
    rg_regret(&(RgScores){5, 1, false, 6.5, 0, F, G, NULL, NULL}, &(RgRegrets){r, s, c}, &excess));
  assert_true(r[0] == 7 && r[1] == 2 && isnan(r[2]) && r[3] == 0.5 && r[4] == 0);
  assert_memory_equal(s, ((const double[]){7, 2, 2, 1, 1}), sizeof s);
  assert_true(excess.first == 3 && excess.amount == 1);

  RG_OK(
    rg_regret(&(RgScores){5, 1, false, 5, 2, F, NULL, NULL, NULL}, &(RgRegrets){r, s, c}, &excess));
  assert_int_equal(excess.first, -1);
  assert_true(r[3] == 0 && s[1] == 0);
}

RG_TEST(test_not_a_number)
{
  const double F[] = {NAN, 2, NAN, 3};
  double r[4], s[4], c[4];
  RgExcess excess;

  RG_OK(rg_regret(&(RgScores){4, 0, false, NAN, 0, (const double[]){1, 2, 3, 4}, NULL, NULL, NULL},
                  &(RgRegrets){r, s, c}, &excess));
  for (int i = 0; i < 4; i++) assert_true(isnan(r[i]) && isnan(s[i]) && isnan(c[i]));
  assert_int_equal(excess.first, -1);

  RG_OK(
    rg_regret(&(RgScores){4, 1, false, 5, 0, F, NULL, NULL, NULL}, &(RgRegrets){r, s, c}, &excess));
  assert_true(isnan(r[0]) && r[1] == 3 && isnan(r[2]) && r[3] == 2);
  assert_true(s[0] == INFINITY && s[1] == 3 && s[2] == 3 && s[3] == 2);
  assert_true(isnan(c[0]) && c[1] == 3 && isnan(c[2]) && isnan(c[3]));
  assert_int_equal(excess.first, -1);
}

/* An objective that changes: each row has an optimum of its own. */
RG_TEST(regret_follows_the_optimum)
{
  static const double F[] = {1, 2, 0, 5}, optima[] = {3, 2, 4, 4}, best[] = {1, 2, 3, 5};
  static const double G[] = {NAN, 1, 4, NAN};
  double r[4], s[4], c[4];
  RgExcess excess;

  RG_OK(
    rg_regret(&(RgScores){4, 1, false, 4, 0, F, G, optima, best}, &(RgRegrets){r, s, c}, &excess));
  for (int t = 0; t < 4; t++) {
    RG_CLOSE(r[t], ((const double[]){2, 1, 0, 0})[t],
             0); /* the recommendation, where there is one */
    RG_CLOSE(s[t], ((const double[]){2, 0, 1, 0})[t], 0);
  }
  assert_true(isnan(c[0]));
  RG_CLOSE(c[3], 1, 0);
  assert_int_equal(excess.first, 3); /* 5 is above 4, and the reference of its row alone */
  RG_CLOSE(excess.amount, 1, 0);
}
