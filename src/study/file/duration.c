/* The key `duration` of a study file. */
#include "study/file/duration.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/grow.h"
#include "study/file/draft.h"

/* Parse a law that gives no negative number, up to the end of the law. */
static PetscErrorCode parse_law(RgExpression *parser, RgDistribution *law)
{
  const char *start = (rg_expression_next(parser), parser->at);

  PetscFunctionBeginUser;
  PetscCall(rg_distribution_read(parser, law));
  if (rg_expression_failed(parser)) PetscFunctionReturn(0);
  if (rg_distribution_cdf(law, -DBL_MIN) > 0) /* smaller numbers count as 0 */
    PetscCall(rg_expression_mistake(
      parser, start, "a time is not negative, and this law has negative values: clip it at 0"));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_times_read(const char *text, RgDistribution *law, RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};

  PetscFunctionBeginUser;
  PetscCall(parse_law(&parser, law));
  PetscCall(rg_expression_expect_end(&parser, "law"));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_law(const char *text, const RgSpace *design, RgDuration *duration,
                               RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};

  PetscFunctionBeginUser;
  PetscCall(parse_law(&parser, &duration->law));
  if (rg_expression_accept(&parser, '*'))
    PetscCall(rg_arithmetic_parse_inputs(&parser, design, &duration->formula));
  else if (!rg_expression_failed(&parser) && rg_distribution_cdf(&duration->law, RG_TIME_MAX) <= 0)
    PetscCall(rg_expression_mistake(&parser, text,
                                    "a time is at most 1e12, and this law has longer ones only"));
  PetscCall(rg_expression_expect_end(&parser, duration->formula.n ? "formula" : "law"));
  PetscFunctionReturn(0);
}

/* Copy the text from `start` to `end` without blanks around it. */
static PetscErrorCode copy_trimmed(const char *start, const char *end, char **copy)
{
  RgText text = {0};

  PetscFunctionBeginUser;
  while (start < end && *start == ' ') start++;
  while (start < end && end[-1] == ' ') end--;
  PetscCall(rg_text_add_bytes(&text, start, (size_t)(end - start)));
  PetscCall(PetscStrallocpy(text.data ? text.data : "", copy));
  PetscCall(rg_text_clear(&text));
  PetscFunctionReturn(0);
}

/* Read the words after `recorded`, and find the file. */
static PetscErrorCode read_recorded(const char *words, RgPlace place, RgDuration *duration,
                                    RgText *mistake)
{
  static const RgParam path[] = {RG_PATH("recorded", RgDuration, name, NULL, "", "a results file"),
                                 {0}};
  const char *of = strstr(words, " of "), *end = words + strlen(words);

  PetscFunctionBeginUser;
  PetscCall(copy_trimmed(words, of ? of : end, &duration->name));
  if (of) PetscCall(copy_trimmed(of + strlen(" of "), end, &duration->label));
  if (!*duration->name || (of && !*duration->label))
    PetscCall(rg_text_add(mistake, "accepted: recorded FILE, recorded FILE of LABEL"));
  else PetscCall(rg_params_resolve(path, duration, place));
  PetscFunctionReturn(0);
}

static const char *const words[] = {[RG_DURATION_COLUMN] = "column",
                                    [RG_DURATION_REPORTED] = "reported",
                                    [RG_DURATION_RECORDED] = "recorded"};

RgDurationKind rg_duration_kind(const char *text)
{
  const size_t n = text ? strcspn(text, " ") : 0;

  for (size_t kind = 0; kind < sizeof(words) / sizeof(*words); kind++)
    if (words[kind] && strlen(words[kind]) == n && !strncmp(text, words[kind], n))
      return (RgDurationKind)kind;
  return text ? RG_DURATION_LAW : RG_DURATION_NONE;
}

PetscErrorCode rg_duration_read(const char *text, const RgSpace *design, RgPlace place,
                                RgDuration *duration, RgText *mistake)
{
  RgText own = {0};

  PetscFunctionBeginUser;
  *duration = (RgDuration){.kind = rg_duration_kind(text)};
  const char *rest = words[duration->kind] ? text + strlen(words[duration->kind]) : "";
  switch (duration->kind) {
  case RG_DURATION_NONE: break;
  case RG_DURATION_LAW: PetscCall(read_law(text, design, duration, &own)); break;
  case RG_DURATION_COLUMN:
    PetscCall(copy_trimmed(rest, rest + strlen(rest), &duration->name));
    if (!*duration->name) PetscCall(rg_text_add(&own, "accepted: column NAME"));
    break;
  case RG_DURATION_REPORTED:
    if (*rest) PetscCall(rg_text_add(&own, "nothing expected after 'reported'"));
    break;
  case RG_DURATION_RECORDED: PetscCall(read_recorded(rest, place, duration, &own)); break;
  }
  if (own.length) {
    PetscCall(rg_text_add(mistake, "%s", own.data));
    PetscCall(rg_duration_clear(duration));
  }
  PetscCall(rg_text_clear(&own));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_duration_clear(RgDuration *duration)
{
  PetscFunctionBeginUser;
  PetscCall(rg_distribution_destroy(&duration->law));
  PetscCall(rg_arithmetic_clear(&duration->formula));
  PetscCall(RG_FREE(&duration->name, &duration->label));
  PetscFunctionReturn(0);
}

double rg_duration_at(const RgDuration *duration, double u, const double *seen)
{
  const double time = rg_distribution_quantile(&duration->law, u);

  return duration->formula.n ? time * rg_arithmetic_value(&duration->formula, seen) : time;
}
