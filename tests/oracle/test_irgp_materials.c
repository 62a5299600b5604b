/* The materials data sets of the IRGP-UCB study: oracle O14 of irgp_ucb and the table of its
   section 4.5. The tables themselves are no part of the repository: REGATTA_DATA says where they are. */
#include "base/files.h"
#include "test_problem.h"

#include <stdlib.h>

typedef struct {
  const char *name;
  int dim, size, best;
  double optimum, second, third, worst, mean, deviation;
  double at[5], first[5], last[5], f_first, f_last;
  double random10, random42; /* expected simple regret of m distinct uniform points */
} Oracle;

static const Oracle oracles[] = {
  {"perovskite",
   3,
   94,
   26,
   -27122,
   -38893,
   -40621,
   -1452513.14285714,
   -336190.532548,
   270188.308511,
   {0.18, 0.82, 0},
   {0, 0, 1},
   {1, 0, 0},
   -1452513.14286,
   -247891.5,
   58918.4799386,
   12079.5254346},
  {"p3ht",
   5,
   178,
   77,
   838.31,
   770.35,
   750.9,
   2.740952014,
   223.648052108,
   224.878443401,
   {46.92, 50.3, 1.53, 0.04, 1.23},
   {15, 0, 0, 85, 0},
   {96.27, 0.27, 2.02, 0.85, 0.51},
   45.97,
   6.99,
   212.891577266,
   81.4042981969},
  {"agnp",
   5,
   164,
   141,
   -0.14836082,
   -0.1693401904,
   -0.171846803056,
   -0.907004133417,
   -0.512187214619,
   0.195355201619,
   {32.50117647, 16, 6.501176471, 4.501176471, 850},
   {4.53, 21, 6.67, 19.5, 600},
   {42.80981595, 37.5190184, 0.500613497, 0.53006135, 815},
   -0.875957120692,
   -0.696664685208,
   0.0913634636903,
   0.0274287588444},
};

static int descending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/* sum over ranks k of (F* - F_(k)) C(N-1-k, m-1) / C(N, m), F sorted, largest first. */
static double random_search(int n, const double *F, int m)
{
  double sum = 0;

  for (int k = 0; k + m <= n; k++) {
    const double logs = lgamma(n - k) - lgamma(m) - lgamma(n - k - m + 1) -
                        (lgamma(n + 1) - lgamma(m + 1) - lgamma(n - m + 1));
    sum += (F[0] - F[k]) * exp(logs);
  }
  return sum;
}

static void check_point(const RgSpace *set, int index, const double *expected)
{
  double native[5];

  rg_space_to_native(set, set->points + (size_t)index * set->dim, native);
  for (int j = 0; j < set->dim; j++) RG_CLOSE(native[j], expected[j], 1e-12);
}

static void check(const Oracle *oracle)
{
  RG_OWNED(instance_free) Instance it = instance_make(oracle->name, NULL, 1, 0);
  const RgSpace *set = &it.problem.domain.design;
  RgFailure failure = {0};
  double F[256], mean = 0, variance = 0;

  assert_int_equal(set->dim, oracle->dim);
  assert_int_equal(set->size, oracle->size);
  assert_true(it.problem.domain.without_replacement);
  for (int i = 0; i < set->size; i++) {
    const RgPoint point = {
      .index = i, .x = set->points + (size_t)i * set->dim, .context_index = -1};
    RG_OK(rg_problem_objective(&it.problem, 1, &point, &F[i], &failure));
    mean += F[i] / set->size;
  }
  assert_false(failure.failed);
  for (int i = 0; i < set->size; i++) variance += (F[i] - mean) * (F[i] - mean) / set->size;
  RG_CLOSE(F[oracle->best], oracle->optimum, 1e-12);
  RG_CLOSE(it.problem.optimum, oracle->optimum, 1e-12);
  assert_int_equal(it.problem.n_optimisers, 1);
  check_point(set, oracle->best, oracle->at);
  check_point(set, 0, oracle->first);
  check_point(set, set->size - 1, oracle->last);
  RG_CLOSE(F[0], oracle->f_first, 1e-11);
  RG_CLOSE(F[set->size - 1], oracle->f_last, 1e-11);
  RG_CLOSE(mean, oracle->mean, 1e-11);
  RG_CLOSE(sqrt(variance), oracle->deviation, 1e-11);
  qsort(F, (size_t)set->size, sizeof *F, descending);
  RG_CLOSE(F[1], oracle->second, 1e-11);
  RG_CLOSE(F[2], oracle->third, 1e-11);
  RG_CLOSE(F[set->size - 1], oracle->worst, 1e-11);
  RG_CLOSE(random_search(set->size, F, 10), oracle->random10, 1e-10);
  RG_CLOSE(random_search(set->size, F, 42), oracle->random42, 1e-10);
}

RG_TEST(test_materials)
{
  if (!rg_data_folder()) {
    print_message("skipped: REGATTA_DATA, the folder of the materials data sets, is not set\n");
    skip();
  }
  for (size_t k = 0; k < sizeof oracles / sizeof *oracles; k++) check(&oracles[k]);
}
