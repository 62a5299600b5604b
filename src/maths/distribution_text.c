/* Laws as expressions: a recursive-descent parser, and the canonical form. */
#include "maths/distribution.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 16, MAX_DEPTH = 16, MAX_PARTS = 1000, MIXTURE = RG_DISTRIBUTION_POINT + 1, CLIP };

const RgDistributionInfo rg_distribution_infos[] = {
  {"normal(mean, deviation)", "deviation > 0"},
  {"uniform(lower, upper)", "lower < upper"},
  {"cauchy(location, scale)", "scale > 0; it has no mean: clip it, or the problem clips"},
  {"burr(alpha, beta)", "Burr XII, P(c > t) = (1 + t^alpha)^-beta for t >= 0; alpha, beta > 0"},
  {"point(value)", "one value with certainty"},
  {"mixture(LAW, LAW, ..)", "equal weights; or mixture(w1 * LAW, ..), divided by their sum"},
  {"clip(LAW, lower, upper)", "values beyond a bound become the bound"},
  {0}};

static const char *const names[] = {"normal", "uniform", "cauchy", "burr",
                                    "point",  "mixture", "clip",   NULL};

typedef struct {
  const char *text, *at;
  int depth;
  RgText *mistake; /* of the caller; non-empty after the first mistake */
  RgDistribution *out;
} Parser;

static bool failed(const Parser *parser)
{
  return parser->mistake->data != NULL;
}

/* The first mistake counts. */
#define MISTAKE(parser, where, ...)                                                                \
  do {                                                                                             \
    if (!failed(parser)) {                                                                         \
      PetscCall(                                                                                   \
        rg_text_add((parser)->mistake, "column %d: ", (int)((where) - (parser)->text) + 1));       \
      PetscCall(rg_text_add((parser)->mistake, __VA_ARGS__));                                      \
    }                                                                                              \
  } while (0)

static char next(Parser *parser)
{
  while (isspace((unsigned char)*parser->at)) parser->at++;
  return *parser->at;
}

static bool accept(Parser *parser, char c)
{
  if (failed(parser) || next(parser) != c) return false;
  parser->at++;
  return true;
}

static PetscErrorCode expect(Parser *parser, char c)
{
  PetscFunctionBeginUser;
  if (accept(parser, c)) PetscFunctionReturn(0);
  if (next(parser)) MISTAKE(parser, parser->at, "'%c' expected before '%.20s'", c, parser->at);
  else MISTAKE(parser, parser->at, "'%c' expected at the end", c);
  PetscFunctionReturn(0);
}

/* A finite number, or a quotient of two (weights such as 1/8). */
static PetscErrorCode number(Parser *parser, double *value)
{
  const char *start;
  char *end;

  PetscFunctionBeginUser;
  *value = 0;
  if (failed(parser)) PetscFunctionReturn(0);
  next(parser);
  start = parser->at;
  *value = strtod(start, &end);
  if (end == start || !isfinite(*value)) {
    MISTAKE(parser, start, "a finite number expected, found '%.20s'", start);
    PetscFunctionReturn(0);
  }
  parser->at = end;
  if (accept(parser, '/')) {
    double divisor;
    PetscCall(number(parser, &divisor));
    if (!failed(parser) && divisor == 0) MISTAKE(parser, start, "division by zero");
    *value /= divisor;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode add_part(Parser *parser, const char *start, int family, double a, double b)
{
  RgDistribution *out = parser->out;

  PetscFunctionBeginUser;
  if (failed(parser)) PetscFunctionReturn(0);
  if ((family == RG_DISTRIBUTION_NORMAL || family == RG_DISTRIBUTION_CAUCHY) && !(b > 0))
    MISTAKE(parser, start, "%s needs a %s > 0, it is %g", names[family],
            family == RG_DISTRIBUTION_NORMAL ? "deviation" : "scale", b);
  if (family == RG_DISTRIBUTION_UNIFORM && !(a < b))
    MISTAKE(parser, start, "uniform needs lower < upper, they are %g and %g", a, b);
  if (family == RG_DISTRIBUTION_BURR && !(a > 0 && b > 0))
    MISTAKE(parser, start, "burr needs alpha > 0 and beta > 0, they are %g and %g", a, b);
  if (out->n == MAX_PARTS) MISTAKE(parser, start, "more than %d parts", MAX_PARTS);
  if (failed(parser)) PetscFunctionReturn(0);
  out->parts[out->n++] = (RgDistributionPart){.family = (RgDistributionFamily)family,
                                              .a = a,
                                              .b = b,
                                              .weight = 1,
                                              .lower = -INFINITY,
                                              .upper = INFINITY};
  PetscFunctionReturn(0);
}

static PetscErrorCode law(Parser *parser);

/* After "mixture(". */
static PetscErrorCode mixture(Parser *parser)
{
  const int first = parser->out->n;
  double total = 0;
  int weighted = -1;

  PetscFunctionBeginUser;
  do {
    const char *start = (next(parser), parser->at);
    const int part = parser->out->n;
    const bool has_weight = isdigit((unsigned char)*start) || strchr("+-.", *start);
    double weight = 1;
    if (*start && has_weight) {
      PetscCall(number(parser, &weight));
      PetscCall(expect(parser, '*'));
      if (!(weight > 0)) MISTAKE(parser, start, "a weight must be > 0, it is %g", weight);
    }
    if (weighted >= 0 && weighted != (int)has_weight)
      MISTAKE(parser, start, "either all parts of a mixture have a weight or none has");
    weighted = has_weight;
    PetscCall(law(parser));
    for (int i = part; i < parser->out->n; i++) parser->out->parts[i].weight *= weight;
    total += weight;
  } while (accept(parser, ','));
  for (int i = first; i < parser->out->n; i++) parser->out->parts[i].weight /= total;
  PetscFunctionReturn(0);
}

/* After "clip(". */
static PetscErrorCode clip(Parser *parser)
{
  const int first = parser->out->n;
  const char *start = parser->at;
  double lower, upper;

  PetscFunctionBeginUser;
  PetscCall(law(parser));
  PetscCall(expect(parser, ','));
  PetscCall(number(parser, &lower));
  PetscCall(expect(parser, ','));
  PetscCall(number(parser, &upper));
  if (!failed(parser) && !(lower < upper))
    MISTAKE(parser, start, "clip needs lower < upper, they are %g and %g", lower, upper);
  RgDistribution inner = {parser->out->n - first, parser->out->parts + first};
  rg_distribution_clip(&inner, lower, upper);
  PetscFunctionReturn(0);
}

static int find(const char *name)
{
  for (int i = 0; names[i]; i++)
    if (!strcmp(names[i], name)) return i;
  return -1;
}

static PetscErrorCode name_of(Parser *parser, int *found)
{
  char name[MAX_NAME] = "";
  const char *start = (next(parser), parser->at), *nearest;
  int length = 0;

  PetscFunctionBeginUser;
  while (isalpha((unsigned char)start[length])) length++;
  memcpy(name, start, (size_t)PetscMin(length, MAX_NAME - 1));
  *found = find(name);
  nearest = rg_text_nearest(name, names);
  if (!length) MISTAKE(parser, start, "a law expected, such as normal(0.5, 0.1)");
  else if (*found < 0)
    MISTAKE(parser, start,
            "unknown law '%s'%s%s%s; known: normal, uniform, cauchy, burr, point, "
            "mixture, clip",
            name, nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  parser->at += length;
  PetscFunctionReturn(0);
}

static PetscErrorCode law(Parser *parser)
{
  const char *start = (next(parser), parser->at);
  int family;
  double a, b = 0;

  PetscFunctionBeginUser;
  if (failed(parser)) PetscFunctionReturn(0);
  if (++parser->depth > MAX_DEPTH) MISTAKE(parser, start, "nested more than %d deep", MAX_DEPTH);
  PetscCall(name_of(parser, &family));
  PetscCall(expect(parser, '('));
  if (failed(parser)) PetscFunctionReturn(0);
  if (family == MIXTURE) {
    PetscCall(mixture(parser));
  } else if (family == CLIP) {
    PetscCall(clip(parser));
  } else {
    PetscCall(number(parser, &a));
    if (family != RG_DISTRIBUTION_POINT) {
      PetscCall(expect(parser, ','));
      PetscCall(number(parser, &b));
    }
    PetscCall(add_part(parser, start, family, a, b));
  }
  PetscCall(expect(parser, ')'));
  parser->depth--;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distribution_parse(const char *text, RgDistribution *distribution,
                                     RgText *mistake)
{
  Parser parser = {.text = text, .at = text, .mistake = mistake, .out = distribution};

  PetscFunctionBeginUser;
  distribution->n = 0;
  PetscCall(PetscMalloc1(MAX_PARTS, &distribution->parts));
  PetscCall(law(&parser));
  if (!failed(&parser) && next(&parser))
    MISTAKE(&parser, parser.at, "nothing expected after the law, found '%.20s'", parser.at);
  if (failed(&parser)) distribution->n = 0;
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

static PetscErrorCode print_part(const RgDistributionPart *part, RgText *text)
{
  const bool is_clipped = isfinite(part->lower) || isfinite(part->upper);

  PetscFunctionBeginUser;
  if (is_clipped) PetscCall(rg_text_add(text, "clip("));
  PetscCall(rg_text_add(text, "%s(", names[part->family]));
  PetscCall(rg_text_add_real(text, part->a));
  if (part->family != RG_DISTRIBUTION_POINT) {
    PetscCall(rg_text_add(text, ","));
    PetscCall(rg_text_add_real(text, part->b));
  }
  PetscCall(rg_text_add(text, ")"));
  if (is_clipped) {
    PetscCall(rg_text_add(text, ","));
    PetscCall(rg_text_add_real(text, part->lower));
    PetscCall(rg_text_add(text, ","));
    PetscCall(rg_text_add_real(text, part->upper));
    PetscCall(rg_text_add(text, ")"));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distribution_print(const RgDistribution *distribution, RgText *text)
{
  PetscFunctionBeginUser;
  if (distribution->n > 1) PetscCall(rg_text_add(text, "mixture("));
  for (int i = 0; i < distribution->n; i++) {
    if (i) PetscCall(rg_text_add(text, ","));
    if (distribution->n > 1) {
      PetscCall(rg_text_add_real(text, distribution->parts[i].weight));
      PetscCall(rg_text_add(text, "*"));
    }
    PetscCall(print_part(&distribution->parts[i], text));
  }
  if (distribution->n > 1) PetscCall(rg_text_add(text, ")"));
  PetscFunctionReturn(0);
}
