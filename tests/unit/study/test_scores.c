/* Problems whose trials are scored by several measures: which trials exist, and that their
   records equal those of trials with one measure. Seeds paired with instances. */
#include "study_text.h"

#include "study/trial/trial.h"
#include "trial_at.h"

#define HEAD                                                                                       \
  "study: scores\n"                                                                                \
  "seeds: [3, 4]\n"                                                                                \
  "instances: paired\n"                                                                            \
  "common: {iterations: 5, initial_points: 1, noise_variance: 1e-6,\n"                             \
  "  surrogate: {kernel: gaussian, length_scale: 0.1, fit: fixed, standardise: false, mean: "      \
  "zero,\n"                                                                                        \
  "              noise_variance: 1e-6}}\n"

static const char several[] =
  HEAD "problems:\n"
       "  - {name: gp_path_context, measure: ptr(0.5),\n"
       "     score: {EXP: expectation, PTR: ptr(0.5), Both: expectation - mad}}\n"
       "  - {name: himmelblau_composite, levels: 4, score: {Best: best}}\n"
       "algorithms:\n"
       "  - uncertainty_sampling\n"
       "  - rrgp_ucb\n"
       "  - {name: bbbmobo, measure: worst}\n";

static const char single[] = HEAD "problems:\n"
                                  "  - {name: gp_path_context, measure: expectation - mad}\n"
                                  "algorithms: [uncertainty_sampling, rrgp_ucb]\n";

/* Run the trial of a seed on the first problem of a study. swept: the swept settings of the cell. */
static void run(const char *text, const char *algorithm, const char *swept, uint64_t seed,
                RgRecord *record)
{
  const RgPlan *plan = plan_of("%s", text);
  bool stopped;

  for (int i = 0; i < plan->n; i++) {
    const RgTrial trial = trial_at(plan, i);
    const RgCell *cell = &plan->study->cells[trial.cell];
    if (strcmp(cell->problem->name, "gp_path_context") || trial.seed != seed ||
        strcmp(cell->algorithm->name, algorithm) || strcmp(cell->swept, swept))
      continue;
    RG_OK(rg_trial_run(plan->study, &trial, NULL, record, &stopped));
    assert_int_equal(record->status, RG_STATUS_COMPLETE);
    return;
  }
  fail_msg("no trial of %s with '%s'", algorithm, swept);
}

/* One cell for all scores if the queries don't depend on the measure; otherwise one for each. */
RG_TEST(methods_that_follow_the_measure_run_for_each)
{
  const RgPlan *plan = plan_of(several);
  int all = 0, aimed = 0;

  assert_int_equal(plan->study->n_cells, 5 + 3);
  assert_int_equal(plan->n, 8 * 2);
  for (int c = 0; c < 5; c++) {
    const RgCell *cell = &plan->study->cells[c];
    assert_int_equal(cell->n_scores, 3);
    assert_string_equal(cell->scores, "EXP=expectation; PTR=ptr(0.5); Both=expectation - mad");
    all += cell->score < 0;
    aimed += cell->score >= 0;
  }
  assert_int_equal(all, 2); /* bbbmobo has a measure of its own */
  assert_int_equal(aimed, 3);
}

RG_TEST(seeds_have_instances_of_their_own)
{
  const RgPlan *plan = plan_of(several);

  for (int i = 0; i < plan->n; i++) {
    const RgTrial trial = trial_at(plan, i);
    bool random = plan->study->cells[trial.cell].problem->traits & RG_PROBLEM_RANDOM;
    assert_int_equal(trial.instance, random ? trial.seed : 0);
  }
}

/* Score s of `several` against a trial with this measure only. */
static void assert_same_score(const RgRecord *record, int s, const RgRecord *alone)
{
  assert_int_equal(record->n_rows, alone->n_rows);
  for (int row = 0; row < record->n_rows; row++) {
    size_t at = (size_t)row * record->n_scores + s;
    assert_true(record->column[RG_COLUMN_X][row] == alone->column[RG_COLUMN_X][row]);
    assert_true(record->column[RG_COLUMN_SCORE_INSTANTANEOUS_REGRET][at] ==
                alone->column[RG_COLUMN_INSTANTANEOUS_REGRET][row]);
    assert_true(record->column[RG_COLUMN_SCORE_SIMPLE_REGRET][at] ==
                alone->column[RG_COLUMN_SIMPLE_REGRET][row]);
    if (row)
      assert_true(record->column[RG_COLUMN_SCORE_CUMULATIVE_REGRET][at] ==
                  alone->column[RG_COLUMN_CUMULATIVE_REGRET][row]);
    RG_CLOSE(record->column[RG_COLUMN_SCORE_RECOMMENDED][at] * 10.0 / 49 - 5,
             alone->column[RG_COLUMN_RECOMMENDATION][row], 1e-12);
  }
}

RG_TEST(scores_are_those_of_single_measures)
{
  RgRecord a, b;

  run(several, "uncertainty_sampling", "", 4, &a);
  run(single, "uncertainty_sampling", "", 4, &b);
  assert_same_score(&a, 2, &b);
  for (int row = 0; row < a.n_rows; row++) /* the objective is one of the scores */
    assert_true(a.column[RG_COLUMN_SCORE_INSTANTANEOUS_REGRET][row * 3 + 1] ==
                a.column[RG_COLUMN_INSTANTANEOUS_REGRET][row]);
  RG_OK(rg_record_destroy(&a));
  RG_OK(rg_record_destroy(&b));

  run(several, "rrgp_ucb", "score=Both", 4, &a);
  run(single, "rrgp_ucb", "", 4, &b);
  assert_same_score(&a, 2, &b);
  for (int row = 0; row < a.n_rows; row++) { /* has only the scores of its own measure */
    assert_true(isnan(a.column[RG_COLUMN_SCORE_INSTANTANEOUS_REGRET][row * 3]));
    assert_true(isnan(a.column[RG_COLUMN_SCORE_RECOMMENDED][row * 3 + 1]));
  }
  RG_OK(rg_record_destroy(&a));
  RG_OK(rg_record_destroy(&b));
}

/* r_1: the recommendation from the initial point alone. */
RG_TEST(the_initial_design_recommends)
{
  RgRecord record;

  run(single, "rrgp_ucb", "", 3, &record);
  assert_false(isnan(record.column[RG_COLUMN_RECOMMENDATION][0]));
  assert_true(record.column[RG_COLUMN_INSTANTANEOUS_REGRET][0] >= 0);
  RG_OK(rg_record_destroy(&record));
}
