#include "store_bench.h"

/* Instead of PETSc's: the pauses between looks at a file that ends early are counted. */
static int pauses;

PetscErrorCode PetscSleep(PetscReal seconds)
{
  pauses += seconds > 0;
  return 0;
}

static void pack_in_order(Bench *bench, int step, size_t image_bytes)
{
  bench->store->limits.image_bytes = image_bytes;
  bench->store->limits.compaction = 2;
  for (int k = 0; k < 20; k++) bench_add(bench, k * step % 20, k % 3 == 0);
  bench_flush(bench);
  assert_int_equal(bench_pack(bench), RG_FAULT_NONE);
  assert_int_equal(scratch_count(bench->shards, ""), -1); /* the directory is gone */
}

/* Equal bytes for any order of arrival and any way of writing; the time is pinned. */
RG_TEST(results_do_not_tell_who_came_first)
{
  static const int steps[] = {1, 3, 7};
  static const size_t images[] = {256 << 20, 0, 256 << 20};
  unsigned char *first = NULL, *bytes;
  size_t length = 0, n;

  setenv("SOURCE_DATE_EPOCH", "1000000000", 1);
  for (int k = 0; k < 3; k++) {
    Bench bench;
    Witness witness;
    bench_create(5, &bench);
    pack_in_order(&bench, steps[k], images[k]);
    witness = bench_visit(&bench, bench.output);
    assert_int_equal(witness.n, 20);
    bytes = scratch_read(bench.output, &n);
    if (!first) {
      first = bytes;
      length = n;
    } else {
      assert_int_equal(n, length);
      assert_memory_equal(bytes, first, n);
      free(bytes);
    }
    bench_destroy(&bench);
  }
  unsetenv("SOURCE_DATE_EPOCH");
  free(first);
}

BENCH_TEST(info_tells_of_file_and_directory, 5)
{
  RgStoreInfo info;
  RgFault fault = {0};
  Witness witness;
  char hex[33];

  bench_add(bench, 0, true);
  BENCH_OK(rg_store_info(bench->output, &info, &fault), fault);
  assert_true(info.directory && !info.complete);
  assert_string_equal(info.name, "fake");
  assert_int_equal(info.n_shards, 1);
  RG_OK(rg_store_info_clear(&info));
  pack_in_order(bench, 1, 256 << 20);
  BENCH_OK(rg_store_info(bench->output, &info, &fault), fault);
  assert_true(!info.directory && info.complete);
  assert_int_equal(info.schema_version, RG_SCHEMA_VERSION);
  assert_string_equal(info.study, bench->fake.study.text);
  assert_string_equal(info.title, bench->fake.study.title);
  assert_int_equal(info.seed, 7);
  assert_non_null(strstr(info.history, "packed 20 trials"));
  witness = bench_visit(bench, bench->output);
  rg_checksum_hex(&witness.checksum, hex);
  assert_string_equal(info.checksum, hex);
  RG_OK(rg_store_info_clear(&info));
  RG_OK(rg_store_info("/nowhere/at/all.h5", &info, &fault));
  assert_int_equal(fault.code, RG_FAULT_ERROR);
  RG_OK(rg_store_info_clear(&info));
}

BENCH_TEST(incomplete_studies_are_not_packed, 5)
{
  for (int i = 0; i < 19; i++) bench_add(bench, i, i % 4 == 0);
  bench_flush(bench);
  assert_int_equal(bench_pack(bench), RG_FAULT_INCOMPLETE);
  assert_int_equal(access(bench->output, F_OK), -1);
  bench_add(bench, 19, true);
  assert_int_equal(bench_pack(bench), RG_FAULT_NONE);
  assert_int_equal(bench_visit(bench, bench->output).n, 20);
}

BENCH_TEST(packing_again_changes_nothing, 5)
{
  unsigned char *before, *after;
  size_t length, n;
  struct stat old, new;

  pack_in_order(bench, 3, 256 << 20);
  before = scratch_read(bench->output, &length);
  assert_int_equal(stat(bench->output, &old), 0);
  assert_int_equal(bench_pack(bench), RG_FAULT_NONE);
  assert_int_equal(stat(bench->output, &new), 0);
  assert_true(old.st_ino == new.st_ino); /* the file was not written again */
  bench_add(bench, 3, true);             /* a shard that stayed after a power loss */
  assert_int_equal(bench_scan(bench).n_done, 20);
  assert_int_equal(bench_pack(bench), RG_FAULT_NONE);
  assert_int_equal(scratch_count(bench->shards, ""), -1);
  after = scratch_read(bench->output, &n);
  assert_int_equal(n, length);
  assert_memory_equal(before, after, n);
  free(before);
  free(after);
}

static PetscErrorCode count_earlier(void *closure, const RgRecord *record)
{
  *(int *)closure += record->earlier;
  return 0;
}

BENCH_TEST(studies_grow_and_shrink, 2)
{
  Fake two;
  RgFault fault = {0};
  RgStoreInfo info;

  /* two seeds first */
  for (int i = 0; i < 8; i++) bench_add(bench, i, true);
  assert_int_equal(bench_pack(bench), RG_FAULT_NONE);
  RG_OK(rg_store_close(&bench->store));
  fake_destroy(&bench->fake);
  fake_create(5, &bench->fake); /* the study now has five seeds */
  bench_open_store(bench, 0);
  assert_int_equal(bench_scan(bench).n_done, 8);
  for (int i = 0; i < 20; i++)
    if (!bench->done[i]) bench_add(bench, i, true);
  assert_int_equal(bench_pack(bench), RG_FAULT_NONE);
  assert_int_equal(bench_visit(bench, bench->output).n, 20);

  fake_create(2, &two);
  RG_OK(
    rg_store_pack(bench->store, &two.plan, &fault)); /* back to two seeds: no trial is dropped */
  assert_int_equal(fault.code, RG_FAULT_NONE);
  assert_int_equal(bench_visit(bench, bench->output).n, 20);
  int n_earlier = 0;
  RG_OK(rg_store_visit(bench->output, count_earlier, &n_earlier, NULL, &fault));
  assert_int_equal(n_earlier, 12); /* in the group `earlier` */
  RG_OK(rg_store_info(bench->output, &info, &fault));
  assert_non_null(strstr(info.history, "packed 8 trials\n"));
  assert_non_null(strstr(info.history, "packed 20 trials\n"));
  RG_OK(rg_store_info_clear(&info));
  assert_int_equal(bench_scan(bench).n_done, 20);     /* all twenty are still found */
  assert_int_equal(bench_pack(bench), RG_FAULT_NONE); /* the trials stand in their groups again */
  assert_int_equal(bench_visit(bench, bench->output).n, 20);
  fake_destroy(&two);
}

/* Opening a store is refused with these words; NULL: it succeeds. */
static void open_is_refused(Bench *bench, const char *words)
{
  RgFault fault = {0};
  RgStore *store;

  RG_OK(rg_store_open(bench->output, &bench->fake.study, 0, &store, &fault));
  assert_int_equal(fault.code, words ? RG_FAULT_FOREIGN : RG_FAULT_NONE);
  if (words) assert_non_null(strstr(fault.message, words));
  else RG_OK(rg_store_close(&store));
}

BENCH_TEST(what_stands_at_the_output_is_respected, 5)
{
  unsigned char *bytes;
  size_t length;
  RgFault fault = {0};

  RG_OK(rg_store_close(&bench->store));
  assert_int_equal(rmdir(bench->shards), 0);
  scratch_write(bench->output, "my thesis", 9);
  open_is_refused(bench, "");
  assert_int_equal(scratch_count(bench->directory, ""), 1); /* nothing was made */
  unlink(bench->output);
  assert_int_equal(mkdir(bench->output, 0777), 0);
  open_is_refused(bench, "");
  assert_int_equal(rmdir(bench->output), 0);
  bench_open_store(bench, 0);
  pack_in_order(bench, 1, 256 << 20);

  bench->fake.study.name = (char *)(uintptr_t) "other";
  open_is_refused(bench, "holds study 'fake', not 'other'");
  bench->fake.study.name = (char *)(uintptr_t) "fake";
  open_is_refused(bench, NULL);

  bytes = scratch_read(bench->output, &length);
  bytes[length / 2] ^= 1; /* damaged results are neither used nor overwritten */
  scratch_write(bench->output, bytes, length);
  RG_OK(rg_store_pack(bench->store, &bench->fake.plan, &fault));
  assert_int_equal(fault.code, RG_FAULT_FOREIGN);
  scratch_write(bench->output, bytes, length / 2);
  open_is_refused(bench, "");
  bytes[length / 2] ^= 1;
  scratch_write(bench->output, bytes,
                length - 32); /* another program cut off the trailer, which is harmless */
  pauses = 0;
  open_is_refused(bench, NULL);
  assert_int_equal(bench_visit(bench, bench->output).n, 20);
  assert_int_equal(pauses, 0);
  for (size_t cut = 1; cut < 64; cut++) { /* a part of the trailer, or more, is missing */
    if (cut == 32) continue;
    scratch_write(bench->output, bytes, length - cut);
    pauses = 0;
    open_is_refused(bench, "is damaged: its last bytes are missing");
    assert_true(pauses > 0);
  }
  bytes[length - 32] ^= 1; /* the trailer is not recognised */
  scratch_write(bench->output, bytes, length);
  open_is_refused(bench, "is damaged");
  free(bytes);
  snprintf(bench->output, sizeof(bench->output), "%s/no/such/out.h5", bench->directory);
  open_is_refused(bench, "there is no directory");
}

/* Trial 4 (which fails in a fake study) once more, with another outcome. */
static void add_retried(Bench *bench, RgStatus status, const char *message)
{
  RgRecord record;
  RgFault fault = {0};

  RG_OK(fake_record(&bench->fake, 4, &record));
  assert_int_equal(record.status, RG_STATUS_FAILED);
  record.status = status;
  snprintf(record.message, sizeof(record.message), "%s", message);
  BENCH_OK(rg_store_add(bench->store, &record, &fault), fault);
  bench_flush(bench);
}

static PetscErrorCode find_retried(void *closure, const RgRecord *record)
{
  if (record->seed == 4 && !strcmp(record->cell->problem, "branin") &&
      !strcmp(record->cell->algorithm, "gp_ucb"))
    snprintf(closure, 256, "%d: %.200s", (int)record->status, record->message);
  return 0;
}

/* Packs, and checks trial 4 in the results file and in the next run. */
static const char *retried(Bench *bench, char text[256], bool rewritten)
{
  RgFault fault = {0};
  struct stat before, after;

  assert_int_equal(stat(bench->output, &before), 0);
  bench_scan(bench);
  assert_int_equal(bench_pack(bench), RG_FAULT_NONE);
  assert_int_equal(scratch_count(bench->shards, ""), -1); /* no shard stays */
  assert_int_equal(stat(bench->output, &after), 0);
  assert_true((before.st_ino != after.st_ino) == rewritten);
  RG_OK(rg_store_visit(bench->output, find_retried, text, NULL, &fault));
  assert_int_equal(bench_scan(bench).n_done, 20);
  assert_int_equal(bench->done[4], text[0] - '0');
  return text;
}

BENCH_TEST(failed_trials_may_be_retried, 5)
{
  char text[256] = "";

  pack_in_order(bench, 1, 256 << 20);
  bench_add(bench, 4, true); /* the same failure */
  assert_string_equal(retried(bench, text, false), "2: the covariance lost its rank");
  add_retried(bench, RG_STATUS_FAILED, "another one");
  assert_string_equal(retried(bench, text, true), "2: another one");
  add_retried(bench, RG_STATUS_COMPLETE, "");
  bench_add(bench, 4, true); /* a later failure does not count any more */
  assert_string_equal(retried(bench, text, true), "1: ");
  bench_add(bench, 4, true);
  assert_string_equal(retried(bench, text, false), "1: ");
}

BENCH_TEST(parts_are_joined, 5)
{
  RgFault fault = {0};
  char part[128], joined[128];
  const char *inputs[2] = {bench->output, part};
  RgStoreInfo info;

  for (int i = 0; i < 12; i++) bench_add(bench, i, i % 3 == 0);
  bench_flush(bench);
  RG_OK(rg_store_close(&bench->store));
  snprintf(part, sizeof(part), "%s/part.h5", bench->directory);
  snprintf(joined, sizeof(joined), "%s/joined.h5", bench->directory);
  RG_OK(rg_store_open(part, &bench->fake.study, 0, &bench->store, &fault));
  for (int i = 8; i < 20; i++) bench_add(bench, i, i % 3 == 0);
  bench_flush(bench);
  BENCH_OK(rg_store_merge(2, inputs, joined, false, &fault), fault);
  assert_int_equal(bench_visit(bench, joined).n, 20);
  RG_OK(rg_store_info(joined, &info, &fault));
  assert_false(info.complete); /* a joined directory does not know whether it has all trials */
  assert_string_equal(info.name, "fake");
  RG_OK(rg_store_info_clear(&info));
  RG_OK(rg_store_merge(2, inputs, joined, false, &fault));
  assert_int_equal(fault.code, RG_FAULT_FOREIGN); /* the output exists */

  RgRecord record;
  RG_OK(fake_record(&bench->fake, 0, &record)); /* the same trial with another value */
  record.column[RG_COLUMN_Y][0] += 1;
  RG_OK(rg_store_add(bench->store, &record, &fault));
  bench_flush(bench);
  unlink(joined);
  RG_OK(rg_store_merge(2, inputs, joined, false, &fault));
  assert_int_equal(fault.code, RG_FAULT_FOREIGN);
  assert_non_null(strstr(fault.message, bench->fake.trials[0].id));
  assert_int_equal(access(joined, F_OK), -1);
}
