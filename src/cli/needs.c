/* Needs of methods and properties of problems, in words. */
#include "cli/needs.h"

#include "base/grow.h"

static const struct {
  unsigned need;
  const char *words, *brief;
} needs[] = {
  {RG_NEEDS_FINITE, "a finite design", "finite"},
  {RG_NEEDS_BOX, "a design that is a box", "box"},
  {RG_NEEDS_CONTEXT, "a context", "context"},
  {RG_NEEDS_CONTEXT_PROB, "finite contexts with known probabilities", "finite context"},
  {RG_NEEDS_NO_CONTEXT, "no context for the learner to choose", "no context"},
  {RG_NEEDS_NATURE, "a context that nature draws", "nature's context"},
  {RG_NEEDS_INITIAL, "an initial design", "initial design"},
  {RG_NEEDS_ALTERNATION, "one worker", "one worker"},
  {RG_NEEDS_CLOCK, "a clock ('duration')", "clock"},
  {RG_NEEDS_ANNOUNCED, "a context that is announced before the decision", "announced context"}};

PetscErrorCode rg_needs_of_method(const RgAlgorithmClass *class, bool brief, RgText *text)
{
  const char *before = "";

  for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
    if (!(class->needs & needs[i].need)) continue;
    PetscCall(rg_text_add(text, "%s%s", before, brief ? needs[i].brief : needs[i].words));
    before = ", ";
  }
  if (brief && class->traits & RG_CONSTRAINED)
    PetscCall(rg_text_add(text, "%sknows constraints", before));
  return 0;
}

/* The domain of a problem with its defaults; *sound is false without defaults. */
static PetscErrorCode default_domain(const RgProblemClass *class, RgDomain *domain, bool *sound)
{
  RgDiagnostics found = {0};
  char *options;

  *sound = class->domain != NULL && !(class->source && class->source->load);
  for (const RgParam *entry = class->params; entry->name && *sound; entry++)
    *sound = entry->fallback != NULL;
  if (!*sound) return 0;
  PetscCall(PetscCalloc1(class->options_size + 1, &options));
  PetscCall(rg_params_defaults(class->params, options));
  if (class->check) PetscCall(class->check(class, options, (RgPlace){0}, &found));
  *sound = found.n == 0;
  if (*sound) PetscCall(class->domain(class, options, domain));
  PetscCall(rg_params_clear(class->params, options));
  PetscCall(PetscFree(options));
  return 0;
}

static PetscErrorCode add_space(const RgSpace *space, const char *what, RgText *text)
{
  PetscCall(rg_text_add(text, "%s%d", what, space->dim));
  if (rg_space_is_finite(space)) PetscCall(rg_text_add(text, " (%d points)", space->size));
  return 0;
}

PetscErrorCode rg_needs_of_problem(const RgProblemClass *class, RgText *text)
{
  RgDomain domain = {0};
  bool sound;

  PetscCall(default_domain(class, &domain, &sound));
  if (!sound) {
    PetscCall(rg_text_add(text, "as set"));
  } else {
    PetscCall(add_space(&domain.design, "dim ", text));
    if (domain.context.dim) PetscCall(add_space(&domain.context, ", context ", text));
    if (domain.n_constraints)
      PetscCall(rg_text_add(text, ", %d constraint%s", domain.n_constraints,
                            domain.n_constraints == 1 ? "" : "s"));
  }
  PetscCall(rg_domain_destroy(&domain));
  return 0;
}
