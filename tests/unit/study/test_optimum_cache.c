/* Optima kept in files: read to the last bit, or not at all. */
#include "study_text.h"

#include <float.h>
#include <stdlib.h>

#include "base/hash.h"
#include "scratch.h"
#include "study/trial/instances.h"
#include "study/trial/trial.h"
#include "trial_at.h"

static const char key[] = "program\nproblem=p@1{\"a\"};seed 1";

static bool reads(const char *folder, const char *of, double *optimum, double *accuracy)
{
  bool found;

  RG_OK(rg_optimum_cache_read(folder, of, optimum, accuracy, &found));
  return found;
}

RG_TEST(bits_come_back)
{
  const double values[] = {-0.1, 1.0 / 3, DBL_MAX, -DBL_MIN, nextafter(1, 2), -0.0, 0};
  char scratch[64], folder[128];
  double optimum, accuracy;

  scratch_create(scratch);
  snprintf(folder, sizeof(folder), "%s/not_there_yet", scratch);
  for (int i = 0; i < 6; i++) {
    char name[16];
    snprintf(name, sizeof(name), "key %d", i);
    assert_false(reads(folder, name, &optimum, &accuracy));
    RG_OK(rg_optimum_cache_write(folder, name, values[i], values[i + 1]));
    assert_true(reads(folder, name, &optimum, &accuracy));
    assert_memory_equal(&optimum, &values[i], sizeof(double));
    assert_memory_equal(&accuracy, &values[i + 1], sizeof(double));
  }
  RG_OK(rg_optimum_cache_write(folder, "key 0", 7, 0)); /* the first file stays */
  assert_true(reads(folder, "key 0", &optimum, &accuracy));
  assert_true(optimum == values[0]);
  RG_OK(rg_optimum_cache_write(folder, "key nan", NAN, 0));
  assert_false(reads(folder, "key nan", &optimum, &accuracy));
  assert_int_equal(scratch_count(folder, ""), 6); /* nothing temporary */
  scratch_remove(scratch);
}

/* Every cut, every changed byte, and the file of another key under this name. */
RG_TEST(damage_is_no_answer)
{
  char scratch[64], path[512], other[512], longer[4096];
  double optimum = 3, accuracy = 4;
  unsigned char *bytes, *foreign;
  size_t length, foreign_length;

  scratch_create(scratch);
  RG_OK(rg_optimum_cache_write(scratch, key, 1.25, 1e-8));
  scratch_find(scratch, ".optimum", path);
  bytes = scratch_read(path, &length);
  for (size_t n = 0; n < length; n++) {
    scratch_write(path, bytes, n);
    assert_false(reads(scratch, key, &optimum, &accuracy));
  }
  for (size_t i = 0; i < length; i++) {
    bytes[i] ^= 1;
    scratch_write(path, bytes, length);
    assert_false(reads(scratch, key, &optimum, &accuracy));
    bytes[i] ^= 1;
  }
  memcpy(longer, bytes, length);
  longer[length] = '\n';
  scratch_write(path, longer, length + 1);
  assert_false(reads(scratch, key, &optimum, &accuracy));
  remove(path);
  RG_OK(rg_optimum_cache_write(scratch, "another key", 2.5, 1e-8));
  scratch_find(scratch, ".optimum", other);
  foreign = scratch_read(other, &foreign_length);
  scratch_write(path, foreign, foreign_length);
  assert_false(reads(scratch, key, &optimum, &accuracy));
  assert_true(optimum == 3 && accuracy == 4);              /* untouched */
  RG_OK(rg_optimum_cache_write(scratch, key, 1.25, 1e-8)); /* writes a valid file again */
  assert_true(reads(scratch, key, &optimum, &accuracy));
  free(bytes);
  free(foreign);
  scratch_remove(scratch);
}

RG_TEST(folders_that_can_not_be_used)
{
  char scratch[64], folder[8192], path[512];
  double optimum, accuracy;

  scratch_create(scratch);
  snprintf(path, sizeof(path), "%s/file", scratch);
  scratch_write(path, "x", 1);
  snprintf(folder, sizeof(folder), "%s/below", path);
  RG_OK(rg_optimum_cache_write(path, key, 1, 0));
  RG_OK(rg_optimum_cache_write(folder, key, 1, 0));
  assert_false(reads(path, key, &optimum, &accuracy));
  assert_false(reads(folder, key, &optimum, &accuracy));
  memset(folder, 'x', sizeof(folder) - 1);
  folder[0] = '/', folder[sizeof(folder) - 1] = '\0';
  RG_OK(rg_optimum_cache_write(folder, key, 1, 0));
  assert_false(reads(folder, key, &optimum, &accuracy));
  scratch_remove(scratch);
}

/* ---- as trials see them -------------------------------------------------------------------- */

#define STUDY_TEXT                                                                                 \
  "study: kept\nseed: %d\ncommon: {iterations: 2, initial_points: 1}\n"                            \
  "problems: [{name: gp_path_box, features: %d, panels: 1}, shift_example]\nalgorithms: "          \
  "[random]\n"

/* Optima of the two problems, as the trials of this study record them. */
static void optima_of(const char *folder, int seed, int features, uint64_t fingerprint,
                      double optimum[2])
{
  const RgPlan *plan = plan_of(STUDY_TEXT, seed, features);
  RgTrialServices host = {0};

  RG_OK(rg_instances_create(&host.instances));
  if (folder) RG_OK(rg_instances_keep_optima(host.instances, folder, 0, NULL, fingerprint));
  assert_int_equal(plan->n, 2);
  for (int i = 0; i < 2; i++) {
    const RgTrial trial = trial_at(plan, i);
    RgRecord record = {0};
    bool stopped;
    RG_OK(rg_trial_run(plan->study, &trial, &host, &record, &stopped));
    assert_int_equal(record.status, RG_STATUS_COMPLETE);
    optimum[i] = record.optimum;
    RG_OK(rg_record_destroy(&record));
  }
  RG_OK(rg_instances_destroy(&host.instances));
}

/* Raises the optimum of a file by 1, with a correct checksum. */
static void raise_one(const char *path)
{
  char text[8192], hex[33], *line;
  double optimum, accuracy;
  uint64_t bits[2], hash[2];
  size_t length;
  unsigned char *bytes = scratch_read(path, &length);

  bytes[length] = '\0';
  line = strstr((char *)bytes, "\noptimum ");
  assert_non_null(line);
  assert_int_equal(sscanf(line, "\noptimum %*s %lf\naccuracy %*s %lf", &optimum, &accuracy), 2);
  optimum += 1;
  memcpy(&bits[0], &optimum, sizeof(optimum));
  memcpy(&bits[1], &accuracy, sizeof(accuracy));
  *line = '\0';
  length = (size_t)snprintf(
    text, sizeof(text), "%s\noptimum %016llx %.17g\naccuracy %016llx %.17g\n", (char *)bytes,
    (unsigned long long)bits[0], optimum, (unsigned long long)bits[1], accuracy);
  rg_hash128(text, length, hash);
  rg_hash_hex(hash, hex);
  length += (size_t)snprintf(text + length, sizeof(text) - length, "checksum %s\n", hex);
  scratch_write(path, text, length);
  free(bytes);
}

static void raise_all(const char *folder)
{
  DIR *stream = opendir(folder);

  for (struct dirent *entry; (entry = readdir(stream));) {
    char path[512];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof(path), "%s/%.200s", folder, entry->d_name);
    raise_one(path);
  }
  closedir(stream);
}

RG_TEST(trials_read_what_was_kept)
{
  char folder[64];
  double searched[2], kept[2];

  scratch_create(folder);
  optima_of(NULL, 1, 16, 9, searched);
  assert_int_equal(scratch_count(folder, ""), 0);
  optima_of(folder, 1, 16, 9, kept);
  assert_memory_equal(kept, searched, sizeof(kept));
  assert_int_equal(scratch_count(folder, ".optimum"), 2);
  optima_of(folder, 1, 16, 9, kept);
  assert_memory_equal(kept, searched, sizeof(kept));
  raise_all(folder);
  optima_of(folder, 1, 16, 9, kept); /* nothing was searched */
  RG_CLOSE(kept[0], searched[0] + 1, 1e-15);
  RG_CLOSE(kept[1], searched[1] + 1, 1e-15);
  optima_of(folder, 1, 16, 8, kept); /* another arithmetic */
  assert_memory_equal(kept, searched, sizeof(kept));
  assert_int_equal(scratch_count(folder, ".optimum"), 4);
  optima_of(folder, 2, 16, 9,
            kept); /* another seed gives another path; the other problem is not random */
  assert_true(fabs(kept[0] - searched[0] - 1) > 1e-6);
  RG_CLOSE(kept[1], searched[1] + 1, 1e-15);
  assert_int_equal(scratch_count(folder, ".optimum"), 5);
  optima_of(folder, 1, 17, 9, kept); /* other options */
  assert_true(fabs(kept[0] - searched[0] - 1) > 1e-6);
  assert_int_equal(scratch_count(folder, ".optimum"), 6);
  scratch_remove(folder);
}

/* Results of shorter searches are not written. */
RG_TEST(short_searches_are_not_kept)
{
  RgInstances *instances;
  RgInstance *instance;
  const RgStudy *study = study_of(STUDY_TEXT, 1, 16);
  RgFailure failure = {0};
  char folder[64];
  double optimum, accuracy;

  scratch_create(folder);
  RG_OK(rg_instances_create(&instances));
  RG_OK(rg_instances_keep_optima(instances, folder, 1e6, NULL, 9));
  RG_OK(rg_instances_acquire(instances, NULL, study, &study->cells[0], 0, &instance, &failure));
  RG_OK(rg_instance_optimum(instance, &optimum, &accuracy, &failure));
  assert_false(failure.failed);
  assert_true(isfinite(optimum));
  failure.failed = true; /* for a trial after the one that searched: as if it had been the first */
  RG_OK(rg_instance_optimum(instance, &optimum, &accuracy, &failure));
  assert_true(isnan(optimum));
  RG_OK(rg_instances_release(&instance));
  RG_OK(rg_instances_destroy(&instances));
  assert_int_equal(scratch_count(folder, ""), 0);
  scratch_remove(folder);
}
