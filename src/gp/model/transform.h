/* Monotone transformations of outputs, fitted to them, so that heavy tails look normal. */
#ifndef RG_GP_MODEL_TRANSFORM_H
#define RG_GP_MODEL_TRANSFORM_H

#include "regatta/error.h"

/* In the identity of trials with a transformation. */
#define RG_TRANSFORM_REVISION 2

typedef enum {
  RG_TRANSFORM_NONE,
  RG_TRANSFORM_YEO_JOHNSON, /* power of the standardised outputs (Yeo and Johnson 2000), its
                               exponent by maximum likelihood, as HEBO does */
  RG_TRANSFORM_COPULA       /* normal scores of the ranks, linear between the outputs and beyond
                               the outermost ones */
} RgTransformKind;

/* Zeroed: no transformation. */
typedef struct {
  RgTransformKind kind;
  double shift, scale, lambda; /* yeo_johnson: T((y - shift) / scale; lambda) */
  double lowest, highest;      /* yeo_johnson: the outermost outputs */
  int n;                       /* copula: number of different outputs */
  double *knot, *score;        /* copula, owned, n: they increase */
} RgTransform;

/* Fit to n >= 0 finite outputs; frees an earlier fit. Fewer than 3 different outputs: none. O(n)
   per value of the exponent, O(n log n) for ranks. */
PetscErrorCode rg_transform_fit(RgTransform *transform, RgTransformKind kind, int n,
                                const double *y);
PetscErrorCode rg_transform_destroy(RgTransform *transform);

/* T(y), and d T / d y > 0. */
double rg_transform_value(const RgTransform *transform, double y);
double rg_transform_slope(const RgTransform *transform, double y);
/* The inverse: exact between the outermost outputs, beyond them a line with the slope there,
   because a power may end soon behind them. */
double rg_transform_inverse(const RgTransform *transform, double value);

/* Mean of n values, and the root of the sum of their squared distances from `centre` over
   `divisor`. Values times a power of two give just that times the results: no square overflows or
   vanishes. */
double rg_mean(int n, const double *value);
double rg_root_mean_square(int n, const double *value, double centre, int divisor);

#endif
