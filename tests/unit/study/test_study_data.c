/* Studies of data sets: files beside the study file, mistakes with their place, identity of
   cells. */
#include "temporary_file.h"

#include "study/trial/instances.h"
#include "study/plan/plan.h"
#include "study/trial/trial.h"
#include "trial_at.h"

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
  memcpy(id, trial_at(&plan, 0).id, RG_ID_LENGTH + 1);
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
}

/* The same numbers are the same trial under any file name; other numbers are another trial. */
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

/* A table is refused by one message with the given text, at that line of the study (0: any). */
static void refuse(const char *table, int line, const char *message)
{
  TemporaryFile file = file_make("t.csv", table);
  RgStudy study;
  RgDiagnostics found = {0};

  parse(file.folder, "t.csv", &study, &found);
  assert_int_equal(found.n, 1);
  if (line) assert_int_equal(found.list[0].place.line, line);
  assert_non_null(strstr(found.list[0].message, message));
  RG_OK(rg_study_destroy(&study));
  file_remove(&file);
}

RG_TEST(test_mistake_has_both_places)
{
  refuse("a,b,f\n1,2,3\n4,x,6\n", 4, "t.csv:3: column 'b' must be a number, got 'x'");
}

RG_TEST(test_pool_exhausted)
{
  refuse("a,b,f\n1,2,3\n4,5,6\n", 0, "2 designs, each of which may be queried once");
}

static void expect_trial(const RgPlan *plan, RgTrialServices *host, const char *message)
{
  const RgTrial trial = trial_at(plan, 0);
  RgRecord record = {0};
  bool stopped;

  RG_OK(rg_trial_run(plan->study, &trial, host, &record, &stopped));
  assert_int_equal(record.status, message ? RG_STATUS_FAILED : RG_STATUS_COMPLETE);
  if (message && !strstr(record.message, message))
    fail_msg("'%s', expected '%s'", record.message, message);
  RG_OK(rg_record_destroy(&record));
}

/* A table is read once per run. If it is missing or different when it is read, the trial fails. */
RG_TEST(test_table_changes_under_a_run)
{
  TemporaryFile file = file_make("t.csv", "a,b,f\n1,2,3\n4,5,6\n7,8,9\n");
  const char changed[] = "a,b,f\n1,2,3\n4,5,6\n7,8,8\n";
  RgTrialServices host = {0};
  RgStudy study;
  RgPlan plan;
  RgDiagnostics found = {0};

  parse(file.folder, "t.csv", &study, &found);
  assert_int_equal(found.n, 0);
  RG_OK(rg_plan_fill(&study, &plan));
  RG_OK(rg_instances_create(&host.instances));
  expect_trial(&plan, &host, NULL);
  file_write(&file, changed, strlen(changed));
  expect_trial(&plan, &host, NULL);
  RG_OK(rg_instances_destroy(&host.instances));
  expect_trial(&plan, &host, "dataset: its data have changed");
  unlink(file.path);
  expect_trial(&plan, &host, "there is no file");
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
  file_remove(&file);
}

/* ---- designs that are given ------------------------------------------------------------------ */

/* A study of branin, whose initial design begins with a file; more: further run settings. */
static void parse_given(const TemporaryFile *file, const char *problem, const char *more,
                        RgStudy *study, RgDiagnostics *found)
{
  char text[1024], name[128];

  snprintf(text, sizeof text,
           "study: given\ncommon: {iterations: 2, given: t.csv%s}\nproblems:\n  - %s\n"
           "algorithms: [random]\n",
           more, problem);
  snprintf(name, sizeof name, "%s/study.yaml", file->folder);
  RG_OK(rg_study_parse(NULL, name, text, strlen(text), study, found));
}

static void check_given(const char *problem, const char *more, const char *csv, const char *message)
{
  TemporaryFile file = file_make("t.csv", csv);
  RgDiagnostics found = {0};
  RgStudy study;

  parse_given(&file, problem, more, &study, &found);
  if (found.n != 1 || !strstr(found.list[0].message, message))
    fail_msg("'%s': %d mistakes, %s; expected '%s'", csv, found.n,
             found.n ? found.list[0].message : "", message);
  assert_int_equal(found.list[0].place.line, 4);
  RG_OK(rg_study_destroy(&study));
  file_remove(&file);
}

RG_TEST(test_given_mistakes)
{
  static const char tuner[] =
    "{name: external, program: /bin/cat, inputs: [k choice a b, n integer 1 5, "
    "v real 1e-3 1 log if k=b]}";
  static const char grid[] = "{name: damped_cosine, levels: 5}";
  static const struct {
    const char *problem, *more, *csv, *message;
  } wrong[] = {
    {"branin", "", "x1\n1\n", "t.csv has no column 'x2'; its columns are x1, x2"},
    {"branin", "", "x1,x2,z\n1,2,3\n",
     "t.csv has a column 'z'; its columns are x1, x2, and y for known values"},
    {"gardner", "", "x1,x2,y\n1,2,3\n", "takes no known values"},
    {"branin", "", "x1,x2,y\n1,2,three\n", "t.csv:2: 'y' must be a number, got 'three'"},
    {"branin", "", "x1,x2,y\n1,2,1e300\n", "t.csv:2: 'y' must be a number between -1e100 and"},
    {"branin", "", "5,6\n1,2\n", "t.csv has a column '5'; its columns are x1"},
    {"branin", "", "x1,x2,x1\n1,2,3\n", "are both called 'x1'"},
    {"branin", "", "x1,x2\n", "t.csv has a header but no rows"},
    {"branin", "", "x1,x2\n1,2\n-6,2\n", "t.csv:3: 'x1' is -6, outside [-5, 10]"},
    {"branin", "", "x1,x2\n1,two\n", "t.csv:2: 'x2' must be a number, got 'two'"},
    {"branin", "", "x1,x2\n1,\n", "t.csv:2: 'x2' must be a number, got ''"},
    {"branin", ", initial_points: 1", "x1,x2\n1,2\n3,4\n",
     "has 2 designs, but 'initial_points' is 1"},
    {tuner, "", "k,n,v\nc,1,\n", "t.csv:2: 'k' must be one of its words, got 'c'"},
    {tuner, "", "k,n,v\na,1.5,\n", "t.csv:2: 'n' must be an integer, got '1.5'"},
    {tuner, "", "k,n,v\nb,1,\n", "t.csv:2: 'v' is empty, but counts there"},
    {tuner, "", "k,n,v\nb,1,2\n", "t.csv:2: 'v' is 2, outside [0.001, 1]"},
    {grid, "", "x1\n0.3\n", "t.csv:2: none of the 5 designs there are"},
  };

  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
    check_given(wrong[i].problem, wrong[i].more, wrong[i].csv, wrong[i].message);
  TemporaryFile file = file_make("other.csv", "x1,x2\n1,2\n");
  RgDiagnostics found = {0};
  RgStudy study;
  parse_given(&file, "branin", "", &study, &found);
  assert_int_equal(found.n, 1);
  assert_non_null(strstr(found.list[0].message, "t.csv can't be opened"));
  RG_OK(rg_study_destroy(&study));
  file_remove(&file);
}

/* The key of the only trial, and the x of its record. */
static void run_given(const TemporaryFile *file, const char *problem, const char *more, char **key,
                      RgRecord *record)
{
  RgDiagnostics found = {0};
  RgStudy study;
  RgPlan plan;
  bool stopped;

  parse_given(file, problem, more, &study, &found);
  if (found.n) fail_msg("%s", found.list[0].message);
  RG_OK(rg_plan_fill(&study, &plan));
  const RgTrial trial = trial_at(&plan, 0);
  RG_OK(rg_trial_run(&study, &trial, NULL, record, &stopped));
  assert_int_equal(record->status, RG_STATUS_COMPLETE);
  RG_OK(PetscStrallocpy(record->key, key));
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
}

/* The designs of the file come first, for any order of its columns. The key contains the values
   of the file. The other designs are drawn, on a finite design without repetition. */
RG_TEST(test_given_designs_come_first)
{
  TemporaryFile one = file_make("t.csv", "x2,x1\n2,1\n15,-5\n"),
                same = file_make("t.csv", "# a remark\nx1;x2\n1;2\n-5;15\n"),
                level = file_make("t.csv", "x1\n0.25\n1\n");
  RgRecord first = {0}, second = {0};
  char *keys[2];
  const double expected[] = {1, 2, -5, 15};

  run_given(&one, "branin", "", &keys[0], &first);
  run_given(&same, "branin", ", initial_points: 2", &keys[1], &second);
  assert_string_equal(keys[0], keys[1]);
  assert_non_null(strstr(keys[0], "initial_points=2,"));
  assert_null(strstr(keys[0], "t.csv"));
  assert_int_equal(first.n_initial, 2);
  for (int i = 0; i < 4; i++) RG_CLOSE(first.column[RG_COLUMN_X][i], expected[i], 1e-14);
  for (int i = 0; i < 8; i++)
    assert_true(first.column[RG_COLUMN_X][i] == second.column[RG_COLUMN_X][i]);
  for (int k = 0; k < 2; k++) RG_OK(PetscFree(keys[k]));
  RG_OK(rg_record_destroy(&second));
  static const char *const kinds[] = {"uniform", "sobol", "latin_hypercube"};
  for (int k = 0; k < 3; k++) {
    char more[80];
    snprintf(more, sizeof more, ", initial_points: 5, initial_design: %s", kinds[k]);
    run_given(&level, "{name: damped_cosine, levels: 5}", more, &keys[0], &second);
    const double *x = second.column[RG_COLUMN_X];
    assert_true(x[0] == 0.25 && x[1] == 1 && x[2] + x[3] + x[4] == 0 + 0.5 + 0.75);
    RG_OK(PetscFree(keys[0]));
    RG_OK(rg_record_destroy(&second));
  }
  RG_OK(rg_record_destroy(&first));
  file_remove(&one);
  file_remove(&same);
  file_remove(&level);
}

/* Decimal numbers that the unit cube does not reproduce are evaluated as given, and the key
   contains them. A file that loses nothing keeps its old key. */
RG_TEST(test_given_values_are_kept)
{
  TemporaryFile lossy = file_make("t.csv", "x1,x2\n1.5,0.3\n-4.9,14.7\n"),
                exact = file_make("t.csv", "x1,x2\n-5,15\n");
  const double expected[] = {1.5, 0.3, -4.9, 14.7};
  RgRecord record = {0};
  char *key;

  run_given(&lossy, "branin", "", &key, &record);
  assert_memory_equal(record.column[RG_COLUMN_X], expected, sizeof expected);
  assert_null(strstr(
    key, "given=2:8dd20b5910912166f08abc63cdd9a0c4")); /* hash of the designs in the unit cube */
  RG_OK(PetscFree(key));
  RG_OK(rg_record_destroy(&record));
  run_given(&exact, "branin", "", &key, &record);
  assert_non_null(strstr(key, "given=1:117f627aa058ede2fba430a78bffd779"));
  RG_OK(PetscFree(key));
  RG_OK(rg_record_destroy(&record));
  file_remove(&lossy);
  file_remove(&exact);
}
