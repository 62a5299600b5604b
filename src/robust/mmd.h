/* Worst case of an expectation over distributions near a reference, in maximum mean discrepancy, on
   a finite set of contexts: min u'q over q in the simplex with (q - p)' K (q - p) <= radius^2.
   Sources: Kirschner, Bogunovic, Jegelka, Krause (2020); sbo_kde 3.1, 3.2. */
#ifndef RG_ROBUST_MMD_H
#define RG_ROBUST_MMD_H

#include "regatta/error.h"

typedef struct {
  int n;
  double *K;      /* n x n, jitter on the diagonal */
  double *p, *Kp; /* n */
  double pKp;
  double *distance; /* n: discrepancy between p and a point mass at each context */
  double *root;     /* n x n: Cholesky factor of K + 1e-3 I for the exact sensitivity; or NULL */
  double *w, *gathered; /* scratch */
  int *free_set, *state;
} RgMmd;

/* K: n x n, symmetric positive semidefinite, from PetscMalloc1; the object takes ownership. p: n
   probabilities, copied. Adds jitter * mean(diagonal) to the diagonal of K. */
PetscErrorCode rg_mmd_create(int n, double *K, const double *p, double jitter, RgMmd *mmd);
PetscErrorCode rg_mmd_destroy(RgMmd *mmd);

/* The exact worst case: value u'q and the worst distribution q (n), by following the piecewise
   linear path of min 0.5 (q-p)'K(q-p) + tau u'q from tau = infinity down (sbo_kde 3.1). O(n) where
   the ball holds the worst point, else one factorisation of the support per piece. Where many
   points join the support at the same tau and the path cycles, it goes on at (1 - 1e-6) tau.
   failure: a support whose kernel matrix is not positive definite, or a path without an end. */
PetscErrorCode rg_mmd_worst_case(RgMmd *mmd, const double *u, double radius, double *value,
                                 double *q, RgFailure *failure);

typedef enum { RG_MMD_IDENTITY, RG_MMD_EXACT } RgMmdSensitivity;

/* The average of a tangent lower bound and a chord upper bound of the worst case (Tay et al.
   2022; sbo_kde 3.2). weight: n derivatives d value / d u; NULL: not wanted. Two deviations of
   the released program: uniform_centre uses the plain mean of u for p'u; no_tangent uses the
   smallest u as lower bound at every radius. finer: size of the grid that the n points thin out
   (0: n); the identity sensitivity grows with the square root of it. O(n), or O(n^2) with the
   exact sensitivity. */
typedef struct {
  RgMmdSensitivity sensitivity;
  bool uniform_centre, no_tangent;
  int finer;
} RgMmdMinimax;
PetscErrorCode rg_mmd_minimax(RgMmd *mmd, const double *u, double radius,
                              const RgMmdMinimax *options, double *value, double *weight);

/* Whether the radius reaches the distribution with all mass on the smallest u. */
bool rg_mmd_reaches_worst(const RgMmd *mmd, const double *u, double radius);

/* (2 + sqrt(2 log(1/gamma))) / sqrt(n): radius after n contexts (sbo_kde 3.1). */
double rg_mmd_radius(double gamma, int n);

#endif
