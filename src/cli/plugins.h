/* Plug-ins named on a command line. */
#ifndef RG_CLI_PLUGINS_H
#define RG_CLI_PLUGINS_H

#include "base/text.h"
#include "regatta/results.h"

/* Every command that knows problems and algorithms takes plugins, any number of times. */
#define RG_OPTION_PLUGIN                                                                           \
  {                                                                                                \
    "-plugin", "LIB.so", "a shared library with problems or algorithms of your own; repeatable"    \
  }

/* Load the plugins of a command line; NULL is what comes of none. Collective; a mistake is told,
   *exit_code is set and the same on all ranks. To be destroyed (rg_registry_destroy) in any case.
 */
typedef struct RgRegistry RgRegistry;
PetscErrorCode rg_plugins_load(int argc, char **argv, RgRegistry **registry, int *exit_code);

/* Add the plug-ins that a trial was made with, `FILE HASH, FILE HASH`, to those of other trials. */
PetscErrorCode rg_plugins_note(RgText *plugins, const RgRecord *record);
/* The line that says which plug-ins the trials in `path` were made with; nothing when `plugins` is
   empty. */
PetscErrorCode rg_plugins_describe(const char *path, const RgText *plugins, RgText *line);
/* Complain that the trials in `path` (NULL or absent: none) were made with plug-ins; *told: they
   were. For a command that does not know a name and was given no plug-in. */
PetscErrorCode rg_plugins_complain(const char *path, bool *told);

#endif
