/* Settings of a study that are allowed, but spoil what it is made for. */
#ifndef RG_CLI_WARNINGS_H
#define RG_CLI_WARNINGS_H

#include "study/file/study.h"

/* Print one line to stderr, on rank 0, for each problem entry
   - most of whose contexts lie outside the box of contexts, in which a model looks for them;
   - whose durations have an infinite mean.
   Creates problems, but none whose instances are random or costly. */
PetscErrorCode rg_print_warnings(const RgStudy *study);

#endif
