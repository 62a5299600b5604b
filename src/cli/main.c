/* regatta: run studies of Bayesian optimisation and look at what came out. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "maths/numerics.h"

static bool is_word(const char *word, const char *const *words)
{
  for (int i = 0; words[i]; i++)
    if (!strcmp(word, words[i])) return true;
  return false;
}

static PetscErrorCode dispatch(int argc, char **argv, int *exit_code)
{
  static const char *const help[] = {"-help", "--help", "-h", NULL};
  static const char *const version[] = {"-version", "--version", NULL};
  const char *name = argc < 2 ? "help" : argv[1];

  PetscFunctionBeginUser;
  if (is_word(name, help)) name = "help";
  if (is_word(name, version)) name = "version";
  const RgCommandEntry *entry = rg_commands_find(name);
  *exit_code = RG_EXIT_BAD_INPUT;
  if (!entry) PetscFunctionReturn(0);
  char *alone[] = {(char *)name, NULL};
  PetscCall(entry->command(argc < 2 ? 1 : argc - 1, argc < 2 ? alone : argv + 1, exit_code));
  if (argc < 2) *exit_code = RG_EXIT_BAD_INPUT;
  PetscFunctionReturn(0);
}

/* PETSc without its signal handlers, which would turn a batch system's signals into aborts, and
   without seeing the options that mean something else to it. `seen`: argc + 1 words that PETSc
   keeps. */
static PetscErrorCode initialize_petsc(int argc, char **argv, char **seen)
{
  static const char *const ours[] = {"-h", "-help", "--help", "-version", "--version", NULL};
  int n = 0;

  for (int i = 0; i < argc; i++)
    if (!is_word(argv[i], ours)) seen[n++] = argv[i];
  PetscErrorCode error = PetscOptionsSetValue(NULL, "-no_signal_handler", "true");
  if (!error) error = PetscInitialize(&n, &seen, NULL, NULL);
  return error;
}

int main(int argc, char **argv)
{
  int exit_code = RG_EXIT_INTERNAL;
  PetscErrorCode error;

  char **seen = calloc((size_t)argc + 1, sizeof(*seen));
  if (!seen || initialize_petsc(argc, argv, seen)) return RG_EXIT_INTERNAL;
  rg_numerics_set(NULL);
  error = rg_clock_initialize();
  if (!error) error = dispatch(argc, argv, &exit_code);
  if (error) {
    (void)MPI_Abort(MPI_COMM_WORLD, RG_EXIT_INTERNAL); /* other ranks wait for us */
    return RG_EXIT_INTERNAL;
  }
  error = PetscFinalize();
  free(seen);
  return error ? RG_EXIT_INTERNAL : exit_code;
}
