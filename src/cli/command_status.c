/* regatta status RESULTS.h5: exit code 0 complete, 75 incomplete, for batch scripts that requeue.
 */
#include "cli/command.h"

#include <stdio.h>

#include "study/store/store.h"

static const RgOption options[] = {{NULL, NULL, NULL}};

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
  if (fault.code) {
    rg_complain("%s", fault.message);
    *exit_code = RG_EXIT_BAD_INPUT;
  } else {
    bool complete = info.complete && info.n_shards == 0;
    rg_say("%s: %s\n", info.name ? info.name : arguments.positional[0],
           complete ? "complete" : "incomplete; the run command resumes it");
    *exit_code = complete ? RG_EXIT_OK : RG_EXIT_INCOMPLETE;
  }
  PetscCall(rg_store_info_clear(&info));
  PetscFunctionReturn(0);
}
