/* What `regatta describe` says about a problem. */
#ifndef RG_PROBLEM_PROBLEM_DESCRIBE_H
#define RG_PROBLEM_PROBLEM_DESCRIBE_H

#include "regatta/problem.h"

/* Append a description of the family for people: head line, summary, reference, table of
   parameters, and, for the default parameters, domain, optimum and optimisers. Builds a default
   instance, whose cost it has; where that is impossible (required parameters, missing data) it says
   so. */
PetscErrorCode rg_problem_describe(const RgProblemClass *class, RgText *text);

/* Append its domain in words, one indented line per part: `  design: the box [0, 1]^2`. */
PetscErrorCode rg_problem_describe_domain(const RgDomain *domain, RgText *text);

#endif
