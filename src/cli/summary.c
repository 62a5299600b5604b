/* The summary of results that `info` and `status` print. */
#include "cli/summary.h"

#include "cli/plugins.h"

PetscErrorCode rg_summary_add(RgSummary *summary, const RgRecord *record)
{
  summary->n_failed += record->status == RG_STATUS_FAILED;
  summary->n_earlier += record->earlier;
  if (record->earlier) return 0;
  summary->n++;
  PetscCall(rg_origins_add(&summary->origins, record));
  PetscCall(rg_plugins_note(&summary->plugins, record));
  return 0;
}

PetscErrorCode rg_summary_describe(RgSummary *summary, const char *path, RgText *stale,
                                   RgText *plugins)
{
  PetscCall(rg_origins_compute(&summary->origins));
  PetscCall(rg_origin_describe(&summary->origins.counts, stale));
  PetscCall(rg_plugins_describe(path, &summary->plugins, plugins));
  return 0;
}

PetscErrorCode rg_summary_clear(RgSummary *summary)
{
  PetscCall(rg_origins_clear(&summary->origins));
  PetscCall(rg_text_clear(&summary->plugins));
  return 0;
}
