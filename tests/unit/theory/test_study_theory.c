/* The theory of the cells of studies: which bound belongs to which rule, which assumption fails
   where, tables as CSV. */
#include "study_text.h"

#include "theory/bounds.h"
#include "theory/context_bounds.h"
#include "theory/kde_bounds.h"
#include "theory/wasserstein_bounds.h"
#include "theory/cells.h"

static const RgTheoryOptions printed = {.delta = 0.1};

#define HEAD                                                                                       \
  "study: theory\n"                                                                                \
  "common:\n"                                                                                      \
  "  iterations: 100\n"                                                                            \
  "  initial_points: 8\n"                                                                          \
  "  noise_variance: 1e-4\n"                                                                       \
  "  surrogate: {kernel: gaussian, ard: false, length_scale: 0.1, fit: fixed, standardise: "       \
  "false}\n"

typedef struct {
  RgStudy study;
  RgTheoryTable table;
} Theory;

static Theory theory_of(const char *text, const RgTheoryOptions *options)
{
  Theory theory;

  parse_study(text, &theory.study);
  RG_OK(rg_theory_create(&theory.study, options, &theory.table));
  return theory;
}

static void theory_free(Theory *theory)
{
  RG_OK(rg_theory_destroy(&theory->table));
  RG_OK(rg_study_destroy(&theory->study));
}

/* Values of a curve by its name; NULL if the cell lacks it. */
static const double *curve_of(const RgCellTheory *theory, const char *name)
{
  for (int k = 0; k < theory->n_curves; k++)
    if (!strcmp(theory->family->curves[k].name, name)) return theory->value[k];
  return NULL;
}

/* The curve of a cell at T = 100 is `value`. */
static void check_curve(const Theory *theory, int cell, const char *curve, double value)
{
  const RgCellTheory *c = &theory->table.cells[cell];

  assert_true(c->bounded);
  const double *found = curve_of(c, curve);
  if (!found) fail_msg("cell %d has no %s", cell, curve);
  if (!(fabs(found[99] - value) <= 6e-7)) fail_msg("%s: %.9f, not %.6f", curve, found[99], value);
}

static int count_curves(const RgCellTheory *cell)
{
  int n = 0;

  for (int k = 0; k < cell->n_curves; k++) n += cell->value[k] != NULL;
  return n;
}

/* Oracle O12 through a study file. */
RG_TEST(test_curves_of_the_rules)
{
  static const char text[] = HEAD "problems: [gp_path]\n"
                                  "algorithms:\n"
                                  "  - irgp_ucb\n"
                                  "  - {name: irgp_ucb, label: high, shift: highprob}\n"
                                  "  - gp_ucb\n"
                                  "  - rgp_ucb\n";
  static const int curves_per_rule[] = {3, 1, 1, 1};
  Theory theory = theory_of(text, &printed);

  check_curve(&theory, 0, "theorem_4_1", 379.858081);
  check_curve(&theory, 0, "theorem_4_3", 627.374617);
  check_curve(&theory, 0, "proposition_4_1", 3798.580814);
  check_curve(&theory, 1, "theorem_4_5", 1744.965184);
  check_curve(&theory, 2, "gp_ucb_expected", 516.680696);
  check_curve(&theory, 3, "rgp_ucb_expected", 592.078121);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(theory.table.cells[i].claim, RG_CLAIM_BOUND);
    assert_string_equal(theory.table.cells[i].why, "");
    assert_int_equal(count_curves(&theory.table.cells[i]), curves_per_rule[i]);
    assert_ptr_equal(theory.table.cells[i].gain, theory.table.cells[0].gain); /* shared */
  }
  RG_CLOSE(rg_confidence_mean(&theory.table.cells[0].law[49]), 14.4292161968, 1e-11);
  RG_CLOSE(theory.table.cells[2].law[49].a, 27.62572551, 1e-9);
  RG_CLOSE(rg_confidence_quantile(&theory.table.cells[3].law[49], 0.975), 49.06404588, 1e-9);
  theory_free(&theory);
}

RG_TEST(test_tight_and_delta)
{
  static const char text[] = HEAD "problems: [gp_path]\nalgorithms: [irgp_ucb]\n";
  const RgTheoryOptions tight = {.delta = 0.1, .tight = true}, surer = {.delta = 0.01};
  Theory theory = theory_of(text, &tight);

  check_curve(&theory, 0, "theorem_4_3", 490.872102);
  theory_free(&theory);
  theory = theory_of(text, &surer);
  check_curve(&theory, 0, "proposition_4_1", 37985.8081352);
  theory_free(&theory);
}

/* The expected claim, and words of the reason. */
RG_TEST(test_assumptions)
{
  enum { NONE = -1 }; /* there is no bound */
  static const struct {
    const char *problem, *algorithm;
    int claim;
    const char *why;
  } cases[] = {
    {"name: gp_path", "name: ei", NONE, "no confidence parameter of"},
    {"name: gp_path", "name: random", NONE, "no confidence parameter of"},
    {"name: gp_path", "name: gp_ucb, beta: srinivas", NONE, "its rule has no"},
    {"name: gp_path", "name: gp_ucb, scale: 2", NONE, "its rule has no"},
    {"name: gp_path", "name: irgp_ucb, rate: 1", NONE, "its rule has no"},
    {"name: gp_path", "name: irgp_ucb, shift: heuristic", NONE, "its rule has"},
    {"name: gp_path_context", "name: rrgp_ucb, bounds: sampled", NONE, "its rule has no"},
    {"name: newsvendor", "name: wdrbo, centre: \"normal(0.5, 0.1)\"", NONE, "its rule has no"},
    {"name: gp_path, surrogate: {fit: map}", "name: irgp_ucb", NONE, "fitted"},
    {"name: gp_path, surrogate: {standardise: true}", "name: irgp_ucb", NONE,
     "outputs are standardised"},
    {"name: gp_path, surrogate: {mean: constant}", "name: irgp_ucb", NONE,
     "the prior mean is fitted"},
    {"name: gp_path, variance: 2, surrogate: {variance: 2}", "name: irgp_ucb", NONE,
     "k(x,x) exceeds 1"},
    {"name: gp_path, surrogate: {noise_floor: 0}, noise_variance: 0", "name: irgp_ucb", NONE,
     "the model has no noise"},
    {"name: gp_path", "name: irgp_ucb", RG_CLAIM_BOUND, ""},
    {"name: gp_path, surrogate: {ard: true}", "name: irgp_ucb", RG_CLAIM_BOUND, ""},
    {"name: gp_path, variance: 0.5, surrogate: {variance: 0.5}", "name: irgp_ucb", RG_CLAIM_BOUND,
     ""},
    {"name: gp_path, variance: 0.5", "name: irgp_ucb", RG_CLAIM_NOMINAL, "f is not a path"},
    {"name: gp_path, surrogate: {length_scale: 0.11}", "name: irgp_ucb", RG_CLAIM_NOMINAL,
     "f is not a path of the model's prior"},
    {"name: gp_path, surrogate: {noise_variance: 1e-3}", "name: irgp_ucb", RG_CLAIM_NOMINAL,
     "the model's noise variance is not that of the data"},
    {"name: gp_path, noise_known: false", "name: irgp_ucb", RG_CLAIM_NOMINAL,
     "the model's noise variance is not that of the data"},
    {"name: gp_path, count_initial: true", "name: irgp_ucb", RG_CLAIM_NOMINAL,
     "the initial design counts"},
    {"name: gp_path", "name: irgp_ucb, shift: continuous, a: 2, b: 20", RG_CLAIM_NOMINAL,
     "the continuous rule on a finite design"},
    {"name: branin", "name: irgp_ucb, shift: continuous", RG_CLAIM_NOMINAL, "f is not a path"},
    {"name: gp_path_box, context_dim: 0, length_scale: 0.1", "name: irgp_ucb, shift: continuous",
     RG_CLAIM_ESTIMATE, "gamma of Sobol points"},
    {"name: gp_path_box, context_dim: 0", "name: irgp_ucb, shift: continuous", RG_CLAIM_NOMINAL,
     "f is not a path of the model's prior"},
    {"name: gp_path_box, setting: uncontrollable", "name: irgp_ucb, shift: continuous", NONE,
     "the problem has contexts"},
    {"name: gp_path, workers: 2, release: sync", "name: irgp_ucb", RG_CLAIM_NOMINAL, "do not wait"},
    {"name: gp_path, surrogate: {transform: copula}", "name: irgp_ucb", NONE,
     "outputs are transformed"},
    {"name: gp_path", "name: eims", RG_CLAIM_BOUND, ""},
    {"name: gp_path", "name: pims", RG_CLAIM_BOUND, ""},
    {"name: gp_path", "name: ts, paths: exact", RG_CLAIM_BOUND, ""},
    {"name: gp_path, workers: 2, release: sync", "name: eims", RG_CLAIM_NOMINAL, "do not wait"},
    {"name: gp_path", "name: pims, pims_clamp: yes", NONE, "its rule has no"},
    {"name: gp_path", "name: ts, weights: uniform", NONE, "its rule has no"},
    {"name: gp_path", "name: eims, paths: rff", NONE, "not drawn from the exact"},
    {"name: gp_path", "name: eims, paths: pathwise", NONE, "not drawn from"},
    {"name: branin", "name: eims", NONE, "for finite designs"},
  };

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[1024];
    snprintf(text, sizeof text, HEAD "problems:\n  - {%s}\nalgorithms:\n  - {%s}\n",
             cases[k].problem, cases[k].algorithm);
    Theory theory = theory_of(text, &printed);
    const RgCellTheory *cell = &theory.table.cells[0];
    if ((cell->bounded ? (int)cell->claim : NONE) != cases[k].claim ||
        !strstr(cell->why, cases[k].why) || (!*cases[k].why && *cell->why))
      fail_msg("{%s} {%s}: %s", cases[k].problem, cases[k].algorithm, cell->why);
    assert_int_equal(count_curves(cell) > 0, cell->bounded);
    theory_free(&theory);
  }
}

/* The gain of a box is the gain of Sobol points, and is below Hadamard's bound for a smooth
   kernel. */
RG_TEST(test_box)
{
  static const char text[] =
    HEAD "problems: [{name: branin, iterations: 40, surrogate: {length_scale: 0.5}}]\n"
         "algorithms: [{name: irgp_ucb, shift: continuous, a: 2, b: 20}]\n";
  Theory theory = theory_of(text, &printed);
  const RgCellTheory *cell = &theory.table.cells[0];
  const double hadamard = 20 * log1p(1e4), gamma = cell->gain->upper[39];

  assert_int_equal(cell->n, 40);
  assert_true(gamma < 0.9 * hadamard && gamma >= cell->gain->gain[39]);
  const double s = cell->law[39].a, c1 = rg_bound_c1(1e-4), q = log(2 / 0.1);
  RG_CLOSE(curve_of(cell, "theorem_4_2")[39], M_PI * M_PI / 6 + sqrt(c1 * 40 * gamma * (2 + s)),
           1e-14);
  RG_CLOSE(curve_of(cell, "theorem_4_4")[39],
           M_PI * M_PI / 6 + 6 * sqrt(40 * q) +
             sqrt(c1 * gamma * (2 * 40 * s + 80 + 2 * sqrt(80 * q) + 2 * q)),
           1e-14);
  theory_free(&theory);
}

RG_TEST(test_tables)
{
  static const char text[] = HEAD "problems: [{name: gp_path, label: 'a, \"b\"', iterations: 2}]\n"
                                  "algorithms: [gp_ucb, random]\n"
                                  "sweep:\n  - algorithms.gp_ucb.beta: [bcr, srinivas]\n";
  Theory theory = theory_of(text, &printed);
  RgText bounds = {0}, confidence = {0};

  RG_OK(rg_theory_write_bounds(&theory.study, &theory.table, &bounds));
  RG_OK(rg_theory_write_confidence(&theory.study, &theory.table, 0.95, &confidence));
  assert_memory_equal(bounds.data,
                      "problem,algorithm,swept,quantity,t,value,kind,remark\n"
                      "\"a, \"\"b\"\"\",",
                      63);
  assert_non_null(strstr(bounds.data, ",gamma_upper,1,4.60522018348825"));
  assert_non_null(strstr(bounds.data, ",bound,hadamard\n"));
  assert_non_null(strstr(bounds.data, ",gamma_greedy,2,"));
  assert_non_null(strstr(bounds.data, ",gp_ucb_expected,2,"));
  assert_null(strstr(bounds.data, "srinivas"));
  assert_null(strstr(bounds.data, "random"));
  assert_null(strstr(confidence.data, "random"));
  int lines = 0;
  for (const char *c = confidence.data; *c; c++) lines += *c == '\n';
  assert_int_equal(lines, 1 + 2 * 2);
  assert_non_null(strstr(confidence.data, ",1,11.977633"));
  assert_non_null(strstr(confidence.data, ",2,22.188670"));
  RG_OK(rg_text_clear(&bounds));
  RG_OK(rg_text_clear(&confidence));
  theory_free(&theory);
}

/* RRGP-UCB (rrgp_ucb 7 and O7): the gain of the 2D grid, a bound per measure, C1' if nature
   draws the context, no bound for a measure without Lipschitz bounds. */
RG_TEST(test_robust_measures)
{
  static const char text[] =
    "study: theory\n"
    "common:\n"
    "  iterations: 100\n"
    "  initial_points: 1\n"
    "  noise_variance: 1e-6\n"
    "  surrogate: {kernel: gaussian, ard: false, length_scale: 0.1, fit: fixed,\n"
    "              standardise: false, mean: zero, noise_variance: 1e-6}\n"
    "problems:\n"
    "  - {name: gp_path_context, score: {E: expectation, P: ptr(0), M: mad}}\n"
    "  - {name: gp_path_context, label: nature, setting: uncontrollable}\n"
    "  - {name: himmelblau_composite, levels: 4, label: other}\n"
    "algorithms: [rrgp_ucb, bbbmobo]\n";
  static const int cells[] = {0, 2, 6, 8}; /* E, M, nature, other */
  Theory theory = theory_of(text, &printed);

  assert_int_equal(theory.table.n_cells, 10);
  RG_CLOSE(theory.table.cells[0].gain->gain[0], 6.907755779, 1e-9);
  RG_CLOSE(theory.table.cells[0].gain->gain[9], 69.0775, 1e-5);
  RG_CLOSE(theory.table.cells[0].gain->gain[99], 647, 5e-3);
  for (int k = 0; k < 4; k++) {
    const RgCellTheory *cell = &theory.table.cells[cells[k]];
    const double *corollary = curve_of(cell, "rrgp_corollary_4_1");
    assert_true(cell->bounded);
    assert_int_equal(cell->claim, k == 3 ? RG_CLAIM_NOMINAL : RG_CLAIM_BOUND);
    RG_CLOSE(curve_of(cell, "rrgp_theorem_4_2")[99], corollary[99] / 100, 1e-14);
    RG_CLOSE(curve_of(cell, "rrgp_theorem_4_4")[99], corollary[99] / 0.1, 1e-14);
    assert_true((curve_of(cell, "rrgp_theorem_4_3") != NULL) == (k != 1));
  }
  const double gamma = theory.table.cells[0].gain->upper[99];
  const double direct = 4 * sqrt(0.144764816823 * 17.6480920217 * 100 * gamma);
  RG_CLOSE(curve_of(&theory.table.cells[0], "rrgp_corollary_4_1")[99], direct, 1e-10);
  RG_CLOSE(curve_of(&theory.table.cells[2], "rrgp_corollary_4_1")[99], 2 * direct, 1e-10);
  RG_CLOSE(curve_of(&theory.table.cells[6], "rrgp_corollary_4_1")[99], sqrt(50) * direct, 1e-10);
  assert_false(theory.table.cells[1].bounded);
  assert_non_null(strstr(theory.table.cells[1].why, "nothing about this measure"));
  assert_false(theory.table.cells[3].bounded); /* bbbmobo */
  theory_free(&theory);
}

/* sum_t 2 sqrt(2) slope / ceil(sqrt(t)): the variation over cells of one context coordinate. */
static double variation(double slope, int n)
{
  double sum = 0;

  for (int t = 1; t <= n; t++) sum += 2 * sqrt(2) * slope / ceil(sqrt(t));
  return sum;
}

/* The theory on boxes, with kappa_t at t = 10 from O8. */
RG_TEST(test_robust_measures_on_boxes)
{
  static const char text[] =
    "study: theory\n"
    "common:\n"
    "  iterations: 10\n"
    "  initial_points: 1\n"
    "  noise_variance: 1e-6\n"
    "  surrogate: {kernel: gaussian, ard: false, length_scale: 0.3, fit: fixed,\n"
    "              standardise: false, mean: zero, noise_variance: 1e-6}\n"
    "problems:\n"
    "  - {name: gp_path_box, label: three, dim: 2, context_levels: 50}\n"
    "  - {name: gp_path_box, label: four, levels: 50, measure: expectation - 2*mad}\n"
    "  - {name: gp_path_box, label: five, dim: 2}\n"
    "  - {name: gp_path_box, label: six, dim: 2, context_levels: 50, setting: uncontrollable}\n"
    "  - {name: gp_path_box, label: seven, setting: uncontrollable}\n"
    "  - {name: gp_path_box, label: other, length_scale: 0.2}\n"
    "algorithms: [rrgp_ucb_continuous]\n";
  static const double kappa[] = {18422500, 14350, 196123522, 18422500}, slope[] = {1, 5, 1, 1};
  static const double pieces[] = {1, 2, 2, 1}, least[] = {1, 1, 1, 0.02};
  Theory theory = theory_of(text, &printed);
  const RgCellTheory *cells = theory.table.cells;
  RgText bounds = {0};

  for (int k = 0; k < 4; k++) {
    const double root =
      4 * sqrt(10 * 0.144764816823 / least[k] * (2 * log(kappa[k]) + 2) * cells[k].gain->upper[9]);
    const double sum = slope[k] * (pieces[k] * M_PI * M_PI / 6 + root);
    assert_true(cells[k].bounded);
    assert_int_equal(cells[k].claim, RG_CLAIM_ESTIMATE);
    RG_CLOSE(curve_of(&cells[k], "rrgp_corollary_a")[9], sum, 1e-10);
    RG_CLOSE(curve_of(&cells[k], "rrgp_theorem_a_best")[9], sum / 10, 1e-10);
    assert_true((curve_of(&cells[k], "rrgp_theorem_a_last") == NULL) == (k == 1));
    if (k != 1)
      RG_CLOSE(curve_of(&cells[k], "rrgp_theorem_a_last")[9], sum / 10 + (k == 2 ? 2.0 / 100 : 0),
               1e-10);
  }
  /* Nature draws from a box: tau = 344 nodes, and four cells of probability 1/4 each. */
  assert_true(cells[4].bounded);
  RG_CLOSE(curve_of(&cells[4], "rrgp_theorem_b")[9],
           M_PI * M_PI / 3 +
             4 * sqrt(10 * (2 * log(345 * 344) + 2) *
                      (variation(1 / 0.3, 10) + 0.144764816823 * cells[4].gain->upper[9] / 0.25)),
           1e-10);
  assert_int_equal(cells[5].claim, RG_CLAIM_NOMINAL);
  assert_non_null(strstr(cells[5].why, "not a path of the model's prior"));
  RG_OK(rg_theory_write_bounds(&theory.study, &theory.table, &bounds));
  assert_non_null(strstr(bounds.data, "four,rrgp_ucb_continuous,,measure_slope,10,5,"));
  RG_OK(rg_text_clear(&bounds));
  theory_free(&theory);
}

/* Contexts from a box: nominal bounds, with fitted hyperparameters too (sbo_kde 7, wdrbo 7). */
RG_TEST(test_contexts)
{
  static const char text[] =
    "study: theory\n"
    "common: {iterations: 20, initial_points: 3, noise_variance: 0,\n"
    "         surrogate: {kernel: gaussian, length_scale: 0.5, variance: 4}}\n"
    "problems: [{name: newsvendor, law: \"normal(0.5, 0.1)\"}]\n"
    "algorithms:\n"
    "  - sbo_kde\n"
    "  - drbo_kde\n"
    "  - wdrbo\n"
    "  - {name: wdrbo, label: given, centre: \"normal(0.5, 0.1)\", schedule: constant, radius: "
    "0.2}\n"
    "  - erbo\n";
  Theory theory = theory_of(text, &printed);
  const RgCellTheory *cells = theory.table.cells;
  const RgKdeTheory kde = {{1, sqrt(2) / 0.5, 1}, 1, 1, 0.01, rg_kde_error_constant(1, 0.1)};

  for (int k = 0; k < 4; k++) {
    assert_true(cells[k].bounded);
    assert_int_equal(cells[k].claim, RG_CLAIM_NOMINAL);
  }
  assert_false(cells[4].bounded);
  RG_CLOSE(curve_of(&cells[0], "sbo_kde_theorem_1")[19],
           rg_kde_bound(&kde, 20, cells[0].gain->upper[19], false), 1e-9);
  RG_CLOSE(curve_of(&cells[1], "drbo_kde_theorem_2")[19],
           rg_kde_bound(&kde, 20, cells[1].gain->upper[19], true), 1e-9);
  RG_CLOSE(curve_of(&cells[1], "kde_radius")[9], 0.3981071705535, 1e-12);
  /* no noise: the norm is B = 1 at every step, 2 eps_t 2 Bbar L_k = 4 * 0.2 * 2 */
  const double first = 4 * sqrt(20 * (2 * cells[3].gain->upper[19] + 4 * log(60)));
  RG_CLOSE(curve_of(&cells[3], "wdrbo_theorem_5")[19], first + 20 * 1.6, 1e-9);
  assert_null(curve_of(&cells[3], "wdrbo_theorem_9"));
  assert_null(curve_of(&cells[2], "wdrbo_theorem_5"));
  RG_CLOSE(curve_of(&cells[2], "wasserstein_radius")[0], sqrt(2 * (log(10) + log(3) + 1 + 1)),
           1e-12);
  assert_true(curve_of(&cells[2], "wdrbo_theorem_9")[19] > first);
  theory_free(&theory);
}
