#include "drive.h"

#include "fake_study.h"
#include "study/store/store_internal.h"

typedef struct {
  const Drive *settings;
  Fake fake;
  RgStore *store;
  FILE *ledger;
  int *order, n_added, n_noted; /* trials handed over, and trials written to the ledger */
} Run;

static int code_of(RgFault fault)
{
  if (fault.code && getenv("REGATTA_FAULT_VERBOSE")) fprintf(stderr, "%s\n", fault.message);
  switch (fault.code) {
  case RG_FAULT_NONE: return DRIVE_COMPLETE;
  case RG_FAULT_FOREIGN: return DRIVE_FOREIGN;
  case RG_FAULT_INCOMPLETE: return DRIVE_INCOMPLETE;
  default: return DRIVE_STORAGE;
  }
}

/* A trial that the store no longer holds is finished; from now on it must never be lost. */
static PetscErrorCode note_finished(Run *run)
{
  size_t bytes;
  double troubled;
  int pending;

  PetscCall(rg_store_pending(run->store, &pending, &bytes, &troubled));
  while (run->n_noted < run->n_added - pending)
    fprintf(run->ledger, "%s\n", run->fake.trials[run->order[run->n_noted++]].id);
  fflush(run->ledger);
  return 0;
}

/* Every trial of the ledger must be among those that the scan found. */
static bool nothing_is_lost(const Run *run, const unsigned char *done)
{
  FILE *ledger = fopen(run->settings->ledger, "r");
  char id[RG_ID_LENGTH + 1];
  bool complete = true;

  while (ledger && fscanf(ledger, "%32s", id) == 1)
    for (int i = 0; i < run->fake.plan.n; i++)
      if (!strcmp(run->fake.trials[i].id, id) && !done[i]) complete = false;
  if (ledger) fclose(ledger);
  return complete;
}

static PetscErrorCode run_trials(Run *run, const unsigned char *done, int *code)
{
  const Drive *settings = run->settings;
  RgFault fault = {0};
  RgRecord record;

  for (int i = 0; i < run->fake.plan.n; i++) {
    if (done[i] || (settings->n && i % settings->n != settings->which)) continue;
    PetscCall(fake_record(&run->fake, i, &record));
    run->order[run->n_added++] = i;
    PetscCall(rg_store_add(run->store, &record, &fault));
    (void)code_of(fault); /* nothing is lost: go on */
    PetscCall(note_finished(run));
  }
  for (int attempt = 0; attempt < 4; attempt++) {
    PetscCall(rg_store_flush(run->store, true, &fault));
    PetscCall(note_finished(run));
    *code = code_of(fault);
    if (!fault.code) break;
  }
  return 0;
}

static PetscErrorCode run_study(Run *run, int *code)
{
  RgFault fault = {0};
  RgStoreScan scan;
  RgStoreLimits *limits;
  unsigned char done[256];

  PetscCall(rg_store_open(run->settings->output, &run->fake.study, 0, &run->store, &fault));
  *code = code_of(fault);
  if (*code) return 0;
  limits = &run->store->limits;
  limits->group_bytes = 9000; /* two trials or three */
  limits->compaction = 2;
  limits->image_bytes = run->settings->image_bytes;
  PetscCall(rg_store_scan(run->store, &run->fake.plan, done, &scan, &fault));
  *code = code_of(fault);
  if (!*code && !nothing_is_lost(run, done)) *code = DRIVE_LOST;
  if (!*code) PetscCall(run_trials(run, done, code));
  for (int attempt = 0; !*code && attempt < 4; attempt++) {
    PetscCall(rg_store_pack(run->store, &run->fake.plan, &fault));
    *code = code_of(fault);
    if (*code == DRIVE_STORAGE && attempt < 3) *code = 0; /* the disk may change its mind */
    if (!fault.code) break;
  }
  return 0;
}

int drive(const Drive *settings)
{
  Run run = {.settings = settings};
  int code = DRIVE_ERROR, order[256];

  fake_create(settings->n_seeds, &run.fake);
  run.order = order;
  run.ledger = fopen(settings->ledger, "a");
  if (!run.ledger || run_study(&run, &code)) code = DRIVE_ERROR;
  if (rg_store_close(&run.store)) code = DRIVE_ERROR;
  if (run.ledger) fclose(run.ledger);
  fake_destroy(&run.fake);
  return code;
}
