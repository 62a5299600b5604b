/* A plan as data: one line of JSON. */
#include "cli/plan_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/unicode.h"

static PetscErrorCode add_string(RgText *text, const char *value)
{
  return rg_text_add_json(text, value, strlen(value));
}

/* JSON has no NaN and no infinity: they become null. */
static PetscErrorCode add_real(RgText *text, double value)
{
  if (!isfinite(value)) return rg_text_add(text, "null");
  return rg_text_add_real(text, value);
}

static PetscErrorCode add_setting(const RgSwept *setting, RgText *text)
{
  double value;

  PetscFunctionBeginUser;
  PetscCall(add_string(text, setting->name));
  PetscCall(rg_text_add(text, ":"));
  switch (setting->kind) {
  case RG_SWEPT_NUMBER:
  case RG_SWEPT_INTEGER:
    PetscCall(add_real(text, rg_number_only(setting->text, &value) ? value : NAN));
    break;
  case RG_SWEPT_LOGICAL: PetscCall(rg_text_add(text, "%s", setting->text)); break;
  case RG_SWEPT_WORD: PetscCall(add_string(text, setting->text)); break;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode add_cell(const RgPlan *plan, const unsigned char *done, int c, RgText *text)
{
  const RgPlanCell *planned = &plan->cells[c];
  const RgCell *cell = &plan->study->cells[c];
  int n_done = 0;

  PetscFunctionBeginUser;
  for (int i = 0; i < planned->n; i++) n_done += done[planned->first + i] != 0;
  PetscCall(rg_text_add(text, "{\"problem\":"));
  PetscCall(add_string(text, cell->problem_label));
  PetscCall(rg_text_add(text, ",\"algorithm\":"));
  PetscCall(add_string(text, cell->algorithm_label));
  PetscCall(rg_text_add(text, ",\"settings\":{"));
  for (int k = 0; k < cell->n_swept; k++) {
    if (k) PetscCall(rg_text_add(text, ","));
    PetscCall(add_setting(&cell->settings[k], text));
  }
  PetscCall(rg_text_add(text,
                        "},\"dim_x\":%d,\"dim_c\":%d,\"points\":%d,\"initial_points\":%d,"
                        "\"iterations\":%d,\"trials\":%d,\"done\":%d,\"seconds\":",
                        cell->dim_x, cell->dim_c, cell->size_x, cell->run.initial_points,
                        cell->run.iterations, planned->n, n_done));
  PetscCall(add_real(text, planned->cost));
  PetscCall(rg_text_add(text, ",\"memory\":"));
  PetscCall(add_real(text, planned->memory));
  PetscCall(rg_text_add(text, "}"));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_plan_json(const RgPlan *plan, const unsigned char *done, RgText *text)
{
  PetscFunctionBeginUser;
  PetscCall(rg_text_add(text, "{\"study\":"));
  PetscCall(add_string(text, plan->study->name));
  PetscCall(rg_text_add(text, ",\"cells\":["));
  for (int c = 0; c < plan->study->n_cells; c++) {
    if (c) PetscCall(rg_text_add(text, ","));
    PetscCall(add_cell(plan, done, c, text));
  }
  PetscCall(rg_text_add(text, "]}\n"));
  PetscFunctionReturn(0);
}
