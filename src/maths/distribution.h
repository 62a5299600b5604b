/* Laws of one real random number as composable objects: one-piece laws, mixtures of them, and
   clipping. They describe contexts and durations; study files write them as expressions.

     normal(mean, deviation)     uniform(lower, upper)     cauchy(location, scale)
     student(degrees, scale)     Student's t about 0
     burr(alpha, beta)           P(c > t) = (1 + t^alpha)^-beta, t >= 0 (Burr XII)
     halfnormal(scale)           |c| of a normal law with mean 0 and deviation `scale`
     exponential(mean)           P(c > t) = exp(-t/mean), t >= 0
     pareto(power, lower)        P(c > t) = (lower/t)^power, t >= lower
     lognormal(mu, sigma)        log c is normal(mu, sigma)
     point(value)
     mixture(LAW, LAW, ..)       equal weights; or mixture(w1 * LAW, w2 * LAW, ..), divided by
                                 their sum
     clip(LAW, lower, upper)     values beyond a bound become the bound (atoms, no truncation)

   Held as a flat list: clipping a mixture is the mixture of its clipped parts. */
#ifndef RG_MATHS_DISTRIBUTION_H
#define RG_MATHS_DISTRIBUTION_H

#include "maths/expression.h"
#include "regatta/stream.h"

typedef enum {
  RG_DISTRIBUTION_NORMAL,      /* a mean, b deviation > 0 */
  RG_DISTRIBUTION_UNIFORM,     /* on [a, b] */
  RG_DISTRIBUTION_CAUCHY,      /* a location, b scale > 0 */
  RG_DISTRIBUTION_STUDENT,     /* a degrees > 0, b scale > 0 */
  RG_DISTRIBUTION_BURR,        /* a alpha > 0, b beta > 0 */
  RG_DISTRIBUTION_HALFNORMAL,  /* a scale > 0 */
  RG_DISTRIBUTION_EXPONENTIAL, /* a mean > 0 */
  RG_DISTRIBUTION_PARETO,      /* a power > 0, b lower > 0 */
  RG_DISTRIBUTION_LOGNORMAL,   /* a mu, b sigma > 0 */
  RG_DISTRIBUTION_POINT        /* a */
} RgDistributionFamily;

typedef struct {
  RgDistributionFamily family;
  double a, b;
  double weight;       /* > 0; they sum to 1 */
  double lower, upper; /* clipping bounds; infinite: not clipped */
} RgDistributionPart;

typedef struct {
  int n;
  RgDistributionPart *parts; /* owned */
} RgDistribution;

/* The laws as typed, with their meaning. The list ends with a NULL usage. */
typedef struct {
  const char *usage, *meaning;
} RgDistributionInfo;
extern const RgDistributionInfo rg_distribution_infos[];

/* Parse an expression. On a mistake, append it to `mistake` ("column C: ..") and leave the
   distribution empty. The caller destroys it in either case. */
PetscErrorCode rg_distribution_parse(const char *text, RgDistribution *distribution,
                                     RgText *mistake);

/* Parse a law within a text: reads up to its end, and leaves mistakes in the expression. */
PetscErrorCode rg_distribution_read(RgExpression *expression, RgDistribution *distribution);

/* Build the laws (dim, zeroed) of `dim` coordinates. n = 1: one text for all coordinates; n =
   dim: one each. Errors: a text that rg_distribution_parse rejects. */
PetscErrorCode rg_distribution_create_all(int n, char *const *texts, int dim, RgDistribution *laws);
PetscErrorCode rg_distribution_copy(const RgDistribution *from, RgDistribution *to);
PetscErrorCode rg_distribution_destroy(RgDistribution *distribution);
/* Clip in place; lower <= upper, either may be infinite. */
void rg_distribution_clip(RgDistribution *distribution, double lower, double upper);
/* Add `shift` to the locations of all parts, in place; clipping bounds stay. False if a part has no
   location (normal, uniform, cauchy and point laws have one). */
bool rg_distribution_shift(RgDistribution *distribution, double shift);

/* One draw. Every law uses two words of the stream. */
double rg_distribution_sample(const RgDistribution *distribution, RgRandom *random);
/* P(c <= x). */
double rg_distribution_cdf(const RgDistribution *distribution, double x);
/* Density of the continuous part at x (0 at and beyond a clipping bound). Atoms are not
   included. */
double rg_distribution_density(const RgDistribution *distribution, double x);
/* inf{x : P(c <= x) >= p}, p in (0,1); bisection for mixtures, to full precision. */
double rg_distribution_quantile(const RgDistribution *distribution, double p);
/* Whether E|c|^below over c < 0 and E|c|^above over c > 0 are finite. */
bool rg_distribution_has_moments(const RgDistribution *distribution, double below, double above);
/* E max(x - c, 0), finite x, by adaptive quadrature of P(c <= s) over each part up to x.
   *error: its estimate. */
PetscErrorCode rg_distribution_shortfall(const RgDistribution *distribution, double x,
                                         double *shortfall, double *error);

/* A rule sum_i weight_i g(node_i) for E g(c): composite Gauss-Legendre (12 nodes a panel) times the
   density on each part, and the atoms. */
typedef struct {
  int n;
  double *node, *weight; /* n each, owned */
} RgQuadrature;

/* panels: per part, between the bounds that leave out 1e-18 on each side (Cauchy: over the angle;
   Pareto and log-normal: over the logarithm).
   breaks (n_breaks, ascending): kinks of g, which become borders of panels. Nodes of weight below
   1e-18 are left out. For g analytic between breaks the error falls geometrically with panels. */
PetscErrorCode rg_distribution_quadrature(const RgDistribution *distribution, int panels,
                                          int n_breaks, const double *breaks, RgQuadrature *rule);
/* The same rule for the uniform law on [lower, upper]. */
PetscErrorCode rg_quadrature_uniform(double lower, double upper, int panels, RgQuadrature *rule);
PetscErrorCode rg_quadrature_destroy(RgQuadrature *rule);

#endif
