/* irgp_ucb with `zeta_seed`: one sequence of zeta_t for all functions and seeds. */
#include "study_text.h"

#include "acquisition/confidence.h"
#include "study/trial/trial.h"
#include "trial_at.h"

enum { N_INITIAL = 2, N_ITERATIONS = 6, POINTS = 12 };

static const char text[] = "study: zeta\n"
                           "seeds: 2\n"
                           "instances: 2\n"
                           "common: {iterations: 6, initial_points: 2, noise_variance: 0.01}\n"
                           "problems: [{name: gp_path, dim: 1, levels: 12}]\n"
                           "algorithms:\n"
                           "  - {name: irgp_ucb, label: own, shift: finite}\n"
                           "  - {name: irgp_ucb, label: three, shift: finite, zeta_seed: 3}\n"
                           "  - {name: irgp_ucb, label: four, shift: finite, zeta_seed: 4}\n";

/* The recorded widths of a trial. */
static void widths(const RgStudy *study, const RgTrial *trial, double *zeta)
{
  RgRecord record = {0};
  bool stopped;
  int column = -1;

  RG_OK(rg_trial_run(study, trial, NULL, &record, &stopped));
  assert_int_equal(record.status, RG_STATUS_COMPLETE);
  for (int k = 0; k < record.n_extra; k++)
    if (!strcmp(record.extra_name[k], "confidence")) column = k;
  assert_true(column >= 0);
  memcpy(zeta, record.extra[column] + N_INITIAL, N_ITERATIONS * sizeof(double));
  RG_OK(rg_record_destroy(&record));
}

static bool equal(const double *a, const double *b)
{
  return !memcmp(a, b, N_ITERATIONS * sizeof(double));
}

RG_TEST(test_sequence_is_shared)
{
  RgStudy study;
  RgPlan plan;
  double first[3][N_ITERATIONS], zeta[N_ITERATIONS];
  bool seen[3] = {false};

  plan_study(text, &study, &plan);
  assert_int_equal(plan.n, 12);
  for (int i = 0; i < plan.n; i++) {
    const RgTrial trial = trial_at(&plan, i);
    const int cell = trial.cell;
    const bool own = !strcmp(study.cells[cell].algorithm_label, "own");
    widths(&study, &trial, zeta);
    for (int t = 0; t < N_ITERATIONS; t++) assert_true(zeta[t] >= rg_irgp_shift_finite(POINTS));
    if (seen[cell]) assert_int_equal(equal(zeta, first[cell]), !own);
    else memcpy(first[cell], zeta, sizeof zeta);
    seen[cell] = true;
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++) assert_false(equal(first[i], first[j]));
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
}
