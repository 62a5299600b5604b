/* The posterior of a Gaussian process: one interface, four back ends.

   Model: y_i = mean + f(x_i) + noise_i, f ~ GP(0, kernel), noise ~ N(0, noise_variance). The
   variance predicted is that of the latent f. Units: those of y as given.

     exact      a Cholesky factor on this rank that grows row by row
     team       the same spread over the ranks of a team, from the team's crossover on
     iterative  no matrix: conjugate gradients over the ranks of the team (iterative/iterative.h)
     set        mean and variance of every point of a finite set, by rank-one updates
                (set/set_posterior.h); it is read by index, not at points

   Which of them holds the data is decided in posterior.c and nowhere else; every function below
   works on all of them but where it says so. */
#ifndef RG_GP_POSTERIOR_POSTERIOR_H
#define RG_GP_POSTERIOR_POSTERIOR_H

#include "regatta/domain.h"

#include "gp/kernel/kernel.h"

typedef struct RgSetPosterior RgSetPosterior;
typedef struct RgTeam RgTeam;

typedef struct {
  const struct RgPosteriorOps *ops; /* the back end that holds the data */
  RgKernel kernel;                  /* owned copy */
  double noise_variance;            /* >= 0 */
  double mean;                      /* constant prior mean */
  double jitter;                    /* added to the diagonal besides the noise; 0 unless needed */
  int n, capacity;
  bool has_pending;                /* the last of the n data are pending points */
  int n_told;                      /* with pending points: number of data before them */
  int n_inverse_told;              /* with pending points: n_inverse before them */
  double *X;                       /* n x dim; NULL on a set */
  double *y;                       /* n; NULL on a set */
  const double *means, *variances; /* of every point of a finite set; NULL on a box */
  /* exact; NULL elsewhere */
  double *L;     /* lower Cholesky factor, column-major, leading dimension `capacity` */
  double *beta;  /* L^-1 (y - mean) */
  double *alpha; /* (K + noise I)^-1 (y - mean); valid when alpha_valid */
  bool alpha_valid;
  /* L^-1 in the layout of L, its first n_inverse rows; NULL until a variance is predicted */
  double *inverse;
  int n_inverse;
  double *row; /* capacity: scratch of an append */
  /* team */
  RgTeam *team; /* borrowed; NULL: this rank alone */
  int expected; /* room for data that the team reserves at once */
  int slot;     /* slot of the team's posterior */
  /* set */
  RgSetPosterior *set; /* owned */
  /* iterative */
  struct RgIterativeState *iterative; /* owned */
} RgPosterior;

/* Empty posterior with room for `capacity` data (doubled when exceeded). Copies the kernel. */
PetscErrorCode rg_posterior_create(const RgKernel *kernel, double noise_variance, double mean,
                                   int capacity, RgPosterior *posterior);
/* Create a posterior that stays on the finite points of `domain` (borrowed). */
PetscErrorCode rg_posterior_create_on_set(const RgDomain *domain, const RgKernel *kernel,
                                          double noise_variance, double mean, int capacity,
                                          RgPosterior *posterior);
PetscErrorCode rg_posterior_destroy(RgPosterior *posterior);

/* The solver for n data on boxes. auto: dense while the matrix of the team has fewer than 2^31
   entries per rank (ScaLAPACK's limit), else iterative. */
typedef enum { RG_SOLVER_AUTO, RG_SOLVER_DENSE, RG_SOLVER_ITERATIVE } RgSolver;
bool rg_solver_is_iterative(RgSolver solver, double n, int ranks);
/* Whether this build has the iterative back end (CMake option REGATTA_ITERATIVE). */
bool rg_solver_has_iterative(void);

/* Options of the iterative back end. */
typedef struct {
  double tolerance;   /* residual of a solve, relative to the right-hand side */
  int rank;           /* rank of the preconditioner */
  int max_iterations; /* iterations of a solve */
} RgSolverOptions;

/* An empty posterior that always uses the iterative back end, over the ranks of `team`
   (borrowed; NULL: this rank alone), whose worker is rg_posterior_worker (posterior_ops.h).
   points (borrowed): a finite set whose means and variances are wanted; NULL: a box.
   noise_variance > 0. */
PetscErrorCode rg_posterior_create_iterative(RgTeam *team, const RgSpace *points,
                                             const RgSolverOptions *options, const RgKernel *kernel,
                                             double noise_variance, double mean, int capacity,
                                             RgPosterior *posterior);
/* Iterations and residual of the last solve for the mean; 0 and 0 before any solve. */
int rg_posterior_iterations(const RgPosterior *posterior, double *residual);
/* Before any data: spread the matrix over `team` (borrowed) once there are enough data.
   expected: final number of data, which saves growing the team's matrix; 0: unknown. Call it on
   the leader. */
PetscErrorCode rg_posterior_use_team(RgPosterior *posterior, RgTeam *team, int expected);

/* n data: inputs X (n x dim), which a set ignores; flat indices of the inputs, which only a set
   reads; outputs. */
typedef struct {
  int n;
  const double *X;
  const int *index;
  const double *y;
} RgObservations;

/* Replace everything: new hyperparameters (a NULL kernel keeps the old ones) and new data. When
   a pivot fails during factorisation (its square is below n*eps*k(x,x)), add jitter
   1e-10*k(x,x), then ten times more, up to 1e-4*k(x,x). Beyond that `failure` is set and the
   posterior holds no data. X and y may be the posterior's own. O(n^3/3) with a matrix. */
PetscErrorCode rg_posterior_reset(RgPosterior *posterior, const RgKernel *kernel,
                                  double noise_variance, double mean, const RgObservations *data,
                                  RgFailure *failure);
/* Append data: one triangular solve each, O(n^2), on one rank. Refactors with jitter when a
   pivot fails. */
PetscErrorCode rg_posterior_extend(RgPosterior *posterior, const RgObservations *data,
                                   RgFailure *failure);
/* The two functions above for inputs given as points. */
PetscErrorCode rg_posterior_set(RgPosterior *posterior, const RgKernel *kernel,
                                double noise_variance, double mean, int n, const double *X,
                                const double *y, RgFailure *failure);
PetscErrorCode rg_posterior_append(RgPosterior *posterior, const double *x, double y,
                                   RgFailure *failure);
/* New outputs for the same inputs (restandardised y): O(n^2). PETSC_ERR_SUP on a set, which
   needs its data again. */
PetscErrorCode rg_posterior_set_outputs(RgPosterior *posterior, double mean, const double *y);
bool rg_posterior_takes_outputs(const RgPosterior *posterior);

/* Append points whose evaluation is not known yet, with values that stand in for it. The posterior
   stays with its back end and is not refactored: a point whose value the data determine already
   adds nothing and is left out. May be called several times. `failure`: as rg_posterior_extend.
   Cost: that of rg_posterior_extend, and one copy of the state that the points change (a set: 2 N
   doubles; iterative: rank^2 + n). */
PetscErrorCode rg_posterior_append_pending(RgPosterior *posterior, const RgObservations *data,
                                           RgFailure *failure);
/* Remove them. The bits of all that follows are as if they had never been there, unless the
   posterior ran out of the room that it was created with. Every function that changes the data
   removes them first. */
PetscErrorCode rg_posterior_remove_pending(RgPosterior *posterior);

/* B := (K + noise I)^-1 B, B: n x m, B[i*m + j]. O(m n^2). Not on a set (PETSC_ERR_SUP). */
PetscErrorCode rg_posterior_solve_many(const RgPosterior *posterior, int m, double *B);
bool rg_posterior_solves(const RgPosterior *posterior); /* whether the solve is available */
/* Whether this rank has the factor of the matrix, in L. Code that reads it directly checks this
   first. */
bool rg_posterior_has_factor(const RgPosterior *posterior);

/* Mean and variance (>= 0) of every point of a set, by flat index; NULL elsewhere. */
const double *rg_posterior_means(const RgPosterior *posterior);
const double *rg_posterior_variances(const RgPosterior *posterior);
/* The posterior on the set itself, for objects that follow its updates (samples, averages over
   contexts). PETSC_ERR_SUP elsewhere. */
PetscErrorCode rg_posterior_get_set(const RgPosterior *posterior, RgSetPosterior **set);

/* Scratch of a batch prediction. Keep it between calls, so that loops allocate nothing.
   Initialise with zeros; set values_only when no gradient will follow. */
typedef struct {
  bool values_only;  /* keep nothing for a gradient */
  int n, m;          /* shape of the last prediction */
  bool has_variance; /* whether it included the variance */
  bool kept;         /* whether V and slope hold all of it, not just one tile */
  size_t capacity;   /* doubles allocated */
  double *memory;    /* owned; the pointers below point into it */
  double *A, *B;     /* data and one tile of candidates, divided by the length scales */
  double *V;         /* tiles of L^-1 k(x_i, z_j) (of k alone without the variance) */
  double *slope;     /* tiles of the derivatives of k by squared distances, per factor */
  double *U, *g, *scratch;
} RgPrediction;

/* mean (m), variance (m, clamped at 0; NULL: not wanted) at Z (m x dim). O(m n^2) at the speed
   of matrix products: every change of the factor costs one inversion, O(n^2) after an append.
   Not on a set (PETSC_ERR_SUP); the same holds for the gradient and the covariance. */
PetscErrorCode rg_posterior_predict(RgPosterior *posterior, int m, const double *Z, double *mean,
                                    double *variance, RgPrediction *work);
/* Gradient of sum_j phi_j(mean_j, variance_j), given the partial derivatives mean_bar (m) and
   variance_bar (m; NULL: zero) at the points of the last prediction `work`: G (m x dim), row j =
   mean_bar_j d mean_j/dz_j + variance_bar_j d variance_j/dz_j. One triangular product, one kernel
   contraction. May be called more than once for one prediction. */
PetscErrorCode rg_posterior_gradient(RgPosterior *posterior, int m, const double *Z,
                                     const double *mean_bar, const double *variance_bar,
                                     RgPrediction *work, double *G);
/* Reduce the last prediction, with its variance, to `count` of its points, which[0] < which[1] <
   ... Returns false if nothing of it was kept, so that it must be repeated. O(n count). */
bool rg_posterior_select(const RgPosterior *posterior, int count, const int *which,
                         RgPrediction *work);
PetscErrorCode rg_prediction_destroy(RgPrediction *work);

/* Posterior covariance between two batches: C (a x b, C[i*b + j]). O((a+b) n^2 + a b n). */
PetscErrorCode rg_posterior_covariance(RgPosterior *posterior, int a, const double *A, int b,
                                       const double *B, double *C);

#endif
