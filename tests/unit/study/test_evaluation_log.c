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
  rg_evaluation_log_set_reason(log, reason(i));
  RG_OK(rg_evaluation_log_add(log, i + 1, x, c, value(i), NULL, 0.5, &fault));
  assert_true(!fault.code == !fault.message[0]);
  return fault.error;
}

static bool knows(const RgEvaluationLog *log, int i)
{
  double x[DIM], c[DIM_C], f, seconds, expected = value(i);

  point(i, x, c);
  if (!rg_evaluation_log_find(log, i + 1, x, c, &f, NULL, &seconds)) return false;
  assert_memory_equal(&f, &expected, sizeof(f));
  assert_true(seconds == 0.5);
  const char *found = rg_evaluation_log_reason(log, i + 1);
  assert_true(reason(i) ? found && !strcmp(found, reason(i)) : !found);
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

static void test_same_bits_back(void **state)
{
  char directory[128];
  double x[DIM], c[DIM_C], f, seconds;

  snprintf(directory, 128, "%s/a.h5.d", (const char *)*state);
  write_all(directory, 0, 2); /* the directory need not exist */
  write_all(directory, 2, 3);
  RgEvaluationLog *log = open_log(directory, id);
  assert_int_equal(rg_evaluation_log_size(log), N);
  for (int i = 0; i < N; i++) assert_true(knows(log, i));
  point(1, x, c);
  assert_false(rg_evaluation_log_find(log, 3, x, c, &f, NULL, &seconds)); /* another number */
  point(2, x, c);
  x[0] = 0.0; /* the log has -0 */
  assert_false(rg_evaluation_log_find(log, 3, x, c, &f, NULL, &seconds));
  point(2, x, c);
  c[0] += 1e-16;
  assert_true(c[0] == 0.2 || !rg_evaluation_log_find(log, 3, x, c, &f, NULL, &seconds));
  RG_OK(rg_evaluation_log_close(&log));
  log = open_log(directory, other);
  assert_int_equal(rg_evaluation_log_size(log), 0);
  RG_OK(rg_evaluation_log_close(&log));
}

static size_t slurp(const char *path, char *bytes, size_t room)
{
  FILE *file = fopen(path, "rb");
  size_t n = fread(bytes, 1, room, file);

  fclose(file);
  return n;
}

static void spill(const char *path, const char *bytes, size_t n)
{
  FILE *file = fopen(path, "wb");

  assert_int_equal(fwrite(bytes, 1, n, file), n);
  fclose(file);
}

/* For every cut and every change, the entries that are read are right, and every line before the
   damage is read. */
static void test_damage(void **state)
{
  char directory[128], path[4096], bytes[4096], damaged[4096];
  size_t length;

  snprintf(directory, 128, "%s/b.h5.d", (const char *)*state);
  write_all(directory, 0, N);
  log_path(directory, 0, path);
  length = slurp(path, bytes, sizeof(bytes));
  for (size_t cut = 0; cut <= length; cut++) {
    int whole = 0;
    for (size_t i = 0; i < cut; i++) whole += bytes[i] == '\n';
    spill(path, bytes, cut);
    RgEvaluationLog *log = open_log(directory, id);
    assert_int_equal(rg_evaluation_log_size(log), whole);
    for (int i = 0; i < whole; i++) assert_true(knows(log, i));
    RG_OK(rg_evaluation_log_close(&log));
  }
  for (size_t at = 0; at < length; at++) {
    memcpy(damaged, bytes, length);
    damaged[at] = (char)(damaged[at] ^ (1 << at % 8));
    spill(path, damaged, length);
    RgEvaluationLog *log = open_log(directory, id);
    int known = 0;
    for (int i = 0; i < N; i++) known += knows(log, i);
    assert_int_equal(known, rg_evaluation_log_size(log));
    assert_in_range(known, N - 2, N - 1); /* a newline belongs to two lines */
    RG_OK(rg_evaluation_log_close(&log));
  }
}

/* The log of another trial under our name. */
static void test_of_another_trial(void **state)
{
  char directory[128], path[4096], wrong[4096];

  snprintf(directory, 128, "%s/c.h5.d", (const char *)*state);
  write_all(directory, 0, N);
  log_path(directory, 0, path);
  snprintf(wrong, sizeof(wrong), "%s/" RG_FOLDER_EVALUATIONS "/%s.0.log", directory, other);
  assert_int_equal(rename(path, wrong), 0);
  RgEvaluationLog *log = open_log(directory, other);
  assert_int_equal(rg_evaluation_log_size(log), 0);
  RG_OK(rg_evaluation_log_close(&log));
}

/* A disk that refuses once and then accepts. */
static void test_cannot_be_written(void **state)
{
  char directory[128], folder[4200];

  snprintf(directory, 128, "%s/d.h5.d", (const char *)*state);
  snprintf(folder, sizeof(folder), "%s/" RG_FOLDER_EVALUATIONS, directory);
  mkdir(directory, 0777);
  spill(folder, "in the way", 10);
  RgEvaluationLog *log = open_log(directory, id);
  assert_int_equal(add(log, 0), ENOTDIR);
  assert_int_equal(rg_evaluation_log_size(log), 0);
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

static void test_remove(void **state)
{
  char directory[128], path[4096];
  int asked = 0;

  snprintf(directory, 128, "%s/e.h5.d", (const char *)*state);
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
  assert_int_equal(rg_evaluation_log_size(log), 1);
  RG_OK(rg_evaluation_log_close(&log));
}

static void test_in_memory(void **state)
{
  RgEvaluationLog *log = open_log(NULL, id);

  (void)state;
  for (int i = 0; i < N; i++) assert_int_equal(add(log, i), 0);
  for (int i = 0; i < N; i++) assert_true(knows(log, i));
  RG_OK(rg_evaluation_log_close(&log));
}

static int setup(void **state)
{
  char *folder = calloc(64, 1);

  scratch_create(folder);
  *state = folder;
  return 0;
}

static int teardown(void **state)
{
  scratch_remove(*state);
  free(*state);
  return 0;
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_same_bits_back),   cmocka_unit_test(test_damage),
    cmocka_unit_test(test_of_another_trial), cmocka_unit_test(test_cannot_be_written),
    cmocka_unit_test(test_remove),           cmocka_unit_test(test_in_memory),
  };
  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
  int failed = cmocka_run_group_tests(tests, setup, teardown);
  return PetscFinalize() || failed ? 1 : 0;
}
