/* Regret of a trial: hand-computed cases, clipping, unknown optimum, recommendations. */
#include "regret/regret.h"
#include "test_main.h"

typedef struct {
  double r[5], s[5], c[5];
  RgExcess excess;
} Outcome;

static Outcome regret(RgScores scores)
{
  Outcome o = {0};

  RG_OK(rg_regret(&scores, &(RgRegrets){o.r, o.s, o.c}, &o.excess));
  return o;
}

/* The first numbers of `found`, bit by bit; a NaN is expected where there is one. */
#define RG_SAME(found, ...)                                                                        \
  do {                                                                                             \
    const double expected_[] = {__VA_ARGS__};                                                      \
    for (size_t i_ = 0; i_ < sizeof expected_ / sizeof *expected_; i_++)                           \
      if (isnan(expected_[i_])) assert_true(isnan((found)[i_]));                                   \
      else assert_memory_equal(&(found)[i_], &expected_[i_], sizeof *expected_);                   \
  } while (0)

RG_TEST(test_by_hand)
{
  const double F[] = {1, 3, 2, 4.5, 0};
  Outcome o = regret((RgScores){5, 2, false, 5, 0, F, NULL, NULL, NULL});

  RG_SAME(o.r, 4, 2, 3, 0.5, 5);
  RG_SAME(o.s, 4, 2, 2, 0.5, 0.5);
  RG_SAME(o.c, NAN, NAN, 3, 3.5, 8.5);
  assert_int_equal(o.excess.first, -1);
  RG_OK(rg_regret(&(RgScores){5, 2, true, 5, 0, F, NULL, NULL, NULL}, &(RgRegrets){o.r, o.s, o.c},
                  NULL));
  RG_SAME(o.c, 4, 6, 9, 9.5, 14.5);
}

/* The empty initial design, the empty trial. */
RG_TEST(test_edges)
{
  const double F = 1;
  const Outcome o = regret((RgScores){1, 0, false, 2, 0, &F, NULL, NULL, NULL});

  assert_true(o.r[0] == 1 && o.s[0] == 1 && o.c[0] == 1);
  RG_OK(rg_regret(&(RgScores){0, 0, false, 2, 0, NULL, NULL, NULL, NULL},
                  &(RgRegrets){NULL, NULL, NULL}, NULL));
}

RG_TEST(test_recommendations)
{
  const double F[] = {1, 2, 3}, G[] = {NAN, 4, 1};
  const Outcome o = regret((RgScores){3, 1, false, 5, 0, F, G, NULL, NULL});

  RG_SAME(o.r, 4, 1, 4);
  RG_SAME(o.s, 4, 3, 2);
  RG_SAME(o.c, NAN, 1, 5);
}

/* Rounding counts as 0, also relative to a large optimum; a true excess is kept and reported. */
RG_TEST(test_above_the_optimum)
{
  const double small[] = {1e-13, 0.5e-12, -1}, large[] = {1e6 + 0.9e-6, 1e6, 1e6 - 1};
  const double wrong[] = {-1, 1.1e-12, 0};
  Outcome o = regret((RgScores){3, 0, false, 0, 0, small, NULL, NULL, NULL});

  RG_SAME(o.r, 0, 0, 1);
  RG_SAME(o.s, 0, 0, 0);
  assert_int_equal(o.excess.first, -1);
  o = regret((RgScores){3, 0, false, 1e6, 0, large, NULL, NULL, NULL});
  RG_SAME(o.r, 0, 0, 1);
  assert_int_equal(o.excess.first, -1);
  o = regret((RgScores){3, 0, false, 0, 0, wrong, NULL, NULL, NULL});
  RG_SAME(o.r, 1 + 1.1e-12, 0, 1.1e-12);
  RG_SAME(o.s, 1 + 1.1e-12, 0, 0);
  assert_true(o.excess.first == 1 && o.excess.amount == 1.1e-12);
}

/* If the optimum is wrong, regret counts from the best value, whether queried or recommended. */
RG_TEST(test_regret_from_the_best_value)
{
  const double F[] = {1, 6, NAN, 7, 2}, G[] = {NAN, NAN, NAN, 7.5, 8};
  Outcome o = regret((RgScores){5, 1, false, 5, 0, F, NULL, NULL, NULL});

  RG_SAME(o.r, 6, 1, NAN, 0, 5);
  RG_SAME(o.s, 6, 1, 1, 0, 0);
  assert_true(o.excess.first == 1 && o.excess.amount == 1);
  o = regret((RgScores){5, 1, false, 6.5, 0, F, G, NULL, NULL});
  RG_SAME(o.r, 7, 2, NAN, 0.5, 0);
  RG_SAME(o.s, 7, 2, 2, 1, 1);
  assert_true(o.excess.first == 3 && o.excess.amount == 1);
  o = regret((RgScores){5, 1, false, 5, 2, F, NULL, NULL, NULL});
  assert_int_equal(o.excess.first, -1);
  assert_true(o.r[3] == 0 && o.s[1] == 0);
}

RG_TEST(test_not_a_number)
{
  const double F[] = {NAN, 2, NAN, 3}, numbers[] = {1, 2, 3, 4};
  Outcome o = regret((RgScores){4, 0, false, NAN, 0, numbers, NULL, NULL, NULL});

  RG_SAME(o.r, NAN, NAN, NAN, NAN);
  RG_SAME(o.s, NAN, NAN, NAN, NAN);
  RG_SAME(o.c, NAN, NAN, NAN, NAN);
  assert_int_equal(o.excess.first, -1);
  o = regret((RgScores){4, 1, false, 5, 0, F, NULL, NULL, NULL});
  RG_SAME(o.r, NAN, 3, NAN, 2);
  RG_SAME(o.s, INFINITY, 3, 3, 2);
  RG_SAME(o.c, NAN, 3, NAN, NAN);
  assert_int_equal(o.excess.first, -1);
}

/* An objective that changes: each row has an optimum of its own. */
RG_TEST(regret_follows_the_optimum)
{
  static const double F[] = {1, 2, 0, 5}, optima[] = {3, 2, 4, 4}, best[] = {1, 2, 3, 5};
  static const double G[] = {NAN, 1, 4, NAN};
  const Outcome o = regret((RgScores){4, 1, false, 4, 0, F, G, optima, best});

  RG_SAME(o.r, 2, 1, 0, 0); /* of the recommendation, where there is one */
  RG_SAME(o.s, 2, 0, 1, 0);
  RG_SAME(o.c, NAN, 1, 1, 1);
  assert_int_equal(o.excess.first, 3); /* 5 is above 4, and the reference of its row alone */
  assert_true(o.excess.amount == 1);
}
