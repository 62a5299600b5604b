/* The registry: problems and algorithms of this program and of plug-ins. As an argument, NULL
   means a registry without plug-ins. */
#ifndef RG_STUDY_FILE_REGISTRY_H
#define RG_STUDY_FILE_REGISTRY_H

#include "regatta/plugin.h"
#include "study/file/study.h"

/* The i-th class, classes of plug-ins last; NULL beyond the end. */
const RgProblemClass *rg_registry_problem(const RgRegistry *registry, int i);
const RgAlgorithmClass *rg_registry_algorithm(const RgRegistry *registry, int i);
/* All names of problems, or of algorithms, NULL at the end; the caller frees the list. */
PetscErrorCode rg_registry_names(const RgRegistry *registry, bool problems, const char ***names);
/* Find a class by name; NULL if unknown. */
const RgProblemClass *rg_registry_find_problem(const RgRegistry *registry, const char *name);
const RgAlgorithmClass *rg_registry_find_algorithm(const RgRegistry *registry, const char *name);

/* The fingerprint of results of `cell`: the machine's, combined with the hashes of plug-in files
   and of external programs that the cell uses. */
uint64_t rg_registry_fingerprint(const RgRegistry *registry, const RgCell *cell, uint64_t machine);
/* The fingerprint without programs: of the problem's values, which no method changes. */
uint64_t rg_registry_code_fingerprint(const RgRegistry *registry, const RgCell *cell,
                                      uint64_t machine);
/* Whether a plug-in is linked with HDF5, so that its functions may call it. */
bool rg_registry_shares_hdf5(const RgRegistry *registry);
/* Append the plug-ins that a cell uses, `; plugin FILE HASH` each, and its program; cell NULL:
   all plug-ins. */
PetscErrorCode rg_registry_describe(const RgRegistry *registry, const RgCell *cell, RgText *text);

#endif
