/* The description of a problem for `regatta describe`. */
#ifndef RG_PROBLEM_PROBLEM_DESCRIBE_H
#define RG_PROBLEM_PROBLEM_DESCRIBE_H

#include "regatta/problem.h"

/* Appends a description of the family for readers: head line, summary, reference, table of
   parameters, and, for the default parameters, domain, optimum and optimisers. It builds a
   default instance, with the cost of one. If that is impossible (required parameters, missing
   data), it says so. */
PetscErrorCode rg_problem_describe(const RgProblemClass *class, RgText *text);

/* Appends its domain in words, one indented line per part: `  design: the box [0, 1]^2`. */
PetscErrorCode rg_problem_describe_domain(const RgDomain *domain, RgText *text);

#endif
