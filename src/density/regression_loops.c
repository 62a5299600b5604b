/* The loops for the baseline instruction set, and the choice among the compiled instruction
   sets. */
#define REGRESSION_LOOPS rg_regression_loops_base
#define LANES 2
#include "density/regression_body.h"

extern const RgRegressionLoops rg_regression_loops_v3, rg_regression_loops_v4;
static const RgRegressionLoops *const levels[] = RG_LEVELS(rg_regression_loops);

const RgRegressionLoops *rg_regression_loops_at(int level)
{
  return level <= rg_vector_level() ? levels[level] : NULL;
}

const RgRegressionLoops *rg_regression_loops(void)
{
  return levels[rg_vector_level()];
}
