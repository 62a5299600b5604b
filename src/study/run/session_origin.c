/* Finished trials of another origin are reported, or run again if requested. */
#include <string.h>

#include "study/run/session.h"

typedef struct {
  RgSession *session;
  RgOriginJudge judge;
  unsigned char *origin; /* RgOrigin by trial */
} Look;

static PetscErrorCode judge_record(void *closure, const RgRecord *record)
{
  const Look *look = closure;
  RgSession *session = look->session;
  RgOrigin origin;
  int trial;

  PetscFunctionBeginUser;
  PetscCall(rg_plan_find(session->plan, record->id, &trial));
  if (trial < 0 || !session->done[trial]) PetscFunctionReturn(0);
  PetscCall(
    rg_origin_judge(&look->judge, record, rg_plan_cell(session->plan, trial),
                    session->teams.size[rg_teams_level(&session->teams, session->plan, trial)],
                    &session->origins, &origin));
  look->origin[trial] = (unsigned char)origin;
  PetscFunctionReturn(0);
}

/* Whether `label` selects a cell; "" selects all. */
static bool is_meant(const RgCell *cell, const char *label)
{
  return !label[0] || !strcmp(label, cell->algorithm_label) || !strcmp(label, cell->problem_label);
}

void rg_session_check_label(const RgSession *session, RgFault *fault)
{
  const RgStudy *study = session->plan->study;
  const char *label = session->options->recompute;

  if (!label) return;
  for (int c = 0; c < study->n_cells; c++)
    if (is_meant(&study->cells[c], label)) return;
  rg_fault_set(fault, RG_FAULT_FOREIGN,
               "-recompute: no problem or algorithm of this study has the label '%.100s'", label);
}

/* Mark trials of other origin as missing if they are to run again. */
static PetscErrorCode forget_others(RgSession *session, const unsigned char *origin)
{
  const RgPlan *plan = session->plan;
  const char *label = session->options->recompute;

  PetscFunctionBeginUser;
  for (int i = 0; label && i < plan->n; i++) {
    if (!session->done[i] || !rg_session_has(session, i) || origin[i] == RG_ORIGIN_SAME) continue;
    if (!is_meant(&plan->study->cells[rg_plan_cell(plan, i)], label)) continue;
    session->scan.n_done--;
    session->scan.n_failed -= session->done[i] == RG_STATUS_FAILED;
    session->origins.n[origin[i]]--;
    if (session->done[i] == RG_STATUS_COMPLETE) PetscCall(PetscBTSet(session->again, i));
    session->done[i] = RG_STATUS_MISSING;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode tell_of_others(const RgSession *session)
{
  RgText text = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_origin_describe(&session->origins, &text));
  if (text.length) rg_session_tell(session, -1, "%s", text.data);
  PetscCall(rg_text_clear(&text));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_session_look_at_origins(RgSession *session, RgFault *fault)
{
  Look look = {.session = session};
  RgStoreInfo info;

  PetscFunctionBeginUser;
  if (!session->scan.n_done) PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(session->plan->n, &look.origin));
  PetscCall(rg_origin_judge_create(session->plan->study, session->fingerprint.hash, &look.judge));
  PetscCall(rg_store_visit_heads(session->options->output, judge_record, &look, &info, fault));
  PetscCall(rg_store_info_clear(&info));
  if (!fault->code) {
    PetscCall(forget_others(session, look.origin));
    PetscCall(tell_of_others(session));
  }
  PetscCall(rg_origin_judge_destroy(&look.judge));
  PetscCall(PetscFree(look.origin));
  PetscFunctionReturn(0);
}
