/* The programs that a study starts. */
#ifndef RG_CLI_STARTS_H
#define RG_CLI_STARTS_H

#include "base/text.h"
#include "study/file/study.h"

/* Append the programs of a study, each once, with their words and the entry that names them:
   `/bin/sh -c true (algorithm mine), ...`. `problems`: those of problems too. Nothing is appended
   if there is none. */
PetscErrorCode rg_starts_describe(const RgStudy *study, bool problems, RgText *text);

/* Say once, before it starts programs, that this study does. verb: what will start them. */
PetscErrorCode rg_starts_announce(const RgStudy *study, const char *verb);

#endif
