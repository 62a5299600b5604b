/* Inputs found by fuzzing, and large inputs (megabytes) that a fuzzer seldom makes. PETSc counts
   memory that is not given back. */
#include <stddef.h>
#include <stdint.h>

int fuzz_results(const uint8_t *data, size_t size);
int fuzz_logs(const uint8_t *data, size_t size);

#define rg_fuzz_one fuzz_study
#include "../../fuzz/fuzz_study.c"
#undef rg_fuzz_one
#define rg_fuzz_one fuzz_results
#include "../../fuzz/fuzz_results.c"
#undef rg_fuzz_one
#define rg_fuzz_one fuzz_logs
#include "../../fuzz/fuzz_logs.c"
#undef rg_fuzz_one

#include "scratch.h"
#include "test_main.h"

typedef int (*Fuzzer)(const uint8_t *data, size_t size);

/* PETSc counts memory from its start. */
__attribute__((constructor)) static void count_memory(void)
{
  setenv("PETSC_OPTIONS", "-malloc_debug true", 1);
}

static void replay(Fuzzer fuzzer, const void *bytes, size_t length, const char *what)
{
  PetscLogDouble before, after;

  RG_OK(PetscMallocGetCurrentUsage(&before));
  fuzzer(bytes, length);
  RG_OK(PetscMallocGetCurrentUsage(&after));
  if (after > before) fail_msg("%s: %g bytes are not given back", what, after - before);
}

static int replay_folder(const char *folder, Fuzzer fuzzer)
{
  struct dirent **list;
  char path[1024];
  int n = scandir(folder, &list, NULL, alphasort), files = 0;

  assert_true(n >= 0);
  for (int i = 0; i < n; i++) {
    if (list[i]->d_name[0] != '.') {
      size_t length;
      snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
      unsigned char *bytes = scratch_read(path, &length);
      replay(fuzzer, bytes, length, path);
      free(bytes);
      files++;
    }
    free(list[i]);
  }
  free(list);
  return files;
}

RG_TEST(finds_in_studies)
{
  (void)replay_folder(RG_TEST_DATA "/fuzz/regressions/study", fuzz_study);
}

RG_TEST(finds_in_results)
{
  (void)fuzz_results((const uint8_t *)"", 0); /* makes the file that is edited */
  assert_true(replay_folder(RG_TEST_DATA "/fuzz/regressions/results", fuzz_results) > 0);
}

RG_TEST(finds_in_logs)
{
  assert_true(replay_folder(RG_TEST_DATA "/fuzz/regressions/logs", fuzz_logs) > 0);
}

/* Edits of the results file, each at every third place, with bytes from a fixed sequence. */
RG_TEST(edited_results)
{
  uint8_t input[24];
  uint64_t word = 1;
  const int step = getenv("REGATTA_LONG") ? 1 : 3;

  (void)fuzz_results((const uint8_t *)"", 0);
  for (uint8_t edit = 0; edit < 7; edit++)
    for (int place = edit % step; place < 128; place += step) {
      for (size_t i = 2; i < sizeof(input); i++) {
        word = word * UINT64_C(6364136223846793005) + 1442695040888963407;
        input[i] = (uint8_t)(word >> 56);
      }
      input[0] = edit;
      input[1] = (uint8_t)place;
      replay(fuzz_results, input, sizeof(input), "an edit");
    }
}

/* A study whose title is `times` times `middle` between two words. */
static void replay_long(const char *head, const char *middle, size_t times, const char *tail)
{
  size_t a = strlen(head), m = strlen(middle), b = strlen(tail), length = a + m * times + b;
  char *text;

  RG_OK(PetscMalloc1(length + 1, &text));
  memcpy(text, head, a);
  for (size_t i = 0; i < times; i++) memcpy(text + a + m * i, middle, m);
  memcpy(text + a + m * times, tail, b + 1);
  replay(fuzz_study, text, length, head);
  RG_OK(PetscFree(text));
}

RG_TEST(megabytes)
{
  static const char end[] = "\ncommon: {iterations: 5}\nproblems: [branin]\nalgorithms: [random]\n";

  replay_long("study: t\ntitle: ", "x", 3 << 20, end);
  replay_long("study: t\ntitle: '", "''", 1 << 20, "'");
  replay_long("study: t\ntitle: \"", "\\u00e9", 1 << 19, "\"");
  replay_long("study: t\ntitle: |\n", "  x\n", 1 << 19, end);
  replay_long("study: t\n", "x", 3 << 20, ": 1\n");
  replay_long("study: t\nseeds: ", "9", 3 << 20, end);
  replay_long("study: ", "x", 1 << 20, end);
  replay_long("study: t\nproblems: [", "branin, ", 1 << 11, "branin]\n");
  replay_long("study: t\nproblems: ", "- ", 1 << 20, "branin\n");
  replay_long("study: t\nproblems: ", "{a: ", 1 << 19, "\n");
  replay_long("study: t\nproblems: [{label: '", "/..", 1 << 19, "', name: branin}]\n");
  replay_long("", "a: &a [*a]\n", 1 << 16, "");
  replay_long("", "&a ", 1 << 18, "x");
  replay_long("", "# comment\n", 1 << 18, "study: t\n");
  replay_long("", "\n", 1 << 21, "study: t\n");
  replay_long("", "--- ", 1 << 18, "");
  replay_long("? ", "? ", 1 << 18, "");
}
