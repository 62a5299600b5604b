/* Measures as expressions: the canonical form. */
#include "regatta/measure.h"

#include <math.h>

/* Sign, coefficient and name of a term. */
static PetscErrorCode print_coefficient(double coefficient, bool first, RgText *text)
{
  PetscFunctionBeginUser;
  if (coefficient < 0.0) {
    PetscCall(rg_text_add(text, first ? "-" : " - "));
  } else if (!first) {
    PetscCall(rg_text_add(text, " + "));
  }
  if (fabs(coefficient) == 1.0) PetscFunctionReturn(0);
  PetscCall(rg_text_add_real(text, fabs(coefficient)));
  PetscCall(rg_text_add(text, "*"));
  PetscFunctionReturn(0);
}

static PetscErrorCode print_sum(const RgMeasure *measure, RgText *text)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < measure->n_parts; i++) {
    PetscCall(print_coefficient(measure->coefficients[i], i == 0, text));
    PetscCall(rg_measure_print(&measure->parts[i], text));
  }
  if (measure->constant != 0.0) {
    PetscCall(rg_text_add(text, measure->constant < 0.0 ? " - " : " + "));
    PetscCall(rg_text_add_real(text, fabs(measure->constant)));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode print_ambiguity(const RgMeasure *measure, RgText *text)
{
  PetscFunctionBeginUser;
  if (measure->parameter > 0.0) {
    PetscCall(rg_text_add(text, ", l1 = "));
    PetscCall(rg_text_add_real(text, measure->parameter));
  }
  if (measure->nominal) PetscCall(rg_text_add(text, ", nominal"));
  for (int k = 0; k < measure->n_pmfs; k++) {
    for (int i = 0; i < measure->pmf_size; i++) {
      PetscCall(rg_text_add(text, i ? ", " : ", pmf("));
      PetscCall(rg_text_add_real(text, measure->pmfs[(size_t)k * measure->pmf_size + i]));
    }
    PetscCall(rg_text_add(text, ")"));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_measure_print(const RgMeasure *measure, RgText *text)
{
  PetscFunctionBeginUser;
  if (measure->kind == RG_MEASURE_SUM) {
    PetscCall(print_sum(measure, text));
    PetscFunctionReturn(0);
  }
  PetscCall(rg_text_add(text, "%s", rg_measure_infos[measure->kind].name));
  switch (measure->kind) {
  case RG_MEASURE_VAR:
  case RG_MEASURE_CVAR:
  case RG_MEASURE_PTR:
    PetscCall(rg_text_add(text, "("));
    PetscCall(rg_text_add_real(text, measure->parameter));
    PetscCall(rg_text_add(text, ")"));
    break;
  case RG_MEASURE_ROBUST:
  case RG_MEASURE_CLIP:
  case RG_MEASURE_TANH:
  case RG_MEASURE_EXP:
    PetscCall(rg_text_add(text, "("));
    PetscCall(rg_measure_print(measure->parts, text));
    if (measure->kind == RG_MEASURE_ROBUST) PetscCall(print_ambiguity(measure, text));
    if (measure->kind == RG_MEASURE_CLIP) {
      PetscCall(rg_text_add(text, ", "));
      PetscCall(rg_text_add_real(text, measure->parameter));
      PetscCall(rg_text_add(text, ", "));
      PetscCall(rg_text_add_real(text, measure->most));
    }
    PetscCall(rg_text_add(text, ")"));
    break;
  default: break;
  }
  PetscFunctionReturn(0);
}
