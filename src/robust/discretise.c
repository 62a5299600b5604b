/* Discretisation of continuous designs and contexts. */
#include "robust/discretise.h"

#include <math.h>

double rg_robust_levels(const RgRobustDerivatives *derivatives, int d, double m, int t)
{
  const double level = fmax(log(derivatives->a * d * m), 0);

  return ceil(derivatives->b * d * derivatives->r * t * t * (sqrt(level) + sqrt(M_PI) / 2));
}

double rg_robust_kappa(const RgRobustDerivatives *derivatives, int d1, int d2, double n_designs,
                       double n_contexts, int t)
{
  const double finite = d1 ? (d2 ? 1 : n_contexts) : n_designs;
  const double levels = d1 + d2 ? rg_robust_levels(derivatives, d1 + d2, finite, t) : 0;

  return (d1 ? 1 + pow(levels, d1) : n_designs) * (d2 ? pow(levels, d2) : n_contexts);
}

void rg_robust_node(int dim, int levels, int i, double *node)
{
  for (int j = dim - 1; j >= 0; j--, i /= levels) node[j] = (i % levels + 0.5) / levels;
}

int rg_robust_cell(int levels, double w)
{
  const int cell = (int)floor(w * levels);

  return cell < levels ? cell : levels - 1;
}
