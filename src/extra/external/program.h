/* The user's programs that a study file names: checks and messages shared by external problems
   and external optimisers. */
#ifndef RG_EXTRA_EXTERNAL_PROGRAM_H
#define RG_EXTRA_EXTERNAL_PROGRAM_H

#include "regatta/params.h"

/* Entries of a parameters table. */
#define RG_PROGRAM_ARGUMENTS(Options)                                                              \
  RG_TEXTS("arguments", Options, arguments, "auto", "",                                            \
           "its arguments, as they are (no shell); auto: none")
#define RG_PROGRAM_TIME_LIMIT(Options)                                                             \
  RG_REAL("time_limit", Options, time_limit, "600", RG_POSITIVE, 1e7, "",                          \
          "seconds for an answer; the first one includes the program's start")

#define RG_PROGRAM_STOP_GRACE 60.0 /* seconds that an answer may still take after a stop request */

/* The last part of the path; borrowed from `path`. */
const char *rg_program_name(const char *path);

/* Check that the program exists and can be executed; otherwise a study does not begin. in_path:
   a name without '/' may also be found in PATH. */
PetscErrorCode rg_program_check(const char *program, bool in_path, RgPlace place,
                                RgDiagnostics *diagnostics);

/* Check the names of a program's numbers, in the list `parameter` of the study file: at most
   `most` different names of lower-case letters, digits and '_', at most RG_PROGRAM_NAME_MAX
   characters each. */
enum { RG_PROGRAM_NAME_MAX = 40 };
void rg_program_check_names(const char *parameter, const RgTexts *names, int most, RgPlace place,
                            RgDiagnostics *diagnostics);

/* The canonical text of the first n parameters of a table. The first is the program's path,
   which counts without its folders. */
PetscErrorCode rg_program_identity(const RgParam *params, int n, const void *options, size_t size,
                                   RgText *text);

#endif
