/* Exact posterior on a finite set, mean and variance of every point kept up to date by rank-one
   updates (irgp_ucb 2.2, rrgp_ucb 2.1). Points are design x context, flat index
   design_index * n_contexts + context_index. */
#ifndef RG_GP_POSTERIOR_SET_SET_POSTERIOR_H
#define RG_GP_POSTERIOR_SET_SET_POSTERIOR_H

#include "gp/kernel/kernel.h"
#include "gp/posterior/set/set_factor.h"
#include "maths/vector.h"
#include "regatta/domain.h"

/* F viewed as before x n x after (row-major): F_b,a,j <- sum_i A_ai F_b,i,j, in place. A: n x n,
   row-major; lower: treat its strict upper triangle as zero. scratch: 2 n RG_VECTOR_TILE
   doubles. O(before n^2 after). */
void rg_grid_multiply(int before, int n, size_t after, const double *A, bool lower, double *F,
                      double *scratch);

typedef struct RgSetPosterior RgSetPosterior;
typedef struct RgSetBackend RgSetBackend;

/* How the covariance is represented. Auto: rows while they fit in cache (capacity N doubles up
   to 1 MiB); else additive where it applies, or product where it applies and N > 2048; else
   rows. */
typedef enum {
  RG_SET_AUTO,
  RG_SET_ROWS,    /* rows of L^-1 K(data, set): any kernel, any set; O(n N) memory */
  RG_SET_PRODUCT, /* product of two halves of a product set; O(n (N_1 + N_2 + n)) memory */
  RG_SET_ADDITIVE /* terms on few axes of a grid each; O(n sum of their sizes) memory */
} RgSetMethod;

/* The method that auto selects for `capacity` observations of `size` points, given whether
   kernel and set have an additive or a product structure. The posterior and the estimates of its
   cost share this rule. */
RgSetMethod rg_set_method_auto(double capacity, double size, bool additive, bool product);

/* One rank-one update. */
typedef struct {
  int index; /* index of the observed point */
  double y;
  double pivot;      /* square root of its variance before, plus noise */
  double step;       /* (y - its mean before) / pivot */
  const double *row; /* N: its covariance with every point before, / pivot */
} RgSetUpdate;

/* An object that follows a posterior: quantities with the same row updates (averages over
   contexts, sample paths). `reset`: the data are forgotten, and hyperparameters may differ.
   `update`: called before mean and variance change. Observations that add nothing are not
   reported. `keep`: the updates that follow will be undone by `restore`. */
typedef struct {
  void *closure;
  PetscErrorCode (*reset)(void *closure, const RgSetPosterior *posterior);
  PetscErrorCode (*update)(void *closure, const RgSetPosterior *posterior,
                           const RgSetUpdate *update);
  PetscErrorCode (*keep)(void *closure);
  PetscErrorCode (*restore)(void *closure);
} RgSetListener;

enum { RG_SET_LISTENERS = 4 };

/* Others read it; the functions below change it. */
struct RgSetPosterior {
  RgSetPrior prior; /* with the kernel, the number N of points and the points */
  const RgSetBackend *backend;
  void *state; /* state of the back end; owned */
  double noise_variance, prior_mean;
  int n;                   /* number of observations */
  int n_kept, n_rows;      /* n when the state was kept; rows pushed since */
  double *kept;            /* 2 N: mean and variance then; owned; NULL: nothing was ever kept */
  double *mean, *variance; /* N each; variance >= 0; owned */
  double *row;             /* N: scratch; owned */
  RgSetMethod method;      /* the method as requested */
  int capacity;
  int n_listeners;
  RgSetListener listeners[RG_SET_LISTENERS];
};

/* Prior on the finite points of `domain` (borrowed; both parts finite, or no context part).
   `capacity`: expected number of observations. The kernel is copied. */
PetscErrorCode rg_set_posterior_create(const RgDomain *domain, const RgKernel *kernel,
                                       double noise_variance, double mean, int capacity,
                                       RgSetPosterior **posterior);
/* Create with a given method. Errors: PETSC_ERR_ARG_WRONG if the method does not apply. */
PetscErrorCode rg_set_posterior_create_with(RgSetMethod method, const RgDomain *domain,
                                            const RgKernel *kernel, double noise_variance,
                                            double mean, int capacity, RgSetPosterior **posterior);
PetscErrorCode rg_set_posterior_destroy(RgSetPosterior **posterior);

/* Forget the data; NULL kernel keeps the hyperparameters. */
PetscErrorCode rg_set_posterior_reset(RgSetPosterior *posterior, const RgKernel *kernel,
                                      double noise_variance, double mean);
/* Observe y at point `index`. O(N n) (additive: O(N)). failure: the pivot fails. */
PetscErrorCode rg_set_posterior_append(RgSetPosterior *posterior, int index, double y,
                                       RgFailure *failure);

/* Keep the present state; return to its very bits. Between the two calls observations are appended
   and nothing else changes. O(N). */
PetscErrorCode rg_set_posterior_keep(RgSetPosterior *posterior);
PetscErrorCode rg_set_posterior_restore(RgSetPosterior *posterior);

/* Let `listener` (copied) follow the posterior. Calls its reset at once. The posterior must hold
   no data yet. */
PetscErrorCode rg_set_posterior_follow(RgSetPosterior *posterior, const RgSetListener *listener);
/* Posterior covariance of point `index` with every point: out (N). O(N n). */
PetscErrorCode rg_set_posterior_covariance(const RgSetPosterior *posterior, int index, double *out);

struct RgSetBackend {
  const char *name;
  /* Whether it can represent this prior. NULL: it can represent any. */
  bool (*applies)(const RgSetPrior *prior);
  /* `capacity`: expected number of observations. */
  PetscErrorCode (*create)(const RgSetPrior *prior, int capacity, void **state);
  PetscErrorCode (*destroy)(void **state);
  /* out (N): posterior covariance of point `index` with every point. */
  PetscErrorCode (*covariance)(void *state, const RgSetPrior *prior, int index, double *out);
  /* The point of the last call of covariance was observed. pivot: square root of its variance
     before, plus noise; row (N): its posterior covariance with every point before, divided by the
     pivot. */
  PetscErrorCode (*push)(void *state, double pivot, const double *row);
  /* Forget the last m observations. */
  void (*pop)(void *state, int m);
};

/* Keeps all rows: O(n N) memory, one pass over it per observation. Any kernel, any set. */
extern const RgSetBackend rg_set_backend_rows;
/* A kernel that is a product of two halves, on a set that is a product of two halves (designs
   and contexts, or axes of a grid). Keeps n columns of either half and an n x n factor; a row is
   one dgemm of the halves, 2 n N flops. Rounding: weights of size 1/(2 sd of the noise) cancel
   in a row, so rows lose digits as the noise becomes small. */
extern const RgSetBackend rg_set_backend_product;
/* A grid, and a kernel whose terms each depend on few of its axes. Rows are sums of small
   tables, one per term, and only the tables are kept. O(N) per observation for any n. */
extern const RgSetBackend rg_set_backend_additive;

#endif
