/* regatta checksum FILE: one number, independent of ranks, hosts, time and order. */
#include "cli/shield.h"

#include <stdio.h>

#include "study/store/store.h"

static const RgOption options[] = {{NULL, NULL, NULL}};

typedef struct {
  RgChecksum checksum;
  int n_earlier; /* trials that the current study no longer plans, which don't count */
} Sum;

static PetscErrorCode add_record(void *closure, const RgRecord *record)
{
  Sum *sum = closure;
  uint64_t part[2];

  sum->n_earlier += record->earlier;
  if (record->earlier) return 0;
  PetscCall(rg_record_checksum(record, part));
  rg_checksum_add(&sum->checksum, part);
  return 0;
}

static PetscErrorCode checksum(const RgArguments *arguments, const RgRegistry *registry,
                               int *exit_code)
{
  int damaged = 0;
  Sum sum = {0};
  RgFault fault = {0};
  char hex[33];

  PetscCall(rg_store_visit(arguments->positional[0], add_record, &sum, &damaged, &fault));
  if (!fault.code && damaged)
    rg_fault_set(&fault, RG_FAULT_FOREIGN, "%s: %d damaged records or shards",
                 arguments->positional[0], damaged);
  if (!fault.code && !sum.checksum.n)
    rg_fault_set(&fault, RG_FAULT_FOREIGN, "%s: no finished trials in it",
                 arguments->positional[0]);
  if (fault.code) return rg_refuse(exit_code, "%s", fault.message);
  rg_checksum_hex(&sum.checksum, hex);
  const unsigned long long n = sum.checksum.n;
  rg_say("%s  %llu trials", hex, n);
  if (sum.n_earlier)
    rg_say(" (%llu of %llu records; %d belong to another plan)", n, n + (unsigned)sum.n_earlier,
           sum.n_earlier);
  rg_say("\n");
  return 0;
}

const RgCommand rg_command_checksum = {RG_USAGE("checksum RESULTS.h5", options, 1, 1),
                                       .place = RG_SHIELDED, .run = checksum};
