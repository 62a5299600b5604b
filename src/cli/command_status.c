/* regatta status RESULTS.h5: exit code 0 complete, 75 incomplete, for batch scripts that requeue.
 */
#include "cli/command.h"

#include "study/run/origin.h"
#include "study/store/store.h"

static const RgOption options[] = {{NULL, NULL, NULL}};

static PetscErrorCode add_record(void *closure, const RgRecord *record)
{
  PetscFunctionBeginUser;
  if (!record->earlier) PetscCall(rg_origin_survey_add(closure, record));
  PetscFunctionReturn(0);
}

/* What is there and whether it is of one making. */
static PetscErrorCode print_state(const char *path, const char *name, bool complete, RgFault *fault)
{
  RgOriginSurvey survey = {0};
  RgText mixed = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_store_visit_fields(path, add_record, &survey, fault));
  PetscCall(rg_origin_survey_count(&survey));
  PetscCall(rg_origin_describe(&survey.counts, &mixed));
  if (!fault->code)
    rg_say("%s: %s%s%s\n", name, complete ? "complete" : "incomplete; the run command resumes it",
           mixed.length ? "; stale: " : "", mixed.length ? mixed.data : "");
  PetscCall(rg_text_clear(&mixed));
  PetscCall(rg_origin_survey_clear(&survey));
  PetscFunctionReturn(0);
}

/* Shards beside a complete results file belong to a run that extends it and is not over. */
PetscErrorCode rg_command_status(int argc, char **argv, int *exit_code)
{
  RgArguments arguments;
  RgStoreInfo info;
  RgFault fault = {0};

  PetscFunctionBeginUser;
  PetscCall(
    rg_arguments_parse(argc, argv, "status RESULTS.h5", options, 1, 1, &arguments, exit_code));
  if (!arguments.ok) PetscFunctionReturn(0);
  PetscCall(rg_store_info(arguments.positional[0], &info, &fault));
  const bool complete = info.complete && info.n_shards == 0;
  if (!fault.code)
    PetscCall(print_state(arguments.positional[0], info.name ? info.name : arguments.positional[0],
                          complete, &fault));
  *exit_code = complete ? RG_EXIT_OK : RG_EXIT_INCOMPLETE;
  if (fault.code) {
    rg_complain("%s", fault.message);
    *exit_code = RG_EXIT_BAD_INPUT;
  }
  PetscCall(rg_store_info_clear(&info));
  PetscFunctionReturn(0);
}
