#include "study_text.h"

#include <stdlib.h>

#include "gp/kernel/kernel.h"
#include "study/file/draft.h"
#include "study/file/registry.h"
#include "study/file/study.h"
#include "trial_at.h"

RG_TEST(the_head_is_read)
{
  const RgStudy *study = study_of(
    "study: a_b-1\ntitle: 'Ünïcode: #1'\nreference: arXiv:2409.00979\n"
    "description: >\n  two\n  lines\n\nseed: 2024\ninstances: 3\nseeds: {first: 5, count: 3}\n"
    "common: {iterations: 7}\nproblems: [branin]\nalgorithms: [random]\n");
  assert_string_equal(study->path, "t.yaml");
  assert_string_equal(study->name, "a_b-1");
  assert_string_equal(study->title, "Ünïcode: #1");
  assert_string_equal(study->reference, "arXiv:2409.00979");
  assert_string_equal(study->description, "two lines");
  assert_int_equal(strncmp(study->text, "study: a_b-1\n", 13), 0);
  assert_int_equal(study->seed, 2024);
  assert_int_equal(study->n_instances, 3);
  assert_int_equal(study->n_seeds, 3);
  for (int i = 0; i < 3; i++) assert_int_equal(study->seeds[i], 5 + i);
  assert_int_equal(study->n_cells, 1);
  assert_string_equal(study->cells[0].problem_label, "branin");
  assert_string_equal(study->cells[0].algorithm_label, "random");
  assert_string_equal(study->cells[0].swept, "");
  assert_ptr_equal(study->cells[0].problem_place.file, study->path);
  assert_int_equal(study->cells[0].problem_place.line, 12);
  assert_int_equal(study->cells[0].problem_place.column, 12);
  assert_int_equal(study->cells[0].run.iterations, 7);
}

/* Texts for readers; the key of a trial does not contain them. */
RG_TEST(credits_are_read_and_change_no_trial)
{
  const RgPlan *plan = plan_of(STUDY("[branin]", "[random]"));
  const RgTrial bare = trial_at(plan, 0);

  assert_string_equal(plan->study->credit[RG_CREDIT_AUTHORS], "");
  plan = plan_of(STUDY("[branin]", "[random]") "authors: [Ada L., 'Bo, K.']\nlicence: CC-BY-4.0\n"
                                               "doi: 10.5281/zenodo.1\nkeywords: regret\n");
  const RgStudy *study = plan->study;
  assert_string_equal(study->credit[RG_CREDIT_AUTHORS], "Ada L., Bo, K.");
  assert_string_equal(study->credit[RG_CREDIT_LICENCE], "CC-BY-4.0");
  assert_string_equal(study->credit[RG_CREDIT_DOI], "10.5281/zenodo.1");
  assert_string_equal(study->credit[RG_CREDIT_KEYWORDS], "regret");
  assert_string_equal(trial_at(plan, 0).id, bare.id);
}

RG_TEST(a_preset_comes_before_what_stands_beside_it)
{
  const RgStudy *study =
    study_of("study: s\ncommon: {iterations: 3, surrogate: {variance: 2, preset: botorch2024}}\n"
             "problems: [branin]\nalgorithms: [gp_ucb]\n");
  const RgSurrogateOptions *o = &study->cells[0].surrogate;
  assert_int_equal(o->kernel, RG_KERNEL_GAUSSIAN);
  assert_int_equal(o->prior, RG_PRIORS_BOTORCH2024);
  assert_true(o->variance == 2 && o->noise_lower == 1e-4 && !o->fit_variance);
  assert_int_equal(o->fit_warm, RG_WARM_AUTO);
}

RG_TEST(what_is_not_said_has_a_default)
{
  const RgStudy *study = study_of(STUDY("[branin]", "[random]"));
  assert_string_equal(study->title, "");
  assert_int_equal(study->seed, 1);
  assert_int_equal(study->n_instances, 1);
  assert_int_equal(study->n_seeds, 1);
  assert_int_equal(study->seeds[0], 0);
  const RgTrialSettings *run = &study->cells[0].run;
  assert_int_equal(run->initial_points, 4); /* auto in two dimensions */
  assert_int_equal(run->initial_design, RG_INITIAL_UNIFORM);
  assert_true(run->noise_variance == 0.0);
  assert_true(run->noise_known);
  assert_false(run->count_initial);
}

RG_TEST(seeds_are_a_number_a_list_or_a_range)
{
  static const struct {
    const char *text;
    int n;
    uint64_t first, last;
  } cases[] = {{"3", 3, 0, 2},
               {"[8, 3, 5]", 3, 8, 5},
               {"{count: 2}", 2, 0, 1},
               {"{count: 2, first: 9}", 2, 9, 10},
               {"[9223372036854775807]", 1, INT64_MAX, INT64_MAX}};

  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    const RgStudy *study = study_of(STUDY("[branin]", "[random]") "seeds: %s\n", cases[i].text);
    assert_int_equal(study->n_seeds, cases[i].n);
    assert_true(study->seeds[0] == cases[i].first);
    assert_true(study->seeds[cases[i].n - 1] == cases[i].last);
  }
}

RG_TEST(some_cells_have_more_trials)
{
  static const char text[] =
    "study: t\nseed: 7\nseeds: [8, 3]\ninstances: 2\ncommon: {iterations: 1}\n"
    "problems: [{name: gp_path, dim: 1, label: P}, {name: branin, label: Q}]\n"
    "algorithms: [random, {name: gp_ucb, beta: fixed, label: U}]\n"
    "sweep: [{algorithms.U.value: [1, 4]}]\n"
    "replicate: [{algorithm: U (value=4), seeds: 4}, {problem: P, swept: value=1, instances: 3},\n"
    "            {algorithm: U, seeds: 3}]\n"; /* both cells of U */
  static const int n_seeds[] = {2, 3, 4, 2, 3, 4}, n_instances[] = {2, 3, 2, 1, 1, 1};
  int n = 0;

  const RgPlan *plan = plan_of("%s", text);
  const RgStudy *study = plan->study;
  assert_int_equal(study->n_cells, 6);
  assert_int_equal(study->n_seeds, 2);
  assert_true(study->seeds[1] == 3 && study->seeds[2] == 9 && study->seeds[3] == 10);
  for (int c = 0; c < 6; c++) {
    assert_int_equal(study->cells[c].n_seeds, n_seeds[c]);
    assert_int_equal(rg_study_instances(study, &study->cells[c]), n_instances[c]);
    n += n_seeds[c] * n_instances[c];
  }
  assert_int_equal(plan->n, n);
}

/* common < problem < algorithm, key by key. */
RG_TEST(later_layers_win)
{
  const RgStudy *study =
    study_of("study: t\n"
             "common:\n"
             "  {iterations: 5, noise_variance: 1, surrogate: {variance: 2, length_scale: 3, "
             "kernel: matern32},"
             " maximiser: {restarts: 4}}\n"
             "problems:\n"
             "  - branin\n"
             "  - {name: ackley, iterations: 6, dim: 3, surrogate: {length_scale: [7, 7.5, 8]}}\n"
             "algorithms:\n"
             "  - {name: gp_ucb, label: A}\n"
             "  - {name: gp_ucb, label: B, delta: 0.25, surrogate: {length_scale: 9}, maximiser: "
             "{restarts: 10}}\n");
  assert_int_equal(study->n_cells, 4);
  const RgCell *branin_a = &study->cells[0], *branin_b = &study->cells[1],
               *ackley_a = &study->cells[2], *ackley_b = &study->cells[3];
  assert_int_equal(branin_a->run.iterations, 5);
  assert_int_equal(ackley_b->run.iterations, 6);
  assert_true(ackley_a->run.noise_variance == 1.0);
  assert_int_equal(branin_a->surrogate.length_scale.n, 1);
  assert_true(branin_a->surrogate.length_scale.values[0] == 3.0);
  assert_int_equal(ackley_a->surrogate.length_scale.n, 3);
  assert_true(ackley_a->surrogate.length_scale.values[1] == 7.5);
  assert_true(branin_b->surrogate.length_scale.values[0] == 9.0);
  assert_true(ackley_b->surrogate.length_scale.values[0] == 9.0);
  assert_true(ackley_b->surrogate.variance == 2.0);
  assert_int_equal(ackley_b->surrogate.kernel, RG_KERNEL_MATERN32);
  assert_int_equal(ackley_a->maximiser.restarts, 4);
  assert_int_equal(ackley_b->maximiser.restarts, 10);
  assert_int_equal(ackley_a->dim_x, 3);
  assert_int_equal(branin_a->dim_x, 2);
  assert_string_equal(ackley_b->algorithm_label, "B");
  assert_non_null(strstr(ackley_b->text, "delta=0.25"));
}

/* min(2^dim, 4 dim), but at most the number of points. */
RG_TEST(automatic_initial_points)
{
  static const struct {
    const char *problem;
    int points, size;
  } cases[] = {{"{name: ackley, dim: 1}", 2, 0},
               {"{name: ackley, dim: 3}", 8, 0},
               {"{name: ackley, dim: 4}", 16, 0},
               {"{name: ackley, dim: 6}", 24, 0},
               {"{name: ackley, dim: 40}", 160, 0},
               {"{name: gp_path}", 8, 1000},
               {"{name: gp_path, dim: 2, levels: 2, initial_points: auto}", 4, 4},
               {"{name: gp_path, dim: 6, levels: 2, initial_points: 64}", 64, 64}};

  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    const RgStudy *study = study_of(STUDY("[%s]", "[random]"), cases[i].problem);
    assert_int_equal(study->cells[0].run.initial_points, cases[i].points);
    assert_int_equal(study->cells[0].size_x, cases[i].size);
  }
}

/* The last query has as many data as there are evaluations before it. Searches through contexts
   differ with many data, and fits with fit_warm: auto, which the BoTorch presets have. */
RG_TEST(many_data_have_an_identity_of_their_own)
{
  static const struct {
    const char *problem, *method, *preset;
    int iterations;
    bool own;
  } cases[] = {{"ackley_context", "erbo", "default", 391, false},
               {"ackley_context", "erbo", "default", 392, true},
               {"ackley_context", "erbo", "botorch2023", 392, true},
               {"ackley_context", "random", "botorch2023", 392, false},
               {"ackley_context", "gp_ucb", "default", 392, false},
               {"ackley_context", "gp_ucb", "botorch2023", 391, false},
               {"ackley_context", "gp_ucb", "botorch2023", 392, true},
               {"ackley_context", "gp_ucb", "botorch2023, fit: fixed", 392, false},
               {"ackley_context", "rrgp_ucb_continuous", "default", 392, false},
               {"branin", "gp_ucb", "default", 392, false},
               {"branin", "ei", "botorch2024", 392, true}};

  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    const RgStudy *study =
      study_of("study: s\ncommon: {initial_points: 10, iterations: %d}\nproblems: [%s]\n"
               "algorithms: [{name: %s%s%s%s}]\n",
               cases[i].iterations, cases[i].problem, cases[i].method,
               strcmp(cases[i].method, "random") ? ", surrogate: {preset: " : "",
               strcmp(cases[i].method, "random") ? cases[i].preset : "",
               strcmp(cases[i].method, "random") ? "}" : "");
    assert_true(!!strstr(study->cells[0].text, ";long=3;") == cases[i].own);
  }
}

RG_TEST(canonical_text_leaves_out_what_is_not_read)
{
  const RgStudy *study = study_of(STUDY("[branin]", "[random, gp_ucb]"));
  assert_null(strstr(study->cells[0].text, "surrogate={"));
  assert_null(strstr(study->cells[0].text, "maximiser={"));
  assert_non_null(strstr(study->cells[1].text, ";surrogate={"));
  assert_non_null(strstr(study->cells[1].text, ";maximiser={"));
  assert_null(strstr(study->cells[1].text, "label"));
}

RG_TEST(canonical_text_tells_the_revision_of_adam)
{
  const RgStudy *study =
    study_of(STUDY("[branin]", "[{name: gp_ucb, maximiser: {local_search: adam}}]"));
  assert_non_null(strstr(study->cells[0].text, ";maximiser=adam@2{"));
}

/* Searches of a box differ above 25 inputs. */
RG_TEST(canonical_text_tells_the_revision_of_searches_in_many_inputs)
{
  static const struct {
    const char *problem, *method, *maximiser, *own;
  } cases[] = {{"ackley, dim: 26", "ei", "raw_samples: 64", ";batched=2;"},
               {"ackley, dim: 26", "boke", "raw_samples: 64", ";batched=3;"},
               {"ackley, dim: 26", "mes", "local_search: lbfgsb", ";batched=3;"},
               {"ackley, dim: 25", "mes", "raw_samples: 64", NULL},
               {"ackley, dim: 25", "boke", "raw_samples: 64", NULL},
               {"ackley, dim: 25", "ei", "raw_samples: 64", NULL},
               {"ackley, dim: 26", "ei", "local_search: lbfgsb", NULL},
               {"ackley, dim: 26", "ei", "local_search: adam", NULL},
               {"ackley, dim: 26", "ei", "max_iterations: 0", NULL},
               {"ackley, dim: 26", "random", "", NULL},
               {"gp_path_set, dim: 26, points: 64", "ei", "raw_samples: 64", NULL}};

  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    const RgStudy *study =
      study_of("study: s\ncommon: {initial_points: 10, iterations: 5}\nproblems: [{name: %s}]\n"
               "algorithms: [{name: %s%s%s%s}]\n",
               cases[i].problem, cases[i].method, *cases[i].maximiser ? ", maximiser: {" : "",
               cases[i].maximiser, *cases[i].maximiser ? "}" : "");
    const char *found = strstr(study->cells[0].text, ";batched=");
    assert_true(!found == !cases[i].own);
    if (found) assert_true(!strncmp(found, cases[i].own, strlen(cases[i].own)));
  }
}

/* A name in an entry has one meaning only, and the defaults are valid. Otherwise no study could
   use it. */
static void check_params(const char *name, const RgParam *params, size_t options_size)
{
  static const char *const reserved[] = {"name",   "label",    "surrogate",  "maximiser",
                                         "common", "problems", "algorithms", NULL};
  void *options;

  for (int j = 0; reserved[j]; j++) assert_null(rg_params_find(params, reserved[j]));
  for (const RgParam *p = rg_run_params; p->name; p++)
    if (rg_params_find(params, p->name))
      fail_msg("'%s' is a run setting and a parameter of %s", p->name, name);
  RG_OK(PetscCalloc(options_size, &options));
  RG_OK(rg_params_defaults(params, options));
  RG_OK(rg_params_clear(params, options));
  RG_OK(PetscFree(options));
}

RG_TEST(every_method_can_be_named)
{
  const RgProblemClass *problem;
  const RgAlgorithmClass *algorithm;

  for (int i = 0; (problem = rg_registry_problem(NULL, i)); i++) {
    check_params(problem->name, problem->params, problem->options_size);
    assert_ptr_equal(rg_registry_find_problem(NULL, problem->name), problem);
  }
  for (int i = 0; (algorithm = rg_registry_algorithm(NULL, i)); i++) {
    check_params(algorithm->name, algorithm->params, algorithm->options_size);
    assert_ptr_equal(rg_registry_find_algorithm(NULL, algorithm->name), algorithm);
  }
  assert_null(rg_registry_find_problem(NULL, "brannin"));
  assert_null(rg_registry_find_algorithm(NULL, "ei "));
  assert_null(rg_registry_find_algorithm(NULL, ""));
}

/* Paths are followed from the folder of the study file, but only after the cell's text was
   written with the path as typed. */
RG_TEST(paths_lead_from_the_study_file)
{
  static const RgParam table[] = {
    {.name = "file", .type = RG_PARAM_PATH, .fallback = "auto", .symbol = "", .doc = ""}, {0}};
  const char *const typed = "study_files.h";
  const RgPlace place = {RG_TEST_DATA "/unit/study/any.yaml", 1, 1};
  RgDiagnostics diagnostics = {0};
  char *path = NULL;

  RG_OK(rg_params_set(table, &path, "file", 1, &typed, (RgPlace){0}, &diagnostics, NULL));
  assert_string_equal(path, "study_files.h");
  RG_OK(rg_params_resolve(table, &path, place));
  assert_string_equal(path, RG_TEST_DATA "/unit/study/study_files.h");
  RG_OK(rg_params_clear(table, &path));
  RG_OK(rg_params_resolve(table, &path, place)); /* an unset path is not resolved */
  assert_null(path);
  assert_int_equal(diagnostics.n, 0);
}

RG_TEST(files_that_are_none)
{
  static const struct {
    const char *path, *message;
  } cases[] = {{"/nowhere/at/all.yaml", "the study file can't be opened: No such file"},
               {RG_TEST_DATA, "the study file is a directory"},
               {"/dev/null", "the study file is a device or pipe"}};

  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    RgStudy study;
    RgDiagnostics diagnostics = {0};
    RG_OK(rg_study_load(NULL, cases[i].path, &study, &diagnostics));
    assert_int_equal(diagnostics.n, 1);
    assert_int_equal(
      strncmp(diagnostics.list[0].message, cases[i].message, strlen(cases[i].message)), 0);
    assert_string_equal(diagnostics.list[0].place.file, cases[i].path);
    RG_OK(rg_study_destroy(&study));
  }
}

/* Mistakes beyond the limit are counted, and those kept are in the order of the file. */
RG_TEST(many_mistakes)
{
  RgText text = {0};
  RgStudy study;
  RgDiagnostics diagnostics = {0};

  RG_OK(rg_text_add(&text, STUDY("[branin]", "[random]")));
  for (int i = 0; i < 50; i++) RG_OK(rg_text_add(&text, "wrong%d: 1\n", i));
  RG_OK(rg_study_parse(NULL, "t.yaml", text.data, text.length, &study, &diagnostics));
  assert_int_equal(diagnostics.n, 50);
  for (int i = 0; i < RG_DIAGNOSTICS_MAX; i++)
    assert_int_equal(diagnostics.list[i].place.line, 5 + i);
  RG_OK(rg_study_destroy(&study));
  RG_OK(rg_text_clear(&text));
}

/* A megabyte of text in every place where a word or a number is expected. */
RG_TEST(giant_scalars)
{
  static const char *const formats[] = {
    "study: %s\ncommon: {iterations: 5}\nproblems: [branin]\nalgorithms: [random]\n",
    "study: t\ncommon: {iterations: %s}\nproblems: [branin]\nalgorithms: [random]\n",
    "study: t\nseeds: %s\ncommon: {iterations: 5}\nproblems: [branin]\nalgorithms: [random]\n",
    "study: t\ncommon: {%s: 5}\nproblems: [branin]\nalgorithms: [random]\n",
    "study: t\ncommon: {iterations: 5}\nproblems: [%s]\nalgorithms: [random]\n",
    ("study: t\ncommon: {iterations: 5}\nproblems: [{name: branin, label: %s}]\n"
     "algorithms: [random]\n"),
    "study: t\ncommon: {iterations: 5}\nproblems: [branin]\nalgorithms: [{name: ei, %s: 1}]\n",
  };
  enum { SIZE = 1 << 20 };
  char *word = malloc(SIZE + 1), *text = malloc(SIZE + 500);

  memset(word, '7', SIZE);
  word[SIZE] = 0;
  for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
    RgStudy study;
    RgDiagnostics diagnostics = {0};
    const int length = snprintf(text, SIZE + 500, formats[k], word);
    RG_OK(rg_study_parse(NULL, "t.yaml", text, (size_t)length, &study, &diagnostics));
    if (!diagnostics.n) fail_msg("accepted: case %d", (int)k);
    assert_true(strlen(diagnostics.list[0].message) < sizeof diagnostics.list[0].message);
    RG_OK(rg_study_destroy(&study));
  }
  free(word);
  free(text);
}

/* As many as a study may have. */
RG_TEST(no_seed_is_lost_in_joining)
{
  static const char a[] = "study: t\nseeds: 4200000\n";
  static const char b[] = "study: t\nseeds: {first: 4200000, count: 1}\n";
  RgStudyDifference difference;
  char *joined;
  bool same;

  RG_OK(rg_study_join(a, b, &joined, &same, &difference));
  assert_true(same);
  assert_non_null(joined);
  assert_non_null(strstr(joined, "seeds: {first: 0, count: 4200001}"));
  RG_OK(PetscFree(joined));
}

/* Axes are the same where they share a path; their values must be equal then. Texts for people may
   differ. */
RG_TEST(axes_are_joined_by_their_paths)
{
  static const char a[] = "study: t\ntitle: A\nlicence: MIT\nsweep: [{p.a: [1, 2]}]\n";
  static const char b[] = "study: t\ntitle: B\nsweep: [{p.a: [1, 2]}, {p.b: [3]}]\n";
  static const char c[] = "study: t\nsweep: [{p.a: [1, 3]}]\n";
  RgStudyDifference difference;
  char *joined = NULL;
  bool same;

  RG_OK(rg_study_join(a, b, &joined, &same, &difference));
  assert_true(same);
  assert_non_null(joined);
  assert_non_null(strstr(joined, "title: A\nlicence: MIT\n"));
  assert_non_null(strstr(joined, "sweep:\n  - {p.a: [1, 2]}\n  - {p.b: [3]}\n"));
  RG_OK(PetscFree(joined));
  RG_OK(rg_study_join(a, c, &joined, &same, &difference));
  assert_false(same);
  assert_string_equal(difference.key, "sweep.p.a");
}
