/* Programs of the user's that a study file names: what external problems and external optimisers
   check of them, and say of mistakes, alike. */
#ifndef RG_EXTRA_EXTERNAL_PROGRAM_H
#define RG_EXTRA_EXTERNAL_PROGRAM_H

#include "regatta/params.h"

/* Lines of a parameters table. */
#define RG_PROGRAM_ARGUMENTS(Options)                                                              \
  RG_TEXTS("arguments", Options, arguments, "auto", "",                                            \
           "its arguments, as they are (no shell); auto: none")
#define RG_PROGRAM_TIME_LIMIT(Options)                                                             \
  RG_REAL("time_limit", Options, time_limit, "600", RG_POSITIVE, 1e7, "",                          \
          "seconds for an answer; the first one includes the program's start")

#define RG_PROGRAM_STOP_GRACE 60.0 /* seconds an answer may still take after a stop was asked for */

/* The path without its folders; borrowed from it. */
const char *rg_program_name(const char *path);

/* A study is not begun whose program isn't there or can't be executed. in_path: one without '/' may
   be found in PATH as well. */
PetscErrorCode rg_program_check(const char *program, bool in_path, RgPlace place,
                                RgDiagnostics *diagnostics);

/* Names that a program gives to its numbers, in the list `parameter` of the study file: at most
   `most` of them, different, of lower-case letters, digits and '_', at most RG_PROGRAM_NAME_MAX. */
enum { RG_PROGRAM_NAME_MAX = 40 };
void rg_program_check_names(const char *parameter, const RgTexts *names, int most, RgPlace place,
                            RgDiagnostics *diagnostics);

/* The canonical text of the first n parameters of a table, the first of them the program's path,
   which counts without its folders. */
PetscErrorCode rg_program_identity(const RgParam *params, int n, const void *options, size_t size,
                                   RgText *text);

#endif
