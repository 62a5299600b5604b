/* Problems and algorithms from a shared library, for `regatta COMMAND -plugin LIBRARY.so`. A
   plug-in includes this header and describes itself in one constant:
   #include <regatta/plugin.h>
   static const RgProblemClass bowl = {.name = "bowl", ...};
   static const RgProblemClass *const problems[] = {&bowl, NULL};
   RG_PLUGIN(problems, NULL)
   Build it as a module with the target regatta::plugin (experiments/examples/plugin). */
#ifndef RG_REGATTA_PLUGIN_H
#define RG_REGATTA_PLUGIN_H

#include "regatta/algorithm.h"
#include "regatta/kernel.h"
#include "regatta/problem.h"

/* Raised when older plug-ins would no longer work. */
#define RG_PLUGIN_ABI 6
#define RG_PLUGIN_PETSC (1000 * PETSC_VERSION_MAJOR + PETSC_VERSION_MINOR)

/* The constant `rg_plugin` of a plug-in. All pointers are borrowed while it is loaded. */
typedef struct {
  int abi;                               /* RG_PLUGIN_ABI at build time; always the first member */
  int petsc;                             /* RG_PLUGIN_PETSC */
  const char *version;                   /* RG_VERSION */
  size_t problem_bytes, algorithm_bytes; /* sizes of the class structs */
  const RgProblemClass *const *problems; /* NULL at the end; NULL: none */
  const RgAlgorithmClass *const *algorithms; /* NULL at the end; NULL: none */
} RgPlugin;

#define RG_PLUGIN(problem_classes, algorithm_classes)                                              \
  extern RG_API const RgPlugin rg_plugin;                                                          \
  const RgPlugin rg_plugin = {                                                                     \
    .abi = RG_PLUGIN_ABI,                                                                          \
    .petsc = RG_PLUGIN_PETSC,                                                                      \
    .version = RG_VERSION,                                                                         \
    .problem_bytes = sizeof(RgProblemClass),                                                       \
    .algorithm_bytes = sizeof(RgAlgorithmClass),                                                   \
    .problems = problem_classes,                                                                   \
    .algorithms = algorithm_classes,                                                               \
  };

#endif
