/* Interpolation of smooth functions of the context: values at many contexts from values at few
   of them, the nodes. The interpolating kernel is at least as wide as the model's kernel of the
   context. Each node is the context with the largest remaining uncertainty. */
#ifndef RG_GP_CONTEXT_CONTEXT_NODES_H
#define RG_GP_CONTEXT_CONTEXT_NODES_H

#include "gp/kernel/kernel.h"

typedef struct {
  int n;            /* number of nodes; 0: interpolation does not pay */
  int size, slopes; /* contexts; derivatives, n_slopes x dim_c */
  double *contexts; /* n x dim_c */
  double *values;   /* size x n, column-major: values at the contexts from those at the nodes */
  double *slope;    /* slopes x n, column-major: derivatives there */
} RgContextNodes;

/* For a model over (x, c), with x the first dim_x inputs, and the contexts (size x dim_c), the
   last n_slopes with derivatives. tolerance: relative squared power function of the
   interpolation by Matern-5/2; its square where all kernels of the context are Gaussian. n = 0
   if more than `most` nodes would be needed, or if a kernel warps an input before it compares it
   (periodic kernels). O(size most^2). */
PetscErrorCode rg_context_nodes_create(const RgKernel *kernel, int dim_x, int size,
                                       const double *contexts, int n_slopes, double tolerance,
                                       int most, RgContextNodes *nodes);
PetscErrorCode rg_context_nodes_destroy(RgContextNodes *nodes);

/* Compute u (size) and slope (slopes) from u_node (n); compute derivatives by u_node from
   derivatives by u and slope. Both handle J designs, one after another. */
void rg_context_nodes_values(const RgContextNodes *nodes, int J, const double *u_node, double *u,
                             double *slope);
void rg_context_nodes_pull(const RgContextNodes *nodes, int J, const double *u_bar,
                           const double *slope_bar, double *node_bar);

#endif
