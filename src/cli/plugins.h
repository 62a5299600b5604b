/* Plug-ins named on a command line. */
#ifndef RG_CLI_PLUGINS_H
#define RG_CLI_PLUGINS_H

#include "regatta/error.h"

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

#endif
