/* regatta: run studies of Bayesian optimisation and inspect their results. */
#include "cli/command.h"
#include "cli/world.h"
#include "cli/shield.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "maths/blas.h"
#include "regatta/run.h"
#include "study/hdf5/medium.h"

/* ---- PETSc's options from outside of the command line ---------------------------------------- */

/* Some of them would change what a run does, such as -fp_trap, for not-a-number is a value here. */
enum { MOST = 1 << 20 }; /* bytes of an option file */

static bool is_option(const char *word)
{
  return word[0] == '-' && isalpha((unsigned char)word[1]);
}

/* Call before PETSc starts. The environment may set options for other programs: those that a
   command line would refuse are taken out of PETSC_OPTIONS. Their names are appended to `dropped`.
 */
static PetscErrorCode filter_petsc_options(RgText *dropped)
{
  const char *given = getenv("PETSC_OPTIONS");
  RgText words = {0}, kept = {0};
  bool keep = false;
  char *rest;

  (void)unsetenv("PETSC_OPTIONS_YAML");
  if (!given) return 0;
  PetscCall(rg_text_add(&words, "%s", given));
  for (char *word = words.length ? strtok_r(words.data, " \t\r\n", &rest) : NULL; word;
       word = strtok_r(NULL, " \t\r\n", &rest)) {
    if (is_option(word)) keep = rg_arguments_petsc_knows(word);
    if (keep) PetscCall(rg_text_add(&kept, "%s%s", kept.length ? " " : "", word));
    else if (is_option(word))
      PetscCall(rg_text_add(dropped, "%s%.80s", dropped->length ? " " : "", word));
  }
  (void)(kept.length ? setenv("PETSC_OPTIONS", kept.data, 1) : unsetenv("PETSC_OPTIONS"));
  PetscCall(rg_text_clear(&kept));
  return rg_text_clear(&words);
}

/* PETSc reads an option from each line, behind blanks; `#` and `!` begin comments. */
static PetscErrorCode check_file(const char *path, RgText *mistake)
{
  RgText unreadable = {0};
  size_t length;
  char *text, *rest, word[84];
  int number = 0;

  PetscCall(rg_file_read(path, MOST, &text, &length, &unreadable));
  if (!text) PetscCall(rg_text_add(mistake, "-options_file: %s %s", path, unreadable.data));
  for (char *line = text; line && *line && !mistake->length; line = rest) {
    const size_t end = strcspn(line, "\n");
    const size_t blanks = strspn(line, " \t\r"), width = strcspn(line + blanks, " \t\r\n");
    rest = line + end + (line[end] == '\n');
    number++;
    snprintf(word, sizeof(word), "%.*s", (int)PetscMin(width, 80), line + blanks);
    if (blanks >= end || *word == '#' || *word == '!' || rg_arguments_petsc_knows(word)) continue;
    PetscCall(
      rg_text_add(mistake, "-options_file: %s:%d: '%s' is not accepted", path, number, word));
  }
  PetscCall(PetscFree(text));
  return rg_text_clear(&unreadable);
}

/* Check PETSc's options before PETSc reads them; false after a mistake in the file of an
   -options_file, on the command line or in PETSC_OPTIONS: PETSc would end with a trace, or take
   options that a command line refuses. One process of a host reports it. */
static bool accept_petsc_options(int argc, char **argv)
{
  static const char option[] = "-options_file";
  const bool first_of_host = rg_world_is_first_of_host();
  RgText mistake = {0}, dropped = {0};
  char path[PETSC_MAX_PATH_LEN];

  if (filter_petsc_options(&dropped)) return false;
  const char *given = getenv("PETSC_OPTIONS"), *found = given ? strstr(given, option) : NULL;
  for (int i = 1; i + 1 < argc && !mistake.length; i++)
    if (!strcmp(argv[i], option) && check_file(argv[i + 1], &mistake)) return false;
  if (found && !mistake.length && sscanf(found + strlen(option), " %4095s", path) == 1 &&
      check_file(path, &mistake))
    return false;
  if (mistake.length && first_of_host) rg_warn("regatta: %s\n", mistake.data);
  else if (dropped.length && first_of_host)
    rg_warn("regatta: PETSC_OPTIONS: %s ignored (accepted: what a command line accepts)\n",
            dropped.data);
  const bool accepted = !mistake.length;
  return !rg_text_clear(&dropped) && !rg_text_clear(&mistake) && accepted;
}

/* ---- the start ------------------------------------------------------------------------------- */

/* Bytes that MPI maps at its start, with room for the segments that the ranks of a host share. */
static const double mpi_bytes = 200e6;

static bool is_limited(int resource)
{
  struct rlimit limit;

  return !getrlimit(resource, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

/* OpenBLAS starts a thread per core before main(), and each maps 0.1 GB. Where address space is
   limited, start again with one thread, by a variable that no other program of today reads. */
static void start_with_one_thread(char **argv)
{
  static const char variable[] = "GOTO_NUM_THREADS";
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

  if (getenv(variable)) {
    (void)unsetenv(variable);
  } else if (length > 0 && rg_blas_threads() > 1 &&
             (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA)) && !setenv(variable, "1", 1)) {
    program[length] = '\0';
    (void)execv(program, argv);
    (void)unsetenv(variable);
  }
}

static bool is_word(const char *word, const char *const *words)
{
  for (int i = 0; words[i]; i++)
    if (!strcmp(word, words[i])) return true;
  return false;
}

/* Whether the Python package that starts this program is of the same minor version. Its name for
   its version is REGATTA_PACKAGE. */
static bool accept_package(void)
{
  const char *package = getenv("REGATTA_PACKAGE");
  const size_t length = (size_t)(strrchr(RG_VERSION, '.') - RG_VERSION) + 1;

  if (!package || !strncmp(package, RG_VERSION, length)) return true;
  if (rg_world_is_first_of_host())
    rg_warn("regatta: the Python package regatta has version %.40s, and this program has %s: "
            "install both from one release, or name the other program in REGATTA\n",
            package, RG_VERSION);
  return false;
}

static PetscErrorCode dispatch(int argc, char **argv, int *exit_code)
{
  static const char *const help[] = {"-help", "--help", "-h", NULL};
  static const char *const version[] = {"-version", "--version", NULL};
  const char *name = argc < 2 ? "help" : argv[1];

  if (is_word(name, help)) name = "help";
  if (is_word(name, version)) name = "version";
  const RgCommandEntry *entry = rg_commands_find(name);
  *exit_code = RG_EXIT_BAD_INPUT;
  if (!entry) return 0;
  char *alone[] = {(char *)name, NULL};
  PetscCall(rg_commands_run(entry->command, argc < 2 ? 1 : argc - 1, argc < 2 ? alone : argv + 1,
                            exit_code));
  if (argc < 2) *exit_code = RG_EXIT_BAD_INPUT;
  return 0;
}

/* Handle errors as PETSc does, but print nothing where memory is short: one line says so later. */
static PetscErrorCode handle_error(MPI_Comm comm, int line, const char *function, const char *file,
                                   PetscErrorCode error, PetscErrorType type, const char *text,
                                   void *context)
{
  PetscBool started = PETSC_FALSE;
  const bool allocates = function && (strstr(function, "Malloc") || strstr(function, "Realloc"));

  /* PETSc 3.18 reports an allocation that fails with the line of the caller as the code. */
  if (type == PETSC_ERROR_INITIAL && allocates) return PETSC_ERR_MEM;
  if (error == PETSC_ERR_MEM || PetscInitialized(&started) || !started) return error;
  return PetscTraceBackErrorHandler(comm, line, function, file, error, type, text, context);
}

/* Initialise PETSc without its signal handlers, which would turn a batch system's signals into
   aborts, without implicit option files, and without options that have another meaning here.
   PETSc keeps `skip` and `seen` (room for argc + 3 words). */
static PetscErrorCode initialize_petsc(int argc, char **argv, char *const skip[2], char **seen)
{
  static const char *const ours[] = {"-h", "-help", "--help", "-version", "--version", NULL};
  int n = 0;

  for (int i = 0; i < argc; i++) {
    if (!is_word(argv[i], ours)) seen[n++] = argv[i];
    for (int k = 0; i == 0 && k < 2; k++) seen[n++] = skip[k];
  }
  PetscErrorCode error = PetscOptionsSetValue(NULL, "-no_signal_handler", "true");
  if (!error) error = PetscInitialize(&n, &seen, NULL, NULL);
  return error;
}

/* Check that all output was written; PETSc would answer an error with a trace. */
static int flush_output(int exit_code)
{
  if (!fflush(stdout) && !ferror(stdout)) return exit_code;
  fprintf(stderr, "regatta: standard output can't be written: %s\n", strerror(errno));
  clearerr(stdout);
  if (!freopen("/dev/null", "w", stdout)) return RG_EXIT_STORAGE;
  return exit_code ? exit_code : RG_EXIT_STORAGE;
}

/* Report an internal error, or the lack of memory. If PETSc was started, it has printed the place
   of the error. Ranks that wait for this one are ended. */
static int give_up(bool world, PetscErrorCode error)
{
  const char *text = NULL;
  const bool memory = rg_is_short_of_memory(error);
  const int code = memory ? RG_EXIT_BAD_INPUT : RG_EXIT_INTERNAL;
  int rank, size;

  if (memory) rg_warn("regatta: " RG_NO_MEMORY "\n");
  (void)rg_world(&rank, &size);
  if (world && size > 1) (void)MPI_Abort(MPI_COMM_WORLD, code);
  if (memory) return code;
  (void)PetscErrorMessage(error, &text, NULL);
  rg_complain("internal error: %s (the same command with -malloc_debug says where)",
              text ? text : "unknown");
  return RG_EXIT_INTERNAL;
}

/* Whether storage or memory may have failed, so that libraries are not to be trusted any more. */
static bool is_failure(int exit_code)
{
  return exit_code == RG_EXIT_BAD_INPUT || exit_code == RG_EXIT_STORAGE;
}

/* Leave a process that is alone without the ends of its libraries: where an allocation failed
   inside HDF5, it would write through what is gone, or free what it has broken. Other ranks wait
   for the end of MPI. */
static void leave(int exit_code)
{
  int rank, size;

  (void)rg_world(&rank, &size);
  if (size > 1 && is_failure(exit_code)) return;
  (void)fflush(stdout);
  _exit(exit_code);
}

/* Start HDF5, which says at length why it can't start, and can't be told to be silent before. */
static void start_hdf5(void)
{
#ifdef __GLIBC__
  FILE *const own = stderr, *const nothing = fopen("/dev/null", "we");
  if (nothing) stderr = nothing;
#endif
  const bool started = rg_medium_start(rg_leave_without_memory);
#ifdef __GLIBC__
  stderr = own;
  if (nothing) (void)fclose(nothing);
#endif
  if (!started) rg_leave_without_memory();
}

int main(int argc, char **argv)
{
  int exit_code = RG_EXIT_INTERNAL;
  char option[] = "-skip_petscrc", yes[] = "true", *const skip[2] = {option, yes};
  const bool world = rg_world_needed(argc, argv);
  PetscErrorCode error;

  if (!accept_package()) return RG_EXIT_BAD_INPUT;
  start_with_one_thread(argv);
  rg_watch_memory();
  start_hdf5(); /* before MPI, which would end it: it frees what a failed allocation has broken */
  const char *narrow = rg_blas_start(world ? mpi_bytes : 0);
  if (narrow) {
    if (rg_world_is_first_of_host()) rg_warn("regatta: %s\n", narrow);
    return RG_EXIT_BAD_INPUT;
  }
  if (world && !accept_petsc_options(argc, argv)) return RG_EXIT_BAD_INPUT;
  /* Signals are handled before MPI starts, to stop a run cleanly in any case. */
  if (argc > 1 && !strcmp(argv[1], "run") && rg_stop_on_signals()) return RG_EXIT_INTERNAL;
  char **seen = calloc((size_t)argc + 3, sizeof(*seen));
  if (world && !rg_world_prepare()) return RG_EXIT_BAD_INPUT;
  error = world && seen ? initialize_petsc(argc, argv, skip, seen) : 0;
  if (!seen || error) leave(give_up(world, error ? error : PETSC_ERR_MEM));
  if (!rg_world_check()) leave(RG_EXIT_BAD_INPUT);
  rg_numerics_set(NULL);
  error = PetscPushErrorHandler(handle_error, NULL);
  if (!error && world) error = rg_clock_initialize();
  if (!error) error = dispatch(argc, argv, &exit_code);
  if (error) leave(give_up(world, error));
  exit_code = flush_output(exit_code);
  if (world && is_failure(exit_code)) leave(exit_code);
  error = PetscPopErrorHandler();
  if (world && !error) error = PetscFinalize();
  free(seen);
  return error ? RG_EXIT_INTERNAL : exit_code;
}
