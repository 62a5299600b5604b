/* regatta status RESULTS.h5: exit code 0 complete, 75 incomplete, for batch scripts that requeue.
 */
#include "cli/shield.h"

#include <string.h>

#include "cli/values.h"
#include "study/plan/plan.h"
#include "study/run/origin.h"
#include "study/spec/registry.h"
#include "study/store/store.h"

enum { OPT_PART, OPT_STUDY };

static const RgOption options[] = {
  {"-part", "I/N", "look at this part of the study only (-study says which)"},
  {"-study", "STUDY.yaml", "the study file that the part is of"},
  RG_OPTION_PLUGIN,
  {NULL, NULL, NULL},
};

/* ---- all of a study -------------------------------------------------------------------------- */

typedef struct {
  RgOriginSurvey origins;
  RgText plugins;
} Survey;

static PetscErrorCode add_record(void *closure, const RgRecord *record)
{
  Survey *survey = closure;

  PetscFunctionBeginUser;
  if (record->earlier) PetscFunctionReturn(0);
  PetscCall(rg_origin_survey_add(&survey->origins, record));
  PetscCall(rg_plugins_note(&survey->plugins, record));
  PetscFunctionReturn(0);
}

/* What is there and whether it is of one making. Shards beside a complete results file belong to a
   run that extends it and is not over. */
static PetscErrorCode say_state(const char *path, const RgStoreInfo *info, Survey *survey,
                                int *exit_code)
{
  const bool complete = info->complete && info->n_shards == 0;
  RgText mixed = {0}, plugins = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_origin_survey_count(&survey->origins));
  PetscCall(rg_origin_describe(&survey->origins.counts, &mixed));
  PetscCall(rg_plugins_describe(path, &survey->plugins, &plugins));
  rg_say("%s: %s%s%s\n", info->name ? info->name : path,
         complete ? "complete" : "incomplete; the run command resumes it",
         mixed.length ? "; stale: " : "", mixed.length ? mixed.data : "");
  if (plugins.length) rg_say("%s\n", plugins.data);
  *exit_code = complete ? RG_EXIT_OK : RG_EXIT_INCOMPLETE;
  PetscCall(rg_text_clear(&plugins));
  PetscCall(rg_text_clear(&mixed));
  PetscFunctionReturn(0);
}

static PetscErrorCode show_all(const char *path, int *exit_code)
{
  Survey survey = {0};
  RgStoreInfo info;
  RgFault fault = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_store_visit_heads(path, add_record, &survey, &info, &fault));
  if (fault.code) {
    rg_complain("%s", fault.message);
    *exit_code = RG_EXIT_BAD_INPUT;
  } else {
    PetscCall(say_state(path, &info, &survey, exit_code));
  }
  PetscCall(rg_origin_survey_clear(&survey.origins));
  PetscCall(rg_text_clear(&survey.plugins));
  PetscCall(rg_store_info_clear(&info));
  PetscFunctionReturn(0);
}

/* ---- a part ---------------------------------------------------------------------------------- */

typedef struct {
  const RgPlan *plan;
  PetscBT missing; /* by trial: of the part, and not finished */
} Part;

static PetscErrorCode strike_record(void *closure, const RgRecord *record)
{
  Part *part = closure;
  int trial;

  PetscFunctionBeginUser;
  PetscCall(rg_plan_find(part->plan, record->id, &trial));
  if (trial >= 0) PetscCall(PetscBTClear(part->missing, trial));
  PetscFunctionReturn(0);
}

static int count(int n, PetscBT flags)
{
  int sum = 0;
  for (int i = 0; i < n; i++) sum += PetscBTLookup(flags, i) != 0;
  return sum;
}

static PetscErrorCode show_part(const RgStudy *study, const char *path, int i, int n,
                                int *exit_code)
{
  RgFault fault = {0};
  RgStoreInfo info = {0};
  RgPlan plan;
  Part part = {&plan, NULL};

  PetscFunctionBeginUser;
  PetscCall(rg_plan_fill(study, &plan));
  PetscCall(PetscBTCreate(plan.n, &part.missing));
  PetscCall(rg_plan_share(&plan, i, n, part.missing));
  const int all = count(plan.n, part.missing);
  if (rg_store_exists(path))
    PetscCall(rg_store_visit_heads(path, strike_record, &part, &info, &fault));
  PetscCall(rg_store_info_clear(&info));
  const int missing = count(plan.n, part.missing);
  if (!fault.code)
    rg_say("%s, part %d of %d: %s (%d of %d trials)\n", study->name, i, n,
           missing ? "incomplete; the run command resumes it" : "complete", all - missing, all);
  else rg_complain("%s", fault.message);
  *exit_code = fault.code ? RG_EXIT_BAD_INPUT : missing ? RG_EXIT_INCOMPLETE : RG_EXIT_OK;
  PetscCall(PetscBTDestroy(&part.missing));
  PetscCall(rg_plan_clear(&plan));
  PetscFunctionReturn(0);
}

/* What was typed, as a part of a study; false: a mistake, which was told. */
static bool read_part(const RgArguments *arguments, int *i, int *n)
{
  const char *part = arguments->option[OPT_PART];

  if (!part != !arguments->option[OPT_STUDY]) {
    rg_complain("status: -part and -study go together");
    return false;
  }
  return !part || rg_part_parse("status", part, i, n);
}

static PetscErrorCode show_part_of(const RgRegistry *registry, const RgArguments *arguments, int i,
                                   int n, int *exit_code)
{
  RgDiagnostics diagnostics = {0};
  RgStudy study;

  PetscFunctionBeginUser;
  PetscCall(rg_study_load(registry, arguments->option[OPT_STUDY], &study, &diagnostics));
  rg_print_diagnostics(&diagnostics);
  if (diagnostics.n) *exit_code = RG_EXIT_BAD_INPUT;
  else PetscCall(show_part(&study, arguments->positional[0], i, n, exit_code));
  PetscCall(rg_study_destroy(&study));
  PetscFunctionReturn(0);
}

static PetscErrorCode status(const RgArguments *arguments, const RgRegistry *registry,
                             int *exit_code)
{
  int i = 0, n = 0;

  PetscFunctionBeginUser;
  if (!read_part(arguments, &i, &n)) *exit_code = RG_EXIT_BAD_INPUT;
  else if (!n) PetscCall(show_all(arguments->positional[0], exit_code));
  else PetscCall(show_part_of(registry, arguments, i, n, exit_code));
  PetscFunctionReturn(0);
}

const RgCommand rg_command_status = {
  RG_USAGE("status RESULTS.h5 [-part I/N -study STUDY.yaml]", options, 1, 1), .place = RG_SHIELDED,
  .run = status};
