/* The main of the C tests: runs what RG_TEST has added, in the order of the file. */
#include "test_main.h"

static struct CMUnitTest tests[64];
static size_t n_tests;

void rg_test_add(const char *name, CMUnitTestFunction test)
{
  assert_true(n_tests < sizeof(tests) / sizeof(tests[0]));
  tests[n_tests++] = (struct CMUnitTest){.name = name, .test_func = test};
}

int main(int argc, char **argv)
{
  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
  int failed = _cmocka_run_group_tests("tests", tests, n_tests, NULL, NULL);
  return PetscFinalize() || failed ? 1 : 0;
}
