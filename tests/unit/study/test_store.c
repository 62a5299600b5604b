#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/files.h"
#include "store_bench.h"
#include "study/store/store_internal.h"
#include "trial_at.h"

BENCH_TEST(records_come_back_bit_by_bit, 5)
{
  Witness witness;
  RgStoreScan scan;

  for (int i = 0; i < 20; i += 2) bench_add(bench, i, false);
  /* One shard with two problems, with and without models, failed and complete. */
  bench_flush(bench);
  bench_add(bench, 1, true);
  witness = bench_visit(bench, bench->shards);
  assert_int_equal(witness.n, 11);
  scan = bench_scan(bench);
  assert_int_equal(scan.n_done, 11);
  assert_int_equal(scan.n_failed, 2); /* seeds 4 of cells 0 and 2 */
  assert_int_equal(scan.n_shards, 2);
  assert_int_equal(scan.n_bad, 0);
  assert_int_equal(scan.n_foreign, 0);
  for (int i = 0; i < 20; i++)
    assert_int_equal(bench->done[i], i != 1 && i % 2 ? RG_STATUS_MISSING
                                     : i % 5 == 4    ? RG_STATUS_FAILED
                                                     : RG_STATUS_COMPLETE);
  bench_visit(bench, bench->output); /* stands for the directory while there is no results file */
}

/* The packer keeps the fields of a million records, up to the end of the message. */
RG_TEST(fields_stand_before_the_data)
{
  for (int f = 0; f < rg_field_count; f++)
    assert_true(rg_fields[f].offset <= offsetof(RgRecord, message));
  assert_true(offsetof(RgRecord, message) < offsetof(RgRecord, column));
}

enum { LONG_TRIALS = 7, LONG_ROWS = 1500 };

/* A trial whose columns take a third of what is read at once. */
static void create_long_record(const Fake *fake, int i, RgRecord *record)
{
  const RgTrial trial = trial_at(&fake->plan, i);

  RG_OK(rg_record_create(&fake->study, &trial, LONG_ROWS, 0, NULL, record));
  record->status = RG_STATUS_COMPLETE;
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    for (int k = 0; record->column[c] && k < LONG_ROWS; k++)
      record->column[c][k] = fake_value(&trial, c, k);
}

static RgFaultCode read_columns(RgGroup *group, int position, const RgRecord *like, int rows)
{
  RgRecord record = *like;
  RgFault fault = {0};
  uint64_t checksum[2];
  char hex[33];

  memset(record.column, 0, sizeof(record.column));
  record.extra_name = NULL;
  record.extra_doc = NULL;
  record.n_rows = rows;
  RG_OK(rg_group_read_columns(group, position, &record, &fault));
  if (!fault.code) {
    RG_OK(rg_record_checksum(&record, checksum));
    rg_hash_hex(checksum, hex);
    assert_string_equal(hex, like->checksum);
  }
  RG_OK(rg_record_drop_data(&record));
  return fault.code;
}

RG_TEST(long_trials_are_read_in_any_order)
{
  static const int order[] = {5, 6, 0, 1, 2, 4, 3};
  Fake fake;
  RgRecord records[LONG_TRIALS];
  RgMedium image;
  RgContainer container;
  RgGroup group;
  RgFault fault = {0};

  fake_create(LONG_TRIALS, &fake);
  for (int i = 0; i < LONG_TRIALS; i++) create_long_record(&fake, i, &records[i]);
  RG_OK(fake_image_of(&fake, LONG_TRIALS, records, &image));
  RG_OK(rg_container_open(&image, &container, &fault));
  BENCH_OK(rg_container_open_group(&container, 0, &group, &fault), fault);
  assert_in_range(group.n_ahead, 2, LONG_TRIALS - 1);
  for (int k = 0; k < LONG_TRIALS; k++)
    assert_int_equal(read_columns(&group, order[k], &records[order[k]], LONG_ROWS), RG_FAULT_NONE);
  assert_int_equal(read_columns(&group, 0, &records[0], LONG_ROWS + 1), RG_FAULT_DAMAGED);
  RG_OK(rg_group_close(&group));
  RG_OK(rg_container_close(&container));
  RG_OK(rg_medium_clear(&image));
  for (int i = 0; i < LONG_TRIALS; i++) RG_OK(rg_record_destroy(&records[i]));
  fake_destroy(&fake);
}

BENCH_TEST(groups_are_committed_when_due, 5)
{
  RgStoreLimits *limits;
  RgFault fault = {0};
  RgRecord record;
  size_t bytes;
  double troubled;
  int n;

  bench_add(bench, 0, false);
  assert_int_equal(scratch_count(bench->shards, ""), 0); /* neither large nor old */
  RG_OK(rg_store_pending(bench->store, &n, &bytes, &troubled));
  assert_int_equal(n, 1);
  assert_true(bytes > 1000 && troubled == 0);

  RG_OK(fake_record(&bench->fake, 1, &record)); /* took long */
  record.provenance.wall = 11;
  RG_OK(rg_store_add(bench->store, &record, &fault));
  assert_int_equal(scratch_count(bench->shards, ""), 1);

  limits = &bench->store->limits; /* much */
  limits->group_bytes = 2 * bytes + 1;
  for (int i = 2; i < 4; i++) bench_add(bench, i, false);
  assert_int_equal(scratch_count(bench->shards, ""), 1);
  bench_add(bench, 5, false);
  assert_int_equal(scratch_count(bench->shards, ""), 2);

  limits->group_seconds = 0; /* old */
  bench_add(bench, 6, false);
  assert_int_equal(scratch_count(bench->shards, ""), 3);
  RG_OK(rg_store_pending(bench->store, &n, &bytes, &troubled));
  assert_true(n == 0 && bytes == 0);
}

/* If a large shard does not fit, smaller shards are written. Here no file may be larger than a
   shard of three records. */
BENCH_TEST(shards_are_split_until_they_fit, 5)
{
  enum { TRIALS = 16 };
  struct rlimit before, narrow;
  struct stat about;
  RgFault fault = {0};
  char path[512];
  size_t bytes;
  double troubled;
  int n;

  for (int i = 0; i < 3; i++) bench_add(bench, i, false);
  bench_flush(bench);
  scratch_find(bench->shards, "", path);
  assert_int_equal(stat(path, &about), 0);
  for (int i = 3; i < 3 + TRIALS; i++) bench_add(bench, i, false);
  (void)signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  narrow = before;
  narrow.rlim_cur = (rlim_t)about.st_size;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &narrow), 0);
  RG_OK(rg_store_flush(bench->store, true, &fault));
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(fault.code, RG_FAULT_NONE);
  RG_OK(rg_store_pending(bench->store, &n, &bytes, &troubled));
  assert_int_equal(n, 0);
  assert_true(scratch_count(bench->shards, "") >= 1 + TRIALS / 4);
  assert_int_equal(bench_visit(bench, bench->shards).n, 3 + TRIALS);
}

BENCH_TEST(shards_are_merged_by_levels, 5)
{
  RgStoreLimits *limits = &bench->store->limits;

  limits->compaction = 3;
  for (int i = 0; i < 13; i++) bench_add(bench, i, true);
  assert_int_equal(scratch_count(bench->shards, ""), 3); /* 13 = 9 + 3 + 1 */
  char path[512];
  scratch_find(bench->shards, "2-", path);
  assert_true(path[0] != '\0');
  assert_int_equal(bench_visit(bench, bench->shards).n, 13);

  limits->compaction_bytes = 3000; /* nothing is as small as that */
  for (int i = 13; i < 20; i++) bench_add(bench, i, true);
  assert_int_equal(scratch_count(bench->shards, ""), 10);
}

/* A rank waits for its turn and then commits all pending records: in a job of 400 ranks each of
   them commits once a second. */
BENCH_TEST(commits_are_spaced, 5)
{
  RgFault fault;

  assert_true(rg_store_spacing(400) == 1);
  bench->store->limits.group_seconds = 0; /* always due */
  rg_store_space(bench->store, 400 * 100);
  for (int i = 0; i < 3; i++) bench_add(bench, i, false);
  RG_OK(rg_store_flush_ahead(bench->store, 99, PETSC_MAX_REAL, &fault));
  assert_int_equal(scratch_count(bench->shards, ""), 0);
  RG_OK(rg_store_flush_ahead(bench->store, 100, PETSC_MAX_REAL, &fault)); /* beyond the next turn */
  assert_int_equal(scratch_count(bench->shards, ""), 1);
  assert_int_equal(bench_visit(bench, bench->shards).n, 3);

  bench_add(bench, 3, false);
  assert_int_equal(scratch_count(bench->shards, ""), 1);
  bench->store->committed -= 101; /* its turn has come */
  RG_OK(rg_store_flush(bench->store, false, &fault));
  assert_int_equal(scratch_count(bench->shards, ""), 2);

  bench->store->limits.group_bytes = 1; /* memory does not wait */
  bench_add(bench, 5, false);
  assert_int_equal(scratch_count(bench->shards, ""), 3);
}

/* The ranks begin at different moments of one spacing. */
BENCH_TEST(turns_of_the_ranks_differ, 2)
{
  double turn[2];

  for (int r = 0; r < 2; r++) {
    RG_OK(rg_store_close(&bench->store));
    bench_open_store(bench, 200 * r);
    rg_store_space(bench->store, 400 * 100);
    turn[r] = rg_wall_seconds() - bench->store->committed;
  }
  assert_true(turn[0] >= 0 && turn[0] < 0.4);
  assert_true(turn[1] >= 0.5 && turn[1] < 0.9);
}

BENCH_TEST(other_ranks_touch_nothing_before_they_commit, 2)
{
  RG_OK(rg_store_close(&bench->store));
  assert_int_equal(rmdir(bench->shards), 0);
  bench_open_store(bench, 3);
  assert_int_equal(scratch_count(bench->directory, ""), 0);
  bench_add(bench, 0, true);
  assert_int_equal(scratch_count(bench->shards, ""), 1);
}

BENCH_TEST(damaged_shards_are_moved_and_run_again, 5)
{
  static const char text[] = "this is no HDF5 file\n";
  unsigned char *bytes;
  char path[512];
  size_t length;

  for (int i = 0; i < 4; i++) bench_add(bench, i, true);
  scratch_find(bench->shards, "0-", path);
  bytes = scratch_read(path, &length);
  for (size_t at = 7; at < length; at += length / 37) { /* one flipped bit anywhere */
    bytes[at] ^= 0x10;
    scratch_write(path, bytes, length);
    bytes[at] ^= 0x10;
    bench_expect(bench, 3, 1);
  }
  for (size_t cut = 0; cut < length; cut += length / 23) { /* truncated, to nothing at first */
    scratch_write(path, bytes, cut);
    bench_expect(bench, 3, 1);
  }
  scratch_write(path, text, sizeof(text));
  assert_int_equal(bench_scan(bench).n_bad, 1);
  scratch_write(path, bytes, length); /* the good one is taken back */
  bench_expect(bench, 4, 0);
  /* Of files of the same name the last one stays, and so do files of other programs. */
  assert_int_equal(scratch_count(bench_in(bench, "bad"), "0-"), 1);
  scratch_write(bench_in(bench, "notes.txt"), text, sizeof(text));
  assert_int_equal(bench_scan(bench).n_bad, 0);
  assert_int_equal(scratch_count(bench->shards, "notes"), 1);
  free(bytes);
}

/* A value that differs from the recorded one, in a shard with a correct trailer. */
static void forge_value(const char *path, const RgTrial *trial)
{
  const double value = fake_value(trial, RG_COLUMN_Y, 1);
  size_t length, at = 0;
  unsigned char *bytes = scratch_read(path, &length);
  uint64_t hash[2], bits;

  memcpy(&bits, &value, sizeof(bits));
  while (at + sizeof(bits) <= length && memcmp(bytes + at, &bits, sizeof(bits))) at++;
  assert_true(at + sizeof(bits) <= length);
  bytes[at] ^= 1;
  length -= RG_TRAILER_LENGTH;
  rg_hash128(bytes, length, hash);
  rg_trailer_write(length, hash, bytes + length);
  scratch_write(path, bytes, length + RG_TRAILER_LENGTH);
  free(bytes);
}

/* The trials of a forged shard run again. */
BENCH_TEST(a_forged_value_is_not_packed, 5)
{
  char path[512];

  bench_add(bench, 0, true);
  scratch_find(bench->shards, "0-", path);
  forge_value(path, &bench->fake.trials[0]);
  for (int i = 1; i < 20; i++) bench_add(bench, i, i % 3 == 0);
  bench_flush(bench);
  assert_int_equal(bench_pack(bench), RG_FAULT_INCOMPLETE);
  assert_int_equal(scratch_count(bench_in(bench, "bad"), ""), 1);
  assert_int_equal(access(bench->output, F_OK), -1);
  bench_add(bench, 0, true);
  assert_int_equal(bench_pack(bench), RG_FAULT_NONE);
  assert_int_equal(bench_visit(bench, bench->output).n, 20);
}

/* A foreign HDF5 file, with and without a correct trailer. */
BENCH_TEST(foreign_hdf5_is_damaged_or_newer, 2)
{
  RgStoreScan scan;
  RgFault fault = {0};
  unsigned char *bytes;
  char path[512];
  size_t length;
  uint64_t hash[2];

  for (int version = -1; version <= RG_SCHEMA_VERSION + 1; version += RG_SCHEMA_VERSION + 2) {
    snprintf(path, sizeof(path), "%s/foreign", bench->directory);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (version >= 0) {
      hid_t space = H5Screate(H5S_SCALAR);
      hid_t attribute =
        H5Acreate2(file, "schema_version", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
      assert_true(H5Awrite(attribute, H5T_NATIVE_INT, &version) >= 0);
      H5Aclose(attribute);
      H5Sclose(space);
    }
    H5Fclose(file);
    bytes = scratch_read(path, &length);
    bytes = realloc(bytes, length + 32);
    memcpy(bytes + length, "RGTRAIL\n", 8);
    rg_hash128(bytes, length, hash);
    for (int i = 0; i < 24; i++)
      bytes[length + 8 + i] = (unsigned char)((i < 8 ? length : hash[(i - 8) / 8]) >> 8 * (i % 8));
    snprintf(path, sizeof(path), "%s/0-00000000000000000000000000000000.h5", bench->shards);
    scratch_write(path, bytes, length);
    assert_int_equal(bench_scan(bench).n_bad, 1);
    scratch_write(path, bytes, length + 32);
    if (version < 0) {
      assert_int_equal(bench_scan(bench).n_bad, 1);
    } else { /* refused, and not moved */
      RG_OK(rg_store_scan(bench->store, &bench->fake.plan, bench->done, &scan, &fault));
      assert_int_equal(fault.code, RG_FAULT_FOREIGN);
      char words[64];
      snprintf(words, sizeof(words), "newer regatta (schema %d)", RG_SCHEMA_VERSION + 1);
      assert_non_null(strstr(fault.message, words));
      assert_int_equal(access(path, F_OK), 0);
      RG_OK(rg_store_pack(bench->store, &bench->fake.plan, &fault));
      assert_int_equal(fault.code, RG_FAULT_FOREIGN);
    }
    free(bytes);
  }
}

BENCH_TEST(stale_temporaries_go, 2)
{
  char host[RG_FILE_PLACE_MAX], path[600];

  rg_file_place(host);
  snprintf(path, sizeof(path), "%s/.tmp.%s.%d.0", bench->shards, host, 0x3ffffff);
  scratch_write(path, "half", 4);
  snprintf(path, sizeof(path), "%s/.tmp.%s.%d.7", bench->directory, host, 0x3ffffff);
  scratch_write(path, "half", 4);
  snprintf(path, sizeof(path), "%s/.tmp.%s.%d.0", bench->shards, host, (int)getppid());
  scratch_write(path, "busy", 4);
  (void)bench_scan(bench);
  assert_int_equal(scratch_count(bench->shards, ".tmp."), 1);
  assert_int_equal(scratch_count(bench->directory, ".tmp."), 0);
}

/* Commit trial i as a run of this generation made it on a host with this clock. */
static void add_made(Bench *bench, int i, int generation, double started, double optimum)
{
  RgFault fault = {0};
  RgRecord record;

  RG_OK(fake_record(&bench->fake, i, &record));
  record.provenance.generation = generation;
  record.provenance.started = started;
  record.optimum = optimum;
  RG_OK(rg_store_add(bench->store, &record, &fault));
  bench_flush(bench);
}

enum { COMPLETE_TRIAL = 0, FAILED_TRIAL = 4 };

typedef struct {
  const Fake *fake;
  double optimum[FAILED_TRIAL + 1];
} Optima;

static PetscErrorCode note_optimum(void *closure, const RgRecord *record)
{
  Optima *optima = closure;

  for (int t = COMPLETE_TRIAL; t <= FAILED_TRIAL; t += FAILED_TRIAL)
    if (!strcmp(optima->fake->trials[t].id, record->id)) optima->optimum[t] = record->optimum;
  return 0;
}

/* The record of trial `t` that counts. */
static double counts(const Bench *bench, int t)
{
  Optima optima = {.fake = &bench->fake};
  RgFault fault = {0};

  BENCH_OK(rg_store_visit(bench->output, note_optimum, &optima, NULL, &fault), fault);
  return optima.optimum[t];
}

/* A record that was made again counts, whatever the clocks of the hosts say. Records without a
   generation, as in older files, are ordered by these clocks. */
BENCH_TEST(the_last_generation_counts, 5)
{

  for (int t = COMPLETE_TRIAL; t <= FAILED_TRIAL; t += FAILED_TRIAL) {
    add_made(bench, t, 0, 2e9, 1);
    assert_int_equal(bench_scan(bench).generation, t ? 2 : 0);
    add_made(bench, t, 0, 3e9, 2);
    assert_true(counts(bench, t) == 2);
    add_made(bench, t, 2, 1e9, 4);
    assert_true(counts(bench, t) == 4);
    add_made(bench, t, 1, 4e9, 8);
    assert_true(counts(bench, t) == 4);
  }
  for (int t = 1; t < bench->fake.plan.n; t++)
    if (t != FAILED_TRIAL) bench_add(bench, t, true);
  for (int pass = 0; pass < 2; pass++) { /* the second one finds the file up to date */
    assert_int_equal(bench_pack(bench), RG_FAULT_NONE);
    assert_true(counts(bench, COMPLETE_TRIAL) == 4 && counts(bench, FAILED_TRIAL) == 4);
    assert_int_equal(access(bench->shards, F_OK), -1); /* replaced records are gone */
    assert_int_equal(bench_scan(bench).generation, 2);
  }
}

/* A study that shrinks and grows again: shards with other trials are put aside, and are not
   lost. */
BENCH_TEST(trials_of_another_plan_are_kept, 5)
{
  Fake smaller;
  RgStoreScan scan;
  RgFault fault = {0};

  for (int i = 0; i < 20; i++) bench_add(bench, i, i % 5 >= 2); /* some shards mixed, some not */
  bench_flush(bench);
  fake_create(2, &smaller);
  RG_OK(rg_store_scan(bench->store, &smaller.plan, bench->done, &scan, &fault));
  assert_int_equal(scan.n_done, 8);
  assert_int_equal(scan.n_foreign, 12);
  assert_int_equal(scratch_count(bench_in(bench, "foreign"), "0-"), 8);
  assert_int_equal(bench_visit(bench, bench->shards).n, 12); /* four mixed shards of three */
  assert_int_equal(bench_scan(bench).n_done, 20);            /* the larger study finds them all */
  BENCH_OK(rg_store_pack(bench->store, &smaller.plan, &fault), fault);
  assert_int_equal(bench_visit(bench, bench->output).n, 8);
  assert_int_equal(scratch_count(bench->shards, "0-"), 0); /* the study is complete */
  assert_int_equal(scratch_count(bench_in(bench, "foreign"), "0-"), 12);
  assert_int_equal(bench_scan(bench).n_done, 20);
  BENCH_OK(rg_store_pack(bench->store, &bench->fake.plan, &fault), fault);
  assert_int_equal(bench_visit(bench, bench->output).n, 20);
  assert_int_equal(scratch_count(bench->shards, ""), -1);
  fake_destroy(&smaller);
}
