/* Noise that is not normal noise of one known variance: what trials observe, what methods are told,
   and what stays equal. */
#include "study_text.h"

#include "study/trial/trial.h"
#include "trial_at.h"

static const char text[] =
  "study: noise\n"
  "seeds: [3]\n"
  "common: {iterations: 6, initial_points: 5}\n"
  "problems:\n"
  "  - {name: branin, label: plain, noise_variance: 0.01}\n"
  "  - {name: branin, label: constant, noise: 0.01}\n"
  "  - {name: branin, label: formula, noise: {variance: \"0.01 * (6 + x1)\"}}\n"
  "  - {name: branin, label: zero, noise: {variance: \"max(x1, 0)\"}}\n"
  "  - {name: branin, label: normal, noise: {variance: 0.01, law: \"normal(0, 1)\"}}\n"
  "  - {name: branin, label: wide, noise: {variance: 0.01, law: \"normal(0, 3)\"}}\n"
  "  - {name: branin, label: student, noise: {variance: 0.01, law: \"student(3, 1)\"}}\n"
  "  - {name: branin, label: outliers,\n"
  "     noise: {variance: 0.01, law: \"mixture(0.5 * normal(0, 1), 0.5 * normal(0, 100))\"}}\n"
  "  - {name: branin, label: told, noise_variance: 0.01, noise: {told: 10}}\n"
  "  - {name: branin, label: formula told, noise: {variance: \"0.01 * (6 + x1)\", told: 0.1}}\n"
  "  - {name: gp_path, dim: 2, levels: 4, label: grid, noise: {variance: \"1 + x1\"}}\n"
  "algorithms: [random, {name: ei, maximiser: {raw_samples: 32, restarts: 2}}]\n";

static RgPlan *plan;

/* The cell of a label and a method; its only trial becomes *trial. */
static const RgCell *find(const char *label, const char *algorithm, RgTrial *trial)
{
  if (!plan) plan = plan_of(text);
  for (int i = 0; i < plan->n; i++) {
    *trial = trial_at(plan, i);
    const RgCell *cell = &plan->study->cells[trial->cell];
    if (!strcmp(cell->problem_label, label) && !strcmp(cell->algorithm->name, algorithm))
      return cell;
  }
  fail_msg("no trial of %s with %s", label, algorithm);
  return NULL;
}

enum { ROWS = 11 };

/* The noise of the trial of a label, at designs x (2 each). */
static void observe(const char *label, const char *algorithm, double noise[ROWS], double *x)
{
  RgRecord record = {0};
  RgTrial trial;
  bool stopped;

  (void)find(label, algorithm, &trial);
  RG_OK(rg_trial_run(plan->study, &trial, NULL, &record, &stopped));
  assert_int_equal(record.n_rows, ROWS);
  for (int i = 0; i < ROWS; i++)
    noise[i] = record.column[RG_COLUMN_Y][i] - record.column[RG_COLUMN_F][i];
  for (int i = 0; x && i < 2 * ROWS; i++) x[i] = record.column[RG_COLUMN_X][i];
  RG_OK(rg_record_destroy(&record));
}

/* A formula scales the draws of constant noise, whatever the method asks. */
RG_TEST(a_formula_scales_the_same_draws)
{
  static const char *const methods[] = {"random", "ei"};
  double plain[ROWS], other[ROWS], x[2 * ROWS];

  observe("plain", "random", plain, NULL);
  observe("constant", "random", other, NULL);
  assert_memory_equal(plain, other, sizeof(plain));
  for (int m = 0; m < 2; m++) {
    observe("formula", methods[m], other, x);
    for (int i = 0; i < ROWS; i++) RG_CLOSE(other[i], plain[i] * sqrt(6 + x[2 * i]), 1e-12);
    observe("zero", methods[m], other, x);
    for (int i = 0; i < ROWS; i++)
      RG_CLOSE(other[i], 10 * plain[i] * sqrt(fmax(x[2 * i], 0)), 1e-12);
  }
}

/* All laws come from the same uniform numbers: they keep the signs and the order of the draws. */
RG_TEST(laws_are_coupled)
{
  double normal[ROWS], other[ROWS], by_ei[ROWS];
  int grown = 0;

  observe("normal", "random", normal, NULL);
  observe("wide", "random", other, NULL);
  for (int i = 0; i < ROWS; i++) RG_CLOSE(other[i], 3 * normal[i], 1e-12);
  observe("student", "random", other, NULL);
  observe("student", "ei", by_ei, NULL);
  for (int i = 0; i < ROWS; i++) {
    RG_CLOSE(other[i], by_ei[i], 1e-12);
    assert_true(other[i] * normal[i] > 0 && fabs(other[i]) > fabs(normal[i]));
  }
  observe("outliers", "random", other, NULL);
  for (int i = 0; i < ROWS; i++) {
    const double ratio = other[i] / normal[i];
    assert_true(fabs(ratio - 1) < 1e-6 || fabs(ratio - 100) < 1e-4);
    grown += ratio > 2;
  }
  assert_in_range(grown, 1, ROWS - 1);
}

/* Methods are told the variance, its mean over the designs, or a multiple. The data do not change. */
RG_TEST(methods_are_told_a_number)
{
  static const struct {
    const char *label;
    double told, tolerance;
  } cases[] = {{"plain", 0.01, 0},       {"constant", 0.01, 0},          {"told", 0.1, 1e-16},
               {"formula", 0.085, 1e-4}, {"formula told", 0.0085, 1e-5}, {"outliers", 0.01, 0},
               {"grid", 1.375, 1e-12}};
  double plain[ROWS], other[ROWS];
  RgTrial trial;

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    RG_CLOSE(rg_cell_told_noise(find(cases[i].label, "ei", &trial)), cases[i].told,
             cases[i].tolerance);
  observe("plain", "random", plain, NULL);
  observe("told", "random", other, NULL);
  assert_memory_equal(plain, other, sizeof(plain));
}

/* Trials of normal noise of one variance keep their identity; a hash of others differs. */
RG_TEST(only_other_noise_has_an_identity)
{
  RgTrial trial;

  assert_null(strstr(find("plain", "ei", &trial)->text, "noise={"));
  assert_non_null(strstr(find("told", "ei", &trial)->text, "told=10"));
  assert_non_null(strstr(find("student", "ei", &trial)->text, ";noise={"));
}
