#include "test_main.h"

#include "regatta/params.h"

#include <stdio.h>

typedef struct {
  int before; /* no parameter, so it never changes */
  bool refit;
  int restarts, budget, batch;
  double noise, beta, delta, width;
  int kernel;
  char *command, *label;
  RgReals lengths, weights;
} Options;

static const char *const kernels[] = {"se", "matern32", "matern52", NULL};

#define AT(field) offsetof(Options, field)

static const RgParam table[] = {
  {"refit", RG_PARAM_BOOL, AT(refit), "yes", 0, 0, NULL, "", "fit again every iteration"},
  {"restarts", RG_PARAM_INT, AT(restarts), "1e1", 1, 10000, NULL, "R", "starts of the search"},
  {"budget", RG_PARAM_INT, AT(budget), NULL, RG_POSITIVE, INFINITY, NULL, "T", "evaluations"},
  {"batch", RG_PARAM_INT, AT(batch), "auto", 1, 100, NULL, "", "auto: as many as fit"},
  {"noise", RG_PARAM_REAL, AT(noise), "1e-4", RG_POSITIVE, INFINITY, NULL, "σ²", "variance"},
  {"beta", RG_PARAM_REAL, AT(beta), "auto", 0, -1, NULL, "β", "auto: by the theorem"},
  {"delta", RG_PARAM_REAL, AT(delta), "0.1", RG_POSITIVE, 1, NULL, "δ", "failure probability"},
  {"width", RG_PARAM_REAL, AT(width), "-0.5", 0, 0, NULL, "", "anything"},
  {"kernel", RG_PARAM_CHOICE, AT(kernel), "matern52", 0, 0, kernels, "k", "kernel"},
  {"command", RG_PARAM_TEXT, AT(command), "auto", 0, 0, NULL, "", "evaluator"},
  {"label", RG_PARAM_TEXT, AT(label), "a \"b\" \\", 0, 0, NULL, "", "for people"},
  {"lengths", RG_PARAM_REALS, AT(lengths), "[0.1, 0.25]", 0, 1, NULL, "ℓ", "length scales"},
  {"weights", RG_PARAM_REALS, AT(weights), "auto", -INFINITY, 1, NULL, "w", "auto: equal"},
  {NULL, RG_PARAM_BOOL, 0, NULL, 0, 0, NULL, NULL, NULL},
};

static const RgPlace place = {"study.yaml", 4, 9};

/* Set one parameter from one word, expecting no message. */
static void set(Options *options, const char *name, const char *word)
{
  RgDiagnostics diagnostics = {0};
  const RgParam *entry;

  RG_OK(rg_params_set(table, options, name, 1, &word, place, &diagnostics, &entry));
  if (diagnostics.n) fail_msg("%s: %s", name, diagnostics.list[0].message);
  assert_ptr_equal(entry, rg_params_find(table, name));
}

static void assert_canonical_of(const RgParam *params, const Options *options, const char *expected)
{
  RgText text = {0};

  RG_OK(rg_params_canonical(params, options, &text));
  assert_string_equal(text.data, expected);
  RG_OK(rg_text_clear(&text));
}

static void assert_canonical(const Options *options, const char *expected)
{
  assert_canonical_of(table, options, expected);
}

#define CANONICAL_DEFAULTS                                                                         \
  "refit=true,restarts=10,budget=0,batch=auto,noise=0.0001,beta=auto,delta=0.1,width=-0.5,"        \
  "kernel=matern52,command=auto,label=\"a \\\"b\\\" \\\\\",lengths=[0.1,0.25],weights=auto"

/* Expect one message, an unchanged struct and nothing else. */
static void refuse_list(const char *name, int n, const char *const *words, const char *message)
{
  Options options = {0};
  RgDiagnostics diagnostics = {0};
  const RgParam *entry = table;

  RG_OK(rg_params_defaults(table, &options));
  RG_OK(rg_params_set(table, &options, name, n, words, place, &diagnostics, &entry));
  assert_int_equal(diagnostics.n, 1);
  assert_string_equal(diagnostics.list[0].message, message);
  assert_string_equal(diagnostics.list[0].place.file, "study.yaml");
  assert_int_equal(diagnostics.list[0].place.line, 4);
  assert_int_equal(diagnostics.list[0].place.column, 9);
  assert_ptr_equal(entry, rg_params_find(table, name));
  assert_canonical(&options, CANONICAL_DEFAULTS);
  RG_OK(rg_params_clear(table, &options));
}

/* A parameter that was added later is in the canonical text only if it is given. */
RG_TEST(later_parameters_leave_old_texts)
{
  static const RgParam later[] = {
    {"beta", RG_PARAM_REAL, AT(beta), "auto", 0, 10, NULL, "", "old"},
    {"noise", RG_PARAM_REAL, AT(noise), "auto", 0, 10, rg_param_later, "", "new"},
    {0},
  };
  Options options = {0};

  RG_OK(rg_params_defaults(later, &options));
  assert_canonical_of(later, &options, "beta=auto");
  options.noise = 2;
  assert_canonical_of(later, &options, "beta=auto,noise=2");
}

static void refuse(const char *name, const char *word, const char *message)
{
  refuse_list(name, 1, &word, message);
}

RG_TEST(defaults)
{
  Options options = {.before = 77};

  RG_OK(rg_params_defaults(table, &options));
  assert_int_equal(options.before, 77);
  assert_true(options.refit);
  assert_int_equal(options.restarts, 10);
  assert_int_equal(options.budget, 0);
  assert_int_equal(options.batch, -1);
  assert_true(options.noise == 1e-4);
  assert_true(isnan(options.beta));
  assert_int_equal(options.kernel, 2);
  assert_null(options.command);
  assert_string_equal(options.label, "a \"b\" \\");
  assert_int_equal(options.lengths.n, 2);
  assert_true(options.lengths.values[1] == 0.25);
  assert_int_equal(options.weights.n, 0);
  RG_OK(rg_params_clear(table, &options));
  assert_null(options.label);
  assert_null(options.lengths.values);
  assert_int_equal(options.lengths.n, 0);
}

/* Pinned: the text identifies trials, so it must never change by accident. */
RG_TEST(canonical_text)
{
  static const char *const given[][2] = {{"refit", "off"},
                                         {"budget", "1e3"},
                                         {"batch", "7"},
                                         {"beta", "2"},
                                         {"width", "-0.0"},
                                         {"kernel", "se"},
                                         {"label", ""},
                                         {"lengths", "5e-1"},
                                         {"noise", "0.30000000000000004"},
                                         {"command", "python3 f.py\t\x01"}};
  Options options = {0};
  const char *two[] = {"0.3", "1"};
  RgDiagnostics diagnostics = {0};

  RG_OK(rg_params_defaults(table, &options));
  assert_canonical(&options, CANONICAL_DEFAULTS);
  for (size_t k = 0; k < sizeof given / sizeof *given; k++) set(&options, given[k][0], given[k][1]);
  RG_OK(rg_params_set(table, &options, "weights", 2, two, place, &diagnostics, NULL));
  assert_int_equal(diagnostics.n, 0);
  assert_canonical(&options,
                   "refit=false,restarts=10,budget=1000,batch=7,noise=0.30000000000000004,beta=2,"
                   "delta=0.1,width=0,kernel=se,command=\"python3 f.py\\x09\\x01\",label=\"\","
                   "lengths=[0.5],weights=[0.3,1]");
  RG_OK(rg_params_clear(table, &options));
}

/* Spellings in the order in which they are set, and what the canonical text says of them. */
RG_TEST(accepted_spellings)
{
  static const char *const yes[] = {"true", "yes", "on", "True", "YES", "On"};
  static const char *const no[] = {"false", "no", "off", "False", "NO", "Off"};
  static const char *const cases[][3] = {
    {"restarts", "1000", "restarts=1000,"},  {"restarts", "1e3", "restarts=1000,"},
    {"restarts", "+1E+3", "restarts=1000,"}, {"restarts", "01000", "restarts=1000,"},
    {"width", ".5", "width=0.5,"},           {"width", "-5.", "width=-5,"},
    {"width", "+1.25E-2", "width=0.0125,"},  {"delta", "1", "delta=1,"},
    {"delta", "1e-250", "delta=1e-250,"},    {"beta", "1e300", "beta=1e+300,"},
    {"beta", "auto", "beta=auto,"},          {"batch", "3", "batch=3,"},
    {"batch", "auto", "batch=auto,"},        {"budget", "2147483647", "budget=2147483647,"},
    {"command", "x", "command=\"x\","},      {"command", "auto", "command=auto,"},
    {"weights", "-3", "weights=[-3]"},       {"weights", "auto", "weights=auto"},
    {"label", "auto", "label=\"auto\","}}; /* an ordinary text where auto is not the default */
  Options options = {0};

  RG_OK(rg_params_defaults(table, &options));
  for (int i = 0; i < 6; i++) {
    set(&options, "refit", no[i]);
    assert_false(options.refit);
    set(&options, "refit", yes[i]);
    assert_true(options.refit);
  }
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    RG_OWNED(rg_text_clear) RgText text = {0};
    set(&options, cases[k][0], cases[k][1]);
    RG_OK(rg_params_canonical(table, &options, &text));
    if (!strstr(text.data, cases[k][2])) fail_msg("%s is not in %s", cases[k][2], text.data);
  }
  assert_true(isnan(options.beta) && !options.command);
  assert_int_equal(options.batch, -1);
  assert_int_equal(options.weights.n, 0);
  RG_OK(rg_params_clear(table, &options));
}

RG_TEST(wrong_names)
{
  refuse("restarst", "5", "unknown key 'restarst', did you mean 'restarts'?");
  refuse("Kernel", "se", "unknown key 'Kernel', did you mean 'kernel'?");
  refuse("xyzzy", "5",
         "unknown key 'xyzzy', known keys are 'refit', 'restarts', 'budget', 'batch', 'noise', "
         "'beta', 'delta', 'width', 'kernel', 'command', 'label', 'lengths', 'weights'");

  static const RgParam none[] = {{NULL, RG_PARAM_BOOL, 0, NULL, 0, 0, NULL, NULL, NULL}};
  RgDiagnostics diagnostics = {0};
  const char *word = "1";
  RG_OK(rg_params_set(none, NULL, "seed", 1, &word, place, &diagnostics, NULL));
  assert_string_equal(diagnostics.list[0].message, "unknown key 'seed', no keys are accepted here");
}

RG_TEST(wrong_integers)
{
  static const char *const wrong[] = {"abc",   "1.5", "1.0",  "",      "1e",   "e3",   "0x10",
                                      "1 ",    " 1",  "1e-1", "nan",   "inf",  "0",    "-3",
                                      "10001", "1e5", "+",    "1_000", "auto", "1e99", "true"};

  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char message[128];
    snprintf(message, sizeof message, "'restarts' must be an integer in [1, 10000], got '%s'",
             wrong[i]);
    refuse("restarts", wrong[i], message);
  }
  refuse("budget", "0", "'budget' must be an integer > 0, got '0'");
  refuse("budget", "2147483648", "'budget' must be an integer > 0, got '2147483648'");
  refuse("budget", "9999999999999999999999",
         "'budget' must be an integer > 0, got '9999999999999999999999'");
  refuse("batch", "-1", "'batch' must be an integer in [1, 100] or 'auto', got '-1'");
  refuse("batch", "Auto", "'batch' must be an integer in [1, 100] or 'auto', got 'Auto'");
}

RG_TEST(wrong_reals)
{
  static const char *const wrong[] = {"abc", "nan", ".nan", "inf", "-.inf", "0x1p3", "1,5", "1.2.3",
                                      ".",   "-",   "",     "1e+", " 1",    "auto",  "1/3"};

  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char message[128];
    snprintf(message, sizeof message, "'width' must be a number, got '%s'", wrong[i]);
    refuse("width", wrong[i], message);
  }
  refuse("width", "1e999",
         "'width' must be a number, got '1e999', which is larger than any number "
         "here");
  refuse("width", "-1e-999",
         "'width' must be a number, got '-1e-999', which is too small to be told "
         "from 0");
  refuse("noise", "0", "'noise' must be a number > 0, got '0'");
  refuse("noise", "-1", "'noise' must be a number > 0, got '-1'");
  refuse("delta", "0", "'delta' must be a number in (0, 1], got '0'");
  refuse("delta", "1.0000001", "'delta' must be a number in (0, 1], got '1.0000001'");
  refuse("beta", "-1e-9", "'beta' must be a number >= 0 or 'auto', got '-1e-9'");
}

RG_TEST(wrong_words_and_lists)
{
  static const char *const words[] = {"0.5", "2", "x"};

  refuse("refit", "1", "'refit' must be true or false, got '1'");
  refuse("refit", "auto", "'refit' must be true or false, got 'auto'");
  refuse("kernel", "mattern52",
         "'kernel' must be one of 'se', 'matern32', 'matern52', got 'mattern52', did you mean "
         "'matern52'?");
  refuse("kernel", "rbf", "'kernel' must be one of 'se', 'matern32', 'matern52', got 'rbf'");
  refuse_list("lengths", 3, words,
              "'lengths' must be a number in [0, 1] or a list of them, got '2'");
  refuse_list("lengths", 0, NULL,
              "'lengths' must be a number in [0, 1] or a list of them, got an empty list");
  refuse_list("weights", 2, words,
              "'weights' must be a number <= 1 or a list of them or 'auto', got '2'");
  refuse_list("restarts", 2, words,
              "'restarts' must be an integer in [1, 10000], got a list of 2 values");
  refuse_list("kernel", 0, NULL,
              "'kernel' must be one of 'se', 'matern32', 'matern52', got an empty list");
  refuse_list("label", 3, words, "'label' must be a text, got a list of 3 values");
}

RG_TEST(long_and_strange_words_are_shortened)
{
  char word[200], expected[300];

  memset(word, 'z', sizeof word - 1);
  word[sizeof word - 1] = '\0';
  snprintf(expected, sizeof expected, "'width' must be a number, got '%.60s...'", word);
  refuse("width", word, expected);
  memcpy(word + 59, "\xc3\xa9", 2); /* a character that straddles the cut is left out */
  snprintf(expected, sizeof expected, "'width' must be a number, got '%.59s...'", word);
  refuse("width", word, expected);
  refuse("width", "a\nb", "'width' must be a number, got 'a?b'");
}

RG_TEST(invalid_defaults_are_errors_of_ours)
{
  static const RgParam wrong[][2] = {
    {{"restarts", RG_PARAM_INT, AT(restarts), "ten", 0, 0, NULL, "", ""}},
    {{"restarts", RG_PARAM_INT, AT(restarts), "0", 1, 5, NULL, "", ""}},
    {{"kernel", RG_PARAM_CHOICE, AT(kernel), "auto", 0, 0, kernels, "", ""}},
    {{"refit", RG_PARAM_BOOL, AT(refit), "auto", 0, 0, NULL, "", ""}},
    {{"lengths", RG_PARAM_REALS, AT(lengths), "[0.1, x]", 0, 0, NULL, "", ""}},
  };

  for (int i = 0; i < 5; i++) RG_FAILS(rg_params_defaults(wrong[i], &(Options){0}), PETSC_ERR_PLIB);
}

RG_TEST(list_defaults)
{
  static const RgParam lists[] = {
    {"lengths", RG_PARAM_REALS, AT(lengths), "0.5", 0, 0, NULL, "", ""},
    {"weights", RG_PARAM_REALS, AT(weights), "[]", 0, 0, NULL, "", ""},
    {NULL, RG_PARAM_BOOL, 0, NULL, 0, 0, NULL, NULL, NULL},
  };
  Options options = {0};

  RG_OK(rg_params_defaults(lists, &options));
  assert_canonical_of(lists, &options, "lengths=[0.5],weights=[]");
  RG_OK(rg_params_clear(lists, &options));
}

RG_TEST(description)
{
  static const RgParam few[] = {
    {"restarts", RG_PARAM_INT, AT(restarts), "10", 1, 10000, NULL, "R", "starts"},
    {"noise", RG_PARAM_REAL, AT(noise), NULL, RG_POSITIVE, INFINITY, NULL, "σ²", "variance"},
    {"kernel", RG_PARAM_CHOICE, AT(kernel), "se", 0, 0, kernels, "k", "kernel"},
    {"label", RG_PARAM_TEXT, AT(label), "", 0, 0, NULL, "", "for people"},
    {NULL, RG_PARAM_BOOL, 0, NULL, 0, 0, NULL, NULL, NULL},
  };
  RgText text = {0};

  RG_OK(rg_params_describe(few, &text));
  assert_string_equal(
    text.data, "name      type     default   range                     symbol  meaning\n"
               "restarts  integer  10        in [1, 10000]             R       starts\n"
               "noise     real     required  > 0                       σ²      variance\n"
               "kernel    choice   se        se | matern32 | matern52  k       kernel\n"
               "label     text     \"\"        -                         -       for people\n");
  RG_OK(rg_text_clear(&text));
}

/* Groups order the description and nothing else; a deleted parameter lives in the canonical text
   alone. */
RG_TEST(groups_and_deleted_parameters)
{
  static const RgParam grouped[] = {
    RG_GROUP("Size"),
    {"restarts", RG_PARAM_INT, AT(restarts), "10", 1, 10000, NULL, "R", "starts"},
    RG_GONE("patience", "0.5"),
    RG_GROUP("Noise"),
    {"noise", RG_PARAM_REAL, AT(noise), "1", 0, 0, NULL, "", "variance"},
    RG_GROUP("Size"),
    {"budget", RG_PARAM_INT, AT(budget), "7", 1, 9, NULL, "T", "evaluations"},
    {NULL, RG_PARAM_BOOL, 0, NULL, 0, 0, NULL, NULL, NULL},
  };
  const char *word = "0.5";
  Options options = {.before = 3};
  RgDiagnostics diagnostics = {0};
  RgText text = {0};

  RG_OK(rg_params_defaults(grouped, &options));
  assert_int_equal(options.before, 3);
  assert_canonical_of(grouped, &options, "restarts=10,patience=0.5,noise=1,budget=7");
  RG_OK(rg_params_describe(grouped, &text));
  assert_string_equal(text.data, "Size\n"
                                 "name      type     default  range          symbol  meaning\n"
                                 "restarts  integer  10       in [1, 10000]  R       starts\n"
                                 "budget    integer  7        in [1, 9]      T       evaluations\n"
                                 "\nNoise\n"
                                 "name   type  default  range  symbol  meaning\n"
                                 "noise  real  1        -      -       variance\n");
  RG_OK(rg_text_clear(&text));
  assert_null(rg_params_find(grouped, "Size"));
  RG_OK(rg_params_set(grouped, &options, "patience", 1, &word, place, &diagnostics, NULL));
  assert_int_equal(diagnostics.n, 1);
  assert_string_equal(diagnostics.list[0].message,
                      "unknown key 'patience', known keys are 'restarts', 'noise', 'budget'");
  RG_OK(rg_params_clear(grouped, &options));
}

RG_TEST(find)
{
  assert_ptr_equal(rg_params_find(table, "kernel"), &table[8]);
  assert_null(rg_params_find(table, "kernels"));
}
