/* A study, its plan and its records without any problem or algorithm: for tests of the store. Two
   problem labels, two algorithms each, `n_seeds` seeds. Everything in a record follows from its
   trial. */
#ifndef RG_TESTS_FAKE_STUDY_H
#define RG_TESTS_FAKE_STUDY_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "study/store/store.h"

enum { FAKE_PROBLEMS = 2, FAKE_ALGORITHMS = 2, FAKE_CELLS = 4, FAKE_ROWS = 12, FAKE_INITIAL = 3 };

typedef struct {
  RgProblemClass problem[FAKE_PROBLEMS];
  RgAlgorithmClass algorithm[FAKE_ALGORITHMS];
  RgCell cells[FAKE_CELLS];
  RgPlanGroup groups[FAKE_PROBLEMS];
  char text[FAKE_CELLS][64];
  RgStudy study;
  RgPlan plan;
} Fake;

static inline void fake_trial(RgTrial *trial, int cell, uint64_t seed)
{
  char key[128];
  uint64_t hash[2];

  memset(trial, 0, sizeof(*trial));
  snprintf(key, sizeof(key), "schema=1;cell=%d;seed=%llu", cell, (unsigned long long)seed);
  rg_hash128(key, strlen(key), hash);
  rg_hash_hex(hash, trial->id);
  (void)PetscStrallocpy(key, &trial->key);
  trial->cell = cell;
  trial->seed = seed;
  trial->n_initial = FAKE_INITIAL;
  trial->n_evaluations = FAKE_ROWS;
  trial->dim_x = 1 + cell / FAKE_ALGORITHMS;
  trial->dim_c = cell / FAKE_ALGORITHMS; /* the second problem has a context */
}

static inline void fake_create(int n_seeds, Fake *fake)
{
  static const char *const labels[FAKE_PROBLEMS] = {"branin", "gp path, l = 0.1"};
  static const char *const methods[FAKE_ALGORITHMS] = {"GP-UCB", "Random"};
  RgPlan *plan = &fake->plan;

  memset(fake, 0, sizeof(*fake));
  for (int c = 0; c < FAKE_CELLS; c++) {
    int p = c / FAKE_ALGORITHMS, a = c % FAKE_ALGORITHMS;
    fake->problem[p].name = p ? "gp_path" : "branin";
    fake->algorithm[a].name = a ? "random" : "gp_ucb";
    snprintf(fake->text[c], sizeof(fake->text[c]), "cell %d", c);
    fake->cells[c].problem = &fake->problem[p];
    fake->cells[c].algorithm = &fake->algorithm[a];
    fake->cells[c].problem_label = (char *)(uintptr_t)labels[p];
    fake->cells[c].algorithm_label = (char *)(uintptr_t)methods[a];
    fake->cells[c].text = fake->text[c];
    fake->cells[c].swept = (char *)(uintptr_t)(p ? "l=0.1" : "");
  }
  fake->study.name = (char *)(uintptr_t) "fake";
  fake->study.title = (char *)(uintptr_t) "A f\xc3\xa4ke study";
  fake->study.text = (char *)(uintptr_t) "study: fake\nseed: 7\n";
  fake->study.reference = (char *)(uintptr_t) "nobody 2020";
  fake->study.seed = 7;
  fake->study.n_cells = FAKE_CELLS;
  fake->study.cells = fake->cells;
  plan->study = &fake->study;
  plan->n = FAKE_CELLS * n_seeds;
  plan->n_groups = FAKE_PROBLEMS;
  plan->groups = fake->groups;
  (void)PetscMalloc1(plan->n, &plan->trials);
  for (int i = 0; i < plan->n; i++)
    fake_trial(&plan->trials[i], i / n_seeds, (uint64_t)(i % n_seeds));
  for (int g = 0; g < FAKE_PROBLEMS; g++) {
    int n = FAKE_ALGORITHMS * n_seeds;
    fake->groups[g] = (RgPlanGroup){labels[g], g * n, n, 1 + g, g, FAKE_ROWS};
  }
}

static inline void fake_destroy(Fake *fake)
{
  for (int i = 0; i < fake->plan.n; i++) (void)PetscFree(fake->plan.trials[i].key);
  (void)PetscFree(fake->plan.trials);
}

/* A number that depends on all of its arguments and uses all bits. */
static inline double fake_value(const RgTrial *trial, int column, int i)
{
  return sin(1.0 + trial->cell + 0.37 * (double)trial->seed + 0.011 * column + 1.7 * i) * 1e3;
}

static inline PetscErrorCode fake_record(const Fake *fake, int i, RgRecord *record)
{
  static const RgRecordColumn extra[] = {{"beta", "confidence parameter"},
                                         {"never", "has no values"},
                                         {"alpha", "acquisition value"},
                                         {NULL, NULL}};
  const RgTrial *trial = &fake->plan.trials[i];
  bool model = trial->cell % FAKE_ALGORITHMS == 0, failed = trial->seed % 5 == 4;

  PetscFunctionBeginUser;
  PetscCall(rg_record_create(&fake->study, trial, FAKE_ROWS,
                             model ? trial->dim_x + trial->dim_c : 0, model ? extra : NULL,
                             record));
  if (failed) {
    record->n_rows = 5;
    PetscCall(
      PetscStrncpy(record->message, "the covariance lost its rank", sizeof(record->message)));
  }
  record->status = failed ? RG_STATUS_FAILED : RG_STATUS_COMPLETE;
  record->optimum = trial->cell < 2 ? -0.397887 : NAN;
  for (int c = 0; c < RG_COLUMN_COUNT; c++) {
    if (c == RG_COLUMN_RECOMMENDATION || (!model && c == RG_COLUMN_POSTERIOR_SD)) continue;
    for (int k = 0; k < record->n_rows * rg_record_width(record, c); k++)
      record->column[c][k] = fake_value(trial, c, k);
  }
  if (record->column[RG_COLUMN_CUMULATIVE_REGRET]) /* an initial design does not count */
    for (int k = 0; k < FAKE_INITIAL; k++) record->column[RG_COLUMN_CUMULATIVE_REGRET][k] = NAN;
  for (int e = 0; e < record->n_extra; e += 2)
    for (int k = 0; k < record->n_rows; k++) record->extra[e][k] = fake_value(trial, 100 + e, k);
  PetscCall(PetscStrncpy(record->provenance.host, "node7", RG_NAME_MAX));
  record->provenance.ranks = 4;
  record->provenance.started = 1.6e9 + 100 * trial->cell + (double)trial->seed;
  record->provenance.wall = record->provenance.cpu = 0.25;
  record->provenance.fingerprint = UINT64_C(0xfedcba9876543210);
  PetscFunctionReturn(0);
}

#endif
