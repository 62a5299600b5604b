/* The loops for the instruction set that every machine of this kind has, and the choice among those
   compiled in. */
#define REGRESSION_LOOPS rg_regression_loops_base
#define LANES 2
#include "density/regression_body.h"

#if defined(REGATTA_X86_LEVELS)
extern const RgRegressionLoops rg_regression_loops_v3, rg_regression_loops_v4;
#endif

const RgRegressionLoops *rg_regression_loops_at(int level)
{
  if (!rg_vector_ops_at(level)) return NULL;
#if defined(REGATTA_X86_LEVELS)
  if (level == 1) return &rg_regression_loops_v3;
  if (level == 2) return &rg_regression_loops_v4;
#endif
  return &rg_regression_loops_base;
}

const RgRegressionLoops *rg_regression_loops(void)
{
  int level = RG_VECTOR_LEVELS - 1;

  while (level > 0 && !rg_vector_ops_at(level)) --level;
  return rg_regression_loops_at(level);
}
