/* The registry of problems: problem/list.h expanded into declarations and a table. */
#include "regatta/problem.h"

#include <string.h>

#define RG_PROBLEM(symbol) extern const RgProblemClass rg_problem_##symbol;
#include "problem/list.h"
#undef RG_PROBLEM

static const RgProblemClass *const classes[] = {
#define RG_PROBLEM(symbol) &rg_problem_##symbol,
#include "problem/list.h"
#undef RG_PROBLEM
};

enum { N_CLASSES = sizeof classes / sizeof *classes };

const RgProblemClass *const *rg_problem_classes(int *n)
{
  *n = N_CLASSES;
  return classes;
}

const RgProblemClass *rg_problem_class_find(const char *name)
{
  for (int i = 0; i < N_CLASSES; i++)
    if (!strcmp(classes[i]->name, name)) return classes[i];
  return NULL;
}
