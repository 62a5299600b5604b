/* Plug-ins named on a command line, or by trials; how many trials there are, and who made them. */
#ifndef RG_CLI_PLUGINS_H
#define RG_CLI_PLUGINS_H

#include "base/text.h"
#include "regatta/results.h"
#include "study/record/software.h"
#include "study/run/origin.h"

/* The -plugin option, repeatable; every command that knows problems and algorithms has it. */
#define RG_OPTION_PLUGIN                                                                           \
  {                                                                                                \
    "-plugin", "LIB.so", "a shared library with problems or algorithms of your own; repeatable"    \
  }

/* Load the plug-ins of a command line; *registry is NULL if the line names no plug-in.
   Collective; a mistake is reported, and *exit_code is the same on all ranks. The caller
   destroys the registry even after mistakes. */
typedef struct RgRegistry RgRegistry;
PetscErrorCode rg_plugins_load(int argc, char **argv, RgRegistry **registry, int *exit_code);

/* Take the first item `FILE HASH` (or `NAME HASH`) from the plug-ins or the program of a trial's
   software; false: no item is left. */
bool rg_plugins_item(RgPart *list, RgPart *item);
/* Report that the trials in `path` (may be NULL or absent) were made with plug-ins. *told: whether
   such trials exist, so that the message was printed; NULL is fine. A command calls this if it
   meets an unknown name and was given no plug-in. */
PetscErrorCode rg_plugins_complain(const char *path, bool *told);

/* ---- the summary of results that `info` and `status` print ---- */

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
