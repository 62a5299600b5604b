/* Data sets as pools: candidates, values, scaling, the search for the file, identity, mistakes. */
#include "temporary_file.h"
#include "test_problem.h"

/* d = 2, five rows, three distinct inputs: (0, 10) 1 and 3; (1, 10) -4; (0, 20) 5, 6, 1. */
static const char table[] = "u,f,v\n0,1,10\n0,5,20\n1,-4,10\n0,6,20\n0,3,10\n0,1,20\n";

static Instance pool(const TemporaryFile *file, const Setting *more)
{
  Setting settings[MAX_SETTINGS] = {{"path", file->path}, {"objective", "f"}};

  for (int i = 0; more && more[i][0]; i++)
    for (int k = 0; k < 2; k++) settings[2 + i][k] = more[i][k];
  return instance_make("dataset", (const Setting *)settings, 1, 0);
}

RG_TEST(test_candidates)
{
  static const double unit[] = {0, 0, 0, 1, 1, 0};
  RG_OWNED(file_remove) TemporaryFile file = file_make("t.csv", table);
  RG_OWNED(instance_free) Instance it = pool(&file, NULL);
  const RgDomain *domain = &it.problem.domain;

  assert_int_equal(domain->design.size, 3);
  assert_int_equal(domain->design.dim, 2);
  assert_true(domain->without_replacement);
  assert_memory_equal(domain->design.points, unit, sizeof unit);
  assert_true(domain->design.lower[1] == 10 && domain->design.upper[1] == 20);
  assert_true(objective_of_index(&it.problem, 0) == 2 && objective_of_index(&it.problem, 1) == 4 &&
              objective_of_index(&it.problem, 2) == -4);
  assert_true(it.problem.optimum == 4);
  assert_int_equal(it.problem.n_optimisers, 1);
  assert_true(it.problem.optimisers[0] == 0 && it.problem.optimisers[1] == 20);
}

/* Size, dimension, values and optimum; the first row of a file without a header is data. */
RG_TEST(test_settings)
{
  static const struct {
    const char *text;
    Setting more[4];
    int dim, size;
    double values[3], optimum;
  } cases[] = {
    {table, {{"goal", "minimise"}}, 2, 3, {-2, -4, 4}, 4},
    {table, {{"duplicates", "first"}}, 2, 3, {1, 5, -4}, 5},
    {table, {{"inputs", "3"}, {"repeats", "yes"}}, 1, 2, {0, 4}, 4},
    {"9,1\n4,2\n", {{"header", "no"}, {"inputs", "2"}, {"objective", "1"}}, 1, 2, {9, 4}, 9}};

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    RG_OWNED(file_remove) TemporaryFile file = file_make("t.csv", cases[k].text);
    RG_OWNED(instance_free) Instance it = pool(&file, cases[k].more);
    const RgDomain *domain = &it.problem.domain;
    assert_int_equal(domain->design.dim, cases[k].dim);
    assert_int_equal(domain->design.size, cases[k].size);
    assert_int_equal(domain->without_replacement, k != 2); /* repeats */
    for (int i = 0; i < cases[k].size; i++)
      assert_true(objective_of_index(&it.problem, i) == cases[k].values[i]);
    assert_true(it.problem.optimum == cases[k].optimum);
  }
}

/* All but the last column; the order of columns is that of the file. */
RG_TEST(test_columns_by_default)
{
  RG_OWNED(file_remove) TemporaryFile file = file_make("t.csv", "a,b,c\n1,2,3\n1,5,6\n");
  const Setting settings[] = {{"path", file.path}, {0}};
  RG_OWNED(instance_free) Instance it = instance_make("dataset", settings, 1, 0);

  assert_int_equal(it.problem.domain.design.dim, 2);
  assert_true(objective_of_index(&it.problem, 1) == 6);
  assert_true(it.problem.domain.design.points[0] == 0.5); /* constant column */
  assert_true(it.problem.domain.design.lower[0] == 1 && it.problem.domain.design.upper[0] == 1);
}

RG_TEST(test_bounds)
{
  static const Setting bounds[] = {{"lower", "0"}, {"upper", "40"}, {0}};
  RG_OWNED(file_remove) TemporaryFile file = file_make("t.csv", table);
  RG_OWNED(instance_free) Instance it = pool(&file, bounds);

  assert_true(it.problem.domain.design.points[0] == 0);
  assert_true(it.problem.domain.design.points[1] == 0.25);
  assert_true(it.problem.domain.design.points[4] == 0.025);
}

/* All optimisers of a tie are known. */
RG_TEST(test_ties)
{
  RG_OWNED(file_remove) TemporaryFile file = file_make("t.csv", "x,f\n3,7\n1,7\n2,0\n");
  RG_OWNED(instance_free) Instance it = pool(&file, NULL);

  assert_int_equal(it.problem.n_optimisers, 2);
  assert_true(it.problem.optimisers[0] == 1 && it.problem.optimisers[1] == 3);
}

RG_TEST(test_mistakes)
{
  RG_OWNED(file_remove) TemporaryFile file = file_make("t.csv", table);
  const struct {
    Setting more[2];
    const char *text, *expected;
  } cases[] = {
    {{{"inputs", "w"}}, table, "t.csv has no column 'w' (inputs), "},
    {{{"objective", "F"}}, table, "has no column 'F' (objective), did you mean 'f'?"},
    {{{"inputs", "weight"}}, table, "its columns are 'u', 'f', 'v'"},
    {{{"inputs", "f"}, {"objective", "2"}}, table, "column 'f' is both input and objective"},
    {{{"duplicates", "error"}}, table, "t.csv:7: the same inputs as in line 2"},
    {{{"objective", "f"}, {"upper", "15"}},
     table,
     "column 'v' ranges over [10, 20], which the bounds [10, 15] don't contain"},
    {{{"lower", "1"}}, "x,f\n0,1\n2,1\n", "column 'x' ranges over [0, 2], which the bounds [1, 2]"},
    {{{0}}, "x,f\n0,1\n1,fast\n", "t.csv:3: column 'f' must be a number, got 'fast'"},
    {{{0}},
     "x,f\n0,1\n1e308,2\n",
     "t.csv:3: column 'x' must be a number between -1e100 and 1e100, "
     "got '1e308'"},
    {{{0}}, "1,9\n0,1\n", "t.csv:1: the first row has only numbers"},
    {{{0}}, "x,f\n0,1\n1,\n", "t.csv:3: column 'f' must be a number, is empty"},
    {{{0}}, "x,f\n0,1\n1\n", "t.csv:3: 1 cell, the header has 2"},
    {{{0}}, "x\n0\n1\n", "has one column only"},
    {{{0}}, "x,f\n", "t.csv has a header but no rows"},
  };

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const Setting settings[] = {{"path", file.path},
                                {cases[k].more[0][0], cases[k].more[0][1]},
                                {cases[k].more[1][0], cases[k].more[1][1]},
                                {0}};
    file_write(&file, cases[k].text, strlen(cases[k].text));
    settings_refused("dataset", settings, 1, cases[k].expected);
  }
}

RG_TEST(test_wrong_lists)
{
  const RgProblemClass *class = rg_registry_find_problem(NULL, "dataset");
  static const char *const twice[] = {"u", "v", "1"}, *const three[] = {"0", "0", "0"};
  RG_OWNED(file_remove) TemporaryFile file = file_make("t.csv", table);
  const Setting settings[] = {{"path", file.path}, {"objective", "f"}, {0}};
  RgDiagnostics found = {0};
  void *options = options_make(class, settings);

  RG_OK(rg_params_set(class->params, options, "lower", 3, three, (RgPlace){0}, &found, NULL));
  RG_OK(class->check(class, options, (RgPlace){0}, &found));
  assert_int_equal(found.n, 1);
  assert_non_null(strstr(found.list[0].message, "'lower' has 3 values; 1 or 2, one per input"));
  RG_OK(rg_params_set(class->params, options, "inputs", 3, twice, (RgPlace){0}, &found, NULL));
  RG_OK(class->check(class, options, (RgPlace){0}, &found));
  assert_int_equal(found.n, 2);
  assert_non_null(strstr(found.list[1].message, "'inputs' names column 'u' twice"));
  options_free(class, options);
}

/* Found by its last name below REGATTA_DATA; if it is missing, the message says what to do. */
RG_TEST(test_data_folder)
{
  const RgProblemClass *class = rg_registry_find_problem(NULL, "perovskite");
  RG_OWNED(file_remove) TemporaryFile file = file_make("Perovskite_dataset.csv", "a,b\n1,7\n0,9\n");
  const char *before = getenv("REGATTA_DATA");
  char *kept = before ? strdup(before) : NULL;
  RgDiagnostics found = {0};
  void *options = options_make(class, NULL);

  unsetenv("REGATTA_DATA");
  RG_OK(class->check(class, options, (RgPlace){0}, &found));
  assert_int_equal(found.n, 1);
  assert_string_equal(found.list[0].message,
                      "perovskite: there is no file 'materials/Perovskite_dataset.csv' "
                      "(REGATTA_DATA, the folder of data sets, is unset); the data are at "
                      "https://github.com/PV-Lab/Benchmarking, folder datasets: save them anywhere "
                      "and set REGATTA_DATA to that folder");
  setenv("REGATTA_DATA", "/nowhere", 1);
  RG_OK(class->check(class, options, (RgPlace){0}, &found));
  assert_non_null(strstr(found.list[1].message, "nor in REGATTA_DATA = /nowhere; the data are at"));
  setenv("REGATTA_DATA", file.folder, 1);
  Instance it = instance_make("perovskite", NULL, 1, 0);
  assert_true(objective_of_index(&it.problem, 0) == -9 && it.problem.optimum == -7);
  instance_free(&it);
  if (kept) setenv("REGATTA_DATA", kept, 1);
  else unsetenv("REGATTA_DATA");
  free(kept);
  options_free(class, options);
}

/* The text that identifies a data set with one more setting. */
static char *identity(const char *path, const char *key, const char *word)
{
  const RgProblemClass *class = rg_registry_find_problem(NULL, "dataset");
  const Setting settings[] = {{"path", path}, {key, word}, {0}};
  void *options = options_make(class, settings);
  RgText text = {0};

  RG_OK(class->source->identity(class, options, &text));
  options_free(class, options);
  return text.data;
}

/* Only the numbers count, not the file's name, its layout or comments, or the order of its rows. */
RG_TEST(test_identity)
{
  TemporaryFile one = file_make("one.csv", "x,y,f\n1,2,3\n4,5,6\n"),
                same = file_make("two.csv", "# again\r\nx;y;g\r\n4.0;5;6\r\n1;2;3e0"),
                other = file_make("one.csv", "x,y,f\n1,2,3\n4,5,7\n");
  char *const texts[] = {identity(one.path, NULL, NULL),         identity(same.path, NULL, NULL),
                         identity(one.path, "lower", "auto"),    identity(other.path, NULL, NULL),
                         identity(one.path, "repeats", "yes"),   identity(one.path, "lower", "-1"),
                         identity(one.path, "goal", "minimise"), identity(one.path, "inputs", "x")};

  assert_string_equal(texts[0], texts[1]);
  assert_string_equal(texts[0], texts[2]);
  assert_null(strstr(texts[0], "csv"));
  for (int i = 2; i < 8; i++)
    for (int j = 3; j < i; j++) assert_string_not_equal(texts[i], texts[j]);
  for (int i = 0; i < 8; i++) RG_OK(PetscFree(*(char **)(uintptr_t)&texts[i]));
  file_remove(&one);
  file_remove(&same);
  file_remove(&other);
}
