/* The summary of results that `info` and `status` print: how many trials there are, and who made
   them. */
#ifndef RG_CLI_SUMMARY_H
#define RG_CLI_SUMMARY_H

#include "study/run/origin.h"
#include "study/store/store.h"

/* Zero-initialise. */
typedef struct {
  int n, n_failed; /* trials that the study plans, and failed ones of all */
  int n_earlier;   /* trials that it does not plan any more */
  RgOrigins origins;
  RgText plugins;
} RgSummary;

PetscErrorCode rg_summary_add(RgSummary *summary, const RgRecord *record);
/* Append a line for trials of other versions of the program, and the lines of plug-ins; nothing
   where all is as it should be. */
PetscErrorCode rg_summary_describe(RgSummary *summary, const char *path, RgText *stale,
                                   RgText *plugins);
PetscErrorCode rg_summary_clear(RgSummary *summary);

#endif
