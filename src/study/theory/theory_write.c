/* Output of study/theory/theory.h as tidy CSV tables. */
#include <math.h>
#include <string.h>

#include "study/theory/theory.h"

/* Append a field of a CSV table, with quotes if necessary. An apostrophe stands before a label that
   a spreadsheet would compute. */
static PetscErrorCode add_word(RgText *text, const char *word)
{
  const char *guard = word[0] && strchr("=+-@", word[0]) ? "'" : "";

  PetscFunctionBeginUser;
  if (!strpbrk(word, ",\"\n\r")) {
    PetscCall(rg_text_add(text, "%s%s", guard, word));
    PetscFunctionReturn(0);
  }
  PetscCall(rg_text_add(text, "\"%s", guard));
  for (const char *c = word; *c; c++) PetscCall(rg_text_add(text, *c == '"' ? "\"\"" : "%c", *c));
  PetscCall(rg_text_add(text, "\""));
  PetscFunctionReturn(0);
}

static PetscErrorCode add_labels(RgText *text, const RgCell *cell)
{
  const char *labels[] = {cell->problem_label, cell->algorithm_label, cell->swept};

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    PetscCall(add_word(text, labels[i]));
    PetscCall(rg_text_add(text, ","));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode add_bound(RgText *text, const RgCell *cell, const char *quantity, int t,
                                double value, const char *kind, const char *remark)
{
  PetscFunctionBeginUser;
  PetscCall(add_labels(text, cell));
  PetscCall(rg_text_add(text, "%s,%d,", quantity, t));
  PetscCall(rg_text_add_real(text, value));
  PetscCall(rg_text_add(text, ",%s,", kind));
  PetscCall(add_word(text, remark));
  PetscCall(rg_text_add(text, "\n"));
  PetscFunctionReturn(0);
}

static PetscErrorCode add_cell(RgText *text, const RgCell *cell, const RgCellTheory *theory)
{
  const RgInformationGain *gain = theory->gain;
  const char *kind = rg_claim_names[theory->claim];
  const bool nominal = theory->family->nominal; /* the theorem concerns a model with other noise */
  const char *gain_kind = rg_claim_names[nominal        ? RG_CLAIM_NOMINAL
                                         : cell->size_x ? RG_CLAIM_BOUND
                                                        : RG_CLAIM_ESTIMATE]; /* of gamma */

  PetscFunctionBeginUser;
  if (!isnan(theory->slope))
    PetscCall(add_bound(text, cell, "measure_slope", theory->n, theory->slope, kind,
                        "K of bounds that are K times as wide as the intervals of f"));
  for (int t = 1; t <= theory->n; t++)
    PetscCall(add_bound(text, cell, "gamma_upper", t, gain->upper[t - 1], gain_kind,
                        rg_gain_bound_names[gain->bound[t - 1]]));
  for (int t = 1; t <= theory->n; t++)
    PetscCall(add_bound(text, cell, "gamma_greedy", t, gain->gain[t - 1],
                        nominal ? gain_kind : "lower", ""));
  for (int k = 0; k < theory->n_curves; k++)
    for (int t = 1; theory->value[k] && t <= theory->n; t++)
      PetscCall(add_bound(text, cell, theory->family->curves[k].name, t, theory->value[k][t - 1],
                          kind, theory->why));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_theory_write_bounds(const RgStudy *study, const RgTheoryTable *table,
                                      RgText *text)
{
  PetscFunctionBeginUser;
  PetscCall(rg_text_add(text, "problem,algorithm,swept,quantity,t,value,kind,remark\n"));
  for (int i = 0; i < table->n_cells; i++)
    if (table->cells[i].bounded) PetscCall(add_cell(text, &study->cells[i], &table->cells[i]));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_theory_write_confidence(const RgStudy *study, const RgTheoryTable *table,
                                          double level, RgText *text)
{
  const double tail = (1 - level) / 2;

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(text, "problem,algorithm,swept,t,mean,low,high\n"));
  for (int i = 0; i < table->n_cells; i++) {
    const RgCellTheory *theory = &table->cells[i];
    for (int t = 1; theory->law && t <= theory->n; t++) {
      const RgConfidenceLaw *law = &theory->law[t - 1];
      const double values[] = {rg_confidence_mean(law), rg_confidence_quantile(law, tail),
                               rg_confidence_quantile(law, 1 - tail)};
      PetscCall(add_labels(text, &study->cells[i]));
      PetscCall(rg_text_add(text, "%d", t));
      for (int k = 0; k < 3; k++) {
        PetscCall(rg_text_add(text, ","));
        PetscCall(rg_text_add_real(text, values[k]));
      }
      PetscCall(rg_text_add(text, "\n"));
    }
  }
  PetscFunctionReturn(0);
}
