/* Smooth functions of the context at many contexts, from their values at few of them, the nodes:
   by interpolation with a kernel as wide as the model's in the context or wider, the nodes chosen
   where it leaves most to say. */
#ifndef RG_GP_CONTEXT_CONTEXT_NODES_H
#define RG_GP_CONTEXT_CONTEXT_NODES_H

#include "gp/kernel/kernel.h"

typedef struct {
  int n;            /* nodes; 0: none, they would not be few */
  int size, slopes; /* contexts; derivatives, n_slopes x dim_c */
  double *contexts; /* n x dim_c */
  double *values;   /* size x n, column-major: values at the contexts from those at the nodes */
  double *slope;    /* slopes x n, column-major: derivatives there */
} RgContextNodes;

/* For a model over (x, c), x the first dim_x inputs, and the contexts (size x dim_c), the last
   n_slopes with derivatives. tolerance: of the interpolation by Matern-5/2, relative power function
   squared; its square where all kernels of the context are Gaussian. At
   most `most` nodes; where more are needed, or an input is warped before it is compared (periodic
   kernels), there are none. O(size most^2). */
PetscErrorCode rg_context_nodes_create(const RgKernel *kernel, int dim_x, int size,
                                       const double *contexts, int n_slopes, double tolerance,
                                       int most, RgContextNodes *nodes);
PetscErrorCode rg_context_nodes_destroy(RgContextNodes *nodes);

/* u (size), slope (slopes) from u_node (n), and derivatives by u_node from those by u and slope;
   all of them J times, design after design. */
void rg_context_nodes_values(const RgContextNodes *nodes, int J, const double *u_node, double *u,
                             double *slope);
void rg_context_nodes_pull(const RgContextNodes *nodes, int J, const double *u_bar,
                           const double *slope_bar, double *node_bar);

#endif
