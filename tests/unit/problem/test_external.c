/* The problem of kind external: its inputs and messages. Programs that run: test_child.c and
   integration/test_external.py. */
#include "test_problem.h"

#include "problem/external.h"

/* Random forest of the tuning problem (boke, 4.5). */
static char *const forest[] = {"n_estimators integer 10 100", "max_depth integer [1, 20]",
                               "min_samples_split integer 2 20", "max_features real 0.1 1.0",
                               "min_impurity_decrease real 0 0.1"};

RG_TEST(test_rounding)
{
  RgInput inputs[6] = {{0}};
  RgText mistake = {0}, line = {0};
  double u[] = {.37, .5, .25, .6, .1}, x[6];

  RG_OK(rg_inputs_parse(5, forest, inputs, &mistake));
  assert_int_equal(mistake.length, 0);
  for (int j = 0; j < 5; j++) x[j] = inputs[j].lower + u[j] * (inputs[j].upper - inputs[j].lower);
  RG_CLOSE(x[0], 43.3, 1e-15);
  RG_CLOSE(x[1], 10.5, 1e-15);
  RG_CLOSE(x[2], 6.5, 1e-15);
  x[3] = 0.64; /* 0.1 + 0.6 * 0.9 is a bit more */
  x[4] = 0.01;
  RG_OK(rg_request_write(&(RgRequest){.id = 7,
                                      .trial = "ab",
                                      .instance = 1,
                                      .seed = 3,
                                      .evaluation = 9,
                                      .n_x = 5,
                                      .inputs = inputs,
                                      .x = x},
                         &line));
  assert_string_equal(line.data,
                      "{\"id\":7,\"trial\":\"ab\",\"evaluation\":9,\"seed\":3,\"instance\":1,"
                      "\"x\":{\"n_estimators\":43,\"max_depth\":11,\"min_samples_split\":7,"
                      "\"max_features\":0.64000000000000001,"
                      "\"min_impurity_decrease\":0.01}}");
  RG_OK(rg_text_clear(&line));
  RG_OK(rg_inputs_clear(5, inputs));
}

RG_TEST(test_bounds_of_integers_and_choices)
{
  static char *const texts[] = {"n integer -2 3", "w choice red green blue"};
  RgInput inputs[2] = {{0}};
  RgText mistake = {0};

  RG_OK(rg_inputs_parse(2, texts, inputs, &mistake));
  assert_int_equal(mistake.length, 0);
  assert_true(rg_input_integer(&inputs[0], -2) == -2 && rg_input_integer(&inputs[0], 3) == 3);
  assert_true(rg_input_integer(&inputs[0], -1.5) == -1 && rg_input_integer(&inputs[0], 2.5) == 3);
  assert_true(rg_input_integer(&inputs[0], 2.4999999) == 2);
  assert_true(inputs[1].lower == 0 && inputs[1].upper == 3);
  assert_int_equal(rg_input_word(&inputs[1], 0), 0);
  assert_int_equal(rg_input_word(&inputs[1], 0.99), 0);
  assert_int_equal(rg_input_word(&inputs[1], 1), 1);
  assert_int_equal(rg_input_word(&inputs[1], 3), 2);
  RG_OK(rg_inputs_clear(2, inputs));
}

RG_TEST(test_wrong_inputs)
{
  static const struct {
    const char *text, *reason;
  } wrong[] = {{"", "is written"},
               {"a", "is written"},
               {"a b real 0 1", "its kind is 'b'"},
               {"a real 0", "two numbers"},
               {"a real 0 1 2", "two numbers"},
               {"a real 0 inf", "two numbers"},
               {"a real 1 1", "must be less"},
               {"a integer 0.5 3", "are integers"},
               {"a choice one", "two words or more"},
               {"a choice one two one", "names 'one' twice"}};

  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
    char *texts[] = {(char *)(uintptr_t)wrong[i].text};
    RgInput input = {0};
    RgText mistake = {0};
    RG_OK(rg_inputs_parse(1, texts, &input, &mistake));
    if (!mistake.data || !strstr(mistake.data, wrong[i].reason))
      fail_msg("'%s': %s", wrong[i].text, mistake.data ? mistake.data : "accepted");
    RG_OK(rg_text_clear(&mistake));
    RG_OK(rg_inputs_clear(1, &input));
  }
  static char *const twice[] = {"a real 0 1", "a real 0 2"};
  RgInput inputs[2] = {{0}};
  RgText mistake = {0};
  RG_OK(rg_inputs_parse(2, twice, inputs, &mistake));
  assert_non_null(strstr(mistake.data, "twice"));
  RG_OK(rg_text_clear(&mistake));
  RG_OK(rg_inputs_clear(2, inputs));
}

RG_TEST(test_answers)
{
  static const struct {
    const char *line, *mistake; /* NULL: none */
    double value;
  } answers[] = {{"{\"id\":3,\"value\":0.1}", NULL, 0.1},
                 {" {\"value\": 7, \"id\": 3, \"remark\": [1]} \r", NULL, 7},
                 {"{\"id\":3,\"value\":4.9406564584124654e-324}", NULL, 5e-324},
                 {"{\"id\":3,\"value\":null}", "without a number", 0},
                 {"{\"id\":3,\"value\":true}", "without a number", 0},
                 {"{\"id\":3,\"value\":NaN}", "no JSON object", 0},
                 {"{\"id\":3}", "without a number", 0},
                 {"{\"id\":3,\"value\":1,\"value\":2}", "no JSON object", 0},
                 {"{\"id\":3,\"error\":\"why\"}", "reports: why", 0},
                 {"{\"id\":3,\"value\":1,\"error\":\"both\"}", "reports: both", 0},
                 {"{\"id\":3,\"error\":{}}", "reports: an error", 0},
                 {"{\"id\":2,\"value\":1}", "answered request 2, not request 3", 0},
                 {"{\"id\":\"3\",\"value\":1}", "without the \"id\"", 0},
                 {"", "no JSON object", 0},
                 {"0.5", "no JSON object", 0},
                 {"{\"id\":3,\"value\":1} {\"id\":4,\"value\":1}", "no JSON object", 0}};

  for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
    RgText mistake = {0};
    double value;
    RG_OK(rg_answer_read(answers[i].line, strlen(answers[i].line), 3, &value, &mistake));
    if (!answers[i].mistake) {
      if (mistake.length) fail_msg("%s: %s", answers[i].line, mistake.data);
      assert_true(value == answers[i].value);
    } else if (!mistake.length || !strstr(mistake.data, answers[i].mistake)) {
      fail_msg("%s: %s", answers[i].line, mistake.length ? mistake.data : "accepted");
    }
    RG_OK(rg_text_clear(&mistake));
  }
}

/* Where the program stands and how patient we are makes no other trial. */
RG_TEST(test_identity)
{
  static const Setting here[] = {{"program", "/bin/cat"}, {"inputs", "a real 0 1"}, {NULL, NULL}};
  static const Setting there[] = {{"program", "/usr/bin/cat"},
                                  {"inputs", "a real 0 1"},
                                  {"time_limit", "5"},
                                  {"seconds", "9"},
                                  {"retries", "0"},
                                  {NULL, NULL}};
  static const Setting revised[] = {
    {"program", "/bin/cat"}, {"inputs", "a real 0 1"}, {"revision", "2"}, {NULL, NULL}};
  const Setting *settings[] = {here, there, revised};
  const RgProblemClass *class = rg_problem_class_find("external");
  RgText texts[3] = {{0}};

  for (int i = 0; i < 3; i++) {
    void *options = options_make(class, settings[i]);
    RG_OK(class->identity(options, &texts[i]));
    options_free(class, options);
  }
  assert_string_equal(texts[0].data, texts[1].data);
  assert_string_not_equal(texts[0].data, texts[2].data);
  assert_non_null(strstr(texts[0].data, "program=\"cat\""));
  for (int i = 0; i < 3; i++) RG_OK(rg_text_clear(&texts[i]));
}

RG_TEST(test_contexts)
{
  static const Setting settings[] = {{"program", "/bin/cat"},
                                     {"inputs", "a real 0 1"},
                                     {"contexts", "wind real -5 15"},
                                     {NULL, NULL}};
  Instance instance = instance_make("external", settings, 1, 0);
  RgProblem *problem = &instance.problem;
  double sum = 0;

  assert_int_equal(problem->domain.control, RG_CONTEXT_NATURE);
  assert_int_equal(problem->domain.context.dim, 1);
  for (uint64_t i = 0; i < 1000; i++) {
    RgRandom random = rg_stream_at(&problem->stream, i);
    double c;
    int index;
    RG_OK(problem->class->draw_context(problem, &random, &c, &index));
    assert_true(c >= -5 && c < 15 && index == -1);
    sum += c;
  }
  assert_true(fabs(sum / 1000 - 5) < 1);
  instance_free(&instance);
}
