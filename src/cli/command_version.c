/* regatta version: print the program, its libraries, and the numeric fingerprint of this host. */
#include "cli/command.h"

#include <stdio.h>

#include "study/run/fingerprint.h"
#include "study/record/software.h"

static const RgOption options[] = {{NULL, NULL, NULL}};

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  RgFingerprint fingerprint;
  char *software;

  PetscCall(rg_software_describe(&software));
  /* Print one line per library; the description separates them by "; ". */
  for (char *part = software, *end; part; part = end) {
    end = strstr(part, "; ");
    if (end) {
      *end = 0;
      end += 2;
    }
    rg_say("%s%s\n", part == software ? "" : "  ", part);
  }
  PetscCall(PetscFree(software));
  PetscCall(rg_fingerprint(&fingerprint));
  rg_say("cpu          %s%s\n", fingerprint.cpu, fingerprint.native ? ", tuned for it" : "");
  rg_say("blas core    %s, %d thread%s\n", fingerprint.blas_core, fingerprint.blas_threads,
         fingerprint.blas_threads == 1 ? "" : "s");
  rg_say("fingerprint  %016llx\n", (unsigned long long)fingerprint.hash);
  return 0;
}

const RgCommand rg_command_version = {RG_USAGE("version", options, 0, 0), .place = RG_ON_RANK_0,
                                      .run = run};
