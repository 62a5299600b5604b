/* PETSc's options from outside of the command line. */
#ifndef RG_CLI_PETSC_OPTIONS_H
#define RG_CLI_PETSC_OPTIONS_H

#include "base/text.h"

/* Call before PETSc starts. The environment may set options for other programs: those that a
   command line would refuse are taken out of PETSC_OPTIONS. Their names are appended to `dropped`.
   */
PetscErrorCode rg_petsc_options_filter(RgText *dropped);

/* Afterwards: why the file of an -options_file, on the command line or in PETSC_OPTIONS, is not
   accepted, appended to `mistake`. PETSc would end with a trace, or take options that a command
   line refuses. */
PetscErrorCode rg_petsc_options_check(int argc, char **argv, RgText *mistake);

#endif
