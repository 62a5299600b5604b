/* Laws of one random number: samples, distribution functions, quantiles, quadrature. */
#include "maths/distribution.h"
#include "base/number.h"
#include "maths/normal.h"

#include <ctype.h>
#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 16, MAX_DEPTH = 16, MAX_PARTS = 1000, MIXTURE = RG_DISTRIBUTION_POINT + 1, CLIP };

const RgDistributionInfo rg_distribution_infos[] = {
  {"normal(mean, deviation)", "deviation > 0"},
  {"uniform(lower, upper)", "lower < upper"},
  {"cauchy(location, scale)", "scale > 0; it has no mean: clip it, or the problem clips"},
  {"student(degrees, scale)", "Student's t about 0, times `scale`; degrees, scale > 0"},
  {"burr(alpha, beta)", "Burr XII, P(c > t) = (1 + t^alpha)^-beta for t >= 0; alpha, beta > 0"},
  {"halfnormal(scale)", "absolute value of a normal law of mean 0, deviation `scale` > 0"},
  {"exponential(mean)", "P(c > t) = exp(-t/mean) for t >= 0; mean > 0"},
  {"pareto(power, lower)", "P(c > t) = (lower/t)^power for t >= lower; power, lower > 0"},
  {"lognormal(mu, sigma)", "its logarithm is normal(mu, sigma); sigma > 0"},
  {"point(value)", "one value with certainty"},
  {"mixture(LAW, LAW, ..)", "equal weights; or mixture(w1 * LAW, ..), divided by their sum"},
  {"clip(LAW, lower, upper)", "values beyond a bound become the bound"},
  {0}};

static const char *const names[] = {"normal",     "uniform",     "cauchy", "student",   "burr",
                                    "halfnormal", "exponential", "pareto", "lognormal", "point",
                                    "mixture",    "clip",        NULL};

static PetscErrorCode finite_number(RgExpression *parser, double *value)
{
  const char *start, *end;

  *value = 0;
  if (rg_expression_failed(parser)) return 0;
  rg_expression_next(parser);
  start = parser->at;
  if (rg_number_read(start, &end, value) != RG_NUMBER_READ || !isfinite(*value))
    return rg_expression_mistake(parser, start, "a finite number expected, found '%.20s'", start);
  parser->at = end;
  return 0;
}

/* A finite number, or a quotient of two (weights such as 1/8). */
static PetscErrorCode number(RgExpression *parser, double *value)
{
  const char *start = (rg_expression_next(parser), parser->at);
  double divisor;

  PetscCall(finite_number(parser, value));
  if (!rg_expression_accept(parser, '/')) return 0;
  PetscCall(finite_number(parser, &divisor));
  *value /= divisor;
  if (!rg_expression_failed(parser) && !isfinite(*value))
    PetscCall(rg_expression_mistake(parser, start, "'%.20s' is no finite number", start));
  return 0;
}

/* The parameters of a law that must be positive, by their names; NULL: any number. */
static const struct {
  const char *a, *b;
} positive[] = {
  [RG_DISTRIBUTION_NORMAL] = {NULL, "deviation"}, [RG_DISTRIBUTION_UNIFORM] = {NULL, NULL},
  [RG_DISTRIBUTION_CAUCHY] = {NULL, "scale"},     [RG_DISTRIBUTION_STUDENT] = {"degrees", "scale"},
  [RG_DISTRIBUTION_BURR] = {"alpha", "beta"},     [RG_DISTRIBUTION_HALFNORMAL] = {"scale", NULL},
  [RG_DISTRIBUTION_EXPONENTIAL] = {"mean", NULL}, [RG_DISTRIBUTION_PARETO] = {"power", "lower"},
  [RG_DISTRIBUTION_LOGNORMAL] = {NULL, "sigma"},  [RG_DISTRIBUTION_POINT] = {NULL, NULL},
};

static PetscErrorCode add_part(RgExpression *parser, RgDistribution *out, const char *start,
                               int family, double a, double b)
{
  if (rg_expression_failed(parser)) return 0;
  if (positive[family].a && !(a > 0))
    PetscCall(rg_expression_mistake(parser, start, "%s needs %s > 0, it is %g", names[family],
                                    positive[family].a, a));
  if (positive[family].b && !(b > 0))
    PetscCall(rg_expression_mistake(parser, start, "%s needs %s > 0, it is %g", names[family],
                                    positive[family].b, b));
  if (family == RG_DISTRIBUTION_UNIFORM && !(a < b))
    PetscCall(rg_expression_mistake(parser, start,
                                    "uniform needs lower < upper, they are %g and %g", a, b));
  if (out->n == MAX_PARTS)
    PetscCall(rg_expression_mistake(parser, start, "more than %d parts", MAX_PARTS));
  if (rg_expression_failed(parser)) return 0;
  out->parts[out->n++] = (RgDistributionPart){.family = (RgDistributionFamily)family,
                                              .a = a,
                                              .b = b,
                                              .weight = 1,
                                              .lower = -INFINITY,
                                              .upper = INFINITY};
  return 0;
}

static PetscErrorCode law(RgExpression *parser, RgDistribution *out);

/* After "mixture(". */
static PetscErrorCode mixture(RgExpression *parser, RgDistribution *out)
{
  const int first = out->n;
  double total = 0;
  int weighted = -1;

  do {
    const char *start = (rg_expression_next(parser), parser->at);
    const int part = out->n;
    const bool has_weight = isdigit((unsigned char)*start) || strchr("+-.", *start);
    double weight = 1;
    if (*start && has_weight) {
      PetscCall(number(parser, &weight));
      PetscCall(rg_expression_expect(parser, '*'));
      if (!(weight > 0))
        PetscCall(rg_expression_mistake(parser, start, "a weight must be > 0, it is %g", weight));
    }
    if (weighted >= 0 && weighted != (int)has_weight)
      PetscCall(rg_expression_mistake(parser, start,
                                      "either all parts of a mixture have a weight or none has"));
    weighted = has_weight;
    PetscCall(law(parser, out));
    for (int i = part; i < out->n; i++) out->parts[i].weight *= weight;
    total += weight;
  } while (rg_expression_accept(parser, ','));
  for (int i = first; i < out->n; i++) out->parts[i].weight /= total;
  return 0;
}

/* After "clip(". */
static PetscErrorCode clip(RgExpression *parser, RgDistribution *out)
{
  const int first = out->n;
  const char *start = parser->at;
  double lower, upper;

  PetscCall(law(parser, out));
  PetscCall(rg_expression_expect(parser, ','));
  PetscCall(number(parser, &lower));
  PetscCall(rg_expression_expect(parser, ','));
  PetscCall(number(parser, &upper));
  if (!rg_expression_failed(parser) && !(lower < upper))
    PetscCall(rg_expression_mistake(parser, start, "clip needs lower < upper, they are %g and %g",
                                    lower, upper));
  RgDistribution inner = {out->n - first, out->parts + first};
  rg_distribution_clip(&inner, lower, upper);
  return 0;
}

static PetscErrorCode name_of(RgExpression *parser, int *found)
{
  char name[MAX_NAME] = "";
  const char *start = (rg_expression_next(parser), parser->at), *nearest;
  RgText known = {0};
  int length = 0;

  while (isalpha((unsigned char)start[length])) length++;
  memcpy(name, start, (size_t)PetscMin(length, MAX_NAME - 1));
  *found = -1;
  for (int i = 0; names[i]; i++)
    if (!strcmp(names[i], name)) *found = i;
  nearest = rg_text_nearest(name, names);
  if (!length)
    PetscCall(rg_expression_mistake(parser, start, "a law expected, such as normal(0.5, 0.1)"));
  else if (*found < 0) {
    for (int i = 0; names[i]; i++) PetscCall(rg_text_add(&known, "%s%s", i ? ", " : "", names[i]));
    PetscCall(rg_expression_mistake(parser, start, "unknown law '%s'%s%s%s; known: %s", name,
                                    nearest ? ", did you mean '" : "", nearest ? nearest : "",
                                    nearest ? "'?" : "", known.data));
    PetscCall(rg_text_clear(&known));
  }
  parser->at += length;
  return 0;
}

static PetscErrorCode law(RgExpression *parser, RgDistribution *out)
{
  const char *start = (rg_expression_next(parser), parser->at);
  int family;
  double a, b = 0;

  if (rg_expression_failed(parser)) return 0;
  if (++parser->depth > MAX_DEPTH)
    PetscCall(rg_expression_mistake(parser, start, "nested more than %d deep", MAX_DEPTH));
  PetscCall(name_of(parser, &family));
  PetscCall(rg_expression_expect(parser, '('));
  if (rg_expression_failed(parser)) return 0;
  if (family == MIXTURE) {
    PetscCall(mixture(parser, out));
  } else if (family == CLIP) {
    PetscCall(clip(parser, out));
  } else {
    PetscCall(number(parser, &a));
    const bool one = family == RG_DISTRIBUTION_POINT || family == RG_DISTRIBUTION_HALFNORMAL ||
                     family == RG_DISTRIBUTION_EXPONENTIAL;
    if (!one) {
      PetscCall(rg_expression_expect(parser, ','));
      PetscCall(number(parser, &b));
    }
    PetscCall(add_part(parser, out, start, family, a, b));
  }
  PetscCall(rg_expression_expect(parser, ')'));
  parser->depth--;
  return 0;
}

PetscErrorCode rg_distribution_read(RgExpression *expression, RgDistribution *distribution)
{
  distribution->n = 0;
  PetscCall(PetscMalloc1(MAX_PARTS, &distribution->parts));
  PetscCall(law(expression, distribution));
  if (rg_expression_failed(expression)) distribution->n = 0;
  return PetscRealloc((size_t)PetscMax(distribution->n, 1) * sizeof(*distribution->parts),
                      &distribution->parts);
}

PetscErrorCode rg_distribution_parse(const char *text, RgDistribution *distribution,
                                     RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};

  PetscCall(rg_distribution_read(&parser, distribution));
  PetscCall(rg_expression_expect_end(&parser, "law"));
  if (rg_expression_failed(&parser)) distribution->n = 0;
  return 0;
}

PetscErrorCode rg_distribution_create_all(int n, char *const *texts, int dim, RgDistribution *laws)
{
  RgText mistake = {0};

  for (int j = 0; j < dim; j++) {
    const char *text = texts[n > 1 ? j : 0];
    PetscCall(rg_distribution_parse(text, &laws[j], &mistake));
    PetscCheck(!mistake.data, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "law \"%s\": %s", text,
               mistake.data);
  }
  return 0;
}

#define LEAST 1e-18 /* probability mass that integrals leave out */

/* ---- one part, before clipping --------------------------------------------------------------- */

/* P(T > t) of Student's t. */
static double student_tail(double degrees, double t)
{
  const double half = 0.5 * gsl_cdf_beta_P(degrees / (degrees + t * t), degrees / 2, 0.5);

  return t > 0 ? half : 1 - half;
}

/* Its quantile at p = 1 - q: bisection for the logarithm of the distance from the median. */
static double student_quantile(double degrees, double p, double q)
{
  const double tail = fmin(p, q);
  double low = -40, high = fmin(45 / fmin(degrees, 1), 345);

  if (tail == 0.5) return 0;
  for (double middle; (middle = low + (high - low) / 2) > low && middle < high;)
    if (student_tail(degrees, exp(middle)) > tail) low = middle;
    else high = middle;
  return p < q ? -exp(high) : exp(high);
}

static double part_cdf(const RgDistributionPart *part, double x)
{
  switch (part->family) {
  case RG_DISTRIBUTION_NORMAL: return rg_normal_cdf((x - part->a) / part->b);
  case RG_DISTRIBUTION_UNIFORM: return fmin(fmax((x - part->a) / (part->b - part->a), 0), 1);
  case RG_DISTRIBUTION_CAUCHY: return atan2(1, -(x - part->a) / part->b) / M_PI;
  case RG_DISTRIBUTION_STUDENT: return student_tail(part->a, -x / part->b);
  case RG_DISTRIBUTION_BURR: return x > 0 ? -expm1(-part->b * log1p(pow(x, part->a))) : 0;
  case RG_DISTRIBUTION_HALFNORMAL: return x > 0 ? 1 - 2 * rg_normal_cdf(-x / part->a) : 0;
  case RG_DISTRIBUTION_EXPONENTIAL: return x > 0 ? -expm1(-x / part->a) : 0;
  case RG_DISTRIBUTION_PARETO: return x > part->b ? -expm1(part->a * log(part->b / x)) : 0;
  case RG_DISTRIBUTION_LOGNORMAL: return x > 0 ? rg_normal_cdf((log(x) - part->a) / part->b) : 0;
  case RG_DISTRIBUTION_POINT: break;
  }
  return x >= part->a ? 1 : 0;
}

/* P(c > x), without cancellation. */
static double part_tail(const RgDistributionPart *part, double x)
{
  switch (part->family) {
  case RG_DISTRIBUTION_NORMAL: return rg_normal_cdf((part->a - x) / part->b);
  case RG_DISTRIBUTION_CAUCHY: return atan2(1, (x - part->a) / part->b) / M_PI;
  case RG_DISTRIBUTION_STUDENT: return student_tail(part->a, x / part->b);
  case RG_DISTRIBUTION_BURR: return x > 0 ? exp(-part->b * log1p(pow(x, part->a))) : 1;
  case RG_DISTRIBUTION_HALFNORMAL: return x > 0 ? 2 * rg_normal_cdf(-x / part->a) : 1;
  case RG_DISTRIBUTION_EXPONENTIAL: return x > 0 ? exp(-x / part->a) : 1;
  case RG_DISTRIBUTION_PARETO: return x > part->b ? pow(part->b / x, part->a) : 1;
  case RG_DISTRIBUTION_LOGNORMAL: return x > 0 ? rg_normal_cdf((part->a - log(x)) / part->b) : 1;
  case RG_DISTRIBUTION_UNIFORM:
  case RG_DISTRIBUTION_POINT: break;
  }
  return 1 - part_cdf(part, x);
}

static double part_density(const RgDistributionPart *part, double x)
{
  const double a = part->a, b = part->b, z = (x - a) / b;

  switch (part->family) {
  case RG_DISTRIBUTION_NORMAL: return rg_normal_pdf(z) / b;
  case RG_DISTRIBUTION_UNIFORM: return x >= a && x <= b ? 1 / (b - a) : 0;
  case RG_DISTRIBUTION_CAUCHY: return 1 / (M_PI * b * (1 + z * z));
  case RG_DISTRIBUTION_STUDENT: return gsl_ran_tdist_pdf(x / b, a) / b;
  case RG_DISTRIBUTION_BURR:
    return x > 0 ? a * b * pow(x, a - 1) * exp(-(b + 1) * log1p(pow(x, a))) : 0;
  case RG_DISTRIBUTION_HALFNORMAL: return x >= 0 ? 2 * rg_normal_pdf(x / a) / a : 0;
  case RG_DISTRIBUTION_EXPONENTIAL: return x >= 0 ? exp(-x / a) / a : 0;
  case RG_DISTRIBUTION_PARETO: return x >= b ? a / x * pow(b / x, a) : 0;
  case RG_DISTRIBUTION_LOGNORMAL: return x > 0 ? rg_normal_pdf((log(x) - a) / b) / (x * b) : 0;
  case RG_DISTRIBUTION_POINT: break;
  }
  return 0;
}

/* Quantile at p; q = 1 - p is given too, so that the upper tail keeps its digits. */
static double part_quantile(const RgDistributionPart *part, double p, double q)
{
  const double a = part->a, b = part->b;

  switch (part->family) {
  case RG_DISTRIBUTION_NORMAL:
    return p < 0.5 ? a + b * rg_normal_quantile(p) : a - b * rg_normal_quantile(q);
  case RG_DISTRIBUTION_UNIFORM: return a + p * (b - a);
  case RG_DISTRIBUTION_CAUCHY: return p < 0.5 ? a - b / tan(M_PI * p) : a + b / tan(M_PI * q);
  case RG_DISTRIBUTION_STUDENT: return b * student_quantile(a, p, q);
  case RG_DISTRIBUTION_BURR: return pow(expm1(-log(q) / b), 1 / a);
  case RG_DISTRIBUTION_HALFNORMAL: return -a * rg_normal_quantile(q / 2);
  case RG_DISTRIBUTION_EXPONENTIAL: return p < 0.5 ? -a * log1p(-p) : -a * log(q);
  case RG_DISTRIBUTION_PARETO: return b * pow(q, -1 / a);
  case RG_DISTRIBUTION_LOGNORMAL:
    return exp(p < 0.5 ? a + b * rg_normal_quantile(p) : a - b * rg_normal_quantile(q));
  case RG_DISTRIBUTION_POINT: break;
  }
  return a;
}

static double clipped(const RgDistributionPart *part, double x)
{
  return fmin(fmax(x, part->lower), part->upper);
}

/* ---- life ------------------------------------------------------------------------------------ */

PetscErrorCode rg_distribution_copy(const RgDistribution *from, RgDistribution *to)
{
  to->n = from->n;
  PetscCall(PetscMalloc1(from->n, &to->parts));
  return PetscArraycpy(to->parts, from->parts, from->n);
}

PetscErrorCode rg_distribution_destroy(RgDistribution *distribution)
{
  PetscCall(PetscFree(distribution->parts));
  *distribution = (RgDistribution){0};
  return 0;
}

void rg_distribution_clip(RgDistribution *distribution, double lower, double upper)
{
  for (int i = 0; i < distribution->n; i++) {
    RgDistributionPart *part = &distribution->parts[i];
    part->lower = fmin(fmax(part->lower, lower), upper);
    part->upper = fmin(fmax(part->upper, lower), upper);
  }
}

bool rg_distribution_shift(RgDistribution *distribution, double shift)
{
  for (int i = 0; i < distribution->n; i++) {
    RgDistributionPart *part = &distribution->parts[i];
    switch (part->family) {
    case RG_DISTRIBUTION_UNIFORM: part->b += shift; /* fall through */
    case RG_DISTRIBUTION_NORMAL:
    case RG_DISTRIBUTION_CAUCHY:
    case RG_DISTRIBUTION_POINT: part->a += shift; break;
    case RG_DISTRIBUTION_STUDENT:
    case RG_DISTRIBUTION_BURR:
    case RG_DISTRIBUTION_HALFNORMAL:
    case RG_DISTRIBUTION_EXPONENTIAL:
    case RG_DISTRIBUTION_PARETO:
    case RG_DISTRIBUTION_LOGNORMAL: return false;
    }
  }
  return true;
}

/* ---- the law --------------------------------------------------------------------------------- */

double rg_distribution_sample(const RgDistribution *distribution, RgRandom *random)
{
  double u = rg_random_uniform(random), p = rg_random_uniform(random);
  int i = 0;

  for (; i < distribution->n - 1 && u >= distribution->parts[i].weight; i++)
    u -= distribution->parts[i].weight;
  return clipped(&distribution->parts[i], part_quantile(&distribution->parts[i], p, 1 - p));
}

double rg_distribution_cdf(const RgDistribution *distribution, double x)
{
  double sum = 0;

  for (int i = 0; i < distribution->n; i++) {
    const RgDistributionPart *part = &distribution->parts[i];
    if (x >= part->upper) sum += part->weight;
    else if (x >= part->lower) sum += part->weight * part_cdf(part, x);
  }
  return fmin(sum, 1);
}

double rg_distribution_density(const RgDistribution *distribution, double x)
{
  double sum = 0;

  for (int i = 0; i < distribution->n; i++) {
    const RgDistributionPart *part = &distribution->parts[i];
    if (x > part->lower && x < part->upper) sum += part->weight * part_density(part, x);
  }
  return sum;
}

/* A part clipped at a bound has all moments there. */
static bool tails_are_light(const RgDistributionPart *part, double below, double above)
{
  const double least = isinf(part->lower) ? below : 0, most = isinf(part->upper) ? above : 0;

  switch (part->family) {
  case RG_DISTRIBUTION_CAUCHY: return least < 1 && most < 1;
  case RG_DISTRIBUTION_STUDENT: return least < part->a && most < part->a;
  case RG_DISTRIBUTION_BURR: return most < part->a * part->b;
  case RG_DISTRIBUTION_PARETO: return most < part->a;
  case RG_DISTRIBUTION_NORMAL:
  case RG_DISTRIBUTION_UNIFORM:
  case RG_DISTRIBUTION_HALFNORMAL:
  case RG_DISTRIBUTION_EXPONENTIAL:
  case RG_DISTRIBUTION_LOGNORMAL:
  case RG_DISTRIBUTION_POINT: break;
  }
  return true;
}

bool rg_distribution_has_moments(const RgDistribution *distribution, double below, double above)
{
  bool light = true;

  for (int i = 0; i < distribution->n; i++)
    light = light && tails_are_light(&distribution->parts[i], below, above);
  return light;
}

double rg_distribution_quantile(const RgDistribution *distribution, double p)
{
  double low = INFINITY, high = -INFINITY;

  for (int i = 0; i < distribution->n; i++) {
    const RgDistributionPart *part = &distribution->parts[i];
    const double x = clipped(part, part_quantile(part, p, 1 - p));
    low = fmin(low, x);
    high = fmax(high, x);
  }
  if (rg_distribution_cdf(distribution, low) >= p) return low;
  while (true) { /* cdf(low) < p <= cdf(high) */
    const double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) return high;
    if (rg_distribution_cdf(distribution, middle) >= p) high = middle;
    else low = middle;
  }
}

/* ---- shortfall ------------------------------------------------------------------------------- */

#define SHORTFALL_TOLERANCE 1e-14 /* absolute and relative; rounding may prevent it */
enum { INTERVALS = 2000 };

static double cdf_at(double x, void *part)
{
  return part_cdf(part, x);
}

/* int_from^to P(c <= s) ds of an unclipped part. Between its ends the integrand is smooth. */
static void integrate(RgDistributionPart *part, double from, double to,
                      gsl_integration_workspace *work, double *value, double *error)
{
  const double low = fmax(from, part_quantile(part, LEAST, 1));
  const double high = fmin(to, part_quantile(part, 1, LEAST));
  const double centre = fmin(fmax(part_quantile(part, 0.5, 0.5), low), high);
  const double ends[] = {low, centre, high};
  gsl_function cdf = {cdf_at, part};

  *value = fmax(to - fmax(high, from), 0); /* beyond its upper end P is 1 */
  *error = 0;
  for (int k = 0; k < 2; k++) {
    double term, uncertainty;
    if (!(ends[k + 1] > ends[k])) continue;
    (void)gsl_integration_qags(&cdf, ends[k], ends[k + 1], SHORTFALL_TOLERANCE * (high - low),
                               SHORTFALL_TOLERANCE, INTERVALS, work, &term, &uncertainty);
    *value += term;
    *error += uncertainty;
  }
}

PetscErrorCode rg_distribution_shortfall(const RgDistribution *distribution, double x,
                                         double *shortfall, double *error)
{
  gsl_error_handler_t *handler = gsl_set_error_handler_off(); /* the estimate says it */
  gsl_integration_workspace *work = gsl_integration_workspace_alloc(INTERVALS);

  PetscCheck(work, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a quadrature");
  *shortfall = *error = 0;
  for (int i = 0; i < distribution->n; i++) {
    RgDistributionPart *part = &distribution->parts[i];
    double term = 0, uncertainty = 0;
    if (part->family == RG_DISTRIBUTION_POINT) term = fmax(x - clipped(part, part->a), 0);
    else if (x > part->upper)
      integrate(part, part->lower, part->upper, work, &term, &uncertainty), term += x - part->upper;
    else if (x > part->lower) integrate(part, part->lower, x, work, &term, &uncertainty);
    *shortfall += part->weight * term;
    *error += part->weight * uncertainty;
  }
  gsl_integration_workspace_free(work);
  (void)gsl_set_error_handler(handler);
  return 0;
}

/* ---- quadrature ------------------------------------------------------------------------------ */

enum { NODES = 12 };

/* Positive half of the 12-point Gauss-Legendre rule on [-1, 1]. */
static const double legendre_node[NODES / 2] = {
  0.1252334085114689154724414, 0.3678314989981801937526915, 0.5873179542866174472967024,
  0.7699026741943046870368938, 0.9041172563704748566784659, 0.9815606342467192506905491};
static const double legendre_weight[NODES / 2] = {
  0.2491470458134027850005624, 0.2334925365383548087608499, 0.2031674267230659217490645,
  0.1600783285433462263346525, 0.1069393259953184309602547, 0.0471753363865118271946160};

static void add_node(RgQuadrature *rule, double node, double weight)
{
  if (!(weight >= LEAST)) return;
  rule->node[rule->n] = node;
  rule->weight[rule->n++] = weight;
}

/* Whether a part is cut into panels of its logarithm. */
static bool is_logarithmic(const RgDistributionPart *part)
{
  return part->family == RG_DISTRIBUTION_PARETO || part->family == RG_DISTRIBUTION_LOGNORMAL;
}

/* The coordinate in which a part is cut into panels: the angle for Cauchy and Student. */
static double to_panel(const RgDistributionPart *part, double x)
{
  if (is_logarithmic(part)) return x > 0 ? log(x) : -INFINITY;
  if (part->family == RG_DISTRIBUTION_STUDENT) return atan(x / part->b);
  return part->family == RG_DISTRIBUTION_CAUCHY ? atan((x - part->a) / part->b) : x;
}

static void panel(const RgDistributionPart *part, double from, double to, RgQuadrature *rule)
{
  const double centre = 0.5 * (from + to), half = 0.5 * (to - from);

  if (!(half > 0)) return;
  for (int k = 0; k < NODES; k++) {
    const int j = k < NODES / 2 ? NODES / 2 - 1 - k : k - NODES / 2;
    const double v = centre + (k < NODES / 2 ? -half : half) * legendre_node[j];
    const double weight = part->weight * (half * legendre_weight[j]);
    if (part->family == RG_DISTRIBUTION_CAUCHY)
      add_node(rule, part->a + part->b * tan(v), weight / M_PI);
    else if (part->family == RG_DISTRIBUTION_STUDENT)
      add_node(rule, part->b * tan(v),
               weight * part->b * part_density(part, part->b * tan(v)) / pow(cos(v), 2));
    else if (is_logarithmic(part))
      add_node(rule, exp(v), weight * exp(v) * part_density(part, exp(v)));
    else add_node(rule, v, weight * part_density(part, v));
  }
}

/* Panels of equal width in that coordinate, cut again at the breaks and at the part's centre. */
static void part_panels(const RgDistributionPart *part, int panels, int n_breaks,
                        const double *breaks, RgQuadrature *rule)
{
  const double low = to_panel(part, clipped(part, part_quantile(part, LEAST, 1)));
  const double high = to_panel(part, clipped(part, part_quantile(part, 1, LEAST)));
  const double width = (high - low) / panels;
  double from = low;

  for (int k = 1; k <= panels; k++) {
    const double to = k < panels ? low + k * width : high;
    for (int b = 0; b < n_breaks; b++) {
      const double cut = to_panel(part, breaks[b]);
      if (!(cut > from && cut < to)) continue;
      panel(part, from, cut, rule);
      from = cut;
    }
    panel(part, from, to, rule);
    from = to;
  }
}

PetscErrorCode rg_distribution_quadrature(const RgDistribution *distribution, int panels,
                                          int n_breaks, const double *breaks, RgQuadrature *rule)
{
  const size_t most = (size_t)distribution->n * ((size_t)(panels + n_breaks) * NODES + 2);

  PetscCheck(panels >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%d panels", panels);
  rule->n = 0;
  PetscCall(PetscMalloc2(most, &rule->node, most, &rule->weight));
  for (int i = 0; i < distribution->n; i++) {
    const RgDistributionPart *part = &distribution->parts[i];
    if (part->family == RG_DISTRIBUTION_POINT || part->lower == part->upper) {
      add_node(rule, clipped(part, part->a), part->weight);
      continue;
    }
    part_panels(part, panels, n_breaks, breaks, rule);
    if (isfinite(part->lower))
      add_node(rule, part->lower, part->weight * part_cdf(part, part->lower));
    if (isfinite(part->upper))
      add_node(rule, part->upper, part->weight * part_tail(part, part->upper));
  }
  return 0;
}

PetscErrorCode rg_quadrature_uniform(double lower, double upper, int panels, RgQuadrature *rule)
{
  RgDistributionPart part = {RG_DISTRIBUTION_UNIFORM, lower, upper, 1, -INFINITY, INFINITY};
  const RgDistribution uniform = {1, &part};

  return rg_distribution_quadrature(&uniform, panels, 0, NULL, rule);
}

PetscErrorCode rg_quadrature_destroy(RgQuadrature *rule)
{
  PetscCall(PetscFree2(rule->node, rule->weight));
  *rule = (RgQuadrature){0};
  return 0;
}
