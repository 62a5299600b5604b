/* Polls of long computations: when they stop, and who notices. */
#include "test_main.h"

#include "base/poll.h"

static int asked;

/* Asks for a stop when it is called for the second time. */
static bool second_time(void *closure)
{
  assert_ptr_equal(closure, &asked);
  return ++asked == 2;
}

static PetscErrorCode compute_for_ever(void)
{
  for (;;) PetscCall(rg_poll());
}

static PetscErrorCode compute(PetscErrorCode code)
{
  PetscCall(rg_poll());
  return code;
}

RG_TEST(without_somebody_to_stop_a_poll_does_nothing)
{
  for (int i = 0; i < 1000; i++) RG_OK(rg_poll());
}

RG_TEST(a_stop_ends_an_endless_computation)
{
  bool stopped = false;

  for (int again = 0; again < 2; again++) {
    asked = 0;
    rg_poll_begin(second_time, &asked);
    RG_OK(rg_poll_end(compute_for_ever(), &stopped));
    assert_true(stopped);
    assert_int_equal(asked, 2);
    RG_OK(rg_poll()); /* nobody could catch it here */
    assert_int_equal(asked, 2);
  }
}

RG_TEST(other_endings_stay_as_they_are)
{
  bool stopped = true;

  rg_poll_begin(second_time, &asked);
  RG_OK(rg_poll_end(compute(0), &stopped));
  assert_false(stopped);
  rg_poll_begin(second_time, &asked);
  assert_int_equal(rg_poll_end(compute(PETSC_ERR_MEM), &stopped), PETSC_ERR_MEM);
  assert_false(stopped);
}
