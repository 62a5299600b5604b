/* The key `duration` of a study file. */
#include "study/file/duration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Parse a law that gives no negative number, up to the end of the law. */
static PetscErrorCode parse_law(RgExpression *parser, RgDistribution *law)
{
  const char *start = (rg_expression_next(parser), parser->at);

  PetscFunctionBeginUser;
  PetscCall(rg_distribution_read(parser, law));
  if (rg_expression_failed(parser)) PetscFunctionReturn(0);
  if (rg_distribution_cdf(law, nextafter(0, -1)) > 0)
    PetscCall(rg_expression_mistake(
      parser, start, "a time is not negative, and this law has negative values: clip it at 0"));
  PetscFunctionReturn(0);
}

static PetscErrorCode check_end(RgExpression *parser, const char *after)
{
  PetscFunctionBeginUser;
  if (!rg_expression_failed(parser) && rg_expression_next(parser))
    PetscCall(rg_expression_mistake(
      parser, parser->at, "nothing expected after the %s, found '%.20s'", after, parser->at));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_times_read(const char *text, RgDistribution *law, RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};

  PetscFunctionBeginUser;
  PetscCall(parse_law(&parser, law));
  PetscCall(check_end(&parser, "law"));
  PetscFunctionReturn(0);
}

/* Parse a formula of the names of the design's inputs. */
static PetscErrorCode parse_formula(RgExpression *parser, const RgSpace *design,
                                    RgArithmetic *formula)
{
  const char **names;
  char(*numbered)[16];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(design->dim, &names, design->dim, &numbered));
  for (int j = 0; j < design->dim; j++) {
    snprintf(numbered[j], sizeof(numbered[j]), "x%d", j + 1);
    names[j] = design->inputs ? design->inputs[j].name : numbered[j];
  }
  PetscCall(rg_arithmetic_parse(parser, design->dim, names, formula));
  PetscCall(PetscFree2(names, numbered));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_duration_read(const char *text, const RgSpace *design, RgDuration *duration,
                                RgText *mistake)
{
  RgText own = {0};
  RgExpression parser = {.text = text, .at = text, .mistake = &own};

  PetscFunctionBeginUser;
  *duration = (RgDuration){0};
  if (!text) PetscFunctionReturn(0);
  PetscCall(parse_law(&parser, &duration->law));
  if (rg_expression_accept(&parser, '*'))
    PetscCall(parse_formula(&parser, design, &duration->formula));
  PetscCall(check_end(&parser, duration->formula.n ? "formula" : "law"));
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
  PetscFunctionReturn(0);
}

double rg_duration_at(const RgDuration *duration, double u, const double *seen)
{
  const double time = rg_distribution_quantile(&duration->law, u);

  return duration->formula.n ? time * rg_arithmetic_value(&duration->formula, seen) : time;
}
