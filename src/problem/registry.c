/* The registry of problems: problem/list.h expanded into declarations and a table. */
#include "regatta/problem.h"

#define RG_PROBLEM(symbol) extern const RgProblemClass rg_problem_##symbol;
#include "problem/list.h"
#undef RG_PROBLEM

static const RgProblemClass *const classes[] = {
#define RG_PROBLEM(symbol) &rg_problem_##symbol,
#include "problem/list.h"
#undef RG_PROBLEM
};

const RgProblemClass *const *rg_problem_classes(int *n)
{
  *n = (int)(sizeof classes / sizeof *classes);
  return classes;
}
