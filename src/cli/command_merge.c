/* regatta merge A.h5 B.h5 ... -o C.h5: join results of a study that ran in parts, or archive them.
   */
#include "cli/command.h"

#include <limits.h>
#include <stdio.h>

#include "study/store/store.h"

enum { OPT_OUTPUT, OPT_ARCHIVE };

static const RgOption options[] = {
  {"-o", "OUT.h5", "results file to write; it must not exist"},
  {"-archive", NULL,
   "keep what a comparison with another method needs, in a small part of the bytes"},
  {NULL, NULL, NULL},
};

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  const char *output = arguments->option[OPT_OUTPUT];
  RgFault fault = {0};
  RgStoreInfo info;

  if (!output)
    return rg_refuse(exit_code, "merge: -o OUT.h5 is missing: the results file to write");
  PetscCall(rg_store_merge(arguments->n, arguments->positional, output,
                           arguments->option[OPT_ARCHIVE] != NULL, &fault));
  if (fault.message[0]) rg_complain("%s", fault.message);
  if (fault.code) *exit_code = fault.code == RG_FAULT_FULL ? RG_EXIT_STORAGE : RG_EXIT_BAD_INPUT;
  if (fault.code) return 0;
  PetscCall(rg_store_info(output, &info, &fault));
  if (fault.code) {
    rg_complain("%s", fault.message);
    *exit_code = RG_EXIT_STORAGE;
  } else {
    rg_say("%s: %d file%s %s, %s\n", output, arguments->n, arguments->n == 1 ? "" : "s",
           info.archive_of[0] ? "archived" : "joined",
           info.complete ? "every trial of the study is there"
                         : "trials of the study are missing; regatta run goes on from here");
  }
  return rg_store_info_clear(&info);
}

const RgCommand rg_command_merge = {
  RG_USAGE("merge A.h5 B.h5 ... -o OUT.h5 [-archive]", options, 1, INT_MAX), .place = RG_ON_RANK_0,
  .run = run};
