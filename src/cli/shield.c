/* Subcommands that only read files do so in a child process: altered files may make HDF5 crash. */
#include "cli/shield.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study/hdf5/probe.h"

/* Memory to print into; NULL where the system has none that a child can share. */
static FILE *print_room(void)
{
#ifdef MFD_CLOEXEC
  int fd = memfd_create("regatta", MFD_CLOEXEC);
  FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;

  if (fd >= 0 && !file) close(fd);
  return file;
#else
  return NULL;
#endif
}

/* Copy what a child has printed to a stream. */
static void pass_on(FILE *from, FILE *to)
{
  char block[4096];
  size_t n;

  rewind(from);
  while ((n = fread(block, 1, sizeof(block), from))) (void)fwrite(block, 1, n, to);
}

/* The child: nothing of its parent's may be finalised. */
static void run_in_child(const RgCommand *command, const RgArguments *arguments,
                         const RgRegistry *registry, FILE *const printed[2])
{
  int exit_code = RG_EXIT_OK;

  (void)dup2(fileno(printed[0]), STDOUT_FILENO);
  (void)dup2(fileno(printed[1]), STDERR_FILENO);
  rg_probe_shield();
  if (command->run(arguments, registry, &exit_code) || fflush(stdout)) exit_code = RG_EXIT_INTERNAL;
  _exit(exit_code);
}

/* Whether a child ended by itself, and not by an error of the program. */
static bool has_ended(pid_t child, int *exit_code)
{
  int status;
  pid_t ended;

  if (child < 0) return false;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended != child || !WIFEXITED(status) || WEXITSTATUS(status) == RG_EXIT_INTERNAL) return false;
  *exit_code = WEXITSTATUS(status);
  return true;
}

PetscErrorCode rg_shield_command(const RgCommand *command, const RgArguments *arguments,
                                 const RgRegistry *registry, int *exit_code)
{
  FILE *printed[2] = {print_room(), print_room()};
  pid_t child = -1;

  PetscFunctionBeginUser;
  fflush(stdout);
  fflush(stderr);
  if (printed[0] && printed[1]) child = fork();
  if (child == 0) run_in_child(command, arguments, registry, printed);
  const bool done = has_ended(child, exit_code);
  for (int i = 0; i < 2; i++) {
    if (done) pass_on(printed[i], i ? stderr : stdout);
    if (printed[i]) fclose(printed[i]);
  }
  if (!done) PetscCall(command->run(arguments, registry, exit_code));
  PetscFunctionReturn(0);
}
