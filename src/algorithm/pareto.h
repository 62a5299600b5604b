/* Candidates that a method has several functions of, and their Pareto set. */
#ifndef RG_ALGORITHM_PARETO_H
#define RG_ALGORITHM_PARETO_H

#include "gp/model/model.h"
#include "regatta/algorithm.h"

enum { RG_CANDIDATE_VALUES = 3 };

/* The values by which candidates are compared. Values that a method does not use stay 0. */
typedef struct {
  double value[RG_CANDIDATE_VALUES]; /* finite, the larger the better */
  int index;
} RgCandidate;

typedef struct {
  int n;
  const RgSpace *design; /* borrowed */
  const double *X;       /* n x dim, borrowed */
  double *mean, *sd;     /* n: moments of the posterior, model units; owned */
  /* n: non-zero where a design is not to be queried again; owned; NULL: all may be */
  unsigned char *excluded;
  RgCandidate *list; /* room for n: candidates that can be chosen; owned */
  int n_list;
} RgCandidates;

/* All points of a finite design, or the n points X (n x dim) of a box, which become designs that
   can be evaluated (rg_space_snap) and must outlive the candidates. The list is empty. */
PetscErrorCode rg_candidates_create(const RgAlgorithm *algorithm, RgModel *model,
                                    const RgHistory *history, int n, double *X,
                                    RgCandidates *candidates);
PetscErrorCode rg_candidates_destroy(RgCandidates *candidates);

/* Draw a member of the Pareto set of the list. The set has the candidates that no other candidate
   dominates: no other is as good in every value and better in one value. Sets query->index (on a
   finite design) and query->x. Reorders the list. Returns the size of the set. An empty list gives
   0 and leaves the query unchanged. O(n log n + n size). */
int rg_pareto_draw(RgCandidates *candidates, RgRandom *random, RgQuery *query);

#endif
