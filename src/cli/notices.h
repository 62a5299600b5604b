/* Notices about a study before it runs. */
#ifndef RG_CLI_NOTICES_H
#define RG_CLI_NOTICES_H

#include "base/text.h"
#include "study/file/study.h"

/* Print one line to stderr, on rank 0, for each problem entry
   - most of whose contexts lie outside the box of contexts, in which a model looks for them;
   - whose durations have an infinite mean;
   - which has many inputs, and the default prior of length scales.
   Creates problems, but none whose instances are random or costly. */
PetscErrorCode rg_print_warnings(const RgStudy *study);

/* Append the programs of a study, each once, with their words and the entry that names them:
   `/bin/sh -c true (algorithm mine), ...`. `problems`: those of problems too. A study without
   programs appends nothing. */
PetscErrorCode rg_starts_describe(const RgStudy *study, bool problems, RgText *text);
/* Say once, before it starts programs, that this study does. verb: what will start them. */
PetscErrorCode rg_starts_announce(const RgStudy *study, const char *verb);

#endif
