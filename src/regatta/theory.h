/* The law of a confidence parameter: how a rule draws the squared width of a query, and which
   regret bound the rule belongs to. */
#ifndef RG_REGATTA_THEORY_H
#define RG_REGATTA_THEORY_H

#include "regatta/error.h"
#include "regatta/stream.h"

typedef enum {
  RG_LAW_CONSTANT,    /* a */
  RG_LAW_EXPONENTIAL, /* a + Exp(rate b) */
  RG_LAW_GAMMA        /* Gamma(shape a, scale b) */
} RgLawKind;

/* Rules with a regret bound (theory/bounds.h), with the parameters that the bound needs. */
typedef enum {
  RG_THEORY_NONE,
  RG_THEORY_IRGP_FINITE,     /* Theorems 4.1, 4.3, Proposition 4.1 of arXiv:2409.00979 */
  RG_THEORY_IRGP_CONTINUOUS, /* Theorems 4.2, 4.4 */
  RG_THEORY_IRGP_HIGHPROB,   /* Theorem 4.5 */
  RG_THEORY_GP_UCB_BCR,      /* expected regret of GP-UCB */
  RG_THEORY_RGP_UCB,         /* expected regret of RGP-UCB */
  RG_THEORY_RRGP,            /* Theorems 4.1 to 4.6 of arXiv:2504.03172 (theory/robust_bounds.h) */
  RG_THEORY_RRGP_CONTINUOUS, /* its appendix A; the law's a is 2 log kappa_t */
  RG_THEORY_SBO_KDE,         /* Theorem 1 of arXiv:2312.10423 (theory/kde_bounds.h) */
  RG_THEORY_DRBO_KDE,        /* Theorem 2 */
  RG_THEORY_WDRBO            /* Theorems 5 and 9 of arXiv:2503.20341; b: radius around a given
                                centre, NaN: observed contexts */
} RgTheory;

typedef struct {
  RgLawKind kind;
  double a, b;
  RgTheory theory;
  double delta; /* probability that the rule allows to fail; NaN: not part of the rule */
} RgConfidenceLaw;

/* A width drawn from a law, and the mean of the law. */
RG_API double rg_confidence_draw(const RgConfidenceLaw *law, RgRandom *random);
RG_API double rg_confidence_mean(const RgConfidenceLaw *law);

/* The quantile at p in [0, 1]; for a constant, the constant. */
RG_API double rg_confidence_quantile(const RgConfidenceLaw *law, double p);

#endif
