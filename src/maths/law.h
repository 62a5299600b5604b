/* Laws of contexts that may drift with the number t = 1, 2, .. of the evaluation. Study files write
   them as expressions (LAW as in maths/distribution.h):

     LAW                         stationary: the same at every t
     linear(LAW, t, LAW, ..)     parameters on straight lines: the first law at evaluation 1, the
                                 law behind t at evaluation t; the last one from then on
     jump(LAW, t, LAW, ..)       the law behind t from evaluation t on
     table(LAW, LAW, ..)         a law for each of the first evaluations; the last one from then on
     periodic(LAW, T, LAW)       parameters swing between two laws with period T, from the first at
                                 evaluation 1: share (1 - cos(2 pi (t - 1)/T))/2 of the second
     walk(LAW, step, reach, k)   the law moved by a random walk with normal steps of deviation
                                 `step`, 0 at evaluation 1, reflected at -reach and reach; path
                                 number k

   Laws between which parameters move have the same form. A law is a function of its text and t
   alone: everybody meets the same walk. */
#ifndef RG_MATHS_LAW_H
#define RG_MATHS_LAW_H

#include "maths/distribution.h"

typedef enum {
  RG_DRIFT_NONE,
  RG_DRIFT_LINEAR,
  RG_DRIFT_JUMP,
  RG_DRIFT_TABLE,
  RG_DRIFT_PERIODIC,
  RG_DRIFT_WALK
} RgDrift;

typedef struct {
  RgDrift drift;
  int n;                /* laws */
  RgDistribution *laws; /* n; owned */
  /* n: evaluations at which they hold; periodic: from[1] is the period; owned */
  int *from;
  double step, reach; /* step and reach of a walk */
  int path;
} RgLaw;

/* As typed, with their meaning. The list ends with a NULL usage. */
extern const RgDistributionInfo rg_law_infos[];

/* Parse an expression. On a mistake, append it to `mistake` ("column C: ..") and leave the law
   empty. The caller destroys it in either case. */
PetscErrorCode rg_law_parse(const char *text, RgLaw *law, RgText *mistake);
/* Report the mistakes in `text` as diagnostics that name parameter `name`. */
PetscErrorCode rg_law_check(const char *name, const char *text, RgPlace place,
                            RgDiagnostics *diagnostics);
/* Build the laws (dim, zeroed) of `dim` coordinates. n = 1: one text for all; n = dim: one each.
   Errors: a text that rg_law_check rejects. */
PetscErrorCode rg_law_create_all(int n, char *const *texts, int dim, RgLaw *laws);
PetscErrorCode rg_law_destroy(RgLaw *law);

/* The law at evaluation t >= 1; the caller destroys it. O(t) for a walk. */
PetscErrorCode rg_law_at(const RgLaw *law, int t, RgDistribution *distribution);
/* The number of an evaluation e <= t whose laws, of all `dim` coordinates, are those of t; 0 if no
   law drifts. Equal laws have equal numbers where all coordinates drift alike. */
int rg_law_epoch(int dim, const RgLaw *laws, int t);
/* Whether one of n texts that rg_law_check accepts drifts. */
bool rg_law_drifts(int n, char *const *texts);

#endif
