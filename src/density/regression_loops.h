/* The innermost loops of kernel regression, for the instruction set of the CPU. Internal to
   density/. Arrays over points have n entries, a multiple of RG_VECTOR_BLOCK; sums run in the same
   order at any width of the vectors. */
#ifndef RG_DENSITY_REGRESSION_LOOPS_H
#define RG_DENSITY_REGRESSION_LOOPS_H

#include "maths/vector.h"
#include "density/smoothing.h"

typedef struct {
  /* r2_i = sum_k (x_ki - z_k)^2, coordinate k of all points at x + k*ld; returns the smallest */
  double (*distances)(int dim, int n, const double *x, size_t ld, const double *z, double *r2);
  /* e_i = Psi(r_i/h) for r_i^2 = r2_i, factor = 1/h^2; divided by its value at r2 = nearest
     where Psi is nowhere 0. sums = {sum e, sum e y} */
  void (*weigh)(RgSmoothing kernel, int n, double factor, double nearest, const double *r2,
                const double *y, double *e, double sums[2]);
} RgRegressionLoops;

/* The best of the tables below that this CPU runs. */
const RgRegressionLoops *rg_regression_loops(void);

/* Tables by instruction set, as in rg_vector_ops_at; NULL where not compiled in or not
   supported. For tests. */
const RgRegressionLoops *rg_regression_loops_at(int level);

#endif
