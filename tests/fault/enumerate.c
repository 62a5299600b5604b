/* For every file call of a run through the store and every fault of the shim: let the call go
   wrong, then run again without faults. Then no finished trial may be lost, the results file
   must be the same to the last bit, and nothing else may remain.

   Must be started with the shim preloaded. Every call with REGATTA_LONG=1, else a sample of
   them, with different calls for different faults. fault_enumerate [SCENARIO [STEP [FIRST]]]:
   only that scenario, from 0, every STEP-th call, for all faults from the FIRST. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <hdf5.h>

#include "drive.h"
#include "scratch.h"

typedef struct {
  const char *name;
  Drive drive;
  bool extend; /* begin with the results of a smaller study */
} Scenario;

typedef struct {
  const char *action;
  int forever;
  bool kills;
} Fault;

static const Fault faults[] = {
  {"die", 0, true},     {"torn", 0, true},    {"lost", 0, true},    {"zeroed", 0, true},
  {"ENOSPC", 0, false}, {"ENOSPC", 1, false}, {"EDQUOT", 0, false}, {"EDQUOT", 1, false},
  {"EIO", 0, false},    {"EIO", 1, false},    {"short", 0, false},  {"short", 1, false},
};
enum { N_FAULTS = sizeof(faults) / sizeof(faults[0]) };

typedef struct {
  char scratch[64], directory[128], output[192], ledger[192];
  unsigned char *reference, *begin; /* results expected; results to begin with, or NULL */
  size_t length, begin_length;
  long *count; /* shared with the children */
  int passed, failed;
  int (*arm)(const char *, long, const char *, int);
  long (*calls)(void);
} Bench;

/* A run in a child; its exit code, or minus its signal. */
static int run_child(Bench *bench, const Drive *settings, long call, const Fault *fault)
{
  int status;
  pid_t child = fork();

  if (child < 0) return -1000;
  if (child == 0) {
    bench->arm(bench->directory, call, fault ? fault->action : "none", fault ? fault->forever : 0);
    int code = drive(settings);
    *bench->count = bench->calls();
    bench->arm("", 0, "none", 0);
    _exit(code);
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void clean(Bench *bench)
{
  scratch_remove(bench->directory);
  if (mkdir(bench->directory, 0777)) abort();
  (void)unlink(bench->ledger);
  if (bench->begin) scratch_write(bench->output, bench->begin, bench->begin_length);
}

static void report(Bench *bench, const Scenario *scenario, const Fault *fault, long call,
                   const char *what, int code)
{
  bench->failed++;
  printf("FAILED %s, %s%s at call %ld: %s (%d)\n", scenario->name, fault->action,
         fault->forever ? " for ever" : "", call, what, code);
}

static bool same_as_reference(const Bench *bench)
{
  size_t length;
  unsigned char *bytes;
  bool same;

  if (access(bench->output, R_OK)) return false;
  bytes = scratch_read(bench->output, &length);
  same = length == bench->length && !memcmp(bytes, bench->reference, length);
  free(bytes);
  return same;
}

/* Only the results file may remain; a disk that can't read may have sent shards to bad/. */
static bool is_tidy(const Bench *bench, const Fault *fault)
{
  char directory[256];
  int n = scratch_count(bench->directory, "");

  if (n == 1) return true;
  snprintf(directory, sizeof(directory), "%s.d", bench->output);
  return n == 2 && !strcmp(fault->action, "EIO") && scratch_count(directory, "") == 1 &&
         scratch_count(directory, "bad") == 1;
}

static void try_fault(Bench *bench, const Scenario *scenario, const Fault *fault, long call)
{
  int code, again;

  clean(bench);
  code = run_child(bench, &scenario->drive, call, fault);
  again = run_child(bench, &scenario->drive, 0, NULL);
  if (fault->kills ? code != -SIGKILL && code != DRIVE_COMPLETE
                   : code != DRIVE_COMPLETE && code != DRIVE_STORAGE && code != DRIVE_INCOMPLETE)
    report(bench, scenario, fault, call, "the run ended badly", code);
  else if (again != DRIVE_COMPLETE)
    report(bench, scenario, fault, call, "the next run did not complete", again);
  else if (!same_as_reference(bench))
    report(bench, scenario, fault, call, "the results differ", again);
  else if (!is_tidy(bench, fault))
    report(bench, scenario, fault, call, "something is left behind", again);
  else bench->passed++;
}

/* The undisturbed run: its results and its number of calls. */
static bool prepare(Bench *bench, const Scenario *scenario)
{
  Drive smaller = scenario->drive;

  free(bench->reference);
  free(bench->begin);
  bench->reference = bench->begin = NULL;
  clean(bench);
  if (scenario->extend) {
    smaller.n_seeds--;
    if (run_child(bench, &smaller, 0, NULL)) return false;
    bench->begin = scratch_read(bench->output, &bench->begin_length);
    clean(bench);
  }
  if (run_child(bench, &scenario->drive, 0, NULL)) return false;
  bench->reference = scratch_read(bench->output, &bench->length);
  return true;
}

enum { SAMPLE = 2 }; /* calls tried per fault and scenario */

static long step_for(int argc, char **argv, long calls)
{
  const char *all = getenv("REGATTA_LONG");

  if (argc > 2) return atol(argv[2]) > 0 ? atol(argv[2]) : 1;
  return all && atoi(all) ? 1 : (calls + SAMPLE - 1) / SAMPLE;
}

int main(int argc, char **argv)
{
  Bench bench = {0};
  const Scenario scenarios[] = {
    {.name = "packed in memory", .drive = {bench.output, bench.ledger, 2, 256 << 20, 0, 0}},
    {.name = "packed on disk", .drive = {bench.output, bench.ledger, 2, 0, 0, 0}},
    {.name = "extended", .drive = {bench.output, bench.ledger, 2, 256 << 20, 0, 0}, .extend = true},
  };

  bench.arm =
    (int (*)(const char *, long, const char *, int))(uintptr_t)dlsym(RTLD_DEFAULT, "rg_fault_arm");
  bench.calls = (long (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "rg_fault_count");
  if (!bench.arm || !bench.calls) {
    fprintf(stderr, "preload the fault shim\n");
    return 2;
  }
  setenv("SOURCE_DATE_EPOCH", "1000000000", 1);
  if (H5open() < 0) return 2; /* once, not in every child */
  bench.count = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  scratch_create(bench.scratch);
  snprintf(bench.directory, sizeof(bench.directory), "%s/study", bench.scratch);
  snprintf(bench.output, sizeof(bench.output), "%s/out.h5", bench.directory);
  snprintf(bench.ledger, sizeof(bench.ledger), "%s/ledger", bench.scratch);
  for (size_t s = 0; s < sizeof(scenarios) / sizeof(scenarios[0]); s++) {
    if (argc > 1 && (size_t)atol(argv[1]) != s) continue;
    if (!prepare(&bench, &scenarios[s])) {
      printf("FAILED %s: the undisturbed run\n", scenarios[s].name);
      bench.failed++;
      continue;
    }
    long calls = *bench.count, step = step_for(argc, argv, calls);
    printf("%s: %ld file calls, every %ldth\n", scenarios[s].name, calls, step);
    fflush(stdout);
    for (int f = 0; f < N_FAULTS; f++)
      for (long call = argc > 3 ? atol(argv[3]) : 1 + (f * (step / 3 + 1)) % step; call <= calls;
           call += step)
        try_fault(&bench, &scenarios[s], &faults[f], call);
    fflush(stdout);
  }
  scratch_remove(bench.scratch);
  printf("%d passed, %d failed\n", bench.passed, bench.failed);
  return bench.failed ? 1 : 0;
}
