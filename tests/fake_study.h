/* A study, its plan and its records without any problem or algorithm, for tests of the store.
   Two problem labels, two algorithms each, `n_seeds` seeds. Everything in a record follows from
   its trial. */
#ifndef RG_TESTS_FAKE_STUDY_H
#define RG_TESTS_FAKE_STUDY_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "study/file/cell_data.h"
#include "study/hdf5/container.h"
#include "study/store/store.h"

enum { FAKE_PROBLEMS = 2, FAKE_ALGORITHMS = 2, FAKE_CELLS = 4, FAKE_ROWS = 12, FAKE_INITIAL = 3 };

typedef struct {
  RgProblemClass problem[FAKE_PROBLEMS];
  RgAlgorithmClass algorithm[FAKE_ALGORITHMS];
  RgCell cells[FAKE_CELLS];
  char text[FAKE_CELLS][64];
  RgStudy study;
  RgPlan plan;
  RgTrial *trials; /* trials of the plan */
} Fake;

static inline void fake_create(int n_seeds, Fake *fake)
{
  static const char *const labels[FAKE_PROBLEMS] = {"branin", "gp path, l = 0.1"};
  static const char *const methods[FAKE_ALGORITHMS] = {"GP-UCB", "Random"};
  RgStudy *study = &fake->study;

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
    if (p)
      (void)rg_swept_add("l", "0.1", RG_SWEPT_NUMBER, "problem", "1", "length scale",
                         &fake->cells[c].n_swept, &fake->cells[c].settings);
    fake->cells[c].n_seeds = n_seeds;
    fake->cells[c].dim_x = 1 + p;
    fake->cells[c].dim_c = p; /* the second problem has a context */
    fake->cells[c].run.initial_points = FAKE_INITIAL;
    fake->cells[c].run.iterations = FAKE_ROWS - FAKE_INITIAL;
  }
  study->name = (char *)(uintptr_t) "fake";
  study->title = (char *)(uintptr_t) "A f\xc3\xa4ke study";
  study->text = (char *)(uintptr_t) "study: fake\nseed: 7\n";
  study->reference = (char *)(uintptr_t) "nobody 2020";
  study->seed = 7;
  study->n_cells = FAKE_CELLS;
  study->cells = fake->cells;
  study->n_seeds = n_seeds;
  (void)PetscMalloc1(n_seeds, &study->seeds);
  for (int i = 0; i < n_seeds; i++) study->seeds[i] = (uint64_t)i;
  (void)rg_plan_fill(study, &fake->plan);
  (void)PetscMalloc1(fake->plan.n, &fake->trials);
  for (int i = 0; i < fake->plan.n; i++) (void)rg_plan_trial(&fake->plan, i, &fake->trials[i]);
}

static inline void fake_destroy(Fake *fake)
{
  for (int c = 0; c < FAKE_CELLS; c++) {
    (void)rg_cell_data_release(&fake->cells[c].data);
    (void)rg_swept_clear(&fake->cells[c].n_swept, &fake->cells[c].settings);
  }
  (void)PetscFree(fake->trials);
  (void)PetscFree(fake->study.seeds);
  (void)rg_plan_clear(&fake->plan);
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
  const RgTrial *trial = &fake->trials[i];
  bool model = trial->cell % FAKE_ALGORITHMS == 0, failed = trial->seed % 5 == 4;

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
  PetscCall(PetscStrallocpy("1 begin 0 0 0 0 1600000000000000\n", &record->timeline));
  record->gap = 0.5;
  PetscCall(PetscStrncpy(record->provenance.host, "node7", RG_NAME_MAX));
  record->provenance.ranks = 4;
  record->provenance.started = 1.6e9 + 100 * trial->cell + (double)trial->seed;
  record->provenance.wall = record->provenance.cpu = 0.25;
  record->provenance.fingerprint = UINT64_C(0xfedcba9876543210);
  return 0;
}

/* A shard of n records in memory; they receive their checksums. */
static inline PetscErrorCode fake_image_of(const Fake *fake, int n, RgRecord *records,
                                           RgMedium *image)
{
  RgFault fault = {0};
  RgStoreInfo info;
  RgRecord **list;

  PetscCall(PetscMalloc1(n, &list));
  for (int i = 0; i < n; i++) {
    uint64_t checksum[2];
    PetscCall(rg_record_checksum(&records[i], checksum));
    rg_hash_hex(checksum, records[i].checksum);
    list[i] = &records[i];
  }
  PetscCall(rg_store_info_create(&fake->study, &info));
  info.n_trials = n;
  PetscCall(rg_container_image(n, list, &info, image, &fault));
  PetscCheck(!fault.code, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", fault.message);
  PetscCall(rg_store_info_clear(&info));
  return PetscFree(list);
}

/* A results file with one seed of every cell, in memory. */
static inline PetscErrorCode fake_image(RgMedium *image)
{
  Fake fake;
  RgRecord records[FAKE_CELLS];

  fake_create(1, &fake);
  for (int i = 0; i < FAKE_CELLS; i++) PetscCall(fake_record(&fake, i, &records[i]));
  PetscCall(fake_image_of(&fake, FAKE_CELLS, records, image));
  for (int i = 0; i < FAKE_CELLS; i++) PetscCall(rg_record_destroy(&records[i]));
  fake_destroy(&fake);
  return 0;
}

#endif
