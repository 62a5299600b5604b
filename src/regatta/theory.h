/* The law of a confidence parameter: how a rule draws the squared width of a query, and which
   regret bound the rule belongs to. */
#ifndef RG_REGATTA_THEORY_H
#define RG_REGATTA_THEORY_H

#include <stdbool.h>

#include "regatta/error.h"
#include "regatta/stream.h"

typedef enum {
  RG_LAW_CONSTANT,    /* a */
  RG_LAW_EXPONENTIAL, /* a + Exp(rate b) */
  RG_LAW_GAMMA        /* Gamma(shape a, scale b) */
} RgLawKind;

#define RG_LAW_CONSTANTS 4

typedef struct {
  RgLawKind kind;
  double a, b;
  /* Name of the rule whose theorems hold for the law (theory/); static. NULL: no theorem holds. */
  const char *rule;
  double delta; /* probability that the rule allows to fail; NaN: not part of the rule */
  bool own;     /* whether width and radius are those of the theorems, with these constants */
  double constant[RG_LAW_CONSTANTS]; /* their order is the family's */
} RgConfidenceLaw;

/* A width drawn from a law, and the mean of the law. */
RG_API double rg_confidence_draw(const RgConfidenceLaw *law, RgRandom *random);
RG_API double rg_confidence_mean(const RgConfidenceLaw *law);

/* The quantile at p in [0, 1]; for a constant, the constant. */
RG_API double rg_confidence_quantile(const RgConfidenceLaw *law, double p);

#endif
