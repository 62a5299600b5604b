/* Logs of evaluations: the same bits come back, damage is not read, no evaluation is asked for
   twice. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"
#include "study/store/evaluation_log.h"
#include "test_main.h"

/* A test with a study directory of its own, which does not exist yet. */
#define LOG_TEST(name)                                                                             \
  static void name##_in(const char *directory);                                                    \
  RG_TEST(name)                                                                                    \
  {                                                                                                \
    char scratch[64], directory[128];                                                              \
    scratch_create(scratch);                                                                       \
    snprintf(directory, sizeof(directory), "%s/out.h5.d", scratch);                                \
    name##_in(directory);                                                                          \
    scratch_remove(scratch);                                                                       \
  }                                                                                                \
  static void name##_in(const char *directory)

static const char id[] = "0123456789abcdef0123456789abcdef";
static const char other[] = "ffffffffffffffffffffffffffffffff";
enum { N = 5, DIM = 2, DIM_C = 1 };

static void point(int i, double x[DIM], double c[DIM_C])
{
  x[0] = i == 2 ? -0.0 : i / 3.0;
  x[1] = i == 3 ? 5e-324 : 1e300 * (i + 1);
  c[0] = 0.1 * i;
}

static double value(int i)
{
  return i == 1 ? -0.0 : 1.0 / (i + 3);
}

static RgEvaluationLog *open_log(const char *directory, const char *trial)
{
  RgEvaluationLog *log;

  RG_OK(rg_evaluation_log_open(directory, RG_FOLDER_EVALUATIONS, trial, NULL, DIM, DIM_C, 0, &log));
  return log;
}

static const char *reason(int i)
{
  return i == 2 ? "it broke: #1 of 2" : NULL;
}

static int add(RgEvaluationLog *log, int i)
{
  double x[DIM], c[DIM_C];
  RgFault fault = {0};

  point(i, x, c);
  log->reason = reason(i);
  RG_OK(rg_evaluation_log_add(log, i + 1, x, c, value(i), NULL, 0.5, &fault));
  assert_true(!fault.code == !fault.message[0]);
  return fault.error;
}

static bool knows(const RgEvaluationLog *log, int i)
{
  double x[DIM], c[DIM_C], expected = value(i);

  point(i, x, c);
  const RgLoggedEvaluation *found = rg_evaluation_log_find(log, i + 1, x, c);
  if (!found) return false;
  assert_memory_equal(&found->numbers[RG_LOG_VALUE], &expected, sizeof(expected));
  assert_true(found->numbers[RG_LOG_SECONDS] == 0.5);
  assert_true(reason(i) ? found->reason && !strcmp(found->reason, reason(i)) : !found->reason);
  return true;
}

static void write_all(const char *directory, int first, int n)
{
  RgEvaluationLog *log = open_log(directory, id);

  for (int i = first; i < first + n; i++) assert_int_equal(add(log, i), 0);
  RG_OK(rg_evaluation_log_close(&log));
}

static void log_path(const char *directory, int n, char path[4096])
{
  snprintf(path, 4096, "%s/" RG_FOLDER_EVALUATIONS "/%s.%d.log", directory, id, n);
}

LOG_TEST(the_same_bits_come_back)
{
  double x[DIM], c[DIM_C];

  write_all(directory, 0, 2); /* the directory need not exist */
  write_all(directory, 2, 3);
  RgEvaluationLog *log = open_log(directory, id);
  assert_int_equal(log->n, N);
  for (int i = 0; i < N; i++) assert_true(knows(log, i));
  point(1, x, c);
  assert_null(rg_evaluation_log_find(log, 3, x, c)); /* another number */
  point(2, x, c);
  x[0] = 0.0; /* the log has -0 */
  assert_null(rg_evaluation_log_find(log, 3, x, c));
  point(2, x, c);
  c[0] += 1e-16;
  assert_true(c[0] == 0.2 || !rg_evaluation_log_find(log, 3, x, c));
  RG_OK(rg_evaluation_log_close(&log));
  log = open_log(directory, other);
  assert_int_equal(log->n, 0);
  RG_OK(rg_evaluation_log_close(&log));
}

/* For every cut and every change, the entries that are read are right, and every line before the
   damage is read. */
LOG_TEST(damage_is_not_read)
{
  char path[4096];
  unsigned char *bytes;
  size_t length;

  write_all(directory, 0, N);
  log_path(directory, 0, path);
  bytes = scratch_read(path, &length);
  for (size_t cut = 0; cut <= length; cut++) {
    int whole = 0;
    for (size_t i = 0; i < cut; i++) whole += bytes[i] == '\n';
    scratch_write(path, bytes, cut);
    RgEvaluationLog *log = open_log(directory, id);
    assert_int_equal(log->n, whole);
    for (int i = 0; i < whole; i++) assert_true(knows(log, i));
    RG_OK(rg_evaluation_log_close(&log));
  }
  for (size_t at = 0; at < length; at++) {
    bytes[at] ^= (unsigned char)(1 << at % 8);
    scratch_write(path, bytes, length);
    bytes[at] ^= (unsigned char)(1 << at % 8);
    RgEvaluationLog *log = open_log(directory, id);
    int known = 0;
    for (int i = 0; i < N; i++) known += knows(log, i);
    assert_int_equal(known, log->n);
    assert_in_range(known, N - 2, N - 1); /* a newline belongs to two lines */
    RG_OK(rg_evaluation_log_close(&log));
  }
  free(bytes);
}

/* The log of another trial under our name. */
LOG_TEST(logs_of_other_trials_are_not_read)
{
  char path[4096], wrong[4096];

  write_all(directory, 0, N);
  log_path(directory, 0, path);
  snprintf(wrong, sizeof(wrong), "%s/" RG_FOLDER_EVALUATIONS "/%s.0.log", directory, other);
  assert_int_equal(rename(path, wrong), 0);
  RgEvaluationLog *log = open_log(directory, other);
  assert_int_equal(log->n, 0);
  RG_OK(rg_evaluation_log_close(&log));
}

/* A disk that refuses once and then accepts. */
LOG_TEST(a_disk_may_refuse_once)
{
  char folder[4200];

  snprintf(folder, sizeof(folder), "%s/" RG_FOLDER_EVALUATIONS, directory);
  mkdir(directory, 0777);
  scratch_write(folder, "in the way", 10);
  RgEvaluationLog *log = open_log(directory, id);
  assert_int_equal(add(log, 0), ENOTDIR);
  assert_int_equal(log->n, 0);
  unlink(folder);
  assert_int_equal(add(log, 0), 0);
  assert_true(knows(log, 0));
  RG_OK(rg_evaluation_log_close(&log));
}

static bool is_ours(void *closure, const char *trial)
{
  (*(int *)closure)++;
  return !strcmp(trial, id);
}

LOG_TEST(logs_of_finished_trials_go)
{
  char path[4096];
  int asked = 0;

  RG_OK(rg_evaluation_logs_remove(directory, is_ours, &asked)); /* nothing there */
  assert_int_equal(asked, 0);
  write_all(directory, 0, 1);
  write_all(directory, 1, 1);
  RgEvaluationLog *log = open_log(directory, other);
  assert_int_equal(add(log, 0), 0);
  RG_OK(rg_evaluation_log_close(&log));
  RG_OK(rg_evaluation_logs_remove(directory, is_ours, &asked));
  assert_int_equal(asked, 3);
  log_path(directory, 0, path);
  assert_int_equal(access(path, F_OK), -1);
  log = open_log(directory, other);
  assert_int_equal(log->n, 1);
  RG_OK(rg_evaluation_log_close(&log));
}

RG_TEST(a_log_may_stay_in_memory)
{
  RgEvaluationLog *log = open_log(NULL, id);

  for (int i = 0; i < N; i++) assert_int_equal(add(log, i), 0);
  for (int i = 0; i < N; i++) assert_true(knows(log, i));
  RG_OK(rg_evaluation_log_close(&log));
}
