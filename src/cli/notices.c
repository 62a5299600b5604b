/* Notices about a study before it runs: the programs that it starts (the parameter `program` of
   problems and algorithms), and settings that are allowed but defeat its purpose. */
#include "cli/notices.h"

#include <string.h>

#include "base/params_internal.h"
#include "cli/arguments.h"
#include "gp/model/surrogate.h"
#include "study/file/crew_options.h"

enum { DRAWS = 64 };

static bool is_outside(const RgSpace *box, const double *c)
{
  for (int j = 0; j < box->dim; j++)
    if (c[j] < box->lower[j] || c[j] > box->upper[j]) return true;
  return false;
}

static PetscErrorCode warn_of_contexts(const RgStudy *study, const RgCell *cell, bool *warned)
{
  const RgStream stream = rg_stream(study->seed, cell->problem->name, 0, "warning", 0);
  RgFailure failure = {0};
  RgProblem problem;
  double *c;
  int index, n = 0; /* n: draws outside of the box */

  PetscCall(
    rg_problem_create(cell->problem, cell->problem_options, study->seed, 0, &problem, &failure));
  PetscCall(PetscMalloc1(cell->dim_c, &c));
  for (int i = 0; i < DRAWS && !failure.failed; i++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)i);
    PetscCall(cell->problem->draw_context(&problem, &random, c, &index));
    n += is_outside(&problem.domain.context, c);
  }
  PetscCall(PetscFree(c));
  PetscCall(rg_problem_destroy(&problem));
  *warned = 2 * n > DRAWS;
  if (*warned)
    rg_complain("'%s': most contexts lie outside the box of contexts; methods follow them, but "
                "length scales, grids and radii are made for the box; change 'law', or set "
                "'observed: clipped' if the problem has it",
                cell->problem_label);
  return 0;
}

/* Whether a method models contexts of a box that nature draws from a law. */
static bool models_contexts(const RgCell *cell)
{
  return cell->dim_c && !cell->size_c && cell->algorithm->reads & RG_READS_SURROGATE &&
         !(cell->algorithm->needs & RG_NEEDS_NO_CONTEXT) && cell->problem->draw_context &&
         !(cell->problem->traits & (RG_PROBLEM_COSTLY | RG_PROBLEM_RANDOM));
}

/* A method that models the design alone takes y for its value, so it looks for the largest mean. */
static PetscErrorCode warn_of_measure(const RgCell *cell, bool *warned)
{
  const bool is_blind = cell->dim_c && cell->algorithm->needs & RG_NEEDS_NO_CONTEXT;
  const bool loads = cell->problem->source && cell->problem->source->load;
  RgDomain domain = {0};

  if (!is_blind || loads) return 0;
  PetscCall(rg_problem_domain(cell->problem, cell->problem_options, &domain));
  *warned =
    domain.control == RG_CONTEXT_NATURE && domain.measure && strcmp(domain.measure, "expectation");
  if (*warned)
    rg_complain(
      "'%s': '%s' does not look at contexts and prefers designs of large mean, but regret "
      "counts the measure '%s'",
      cell->problem_label, cell->algorithm_label, domain.measure);
  return rg_domain_destroy(&domain);
}

static PetscErrorCode warn_of_durations(const RgCell *cell, bool *warned)
{
  RgDuration duration = {0};
  RgDomain domain = {0};
  RgText mistake = {0};

  if (!cell->crew.duration) return 0;
  PetscCall(rg_problem_domain(cell->problem, cell->problem_options, &domain));
  PetscCall(rg_duration_read(cell->crew.duration, &domain.design, cell->problem_place, &duration,
                             &mistake));
  *warned = !mistake.length && duration.kind == RG_DURATION_LAW &&
            !rg_distribution_has_moments(&duration.law, 1, 1);
  if (*warned)
    rg_complain("'%s': the mean of 'duration: %s' is infinite, so a few evaluations take most of "
                "the time; clip(LAW, 0, LONGEST) has a mean",
                cell->problem_label, cell->crew.duration);
  PetscCall(rg_duration_clear(&duration));
  PetscCall(rg_text_clear(&mistake));
  return rg_domain_destroy(&domain);
}

/* With more inputs than these, settings for many inputs are worth a trial. */
enum { MANY_INPUTS = 40 };

static void warn_of_inputs(const RgCell *cell, bool *warned)
{
  const int reads = RG_READS_SURROGATE | RG_READS_MAXIMISER;
  const RgSurrogateOptions *o = &cell->surrogate;

  *warned = cell->dim_x > MANY_INPUTS && (cell->algorithm->reads & reads) == reads &&
            o->fit == RG_FIT_MAP && o->prior == RG_PRIORS_DEFAULT && !rg_surrogate_is_linear(o) &&
            !(o->length_scale_factor > 0) && !(cell->maximiser.local_share > 0);
  if (*warned)
    rg_complain("'%s': %d inputs with the default prior and no local points; for more than %d "
                "there is 'surrogate: {preset: high_dimension}'",
                cell->problem_label, cell->dim_x, MANY_INPUTS);
}

PetscErrorCode rg_print_warnings(const RgStudy *study)
{
  const RgCell *tried = NULL;
  bool of_contexts = false, of_durations = false, of_measure = false, of_inputs = false;

  for (int i = 0; i < study->n_cells; i++) {
    const RgCell *cell = &study->cells[i];
    if (i && !rg_same_place(cell->problem_place, cell[-1].problem_place))
      of_contexts = of_durations = of_measure = of_inputs = false;
    if (!of_contexts && models_contexts(cell) && !(tried && rg_cell_same_problem(tried, cell))) {
      PetscCall(warn_of_contexts(study, cell, &of_contexts));
      tried = cell;
    }
    if (!of_durations) PetscCall(warn_of_durations(cell, &of_durations));
    if (!of_measure) PetscCall(warn_of_measure(cell, &of_measure));
    if (!of_inputs) warn_of_inputs(cell, &of_inputs);
  }
  return 0;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Append one entry's program and its arguments, as a shell would show them, unless the text has it.
   Nothing is appended for an entry without a program. */
static PetscErrorCode add_entry(const RgParam *params, void *options, const char *what,
                                const char *label, RgText *text)
{
  const RgParam *program = rg_params_find(params, "program");
  const RgParam *arguments = rg_params_find(params, "arguments");
  RgText one = {0};

  if (!program || program->type != RG_PARAM_PATH) return 0;
  PetscCall(rg_text_add(&one, "%.400s", *rg_param_field(program, options).text));
  if (arguments && arguments->type == RG_PARAM_TEXTS) {
    const RgTexts *words = rg_param_field(arguments, options).texts;
    for (int i = 0; i < words->n; i++)
      PetscCall(rg_text_add(&one, strpbrk(words->values[i], " \t\n'\"") ? " '%.400s'" : " %.400s",
                            words->values[i]));
  }
  if (one.length) PetscCall(rg_text_add(&one, " (%s %.80s)", what, label));
  if (one.length && !(text->length && strstr(text->data, one.data)))
    PetscCall(rg_text_add(text, "%s%s", text->length ? ", " : "", one.data));
  return rg_text_clear(&one);
}

PetscErrorCode rg_starts_describe(const RgStudy *study, bool problems, RgText *text)
{
  for (int c = 0; c < study->n_cells; c++) {
    const RgCell *cell = &study->cells[c];
    if (problems)
      PetscCall(add_entry(cell->problem->params, cell->problem_options, "problem",
                          cell->problem_label, text));
    PetscCall(add_entry(cell->algorithm->params, cell->algorithm_options, "algorithm",
                        cell->algorithm_label, text));
  }
  return 0;
}

PetscErrorCode rg_starts_announce(const RgStudy *study, const char *verb)
{
  RgText text = {0};

  PetscCall(rg_starts_describe(study, true, &text));
  if (text.length) rg_complain("%s: this study starts programs: %s", verb, text.data);
  return rg_text_clear(&text);
}
