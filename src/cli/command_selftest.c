/* regatta selftest: check an installation on this machine. The script that is installed beside the
   program runs small studies and compares their checksums; each check prints one line. */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_LAUNCH, OPT_FOLDER };

static const RgOption options[] = {
  {"-launch", "COMMAND", "the command that starts two ranks (default 'mpirun -n 2')"},
  {"-folder", "FOLDER",
   "write the files of the studies here and keep them (default: a temporary folder)"},
  {NULL, NULL, NULL},
};

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  const char *launch = arguments->option[OPT_LAUNCH], *folder = arguments->option[OPT_FOLDER];
  char path[RG_SHARE_BYTES], program[RG_SHARE_BYTES] = "regatta";
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

  if (length > 0) program[length] = '\0';
  if (!rg_share_find("selftest/selftest.sh", path))
    return rg_refuse(exit_code,
                     "selftest: there is no %s: it is installed with the program (cmake "
                     "--install); was the program moved without its folder share?",
                     path);
  (void)fflush(stdout);
  (void)setenv("REGATTA", program, 1);
  (void)execl("/bin/sh", "sh", path, launch ? launch : "mpirun -n 2", folder ? folder : "",
              (char *)NULL);
  return rg_refuse(exit_code, "selftest: /bin/sh: %s", strerror(errno));
}

const RgCommand rg_command_selftest = {
  RG_USAGE("selftest [-launch COMMAND] [-folder FOLDER]", options, 0, 0), .place = RG_ON_RANK_0,
  .notes =
    "It takes less than two minutes. On clusters start the ranks as jobs do, and write where "
    "studies will write: regatta selftest -launch 'srun -n 2' -folder FOLDER.\n",
  .run = run};
