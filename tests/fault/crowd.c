/* Several runs of one study at the same time, without locks: they may waste time, but none of them may
   damage or lose anything. In every other round each has trials of its own, as ranks have, and one of
   them is killed. Their faults, if any, are the shim's. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include <hdf5.h>

#include "drive.h"
#include "scratch.h"

enum { RUNS = 4, ROUNDS = 6 };

typedef struct {
  char scratch[64], directory[128], output[192], ledger[RUNS][192];
} Crowd;

static void reset(const Crowd *crowd)
{
  scratch_remove(crowd->directory);
  if (mkdir(crowd->directory, 0777)) abort();
  for (int i = 0; i < RUNS; i++) (void)unlink(crowd->ledger[i]);
}

static pid_t start(const Crowd *crowd, int run, size_t image_bytes, bool shared)
{
  const Drive settings = {crowd->output, crowd->ledger[run], 2,
                          image_bytes,   shared ? RUNS : 0,  run};
  pid_t child = fork();

  if (child == 0) _exit(drive(&settings));
  return child;
}

static int finish(pid_t child)
{
  int status;

  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Start all at once. A run that lost the race for a file may ask to be started again, but for no
   other reason. */
static int round_of(const Crowd *crowd, int round)
{
  const bool shared = round % 2;
  pid_t child[RUNS];
  int bad = 0;

  reset(crowd);
  for (int i = 0; i < RUNS; i++)
    child[i] = start(crowd, i, (round + i) % 2 ? 0 : 256 << 20, shared);
  if (shared) {
    usleep((unsigned)round * 14000);
    (void)kill(child[round % RUNS], SIGKILL);
  }
  for (int i = 0; i < RUNS; i++) {
    int code = finish(child[i]);
    if (shared && code == -SIGKILL) continue;
    if (code != DRIVE_COMPLETE && code != DRIVE_INCOMPLETE && code != DRIVE_STORAGE) {
      printf("FAILED round %d: run %d ended with %d\n", round, i, code);
      bad++;
    }
  }
  for (int i = 0; i < RUNS; i++) { /* run each of them again: its finished trials must be there */
    int code = finish(start(crowd, i, 256 << 20, false));
    if (code == DRIVE_COMPLETE) continue;
    printf("FAILED round %d: run %d, started again, ended with %d\n", round, i, code);
    bad++;
  }
  return bad;
}

static bool same(const Crowd *crowd, const unsigned char *reference, size_t length)
{
  size_t n;
  unsigned char *bytes = scratch_read(crowd->output, &n);
  bool equal = n == length && !memcmp(bytes, reference, n);

  free(bytes);
  return equal && scratch_count(crowd->directory, "") == 1;
}

int main(void)
{
  Crowd crowd;
  unsigned char *reference;
  size_t length;
  int passed = 0, failed = 0;

  setenv("SOURCE_DATE_EPOCH", "1000000000", 1);
  if (H5open() < 0) return 2;
  scratch_create(crowd.scratch);
  snprintf(crowd.directory, sizeof(crowd.directory), "%s/study", crowd.scratch);
  snprintf(crowd.output, sizeof(crowd.output), "%s/out.h5", crowd.directory);
  for (int i = 0; i < RUNS; i++)
    snprintf(crowd.ledger[i], sizeof(crowd.ledger[i]), "%s/ledger%d", crowd.scratch, i);
  reset(&crowd);
  if (finish(start(&crowd, 0, 256 << 20, false))) return 2;
  reference = scratch_read(crowd.output, &length);
  for (int round = 0; round < ROUNDS; round++) {
    bool good = round_of(&crowd, round) == 0;
    if (good && !same(&crowd, reference, length)) {
      printf("FAILED round %d: the results differ, or something is left behind\n", round);
      good = false;
    }
    passed += good;
    failed += !good;
  }
  free(reference);
  scratch_remove(crowd.scratch);
  printf("%d passed, %d failed\n", passed, failed);
  return failed ? 1 : 0;
}
