/* Laws that drift with the number of the evaluation: a parser, and the law at t. */
#include "maths/law.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "regatta/params.h"

enum { MAX_LAWS = 1000, MAX_NAME = 16 };

const RgDistributionInfo rg_law_infos[] = {
  {"linear(LAW, t, LAW, ..)",
   "parameters on straight lines from the first law at evaluation 1 to the law behind t at "
   "evaluation t"},
  {"jump(LAW, t, LAW, ..)", "the law behind t from evaluation t on"},
  {"table(LAW, LAW, ..)", "a law for each of the first evaluations, the last one from then on"},
  {"periodic(LAW, T, LAW)", "parameters swing between two laws with period T, a cosine"},
  {"walk(LAW, step, reach, k)",
   "the law moved by a random walk of normal steps, reflected at -reach and reach; path number k"},
  {0}};

static const char *const names[] = {[RG_DRIFT_NONE] = "",
                                    [RG_DRIFT_LINEAR] = "linear",
                                    [RG_DRIFT_JUMP] = "jump",
                                    [RG_DRIFT_TABLE] = "table",
                                    [RG_DRIFT_PERIODIC] = "periodic",
                                    [RG_DRIFT_WALK] = "walk",
                                    NULL};

/* ---- parser ---------------------------------------------------------------------------------- */

/* The drift that the text names; reads its name. */
static RgDrift drift_of(RgExpression *parser)
{
  size_t length = 0;

  rg_expression_next(parser);
  while (isalpha((unsigned char)parser->at[length])) length++;
  for (int k = 1; names[k]; k++)
    if (length == strlen(names[k]) && !strncmp(parser->at, names[k], length)) {
      parser->at += length;
      return (RgDrift)k;
    }
  return RG_DRIFT_NONE;
}

static PetscErrorCode add_law(RgExpression *parser, RgLaw *law, int from)
{
  if (rg_expression_failed(parser)) return 0;
  if (law->n == MAX_LAWS)
    PetscCall(rg_expression_mistake(parser, parser->at, "more than %d laws", MAX_LAWS));
  if (rg_expression_failed(parser)) return 0;
  law->from[law->n] = from;
  return rg_distribution_read(parser, &law->laws[law->n++]);
}

/* A number behind a comma. */
static PetscErrorCode number(RgExpression *parser, double least, const char *what, double *value)
{
  const char *start, *end;

  PetscCall(rg_expression_expect(parser, ','));
  if (rg_expression_failed(parser)) return 0;
  rg_expression_next(parser);
  start = parser->at;
  const RgNumber found = rg_number_read(start, &end, value);
  if (found != RG_NUMBER_READ || !(*value >= least) || !(*value <= 1e9))
    return rg_expression_mistake(parser, start,
                                 "%s expected, at least %g and at most 1e9, "
                                 "found '%.20s'",
                                 what, least, start);
  parser->at = end;
  return 0;
}

static PetscErrorCode whole(RgExpression *parser, int least, const char *what, int *value)
{
  const char *start = parser->at;
  double read = 0;

  PetscCall(number(parser, least, what, &read));
  if (!rg_expression_failed(parser) && read != floor(read))
    PetscCall(rg_expression_mistake(parser, start, "%s is a whole number, not %g", what, read));
  *value = (int)read;
  return 0;
}

/* Whether parameters can move from one law to the other. */
static bool have_same_form(const RgDistribution *a, const RgDistribution *b)
{
  bool same = a->n == b->n;

  for (int i = 0; same && i < a->n; i++) {
    const RgDistributionPart *p = &a->parts[i], *q = &b->parts[i];
    same = p->family == q->family && isfinite(p->lower) == isfinite(q->lower) &&
           isfinite(p->upper) == isfinite(q->upper);
  }
  return same;
}

/* Check that the laws suit the drift. */
static PetscErrorCode check_form(RgExpression *parser, const RgLaw *law)
{
  const bool moves = law->drift == RG_DRIFT_LINEAR || law->drift == RG_DRIFT_PERIODIC;
  RgDistribution moved = {0};

  for (int k = 1; k < law->n && moves; k++)
    if (!have_same_form(&law->laws[0], &law->laws[k]))
      PetscCall(rg_expression_mistake(parser, parser->text,
                                      "the laws between which parameters move need the same form"));
  if (law->drift != RG_DRIFT_WALK) return 0;
  PetscCall(rg_distribution_copy(&law->laws[0], &moved));
  if (!rg_distribution_shift(&moved, 0))
    PetscCall(rg_expression_mistake(parser, parser->text,
                                    "a walk moves normal, uniform, cauchy and point laws alone"));
  return rg_distribution_destroy(&moved);
}

/* The arguments of a drift, in parentheses. */
static PetscErrorCode arguments(RgExpression *parser, RgLaw *law)
{
  const bool swings = law->drift == RG_DRIFT_PERIODIC;
  int t;

  PetscCall(rg_expression_expect(parser, '('));
  PetscCall(add_law(parser, law, 1));
  if (law->drift == RG_DRIFT_WALK) {
    PetscCall(number(parser, 0, "the deviation of a step", &law->step));
    PetscCall(number(parser, RG_POSITIVE, "the reach of the walk", &law->reach));
    PetscCall(whole(parser, 0, "the number of the path", &law->path));
  }
  while (law->drift == RG_DRIFT_TABLE && !rg_expression_failed(parser)) {
    PetscCall(rg_expression_expect(parser, ','));
    PetscCall(add_law(parser, law, law->n + 1));
    if (rg_expression_next(parser) != ',') break;
  }
  const bool has_times = law->drift != RG_DRIFT_WALK && law->drift != RG_DRIFT_TABLE;
  while (has_times && !rg_expression_failed(parser)) {
    PetscCall(whole(parser, swings ? 2 : law->from[law->n - 1] + 1,
                    swings ? "the period" : "the number of a later evaluation", &t));
    PetscCall(rg_expression_expect(parser, ','));
    PetscCall(add_law(parser, law, t));
    if (swings || rg_expression_next(parser) != ',') break;
  }
  PetscCall(rg_expression_expect(parser, ')'));
  if (!rg_expression_failed(parser)) PetscCall(check_form(parser, law));
  return 0;
}

PetscErrorCode rg_law_parse(const char *text, RgLaw *law, RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};

  *law = (RgLaw){0};
  PetscCall(PetscCalloc1(MAX_LAWS, &law->laws));
  PetscCall(PetscMalloc1(MAX_LAWS, &law->from));
  law->drift = drift_of(&parser);
  if (law->drift == RG_DRIFT_NONE) {
    /* A misspelt drift? Names of distributions are far from those of drifts. */
    char word[MAX_NAME] = "";
    for (size_t i = 0; i + 1 < MAX_NAME && isalpha((unsigned char)parser.at[i]); i++)
      word[i] = parser.at[i];
    const char *nearest = word[0] ? rg_text_nearest(word, names + 1) : NULL;
    if (nearest)
      PetscCall(rg_expression_mistake(&parser, parser.at, "unknown law '%s', did you mean '%s'?",
                                      word, nearest));
  }
  if (law->drift == RG_DRIFT_NONE) PetscCall(add_law(&parser, law, 1));
  else PetscCall(arguments(&parser, law));
  PetscCall(rg_expression_expect_end(&parser, "law"));
  if (rg_expression_failed(&parser)) PetscCall(rg_law_destroy(law));
  return 0;
}

PetscErrorCode rg_law_check(const char *name, const char *text, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  RgText mistake = {0};
  RgLaw law;

  PetscCall(rg_law_parse(text, &law, &mistake));
  if (mistake.data)
    rg_diagnostics_add(diagnostics, place, "%s \"%s\": %s", name, text, mistake.data);
  PetscCall(rg_text_clear(&mistake));
  return rg_law_destroy(&law);
}

PetscErrorCode rg_law_create_all(int n, char *const *texts, int dim, RgLaw *laws)
{
  RgText mistake = {0};

  for (int j = 0; j < dim; j++) {
    const char *text = texts[n > 1 ? j : 0];
    PetscCall(rg_law_parse(text, &laws[j], &mistake));
    PetscCheck(!mistake.data, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "law \"%s\": %s", text,
               mistake.data);
  }
  return 0;
}

PetscErrorCode rg_law_destroy(RgLaw *law)
{
  for (int k = 0; k < law->n; k++) PetscCall(rg_distribution_destroy(&law->laws[k]));
  PetscCall(RG_FREE(&law->laws, &law->from));
  *law = (RgLaw){0};
  return 0;
}

/* ---- the law at t ---------------------------------------------------------------------------- */

static double between(double a, double b, double share)
{
  return a == b ? a : a + share * (b - a);
}

/* Move the parameters of a law towards those of another by `share` of the way. */
static void blend(RgDistribution *law, const RgDistribution *other, double share)
{
  for (int i = 0; i < law->n; i++) {
    RgDistributionPart *p = &law->parts[i];
    const RgDistributionPart *q = &other->parts[i];
    p->a = between(p->a, q->a, share);
    p->b = between(p->b, q->b, share);
    p->weight = between(p->weight, q->weight, share);
    p->lower = between(p->lower, q->lower, share);
    p->upper = between(p->upper, q->upper, share);
  }
}

/* Position of the walk at t, folded into [-reach, reach]. */
static double walk(const RgLaw *law, int t)
{
  const RgStream stream = rg_stream(0, "walk", (uint64_t)law->path, "law", 0);
  const double period = 4 * law->reach;
  double sum = 0;

  for (int s = 2; s <= t; s++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)s);
    sum += law->step * rg_random_normal(&random);
  }
  const double folded = sum + law->reach - period * floor((sum + law->reach) / period);
  return (folded > 2 * law->reach ? period - folded : folded) - law->reach;
}

PetscErrorCode rg_law_at(const RgLaw *law, int t, RgDistribution *distribution)
{
  int k = 0;

  while (law->drift != RG_DRIFT_PERIODIC && k + 1 < law->n && law->from[k + 1] <= t) k++;
  PetscCall(rg_distribution_copy(&law->laws[k], distribution));
  switch (law->drift) {
  case RG_DRIFT_NONE:
  case RG_DRIFT_JUMP:
  case RG_DRIFT_TABLE: break;
  case RG_DRIFT_LINEAR:
    if (k + 1 < law->n)
      blend(distribution, &law->laws[k + 1],
            (double)(t - law->from[k]) / (law->from[k + 1] - law->from[k]));
    break;
  case RG_DRIFT_PERIODIC:
    blend(distribution, &law->laws[1],
          (1 - cos(2 * M_PI * ((t - 1) % law->from[1]) / law->from[1])) / 2);
    break;
  case RG_DRIFT_WALK: rg_distribution_shift(distribution, walk(law, t)); break;
  }
  return 0;
}

static int epoch_of(const RgLaw *law, int t)
{
  const int last = law->from[law->n - 1];
  int epoch = 1;

  switch (law->drift) {
  case RG_DRIFT_NONE: return 0;
  case RG_DRIFT_LINEAR:
  case RG_DRIFT_TABLE: return PetscMin(t, last);
  case RG_DRIFT_JUMP:
    for (int k = 1; k < law->n && law->from[k] <= t; k++) epoch = law->from[k];
    return epoch;
  case RG_DRIFT_PERIODIC: return (t - 1) % last + 1;
  case RG_DRIFT_WALK: return t;
  }
  return t;
}

int rg_law_epoch(int dim, const RgLaw *laws, int t)
{
  int epoch = 0;

  for (int j = 0; j < dim; j++) epoch = PetscMax(epoch, epoch_of(&laws[j], t));
  for (int j = 0; j < dim && epoch; j++)
    if (epoch_of(&laws[j], epoch) != epoch_of(&laws[j], t)) return t;
  return epoch;
}

bool rg_law_drifts(int n, char *const *texts)
{
  bool drifts = false;

  for (int j = 0; j < n; j++) {
    RgExpression parser = {.text = texts[j], .at = texts[j]};
    drifts = drifts || drift_of(&parser) != RG_DRIFT_NONE;
  }
  return drifts;
}
