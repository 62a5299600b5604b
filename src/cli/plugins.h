/* Plug-ins named on a command line. */
#ifndef RG_CLI_PLUGINS_H
#define RG_CLI_PLUGINS_H

#include "base/text.h"
#include "regatta/results.h"
#include "study/record/software.h"

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
/* Merge the plug-ins of a trial, `FILE HASH, FILE HASH`, into those of other trials. */
PetscErrorCode rg_plugins_note(RgText *plugins, const RgRecord *record);
/* Write the line that lists the plug-ins of the trials in `path`; nothing if `plugins` is empty. */
PetscErrorCode rg_plugins_describe(const char *path, const RgText *plugins, RgText *line);
/* Report that the trials in `path` (may be NULL or absent) were made with plug-ins. *told:
   whether such trials exist, so that the message was printed. For a command that meets an
   unknown name and was given no plug-in. */
PetscErrorCode rg_plugins_complain(const char *path, bool *told);

#endif
