/* A store with a fake study in a directory of its own, and a witness that compares what comes
   back. */
#ifndef RG_TESTS_STORE_BENCH_H
#define RG_TESTS_STORE_BENCH_H

#include "fake_study.h"
#include "scratch.h"
#include "study/store/store_internal.h"
#include "test_main.h"

typedef struct {
  char directory[64], output[128], shards[128];
  Fake fake;
  RgStore *store;
  unsigned char done[64]; /* what the last scan found of each trial */
  char path[256];         /* of bench_in */
} Bench;

/* Its shards are merged only where a test asks for it. */
static inline void bench_open_store(Bench *bench, int rank)
{
  RgFault fault = {0};

  RG_OK(rg_store_open(bench->output, &bench->fake.study, rank, &bench->store, &fault));
  assert_int_equal(fault.code, RG_FAULT_NONE);
  bench->store->limits.compaction = 0;
}

static inline void bench_create(int n_seeds, Bench *bench)
{
  memset(bench, 0, sizeof(*bench));
  scratch_create(bench->directory);
  snprintf(bench->output, sizeof(bench->output), "%s/out.h5", bench->directory);
  snprintf(bench->shards, sizeof(bench->shards), "%s/out.h5.d", bench->directory);
  fake_create(n_seeds, &bench->fake);
  bench_open_store(bench, 0);
}

static inline void bench_destroy(Bench *bench)
{
  RG_OK(rg_store_close(&bench->store));
  fake_destroy(&bench->fake);
  scratch_remove(bench->directory);
}

/* The path of a file in the study directory; valid until the next call. */
static inline const char *bench_in(Bench *bench, const char *name)
{
  snprintf(bench->path, sizeof(bench->path), "%s/%s", bench->shards, name);
  return bench->path;
}

/* A test with a bench of its own, whose study has n_seeds seeds. */
#define BENCH_TEST(name, n_seeds)                                                                  \
  static void name##_on(Bench *bench);                                                             \
  RG_TEST(name)                                                                                    \
  {                                                                                                \
    Bench bench;                                                                                   \
    bench_create(n_seeds, &bench);                                                                 \
    name##_on(&bench);                                                                             \
    bench_destroy(&bench);                                                                         \
  }                                                                                                \
  static void name##_on(Bench *bench)

/* The call succeeds and leaves no fault in `fault`. */
#define BENCH_OK(call, fault)                                                                      \
  do {                                                                                             \
    RG_OK(call);                                                                                   \
    if ((fault).code) fail_msg("%s", (fault).message);                                             \
  } while (0)

static inline void bench_flush(Bench *bench)
{
  RgFault fault = {0};

  BENCH_OK(rg_store_flush(bench->store, true, &fault), fault);
}

/* Hand trial i to the store and commit it at once if `now`. */
static inline void bench_add(Bench *bench, int i, bool now)
{
  RgRecord record;
  RgFault fault = {0};

  RG_OK(fake_record(&bench->fake, i, &record));
  BENCH_OK(rg_store_add(bench->store, &record, &fault), fault);
  assert_null(record.key);
  if (now) bench_flush(bench);
}

static inline RgStoreScan bench_scan(Bench *bench)
{
  RgStoreScan scan;
  RgFault fault = {0};

  BENCH_OK(rg_store_scan(bench->store, &bench->fake.plan, bench->done, &scan, &fault), fault);
  return scan;
}

/* A scan finds so many finished trials and damaged shards. */
static inline void bench_expect(Bench *bench, int n_done, int n_bad)
{
  const RgStoreScan scan = bench_scan(bench);

  assert_int_equal(scan.n_done, n_done);
  assert_int_equal(scan.n_bad, n_bad);
}

static inline RgFaultCode bench_pack(Bench *bench)
{
  RgFault fault = {0};

  RG_OK(rg_store_pack(bench->store, &bench->fake.plan, &fault));
  if (fault.code) print_message("%s\n", fault.message);
  return fault.code;
}

/* Compares every record that it gets, bit by bit, with the record made anew. */
typedef struct {
  Fake *fake;
  int seen[64], n;
  RgChecksum checksum;
} Witness;

static inline void compare_doubles(const char *name, int n, const double *found,
                                   const double *expected)
{
  for (int k = 0; k < n; k++) {
    double a = found ? found[k] : NAN, b = expected ? expected[k] : NAN;
    if (isnan(a) && isnan(b)) continue;
    if (memcmp(&a, &b, sizeof(a))) fail_msg("%s[%d] = %.17g, expected %.17g", name, k, a, b);
  }
}

/* Compare all fields but those in `except`, names between blanks. */
static inline void compare_fields(int n, const RgFieldInfo *fields, const char *except,
                                  const void *a, const void *b)
{
  for (int f = 0; f < n; f++) {
    const char *x = (const char *)a + fields[f].offset, *y = (const char *)b + fields[f].offset;
    const char *found = strstr(except, fields[f].name);
    const RgFieldType type = fields[f].type;
    if (found && found[-1] == ' ' && found[strlen(fields[f].name)] == ' ') continue;
    if (type == RG_FIELD_TEXT) {
      x = *(char *const *)x;
      y = *(char *const *)y;
    }
    if (type == RG_FIELD_REAL) compare_doubles(fields[f].name, 1, (const void *)x, (const void *)y);
    else if (type > RG_FIELD_CHARS) assert_memory_equal(x, y, fields[f].size);
    else assert_string_equal(x ? x : "", y ? y : "");
  }
}

static inline void compare_records(const RgRecord *a, const RgRecord *b)
{
  compare_fields(rg_field_count, rg_fields, " cell checksum software ", a, b);
  assert_non_null(strstr(a->provenance.software, "regatta"));
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    compare_doubles(rg_columns[c].name, a->n_rows * rg_record_width(a, c), a->column[c],
                    b->column[c]);
  /* The study that packs plans other seeds. */
  compare_fields(rg_cell_field_count, rg_cell_fields, " planned_seeds ", a->cell, b->cell);
  assert_int_equal(a->cell->n_swept, b->cell->n_swept);
  for (int i = 0; i < a->cell->n_swept; i++) {
    const RgSwept *axis = &a->cell->axes[i];
    assert_string_equal(axis->text,
                        rg_swept_find(b->cell->n_swept, b->cell->axes, axis->name)->text);
  }
  for (const char *at = a->cell->settings.data; at && *at;) {
    const char *value = at + strlen(at) + 1;
    assert_string_equal(rg_cell_data_setting(b->cell, at + 1), value);
    at = value + strlen(value) + 1;
  }
}

static inline PetscErrorCode witness_visit(void *closure, const RgRecord *record)
{
  Witness *witness = closure;
  RgRecord expected;
  uint64_t checksum[2];
  int i = 0;

  while (i < witness->fake->plan.n && strcmp(witness->fake->trials[i].id, record->id)) i++;
  assert_true(i < witness->fake->plan.n);
  witness->seen[i]++;
  witness->n++;
  PetscCall(fake_record(witness->fake, i, &expected));
  compare_records(record, &expected);
  assert_int_equal(record->n_extra, expected.n_extra ? 2 : 0); /* the empty one is not stored */
  for (int e = 0; e < record->n_extra; e++) {
    int from = strcmp(record->extra_name[e], "beta") ? 2 : 0;
    assert_string_equal(record->extra_name[e], expected.extra_name[from]);
    assert_string_equal(record->extra_doc[e], expected.extra_doc[from]);
    compare_doubles("extra", record->n_rows, record->extra[e], expected.extra[from]);
  }
  PetscCall(rg_record_destroy(&expected));
  PetscCall(rg_record_checksum(record, checksum));
  rg_checksum_add(&witness->checksum, checksum);
  return 0;
}

static inline Witness bench_visit(Bench *bench, const char *path)
{
  Witness witness = {.fake = &bench->fake};
  RgFault fault = {0};
  int damaged;

  BENCH_OK(rg_store_visit(path, witness_visit, &witness, &damaged, &fault), fault);
  assert_int_equal(damaged, 0);
  for (int i = 0; i < bench->fake.plan.n; i++) assert_true(witness.seen[i] <= 1);
  return witness;
}

#endif
