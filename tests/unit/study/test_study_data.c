/* Studies of data sets: files beside the study file, mistakes with their place, identity of cells. */
#include "temporary_file.h"

#include "study/trial/instances.h"
#include "study/plan/plan.h"
#include "study/trial/trial.h"

static const char study_text[] = "study: pool\n"
                                 "common: {iterations: 2, initial_points: 1}\n"
                                 "problems:\n"
                                 "  - name: dataset\n"
                                 "    path: %s\n"
                                 "    inputs: [a, b]\n"
                                 "algorithms: [random]\n";

/* Parse the study as if it stood in `folder`. */
static void parse(const char *folder, const char *path, RgStudy *study, RgDiagnostics *found)
{
  char text[512], name[128];

  snprintf(text, sizeof text, study_text, path);
  snprintf(name, sizeof name, "%s/study.yaml", folder);
  RG_OK(rg_study_parse(NULL, name, text, strlen(text), study, found));
}

/* Identity of the only trial. */
static void identify(const char *folder, const char *path, char id[RG_ID_LENGTH + 1])
{
  RgStudy study;
  RgPlan plan;
  RgDiagnostics found = {0};

  parse(folder, path, &study, &found);
  if (found.n) fail_msg("%s", found.list[0].message);
  RG_OK(rg_plan_fill(&study, &plan));
  memcpy(id, plan.trials[0].id, RG_ID_LENGTH + 1);
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
}

/* Same numbers, same trial, whatever the file is called; other numbers, another trial. */
RG_TEST(test_identity_is_the_numbers)
{
  TemporaryFile one = file_make("one.csv", "a,b,f\n1,2,3\n4,5,6\n7,8,9\n"),
                two = file_make("two.csv", "f,a,b\n9,7,8\n3,1,2\n6,4,5\n"),
                other = file_make("one.csv", "a,b,f\n1,2,3\n4,5,6\n7,8,8\n");
  char first[RG_ID_LENGTH + 1], again[RG_ID_LENGTH + 1], third[RG_ID_LENGTH + 1];

  identify("/elsewhere", one.path, first);
  identify(one.folder, "one.csv", again);
  assert_string_equal(first, again);
  identify(other.folder, "one.csv", third);
  assert_string_not_equal(first, third);
  identify(two.folder, "two.csv\n    objective: f", again);
  assert_string_equal(first, again);
  file_remove(&one);
  file_remove(&two);
  file_remove(&other);
}

RG_TEST(test_mistake_has_both_places)
{
  TemporaryFile file = file_make("t.csv", "a,b,f\n1,2,3\n4,x,6\n");
  RgStudy study;
  RgDiagnostics found = {0};

  parse(file.folder, "t.csv", &study, &found);
  assert_int_equal(found.n, 1);
  assert_int_equal(found.list[0].place.line, 4);
  assert_non_null(strstr(found.list[0].message, "t.csv:3: column 'b' must be a number, got 'x'"));
  RG_OK(rg_study_destroy(&study));
  file_remove(&file);
}

RG_TEST(test_pool_exhausted)
{
  TemporaryFile file = file_make("t.csv", "a,b,f\n1,2,3\n4,5,6\n");
  RgStudy study;
  RgDiagnostics found = {0};

  parse(file.folder, "t.csv", &study, &found);
  assert_int_equal(found.n, 1);
  assert_non_null(strstr(found.list[0].message, "2 designs, each of which may be queried once"));
  RG_OK(rg_study_destroy(&study));
  file_remove(&file);
}

static void expect_trial(const RgStudy *study, const RgTrial *trial, RgTrialHost *host,
                         const char *message)
{
  RgRecord record = {0};
  bool stopped;

  RG_OK(rg_trial_run(study, trial, host, &record, &stopped));
  assert_int_equal(record.status, message ? RG_STATUS_FAILED : RG_STATUS_COMPLETE);
  if (message && !strstr(record.message, message))
    fail_msg("'%s', expected '%s'", record.message, message);
  RG_OK(rg_record_destroy(&record));
}

/* A table is read once per run; one that is gone or different when it is read fails the trial. */
RG_TEST(test_table_changes_under_a_run)
{
  TemporaryFile file = file_make("t.csv", "a,b,f\n1,2,3\n4,5,6\n7,8,9\n");
  const char changed[] = "a,b,f\n1,2,3\n4,5,6\n7,8,8\n";
  RgTrialHost host = {0};
  RgStudy study;
  RgPlan plan;
  RgDiagnostics found = {0};

  parse(file.folder, "t.csv", &study, &found);
  assert_int_equal(found.n, 0);
  RG_OK(rg_plan_fill(&study, &plan));
  RG_OK(rg_instances_create(&host.instances));
  expect_trial(&study, &plan.trials[0], &host, NULL);
  file_write(&file, changed, strlen(changed));
  expect_trial(&study, &plan.trials[0], &host, NULL);
  RG_OK(rg_instances_destroy(&host.instances));
  expect_trial(&study, &plan.trials[0], &host, "dataset: its data have changed");
  unlink(file.path);
  expect_trial(&study, &plan.trials[0], &host, "there is no file");
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
  file_remove(&file);
}
