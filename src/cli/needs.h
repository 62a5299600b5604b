/* Needs of methods and properties of problems, in words. */
#ifndef RG_CLI_NEEDS_H
#define RG_CLI_NEEDS_H

#include "base/text.h"
#include "regatta/algorithm.h"
#include "regatta/problem.h"

/* Append the needs of a method, separated by commas; nothing if it has none. brief: in a word or
   two each, and whether it knows outcome constraints. */
PetscErrorCode rg_needs_of_method(const RgAlgorithmClass *class, bool brief, RgText *text);
/* Append what a problem offers with its default parameters: dimensions of design and context, a
   box or a number of points, constraints. For a problem without defaults: "as set". */
PetscErrorCode rg_needs_of_problem(const RgProblemClass *class, RgText *text);

#endif
