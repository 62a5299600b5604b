/* Laws as expressions: a recursive-descent parser. */
#include "maths/distribution.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum { MAX_NAME = 16, MAX_DEPTH = 16, MAX_PARTS = 1000, MIXTURE = RG_DISTRIBUTION_POINT + 1, CLIP };

const RgDistributionInfo rg_distribution_infos[] = {
  {"normal(mean, deviation)", "deviation > 0"},
  {"uniform(lower, upper)", "lower < upper"},
  {"cauchy(location, scale)", "scale > 0; it has no mean: clip it, or the problem clips"},
  {"burr(alpha, beta)", "Burr XII, P(c > t) = (1 + t^alpha)^-beta for t >= 0; alpha, beta > 0"},
  {"halfnormal(scale)", "absolute value of a normal law of mean 0, deviation `scale` > 0"},
  {"exponential(mean)", "P(c > t) = exp(-t/mean) for t >= 0; mean > 0"},
  {"pareto(power, lower)", "P(c > t) = (lower/t)^power for t >= lower; power, lower > 0"},
  {"lognormal(mu, sigma)", "its logarithm is normal(mu, sigma); sigma > 0"},
  {"point(value)", "one value with certainty"},
  {"mixture(LAW, LAW, ..)", "equal weights; or mixture(w1 * LAW, ..), divided by their sum"},
  {"clip(LAW, lower, upper)", "values beyond a bound become the bound"},
  {0}};

static const char *const names[] = {"normal",     "uniform",     "cauchy", "burr",
                                    "halfnormal", "exponential", "pareto", "lognormal",
                                    "point",      "mixture",     "clip",   NULL};

static PetscErrorCode finite_number(RgExpression *parser, double *value)
{
  const char *start, *end;

  PetscFunctionBeginUser;
  *value = 0;
  if (rg_expression_failed(parser)) PetscFunctionReturn(0);
  rg_expression_next(parser);
  start = parser->at;
  if (rg_number_read(start, &end, value) != RG_NUMBER_READ || !isfinite(*value)) {
    PetscCall(
      rg_expression_mistake(parser, start, "a finite number expected, found '%.20s'", start));
    PetscFunctionReturn(0);
  }
  parser->at = end;
  PetscFunctionReturn(0);
}

/* A finite number, or a quotient of two (weights such as 1/8). */
static PetscErrorCode number(RgExpression *parser, double *value)
{
  const char *start = (rg_expression_next(parser), parser->at);
  double divisor;

  PetscFunctionBeginUser;
  PetscCall(finite_number(parser, value));
  if (!rg_expression_accept(parser, '/')) PetscFunctionReturn(0);
  PetscCall(finite_number(parser, &divisor));
  *value /= divisor;
  if (!rg_expression_failed(parser) && !isfinite(*value))
    PetscCall(rg_expression_mistake(parser, start, "'%.20s' is no finite number", start));
  PetscFunctionReturn(0);
}

/* The parameters of a law that must be positive, by their names; NULL: any number. */
static const struct {
  const char *a, *b;
} positive[] = {
  [RG_DISTRIBUTION_NORMAL] = {NULL, "deviation"}, [RG_DISTRIBUTION_UNIFORM] = {NULL, NULL},
  [RG_DISTRIBUTION_CAUCHY] = {NULL, "scale"},     [RG_DISTRIBUTION_BURR] = {"alpha", "beta"},
  [RG_DISTRIBUTION_HALFNORMAL] = {"scale", NULL}, [RG_DISTRIBUTION_EXPONENTIAL] = {"mean", NULL},
  [RG_DISTRIBUTION_PARETO] = {"power", "lower"},  [RG_DISTRIBUTION_LOGNORMAL] = {NULL, "sigma"},
  [RG_DISTRIBUTION_POINT] = {NULL, NULL},
};

static bool has_one_parameter(int family)
{
  return family == RG_DISTRIBUTION_POINT || family == RG_DISTRIBUTION_HALFNORMAL ||
         family == RG_DISTRIBUTION_EXPONENTIAL;
}

static PetscErrorCode add_part(RgExpression *parser, RgDistribution *out, const char *start,
                               int family, double a, double b)
{
  PetscFunctionBeginUser;
  if (rg_expression_failed(parser)) PetscFunctionReturn(0);
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
  if (rg_expression_failed(parser)) PetscFunctionReturn(0);
  out->parts[out->n++] = (RgDistributionPart){.family = (RgDistributionFamily)family,
                                              .a = a,
                                              .b = b,
                                              .weight = 1,
                                              .lower = -INFINITY,
                                              .upper = INFINITY};
  PetscFunctionReturn(0);
}

static PetscErrorCode law(RgExpression *parser, RgDistribution *out);

/* After "mixture(". */
static PetscErrorCode mixture(RgExpression *parser, RgDistribution *out)
{
  const int first = out->n;
  double total = 0;
  int weighted = -1;

  PetscFunctionBeginUser;
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
  PetscFunctionReturn(0);
}

/* After "clip(". */
static PetscErrorCode clip(RgExpression *parser, RgDistribution *out)
{
  const int first = out->n;
  const char *start = parser->at;
  double lower, upper;

  PetscFunctionBeginUser;
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
  PetscFunctionReturn(0);
}

static int find(const char *name)
{
  for (int i = 0; names[i]; i++)
    if (!strcmp(names[i], name)) return i;
  return -1;
}

static PetscErrorCode name_of(RgExpression *parser, int *found)
{
  char name[MAX_NAME] = "";
  const char *start = (rg_expression_next(parser), parser->at), *nearest;
  RgText known = {0};
  int length = 0;

  PetscFunctionBeginUser;
  while (isalpha((unsigned char)start[length])) length++;
  memcpy(name, start, (size_t)PetscMin(length, MAX_NAME - 1));
  *found = find(name);
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
  PetscFunctionReturn(0);
}

static PetscErrorCode law(RgExpression *parser, RgDistribution *out)
{
  const char *start = (rg_expression_next(parser), parser->at);
  int family;
  double a, b = 0;

  PetscFunctionBeginUser;
  if (rg_expression_failed(parser)) PetscFunctionReturn(0);
  if (++parser->depth > MAX_DEPTH)
    PetscCall(rg_expression_mistake(parser, start, "nested more than %d deep", MAX_DEPTH));
  PetscCall(name_of(parser, &family));
  PetscCall(rg_expression_expect(parser, '('));
  if (rg_expression_failed(parser)) PetscFunctionReturn(0);
  if (family == MIXTURE) {
    PetscCall(mixture(parser, out));
  } else if (family == CLIP) {
    PetscCall(clip(parser, out));
  } else {
    PetscCall(number(parser, &a));
    if (!has_one_parameter(family)) {
      PetscCall(rg_expression_expect(parser, ','));
      PetscCall(number(parser, &b));
    }
    PetscCall(add_part(parser, out, start, family, a, b));
  }
  PetscCall(rg_expression_expect(parser, ')'));
  parser->depth--;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distribution_read(RgExpression *expression, RgDistribution *distribution)
{
  PetscFunctionBeginUser;
  distribution->n = 0;
  PetscCall(PetscMalloc1(MAX_PARTS, &distribution->parts));
  PetscCall(law(expression, distribution));
  if (rg_expression_failed(expression)) distribution->n = 0;
  PetscCall(PetscRealloc((size_t)PetscMax(distribution->n, 1) * sizeof(*distribution->parts),
                         &distribution->parts));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distribution_parse(const char *text, RgDistribution *distribution,
                                     RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};

  PetscFunctionBeginUser;
  PetscCall(rg_distribution_read(&parser, distribution));
  PetscCall(rg_expression_expect_end(&parser, "law"));
  if (rg_expression_failed(&parser)) distribution->n = 0;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distribution_create_all(int n, char *const *texts, int dim, RgDistribution *laws)
{
  RgText mistake = {0};

  PetscFunctionBeginUser;
  for (int j = 0; j < dim; j++) {
    const char *text = texts[n > 1 ? j : 0];
    PetscCall(rg_distribution_parse(text, &laws[j], &mistake));
    PetscCheck(!mistake.data, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "law \"%s\": %s", text,
               mistake.data);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distribution_check(const char *name, const char *text, RgPlace place,
                                     RgDiagnostics *diagnostics)
{
  RgDistribution distribution = {0};
  RgText mistake = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_distribution_parse(text, &distribution, &mistake));
  if (mistake.data)
    rg_diagnostics_add(diagnostics, place, "%s \"%s\": %s", name, text, mistake.data);
  PetscCall(rg_text_clear(&mistake));
  PetscCall(rg_distribution_destroy(&distribution));
  PetscFunctionReturn(0);
}
