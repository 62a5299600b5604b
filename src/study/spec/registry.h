/* What there is to study: the problems and algorithms of this program, and those of plugins. Where
   a registry is taken, NULL stands for one without plugins. */
#ifndef RG_STUDY_SPEC_REGISTRY_H
#define RG_STUDY_SPEC_REGISTRY_H

#include "regatta/plugin.h"
#include "study/spec/study.h"

/* The i-th class, those of plugins last; NULL beyond the end. */
const RgProblemClass *rg_registry_problem(const RgRegistry *registry, int i);
const RgAlgorithmClass *rg_registry_algorithm(const RgRegistry *registry, int i);
/* Their names, NULL at the end; the caller frees the list (PetscFree). */
PetscErrorCode rg_registry_problem_names(const RgRegistry *registry, const char ***names);
PetscErrorCode rg_registry_algorithm_names(const RgRegistry *registry, const char ***names);
/* By name; NULL: unknown. */
const RgProblemClass *rg_registry_find_problem(const RgRegistry *registry, const char *name);
const RgAlgorithmClass *rg_registry_find_algorithm(const RgRegistry *registry, const char *name);

/* The fingerprint of results of `cell`: that of the machine, and for classes of plugins the hashes
   of the files as well, for methods that are programs those of the programs. */
uint64_t rg_registry_fingerprint(const RgRegistry *registry, const RgCell *cell, uint64_t machine);
/* The same without programs: of the problem's values, which no method changes. */
uint64_t rg_registry_code_fingerprint(const RgRegistry *registry, const RgCell *cell,
                                      uint64_t machine);
/* Append the plugins a cell uses, `; plugin FILE HASH` each, and its program; cell NULL: all
   plugins. */
PetscErrorCode rg_registry_describe(const RgRegistry *registry, const RgCell *cell, RgText *text);

#endif
