/* Searches of boxes with integers or choices: functions that are constant between their values
   (Garrido-Merchan and Hernandez-Lobato 2020, Dealing with categorical and integer-valued
   variables in Bayesian optimization with Gaussian processes, Neurocomputing). Private to
   acquisition/, but for what methods that choose among candidates of their own need. */
#ifndef RG_ACQUISITION_LEVELS_H
#define RG_ACQUISITION_LEVELS_H

#include "acquisition/local_search.h"
#include "base/inputs.h"

#define RG_LEVELS_REVISION 1 /* part of the identity of trials on such boxes */

/* Evaluated designs and those in flight. */
typedef struct {
  int n, dim;
  double *x; /* n x dim, owned; as rg_space_snap leaves them */
} RgSeen;

PetscErrorCode rg_seen_create(const RgSpace *space, const RgHistory *history, RgSeen *seen);
PetscErrorCode rg_seen_destroy(RgSeen *seen);
bool rg_seen_has(const RgSeen *seen, const double *x);

/* rg_excluded_points for n candidates X of a box (n x dim, as rg_space_snap leaves them): one byte
   each, non-zero = evaluated or in flight. NULL if designs may repeat (`once` is false), if no
   coordinate is an integer or a choice, and if every candidate was seen. The caller frees it
   (PetscFree). O(n (evaluated + in flight) dim). */
PetscErrorCode rg_excluded_designs(const RgSpace *space, bool once, const RgHistory *history, int n,
                                   const double *X, unsigned char **excluded);

/* A batch function at the designs that points stand for. A seen design counts as -infinity. */
typedef struct {
  const RgSpace *space;
  const RgSeen *seen; /* NULL: seen designs count like others */
  RgBatchFunction function;
  void *closure;
} RgSnapped;
PetscErrorCode rg_snapped_function(void *closure, int m, const double *X, double *value,
                                   double *gradient);

/* The number of designs of a space without real coordinates; infinity with one. */
double rg_levels_designs(const RgSpace *space);
/* List all n = rg_levels_designs designs, n x dim, the first coordinate slowest. */
void rg_levels_enumerate(const RgSpace *space, int n, double *X);

/* Neighbours of a design: other words of one choice, or one integer by 1, 4, 16, ... up or down.
   out: room for rg_levels_most x dim. Returns their number. */
int rg_levels_most(const RgSpace *space);
int rg_levels_neighbours(const RgSpace *space, const double *x, double *out);

/* Improve the best of m designs (m x dim, snapped) and their values (m): each goes to its best
   neighbour until it has no better one. ascend: a search of the real coordinates after each
   descent; NULL: no real coordinates. */
PetscErrorCode rg_levels_climb(const RgSpace *space, const RgMaximiserOptions *options, int m,
                               double *x, double *value, RgLocalSearch ascend,
                               RgBatchFunction function, void *closure);

#endif
