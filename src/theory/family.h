/* Families of regret bounds: one file per family in theory/, one line in theory/list.h.

   A family states which rules its theorems are about, what they assume, and the value of each of
   its curves at query T. This value is a function of RgBoundCase: kernel, noise, domain, law
   of the confidence parameters, information gain and horizon. A family knows nothing of studies. */
#ifndef RG_THEORY_FAMILY_H
#define RG_THEORY_FAMILY_H

#include "regatta/theory.h"
#include "regatta/domain.h"
#include "base/text.h"
#include "gp/kernel/kernel.h"
#include "maths/distribution.h"

/* The arguments of a bound. All are borrowed. Arrays of `n` have one entry per query, from the
   first. */
typedef struct {
  int n; /* queries */
  const RgDomain *domain;
  const RgConfidenceLaw *law; /* n */
  unsigned rule;              /* RG_RULE of the law's rule in its family */
  const RgKernel *kernel;     /* the kernel of the model at its first query */
  double largest;             /* k(x,x) */
  double noise;               /* noise variance of the model, or as noise_of returns */
  double data_noise;          /* variance of the observations */
  bool fitted;                /* whether the hyperparameters are fitted */
  /* Points of the initial design, which the method knows at its first query. */
  int initial;
  double measure_slope; /* K of the measure's bounds; NaN: the theorems don't know it */
  /* dim_c laws of a box of contexts, unit coordinates; NULL: unknown, or they change in time */
  const RgDistribution *contexts;
  /* Deviation of the normal law with the contexts' quartiles; NaN: unknown. */
  double context_deviation;
  const double *gamma; /* n: information gain, an upper bound of its maximum */
  double delta;        /* probability that a bound may fail, for rules without one */
  bool tight;          /* T s_T in place of the printed 2 T s_T */
} RgBoundCase;

/* A mask of rules, by their position in the family's list. */
#define RG_RULE(rule) (1u << (rule))

typedef struct {
  const char *name;                   /* name in files */
  unsigned rules;                     /* RG_RULE or-ed */
  const char *title;                  /* the quantity that it bounds, or that it is */
  bool (*holds)(const RgBoundCase *); /* whether it holds in this setting; NULL: always */
  double (*at)(const RgBoundCase *, int T);
} RgBoundCurve;

typedef struct {
  const char *name, *title, *reference;
  const char *assumptions;    /* in words, for readers */
  const RgBoundCurve *curves; /* ends with a NULL name */
  /* RgConfidenceLaw.rule that the theorems are about; ends with NULL. A name belongs to one
     family */
  const char *const *rules;
  unsigned joint;      /* rules whose gain is that of designs and contexts */
  unsigned continuous; /* rules whose theorems ask for a box of designs */
  /* Whether its constants can't be known; then every value is nominal. */
  bool nominal;
  bool unit_variance; /* whether there is no bound where k(x,x) > 1 */
  /* Why there is no bound, from domain and law alone; NULL: there may be one. */
  const char *(*obstacle)(const RgBoundCase *);
  /* As above, but also from the model; the reason is appended to `why`. NULL: the family has no
     such condition. */
  PetscErrorCode (*refuse)(const RgBoundCase *, RgText *why);
  /* The noise variance with which the gain is computed, in place of the model's; NULL: the
     model's. */
  double (*noise_of)(const RgBoundCase *);
  /* For a nominal family: the constants that are not known; static. */
  const char *(*remark)(const RgBoundCase *);
} RgBoundFamily;

/* The families in the order of the list; *n of them. */
const RgBoundFamily *const *rg_bound_families(int *n);
/* The family of a rule, and *mask its RG_RULE there; NULL: no family has that rule. */
const RgBoundFamily *rg_bound_family_of(const char *rule, unsigned *mask);

#endif
