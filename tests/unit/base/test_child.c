/* Programs that answer questions in lines: answers, and every way to fail. Helpers. */
#include "test_main.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"

typedef struct {
  RgChildOutcome outcome;
  const char *answer;
  size_t length;
  RgText mistake;
} Reply;

static RgChild *start(const char *script)
{
  RgText mistake = {0};
  RgChild *child;

  RG_OK(rg_child_start((const char *const[]){"sh", "-c", script, NULL}, &child, &mistake));
  if (!child) fail_msg("%s", mistake.data);
  return child;
}

static Reply ask_with(RgChild *child, const char *line, const RgPatience *patience)
{
  Reply reply = {0};

  RG_OK(rg_child_ask(child, line, patience, &reply.outcome, &reply.answer, &reply.length,
                     &reply.mistake));
  assert_true((reply.outcome == RG_CHILD_ANSWERED) == (reply.mistake.length == 0));
  return reply;
}

static Reply ask(RgChild *child, const char *line, double limit)
{
  return ask_with(child, line, &(RgPatience){.limit = limit});
}

/* One question, whose answer is a failure for `reason`. */
static void refuse(RgChild *child, const char *line, double limit, const char *reason)
{
  Reply reply = ask(child, line, limit);

  assert_int_equal(reply.outcome, RG_CHILD_FAILED);
  if (!strstr(reply.mistake.data, reason)) fail_msg("%s: '%s'", reason, reply.mistake.data);
  RG_OK(rg_text_clear(&reply.mistake));
}

static void expect_failure(const char *script, double limit, const char *reason)
{
  RgChild *child = start(script);

  refuse(child, "question", limit, reason);
  RG_OK(rg_child_close(&child, false));
  assert_null(child);
}

/* MPI may have a child of its own, which runs. */
static void expect_no_zombies(void)
{
  assert_true(waitpid(-1, NULL, WNOHANG) <= 0);
}

RG_TEST(test_answers)
{
  RgChild *child = start("exec cat");
  char line[40000];

  for (int i = 0; i < 300; i++) {
    char text[32];
    snprintf(text, sizeof(text), "line %d", i);
    Reply reply = ask(child, text, 60);
    assert_int_equal(reply.length, strlen(text));
    assert_memory_equal(reply.answer, text, reply.length);
  }
  memset(line, 'x', sizeof(line) - 1);
  line[sizeof(line) - 1] = '\0';
  assert_int_equal(ask(child, line, 60).length, sizeof(line) - 1);
  assert_int_equal(rg_child_count(child), 301);
  assert_true(rg_child_is(child, (const char *const[]){"sh", "-c", "exec cat", NULL}));
  assert_false(rg_child_is(child, (const char *const[]){"sh", "-c", NULL}));
  assert_false(rg_child_is(child, (const char *const[]){"sh", "-c", "exec cat", "x", NULL}));
  RG_OK(rg_child_close(&child, true));
  expect_no_zombies();
}

RG_TEST(test_failures)
{
  const double begin = rg_wall_seconds();

  expect_failure("exit 3", 60, "ended with exit code 3");
  expect_failure("read x; echo first >&2; echo no such data >&2; echo >&2; exit 4", 60,
                 "ended with exit code 4: no such data");
  expect_failure("read x; kill -9 $$", 60, "was ended by signal 9");
  expect_failure("read x; printf half; exit 0", 60, "ended with exit code 0");
  const double cpu = rg_cpu_seconds();
  expect_failure("exec sleep 1000", 0.2, "gave no answer within 0.2 seconds");
  assert_true(rg_cpu_seconds() - cpu < 0.1); /* the wait uses no CPU time for polling */
  expect_failure("read x; printf 'no end'; exec sleep 1000", 0.2, "gave no answer");
  expect_failure("read x; exec >&-; sleep 1000", 60, "closed its standard output");
  expect_failure("read x; head -c 100000 /dev/zero | tr '\\0' a; sleep 1000", 60,
                 "a line of more than 65536 bytes");
  expect_failure("read x; while :; do echo noise >&2; sleep 0.02; done", 0.2, "gave no answer");
  expect_no_zombies();
  assert_true(rg_wall_seconds() - begin < 300);
}

RG_TEST(test_a_program_that_does_not_listen)
{
  static char line[1 << 20];
  RgChild *child = start("exec sleep 1000");

  memset(line, 'x', sizeof line - 1);
  refuse(child, line, 0.2, "gave no answer");
  RG_OK(rg_child_close(&child, false));
  expect_failure("exec <&-; exec sleep 1000", 0.2, "gave no answer"); /* no SIGPIPE */
}

RG_TEST(test_words_nobody_asked_for)
{
  RgChild *child = start("echo hello; exec cat");
  Reply reply = ask(child, "question", 60); /* the words may come before the question */

  if (reply.outcome == RG_CHILD_ANSWERED) {
    assert_memory_equal(reply.answer, "hello", 5);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    reply = ask(child, "another", 60);
  }
  assert_int_equal(reply.outcome, RG_CHILD_FAILED);
  assert_non_null(strstr(reply.mistake.data, "wrote without being asked"));
  RG_OK(rg_text_clear(&reply.mistake));
  RG_OK(rg_child_close(&child, true));
}

static bool wants_stop(void *closure)
{
  (*(int *)closure)++;
  return true;
}

RG_TEST(test_a_stop_shortens_the_wait)
{
  int asked = 0;
  RgPatience patience = {.limit = 1000, .grace = 0.3, .stop = wants_stop, .closure = &asked};
  RgChild *child = start("exec cat"), *slow = start("exec sleep 1000");

  assert_int_equal(ask_with(child, "in time", &patience).outcome, RG_CHILD_ANSWERED);
  Reply reply = ask_with(slow, "question", &patience);
  assert_int_equal(reply.outcome, RG_CHILD_ABANDONED);
  assert_true(asked > 1);
  RG_OK(rg_text_clear(&reply.mistake));
  RG_OK(rg_child_close(&child, true));
  RG_OK(rg_child_close(&slow, false));
}

RG_TEST(test_no_such_program)
{
  RgText mistake = {0};
  RgChild *child;

  RG_OK(rg_child_start((const char *const[]){"no-such-program", NULL}, &child, &mistake));
  assert_null(child);
  assert_non_null(strstr(mistake.data, "No such file"));
  RG_OK(rg_text_clear(&mistake));
  RG_OK(rg_child_close(&child, true));
  expect_no_zombies();
}

/* Whether a process runs; a killed process may still wait to be reaped. */
static bool runs(long pid)
{
  char path[64], state = 'X';
  FILE *file;

  snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
  file = fopen(path, "r");
  if (!file) return false;
  if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 'X';
  fclose(file);
  return state != 'Z' && state != 'X';
}

RG_TEST(test_what_it_started_goes_with_it)
{
  for (int gently = 0; gently < 2; gently++) {
    RgChild *child = start("sleep 1000 & read x; echo $!; read y");
    long pid = strtol(ask(child, "who", 60).answer, NULL, 10);
    assert_true(runs(pid));
    RG_OK(rg_child_close(&child, gently));
    for (int i = 0; i < 1000 && runs(pid); i++)
      nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_false(runs(pid));
  }
}

RG_TEST(test_environment)
{
  RgChild *child;
  Reply reply;

  setenv("OMPI_COMM_WORLD_RANK", "7", 1);
  setenv("SLURM_PROCID", "7", 1);
  setenv("REGATTA_TEST_WORD", "kept", 1);
  unsetenv("OMP_NUM_THREADS");
  child = start(
    "read x; echo \"$OMPI_COMM_WORLD_RANK$SLURM_PROCID-$REGATTA_TEST_WORD-$OMP_NUM_THREADS\"");
  reply = ask(child, "what", 60);
  assert_int_equal(reply.length, strlen("-kept-1"));
  assert_memory_equal(reply.answer, "-kept-1", reply.length);
  RG_OK(rg_child_close(&child, true));
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("SLURM_PROCID");
}
