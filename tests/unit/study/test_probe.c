/* Results files with altered bytes, without a trailer or with a forged one: HDF5 may crash on them, we may not. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "fake_study.h"
#include "scratch.h"
#include "study/hdf5/probe.h"
#include "study/hdf5/shard.h"
#include "test_main.h"

typedef struct {
  RgMedium image;
  char folder[64], path[128];
} Fixture;

static int set_up(void **state)
{
  static Fixture fixture;

  RG_OK(fake_image(&fixture.image));
  scratch_create(fixture.folder);
  snprintf(fixture.path, sizeof(fixture.path), "%s/out.h5", fixture.folder);
  *state = &fixture;
  return 0;
}

static int tear_down(void **state)
{
  Fixture *fixture = *state;

  scratch_remove(fixture->folder);
  RG_OK(rg_medium_clear(&fixture->image));
  return 0;
}

static PetscErrorCode count_record(void *closure, const RgRecord *record)
{
  PetscFunctionBeginUser;
  (void)record;
  (*(int *)closure)++;
  PetscFunctionReturn(0);
}

static RgFaultCode visit(const Fixture *fixture, const void *bytes, size_t length, int *n,
                         int *damaged)
{
  RgFault fault = {0};

  scratch_write(fixture->path, bytes, length);
  *n = 0;
  RG_OK(rg_store_visit(fixture->path, count_record, n, damaged, &fault));
  if (fault.code) assert_true(fault.message[0]);
  return fault.code;
}

static void a_file_without_trailer_is_read(void **state)
{
  const Fixture *fixture = *state;
  int n, damaged;

  assert_int_equal(visit(fixture, fixture->image.bytes, fixture->image.length, &n, &damaged),
                   RG_FAULT_NONE);
  assert_int_equal(n, FAKE_CELLS);
  assert_int_equal(damaged, 0);
}

/* A child that dies is a damaged file. */
static void what_kills_a_reader_is_damaged(void **state)
{
  const Fixture *fixture = *state;
  RgMedium medium = rg_medium_bytes(fixture->image.bytes, fixture->image.length);
  RgMedium trap = rg_medium_bytes((const void *)(uintptr_t)8, 4096); /* memory nobody has */
  bool survives;

  RG_OK(rg_probe_survives(&medium, &survives));
  assert_true(survives);
  RG_OK(rg_probe_survives(&trap, &survives));
  assert_false(survives);
}

/* A process that may die reads without a child of its own. */
static void a_shielded_process_does_not_probe(void **state)
{
  const RgMedium trap = rg_medium_bytes((const void *)(uintptr_t)8, 4096);
  bool survives = false;
  int status;

  (void)state;
  const pid_t child = fork();
  if (child == 0) {
    rg_probe_shield();
    _exit(rg_probe_survives(&trap, &survives) || !survives ? 1 : 75);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 75);
}

/* SplitMix64. */
static uint64_t next_number(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Of a fixed sequence: some bytes become others, or an eight-byte word becomes one that hurts. */
static void alter(uint64_t *stream, unsigned char *bytes, size_t length)
{
  static const uint64_t words[] = {0,          1,          UINT64_MAX, INT64_MAX, 0x7fffffff,
                                   0xffffffff, 0x10000000, 96,         2048,      0x4000000000};
  int changes = 1 + (int)(next_number(stream) % 4);

  for (int i = 0; i < changes; i++) {
    uint64_t what = next_number(stream), at = next_number(stream) % length;
    if (what & 1) at %= 4096; /* where the structure of the root is */
    if (what & 2 && at + 8 <= length) memcpy(bytes + at, &words[(what >> 8) % 10], 8);
    else bytes[at] = (unsigned char)(what >> 16);
  }
}

/* REGATTA_ALTERED=n counts how many of n kill a process that reads them without a probe. */
static void count_killers(const Fixture *fixture, int mutants, unsigned char *bytes)
{
  RgMedium medium = rg_medium_bytes(bytes, fixture->image.length);
  int dead = 0;
  bool survives;

  for (int m = 0; m < mutants; m++) {
    uint64_t state = (uint64_t)m << 20;
    memcpy(bytes, fixture->image.bytes, fixture->image.length);
    alter(&state, bytes, fixture->image.length);
    RG_OK(rg_probe_survives(&medium, &survives));
    dead += !survives;
  }
  print_message("%d of %d altered files kill a reader\n", dead, mutants);
}

/* The trailer that belongs to the bytes, whoever altered them. */
static void forge_trailer(unsigned char *bytes, size_t length)
{
  uint64_t hash[2];

  rg_hash128(bytes, length, hash);
  rg_trailer_write(length, hash, bytes + length);
}

static void altered_files_do_no_harm(void **state)
{
  const Fixture *fixture = *state;
  int mutants = getenv("REGATTA_LONG") ? 1500 : 40, n, damaged;
  int counts[RG_FAULT_INCOMPLETE + 1] = {0};
  unsigned char *bytes;

  RG_OK(PetscMalloc1(fixture->image.length + RG_TRAILER_LENGTH, &bytes));
  for (int m = 0; m < mutants; m++) {
    uint64_t seed = (uint64_t)m << 20;
    memcpy(bytes, fixture->image.bytes, fixture->image.length);
    alter(&seed, bytes, fixture->image.length);
    counts[visit(fixture, bytes, fixture->image.length, &n, &damaged)]++;
    assert_true(n + damaged <= 2 * FAKE_CELLS);
    forge_trailer(bytes, fixture->image.length);
    (void)visit(fixture, bytes, fixture->image.length + RG_TRAILER_LENGTH, &n, &damaged);
    assert_true(n + damaged <= 2 * FAKE_CELLS);
  }
  print_message("%d altered files: %d read, %d refused\n", mutants, counts[RG_FAULT_NONE],
                counts[RG_FAULT_FOREIGN]);
  assert_true(counts[RG_FAULT_FOREIGN] > 0);
  if (getenv("REGATTA_ALTERED")) count_killers(fixture, atoi(getenv("REGATTA_ALTERED")), bytes);
  RG_OK(PetscFree(bytes));
}

/* Bytes that kill a process that reads them are refused as a results file and as a shard, also with
   the trailer that belongs to them. */
static void a_trailer_vouches_for_nothing(void **state)
{
  const Fixture *fixture = *state;
  const size_t length = fixture->image.length;
  RgMedium medium;
  RgContainer container;
  unsigned char *bytes;
  bool survives = true, trailed;

  RG_OK(PetscMalloc1(length + RG_TRAILER_LENGTH, &bytes));
  for (uint64_t m = 0; m < 4000 && survives; m++) {
    uint64_t seed = m << 20;
    memcpy(bytes, fixture->image.bytes, length);
    alter(&seed, bytes, length);
    medium = rg_medium_bytes(bytes, length);
    RG_OK(rg_probe_survives(&medium, &survives));
  }
  if (survives) skip(); /* this HDF5 reads them all */
  forge_trailer(bytes, length);
  scratch_write(fixture->path, bytes, length + RG_TRAILER_LENGTH);
  for (int shard = 0; shard < 2; shard++) {
    RgFault fault = {0};
    if (shard) RG_OK(rg_shard_open(fixture->path, true, &container, &fault));
    else RG_OK(rg_shard_open_results(fixture->path, true, &container, &trailed, &fault));
    assert_int_equal(fault.code, RG_FAULT_DAMAGED);
    assert_non_null(strstr(fault.message, "HDF5 can't read it"));
    RG_OK(rg_container_close(&container));
  }
  RG_OK(PetscFree(bytes));
}

static long children_faults(void)
{
  struct rusage used;

  assert_int_equal(getrusage(RUSAGE_CHILDREN, &used), 0);
  return used.ru_minflt; /* every child has some */
}

/* A shard that this process has had probed is opened without another child. */
static void what_survived_is_not_probed_again(void **state)
{
  const Fixture *fixture = *state;
  const size_t length = fixture->image.length;
  long faults[3];
  unsigned char *bytes;

  RG_OK(PetscMalloc1(length + RG_TRAILER_LENGTH, &bytes));
  memcpy(bytes, fixture->image.bytes, length);
  forge_trailer(bytes, length);
  scratch_write(fixture->path, bytes, length + RG_TRAILER_LENGTH);
  faults[0] = children_faults();
  for (int i = 1; i < 3; i++) {
    RgContainer container;
    RgFault fault = {0};
    RG_OK(rg_shard_open(fixture->path, true, &container, &fault));
    assert_int_equal(fault.code, RG_FAULT_NONE);
    RG_OK(rg_container_close(&container));
    faults[i] = children_faults();
  }
  assert_true(faults[1] > faults[0]);
  assert_int_equal(faults[2], faults[1]);
  RG_OK(PetscFree(bytes));
}

static const struct CMUnitTest tests[] = {
  cmocka_unit_test(a_file_without_trailer_is_read),
  cmocka_unit_test(what_kills_a_reader_is_damaged),
  cmocka_unit_test(a_shielded_process_does_not_probe),
  cmocka_unit_test(altered_files_do_no_harm),
  cmocka_unit_test(a_trailer_vouches_for_nothing),
  cmocka_unit_test(what_survived_is_not_probed_again),
};

int main(int argc, char **argv)
{
  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
  int failed = cmocka_run_group_tests(tests, set_up, tear_down);
  return PetscFinalize() || failed ? 1 : 0;
}
