/* The entry point of libFuzzer. PETSc and MPI live as long as the process. */
#include "fuzz.h"

#include <sanitizer/lsan_interface.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  int none = 1;
  char **words = *argv;

  (void)argc;
  if (PetscOptionsSetValue(NULL, "-no_signal_handler", "true")) return 1;
  __lsan_disable(); /* memory that MPI keeps is not ours */
  int failed = PetscInitialize(&none, &words, NULL, NULL) ? 1 : 0;
  __lsan_enable();
  return failed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return rg_fuzz_one(data, size);
}
