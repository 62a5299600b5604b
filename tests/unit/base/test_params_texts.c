/* Parameters that are lists of texts, and paths relative to the file that contains them. */
#include "test_main.h"

#include "regatta/params.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
  RgTexts inputs, names;
  char *path;
} Options;

#define AT(field) offsetof(Options, field)

static const RgParam table[] = {
  {"inputs", RG_PARAM_TEXTS, AT(inputs), "auto", 0, 0, NULL, "", "auto: all"},
  {"names", RG_PARAM_TEXTS, AT(names), "[a, b]", 0, 0, NULL, "", "two"},
  {"path", RG_PARAM_PATH, AT(path), NULL, 0, 0, NULL, "", "file"},
  {0},
};

static void set(Options *options, const char *name, int n, const char *const *words,
                const char *file)
{
  RgDiagnostics diagnostics = {0};

  RG_OK(rg_params_set(table, options, name, n, words, (RgPlace){file, 1, 1}, &diagnostics, NULL));
  if (diagnostics.n) fail_msg("%s", diagnostics.list[0].message);
}

static void assert_canonical(const Options *options, const char *expected)
{
  RgText text = {0};

  RG_OK(rg_params_canonical(table, options, &text));
  assert_string_equal(text.data, expected);
  RG_OK(rg_text_clear(&text));
}

RG_TEST(test_lists_of_texts)
{
  static const char *const two[] = {"x, \"1\"", "y"}, *const one[] = {"z"},
                           *const none[] = {"auto"};
  Options options = {0};

  RG_OK(rg_params_defaults(table, &options));
  assert_canonical(&options, "inputs=auto,names=[\"a\",\"b\"],path=none");
  set(&options, "inputs", 2, two, NULL);
  set(&options, "names", 1, one, NULL);
  assert_canonical(&options, "inputs=[\"x, \\\"1\\\"\",\"y\"],names=[\"z\"],path=none");
  set(&options, "inputs", 1, none, NULL);
  assert_canonical(&options, "inputs=auto,names=[\"z\"],path=none");
  RG_OK(rg_params_clear(table, &options));
  assert_null(options.inputs.values);
  assert_int_equal(options.inputs.n, 0);
}

RG_TEST(test_empty_list)
{
  RgDiagnostics diagnostics = {0};
  Options options = {0};

  RG_OK(rg_params_set(table, &options, "inputs", 0, NULL, (RgPlace){0}, &diagnostics, NULL));
  assert_int_equal(diagnostics.n, 1);
  assert_string_equal(diagnostics.list[0].message,
                      "'inputs' must be a text or a list of them or 'auto', got an empty list");
}

/* A folder with a study file and data.csv: that file is found from anywhere, other paths stay as
   typed. */
RG_TEST(test_paths)
{
  static const char *const here[] = {"data.csv"}, *const not_here[] = {"other.csv"},
                           *const root[] = {"/data.csv"}, *const nothing[] = {""};
  char folder[] = "/tmp/regatta-params-XXXXXX", study[64], data[64];
  Options options = {0};

  assert_non_null(mkdtemp(folder));
  snprintf(study, sizeof study, "%s/study.yaml", folder);
  snprintf(data, sizeof data, "%s/data.csv", folder);
  FILE *file = fopen(data, "w");
  assert_non_null(file);
  fclose(file);
  set(&options, "path", 1, here, study);
  assert_string_equal(options.path, data);
  set(&options, "path", 1, here, "study.yaml");
  assert_string_equal(options.path, "data.csv");
  set(&options, "path", 1, here, NULL);
  assert_string_equal(options.path, "data.csv");
  set(&options, "path", 1, not_here, study);
  assert_string_equal(options.path, "other.csv");
  set(&options, "path", 1, root, study);
  assert_string_equal(options.path, "/data.csv");
  set(&options, "path", 1, nothing, study);
  assert_string_equal(options.path, "");
  RG_OK(rg_params_clear(table, &options));
  assert_null(options.path);
  unlink(data);
  rmdir(folder);
}

RG_TEST(test_description)
{
  RgText text = {0};

  RG_OK(rg_params_describe(table, &text));
  assert_string_equal(text.data, "name    type   default   range  symbol  meaning\n"
                                 "inputs  texts  auto      -      -       auto: all\n"
                                 "names   texts  [a, b]    -      -       two\n"
                                 "path    path   required  -      -       file\n");
  RG_OK(rg_text_clear(&text));
}
