/* Every parameter of every table, written where it does not belong: the message names its home. Every
   number for a rule: what the message says to write is accepted. */
#include <stdio.h>
#include <string.h>

#include "study/file/draft.h"

#include "test_main.h"

/* Places of a study file where a key can stand. */
enum { TOP, COMMON, PROBLEM, ALGORITHM, MODEL, PLACES };

typedef struct {
  char text[600];
  RgDiagnostics found;
} Parsed;

/* Parse a study of one problem and one method with "key: 4" at a place. */
static void parse_with(const char *problem, const char *algorithm, int place, const char *key,
                       Parsed *p)
{
  char slot[PLACES][64] = {"", "", "", "", ""};
  RgStudy study;

  snprintf(slot[place], sizeof(slot[place]),
           place == TOP     ? "%s: 4\n"
           : place == MODEL ? ", surrogate: {%s: 4}"
                            : ", %s: 4",
           key);
  snprintf(p->text, sizeof(p->text),
           "study: t\n%scommon: {iterations: 5%s%s}\nproblems: [{name: %s%s}]\n"
           "algorithms: [{name: %s%s}]\n",
           slot[TOP], slot[COMMON], slot[MODEL], problem, slot[PROBLEM], algorithm,
           slot[ALGORITHM]);
  p->found = (RgDiagnostics){0};
  RG_OK(rg_study_parse(NULL, "t.yaml", p->text, strlen(p->text), &study, &p->found));
  RG_OK(rg_study_destroy(&study));
}

/* The mistake about an unknown key; NULL: the key is accepted where it stands. */
static const char *unknown(const Parsed *p, const char *key)
{
  char start[80];

  snprintf(start, sizeof(start), "unknown key '%s'", key);
  for (int i = 0; i < p->found.n && i < RG_DIAGNOSTICS_MAX; i++)
    if (!strncmp(p->found.list[i].message, start, strlen(start))) return p->found.list[i].message;
  return NULL;
}

/* Whether a key has another home, which the message may name: a block, `common`, the top. */
static bool is_elsewhere(const char *key)
{
  const RgParam *const tables[] = {rg_run_params,      rg_workers_params,   rg_crew_params,
                                   rg_thinking_params, rg_surrogate_params, rg_maximiser_params,
                                   rg_pending_params,  rg_noise_params};

  for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
    if (rg_params_find(tables[i], key)) return true;
  for (int i = 0; rg_study_keys[i].name; i++)
    if (!strcmp(rg_study_keys[i].name, key)) return true;
  return false;
}

/* Check that the message about a parameter in a wrong place has the expected text; returns the
   number of wrong places. */
static int check_places(const char *problem, const char *algorithm, const RgParam *table,
                        const char *expected)
{
  int n = 0;

  for (const RgParam *param = table; param && param->name; param++)
    for (int place = 0; rg_is_param(param) && place < PLACES; place++) {
      Parsed p;
      parse_with(problem, algorithm, place, param->name, &p);
      const char *message = unknown(&p, param->name);
      if (!message) continue;
      n++;
      if (strstr(message, expected) || strstr(message, "beside the 'surrogate'")) continue;
      if (!is_elsewhere(param->name) || !strstr(message, "; it "))
        fail_msg("%s: '%s' is missing in '%s'", p.text, expected, message);
    }
  return n;
}

RG_TEST(a_parameter_in_a_wrong_place_has_its_home_named)
{
  int n, total = 0;
  char expected[100];

  const RgAlgorithmClass *const *algorithms = rg_algorithm_classes(&n);
  for (int i = 0; i < n; i++) {
    snprintf(expected, sizeof(expected), "; it is a parameter of algorithm '%s'",
             algorithms[i]->name);
    total += check_places("branin", algorithms[i]->name, algorithms[i]->params, expected);
  }
  const RgProblemClass *const *problems = rg_problem_classes(&n);
  for (int i = 0; i < n; i++) {
    snprintf(expected, sizeof(expected), "; it is a parameter of problem '%s'", problems[i]->name);
    total += check_places(problems[i]->name, "random", problems[i]->params, expected);
  }
  assert_in_range(total, 1500, 20000);
}

RG_TEST(a_setting_of_a_block_or_of_common_has_it_named)
{
  static const struct {
    const RgParam *table;
    const char *expected;
  } blocks[] = {{rg_surrogate_params, "; it belongs to the 'surrogate' block"},
                {rg_maximiser_params, "; it belongs to the 'maximiser' block"},
                {rg_pending_params, "; it belongs to the 'pending' block"},
                {rg_crew_params, "; it belongs to the 'crew' block"},
                {rg_thinking_params, "; it belongs to the 'thinking' block"},
                {rg_noise_params, "; it belongs to the 'noise' block"},
                {rg_run_params, "; it "},
                {rg_workers_params, "; it "}};

  for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
    assert_true(check_places("branin", "gp_ucb", blocks[i].table, blocks[i].expected) > 0);
  for (int i = 0; rg_study_keys[i].name; i++) {
    Parsed p;
    if (!strcmp(rg_study_keys[i].name, "common")) continue;
    parse_with("branin", "gp_ucb", COMMON, rg_study_keys[i].name, &p);
    const char *message = unknown(&p, rg_study_keys[i].name);
    assert_non_null(message);
    assert_non_null(strstr(message, "; it stands at the top of the file"));
  }
}

RG_TEST(a_number_for_a_rule_has_its_parameter_named)
{
  int n, rules = 0;
  const RgAlgorithmClass *const *classes = rg_algorithm_classes(&n);

  for (int i = 0; i < n; i++)
    for (const RgParam *param = classes[i]->params; param && param->name; param++) {
      char advice[300], key[64], name[64], number[64];
      Parsed p;
      if (param->type != RG_PARAM_CHOICE) continue;
      parse_with("branin", classes[i]->name, ALGORITHM, param->name, &p);
      assert_int_equal(p.found.n, 1);
      const char *said = strstr(p.found.list[0].message, "use `");
      if (!strcmp(param->name, "beta")) assert_non_null(said);
      if (!said) continue;
      rules++;
      assert_int_equal(
        sscanf(said, "use `%63[^:]: fixed` with `%63[^:]: %63[^`]`", key, name, number), 3);
      assert_string_equal(key, param->name);
      snprintf(advice, sizeof(advice), "%s, %s: fixed, %s: %s", classes[i]->name, key, name,
               number);
      parse_with("branin", advice, TOP, "seeds", &p);
      for (int k = 0; k < p.found.n; k++) { /* such as that it needs contexts */
        assert_null(strstr(p.found.list[k].message, key));
        assert_null(strstr(p.found.list[k].message, name));
      }
      for (int place = TOP; place <= PROBLEM; place++) {
        parse_with("branin", classes[i]->name, place, param->name, &p);
        const char *message = unknown(&p, param->name);
        assert_non_null(message);
        assert_non_null(strstr(message, "; there for the number 4 use `"));
      }
    }
  assert_in_range(rules, 12, 40);
}

RG_TEST(the_number_of_a_rule_is_that_of_its_paper)
{
  static const struct {
    const char *method, *rule, *says;
  } rules[] = {{"gp_ucb", "beta", "`value: 4`"},
               {"rgp_ucb", "kappa", "`value: 4`"},
               {"irgp_ucb", "shift", "`value: 4`"},
               {"boke", "beta", "`value: 4`"},
               {"cgp_ucb", "beta", "`width: 2`"},
               {"sbo_kde", "beta", "`width: 2`"},
               {"wdrbo", "beta", "`width: 4`"},
               {"rrgp_ucb", "confidence", "`value: 4`"},
               {"boke", "bandwidth", "`bandwidth_constant: 4`"}};

  for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
    Parsed p;
    parse_with("branin", rules[i].method, ALGORITHM, rules[i].rule, &p);
    assert_non_null(strstr(p.found.list[0].message, rules[i].says));
  }
}

RG_TEST(a_word_of_the_field_has_its_home_named)
{
  static const struct {
    const char *word, *says;
    int place;
  } words[] = {
    {"budget", "did you mean 'iterations'? (it belongs to the 'common' block)", TOP},
    {"budget", "did you mean 'iterations'? (it is set in 'common' or in a problem", ALGORITHM},
    {"repeats", "did you mean 'seeds'? (it stands at the top of the file)", COMMON},
    {"noise", "it belongs to the 'common' block", TOP},
    {"noise", "did you mean 'noise_variance'?", MODEL},
    {"model", "did you mean 'surrogate'? (it belongs to the 'common' block)", TOP},
  };

  for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
    Parsed p;
    parse_with("branin", "gp_ucb", words[i].place, words[i].word, &p);
    const char *message = unknown(&p, words[i].word);
    assert_non_null(message);
    if (!strstr(message, words[i].says))
      fail_msg("'%s' is missing in '%s'", words[i].says, message);
  }
}

RG_TEST(a_path_in_a_wrong_place_has_its_home_named)
{
  static const struct {
    const char *path, *says;
  } paths[] = {{"common.beta", "did you mean 'algorithms.gp_ucb.beta'?"},
               {"beta", "did you mean 'algorithms.gp_ucb.beta'?"},
               {"problems.ackley.beta", "did you mean 'algorithms.gp_ucb.beta'?"},
               {"algorithms.gp_ucb.dim", "did you mean 'problems.ackley.dim'?"},
               {"algorithms.gp_ucb.iterations", "did you mean 'common.iterations'?"},
               {"iterations", "did you mean 'common.iterations'?"},
               {"common.kernel", "did you mean 'common.surrogate.kernel'?"},
               {"algorithms.gp_ucb.budget", "did you mean 'common.iterations'?"},
               {"common.maximiser.kernel", "did you mean 'common.surrogate.kernel'?"}};

  for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
    char text[300];
    RgStudy study;
    RgDiagnostics found = {0};
    snprintf(text, sizeof(text),
             "study: t\ncommon: {iterations: 5}\nproblems: [ackley]\nalgorithms: [gp_ucb]\n"
             "sweep:\n  - %s: [2, 3]\n",
             paths[i].path);
    RG_OK(rg_study_parse(NULL, "t.yaml", text, strlen(text), &study, &found));
    RG_OK(rg_study_destroy(&study));
    assert_int_equal(found.n, 1);
    if (!strstr(found.list[0].message, paths[i].says))
      fail_msg("'%s' is missing in '%s'", paths[i].says, found.list[0].message);
  }
}
