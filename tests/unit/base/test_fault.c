/* Faults, and arrays that grow. */
#include "test_main.h"

#include <errno.h>

#include "base/fault.h"
#include "base/grow.h"

RG_TEST(the_first_cause_is_kept)
{
  RgFault fault = {0};

  rg_fault_restate(&fault, RG_FAULT_ERROR, "nowhere"); /* nothing happened */
  assert_int_equal(fault.code, RG_FAULT_NONE);
  rg_fault_set(&fault, RG_FAULT_DAMAGED, "trial %d is gone", 3);
  rg_fault_set(&fault, RG_FAULT_FULL, "and the disk is full");
  assert_int_equal(fault.code, RG_FAULT_DAMAGED);
  assert_string_equal(fault.message, "trial 3 is gone");
  rg_fault_restate(&fault, RG_FAULT_FOREIGN, "out.h5");
  assert_int_equal(fault.code, RG_FAULT_FOREIGN);
  assert_string_equal(fault.message, "out.h5: trial 3 is gone");
}

RG_TEST(what_the_system_refuses_has_its_errno)
{
  RgFault fault = {0}, full = {0};

  rg_fault_file(&fault, "a.h5", "write", 0, ".", 0);
  assert_int_equal(fault.code, RG_FAULT_NONE);
  rg_fault_file(&fault, "a.h5", "write", EIO, ".", 0);
  rg_fault_file(&fault, "b.h5", "write", ENOSPC, ".", 0);
  assert_true(fault.code == RG_FAULT_ERROR && fault.error == EIO);
  assert_string_equal(fault.message, "cannot write a.h5: Input/output error");
  rg_fault_file(&full, "a.h5", "sync", ENOSPC, ".", 8 << 20);
  assert_true(full.code == RG_FAULT_FULL && full.error == ENOSPC);
  assert_non_null(strstr(full.message, "(needs 8.0 MiB, "));
}

/* Without room this writes beyond the end, which valgrind and ASan detect. */
RG_TEST(arrays_keep_what_is_in_them)
{
  int *array = NULL, n = 0;

  for (int round = 0; round < 3; round++) {
    for (; n < 100; n++) {
      RG_OK(RG_GROW(n, array));
      array[n] = n;
    }
    for (int i = 0; i < n; i++) assert_int_equal(array[i], i);
    n = 16 - 7 * round; /* less in between: 16, 9 */
  }
  RG_OK(PetscFree(array));
}
