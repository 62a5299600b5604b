/* The external problem: named inputs, and the messages. For running programs see test_child.c
   and integration/test_external.py. */
#include "test_problem.h"

#include "base/inputs.h"
#include "extra/external/protocol.h"

/* Random forest of the tuning problem (boke, 4.5). */
static char *const forest[] = {"n_estimators integer 10 100", "max_depth integer [1, 20]",
                               "min_samples_split integer 2 20", "max_features real 0.1 1.0",
                               "min_impurity_decrease real 0 0.1"};

static RgSpace space_of(int n, char *const *texts)
{
  RgSpace space = {0};
  RgText mistake = {0};

  RG_OK(rg_space_inputs(&space, n, texts, &mistake));
  if (mistake.length) fail_msg("%s", mistake.data);
  return space;
}

/* The request for a point contains `expected` after the x. */
static void check_request(const RgSpace *space, const double *x, const char *expected)
{
  const RgProblem problem = {.domain.design = *space,
                             .task = {.trial = "ab", .instance = 1, .seed = 3, .evaluation = 9}};
  RgText line = {0};

  RG_OK(rg_request_write(&problem, 7, &(RgPoint){.x = x}, &line));
  const char *start =
    "{\"id\":7,\"trial\":\"ab\",\"evaluation\":9,\"seed\":3,\"instance\":1,\"x\":";
  assert_int_equal(strncmp(line.data, start, strlen(start)), 0);
  assert_string_equal(line.data + strlen(start), expected);
  RG_OK(rg_text_clear(&line));
}

RG_TEST(test_rounding)
{
  RgSpace space = space_of(5, forest);
  double u[] = {.37, .5, .25, .6, .1}, x[5];

  rg_space_to_native(&space, u, x);
  RG_CLOSE(x[0], 43.3, 1e-15);
  RG_CLOSE(x[1], 10.5, 1e-15);
  RG_CLOSE(x[2], 6.5, 1e-15);
  x[3] = 0.64; /* 0.1 + 0.6 * 0.9 is slightly more */
  x[4] = 0.01;
  check_request(&space, x,
                "{\"n_estimators\":43,\"max_depth\":11,\"min_samples_split\":7,"
                "\"max_features\":0.64000000000000001,\"min_impurity_decrease\":0.01}}");
  RG_OK(rg_space_destroy(&space));
}

RG_TEST(test_bounds_of_integers_and_choices)
{
  static char *const texts[] = {"n integer -2 3", "w choice red green blue"};
  static const double native[][2] = {{-2, 0}, {3, .99}, {-1.5, 1}, {2.5, 3}, {2.4999999, 2.9}};
  static const double expected[][2] = {{-2, 0}, {3, 0}, {-1, 1}, {3, 2}, {2, 2}};
  RgSpace space = space_of(2, texts);
  double seen[2];

  assert_true(space.lower[1] == 0 && space.upper[1] == 3);
  assert_false(rg_space_is_conditional(&space));
  for (int i = 0; i < 5; i++) {
    rg_space_seen(&space, native[i], seen);
    for (int j = 0; j < 2; j++) assert_true(seen[j] == expected[i][j]);
  }
  RG_OK(rg_space_destroy(&space));
}

RG_TEST(test_logarithmic_inputs)
{
  static char *const texts[] = {"rate real 1e-5 1 log", "width integer 16 1024 log"};
  RgSpace space = space_of(2, texts);
  const double ends[] = {0, 1}, other[] = {1, 0}, middle[] = {0.6, 0.5}, step = 1e-6;
  double x[2], y[2], back[2];

  rg_space_to_native(&space, ends, x);
  assert_true(x[0] == 1e-5 && x[1] == 1024);
  rg_space_to_native(&space, other, x);
  assert_true(x[0] == 1 && x[1] == 16);
  rg_space_to_native(&space, middle, x);
  RG_CLOSE(x[0], 1e-2, 1e-14);
  RG_CLOSE(x[1], 128, 1e-14);
  assert_true(rg_space_middle(&space, 1) == x[1]);
  rg_space_to_unit(&space, x, back);
  for (int j = 0; j < 2; j++) {
    RG_CLOSE(back[j], middle[j], 1e-14);
    const double near[] = {middle[0] + step, middle[1] + step};
    rg_space_to_native(&space, near, y);
    RG_CLOSE((y[j] - x[j]) / step, rg_space_slope(&space, j, x[j]), 1e-4);
  }
  RG_OK(rg_space_destroy(&space));
}

/* Inputs that don't count are null in the message and 0.5 for the model, and so are the inputs
   that depend on them. */
RG_TEST(test_conditional_inputs)
{
  static char *const texts[] = {"kernel choice linear rbf poly",
                                "gamma real 1e-4 1 log if kernel=rbf",
                                "way choice a b if kernel=rbf|poly", "degree integer 1 5 if way=b"};
  RgSpace space = space_of(4, texts), again;
  double unit[] = {0.1, 0.25, 0.9, 0.8}, native[4], seen[4];
  bool counts[4];
  RgText text = {0}, mistake = {0};
  int n;

  assert_true(rg_space_is_conditional(&space));
  rg_space_to_native(&space, unit, native);
  check_request(&space, native,
                "{\"kernel\":\"linear\",\"gamma\":null,\"way\":null,\"degree\":null}}");
  rg_space_normalise(&space, unit, counts);
  assert_true(unit[0] == 0.1 && unit[1] == 0.5 && unit[2] == 0.5 && unit[3] == 0.5);
  assert_true(counts[0] && !counts[1] && !counts[2] && !counts[3]);
  unit[0] = 0.9;
  unit[2] = 0.9;
  rg_space_normalise(&space, unit, counts);
  assert_true(unit[1] == 0.5 && unit[2] == 0.9 && counts[3] && !counts[1]);
  rg_space_to_native(&space, unit, native);
  rg_space_seen(&space, native, seen);
  assert_true(seen[0] == 2 && isnan(seen[1]) && seen[2] == 1 && seen[3] == 3);
  check_request(&space, native, "{\"kernel\":\"poly\",\"gamma\":null,\"way\":\"b\",\"degree\":3}}");
  /* writes and reads the descriptions */
  RG_OK(rg_inputs_text(4, space.inputs, &text));
  assert_string_equal(text.data, "kernel choice linear rbf poly; gamma real 0.0001 1 log if "
                                 "kernel=rbf; way choice a b if kernel=rbf|poly; "
                                 "degree integer 1 5 if way=b");
  again = (RgSpace){.dim = 4};
  RG_OK(rg_inputs_read(text.data, &n, &again.inputs, &mistake));
  assert_int_equal(n, 4);
  rg_space_seen(&again, native, native);
  for (int j = 0; j < 4; j++) assert_true(native[j] == seen[j] || isnan(seen[j]));
  RG_OK(rg_text_clear(&text));
  RG_OK(rg_space_destroy(&again));
  RG_OK(rg_space_destroy(&space));
}

/* Points of equal evaluation become one point, which is evaluated like them. */
RG_TEST(test_designs)
{
  static char *const texts[] = {"v real 0 1", "n integer 2 9", "m integer 1 1000 log",
                                "k choice p q r", "s integer 1 4 if k=q"};
  RgSpace space = space_of(5, texts);
  const double levels[] = {0, 8, 1000, 3, 4};

  assert_true(rg_space_has_levels(&space));
  for (int j = 0; j < 5; j++) assert_true(rg_space_levels(&space, j) == levels[j]);
  for (int i = 0; i < 400; i++) {
    double unit[5], seen[5], native[5], snapped[5], again[5];
    bool moves[5];

    for (int j = 0; j < 5; j++) unit[j] = fmod(0.013 + 0.618034 * (i + 1) * (j + 1), 1);
    if (i < 2) unit[1] = unit[2] = unit[3] = i; /* the ends */
    memcpy(snapped, unit, sizeof unit);
    rg_space_snap(&space, snapped, moves);
    assert_true(moves[0] && !moves[1] && !moves[2] && !moves[3] && !moves[4]);
    assert_true(snapped[0] == unit[0]);
    rg_space_to_native(&space, unit, native);
    rg_space_seen(&space, native, seen);
    rg_space_to_native(&space, snapped, native);
    for (int j = 1; j < 3; j++) RG_CLOSE(native[j], seen[j], 1e-12);
    RG_CLOSE(native[3], seen[3] + 0.5, 1e-12);
    if (isnan(seen[4])) assert_true(snapped[4] == 0.5);
    else RG_CLOSE(native[4], seen[4], 1e-12);
    rg_space_seen(&space, native, native);
    for (int j = 0; j < 5; j++) assert_true(native[j] == seen[j] || isnan(seen[j]));
    memcpy(again, snapped, sizeof again);
    rg_space_snap(&space, again, NULL);
    assert_memory_equal(again, snapped, sizeof again);
  }
  RG_OK(rg_space_destroy(&space));
}

static void check_wrong(int n, char *const *texts, const char *reason)
{
  RgSpace space = {0};
  RgText mistake = {0};

  RG_OK(rg_space_inputs(&space, n, texts, &mistake));
  if (!mistake.data || !strstr(mistake.data, reason))
    fail_msg("'%s': %s", texts[n - 1], mistake.data ? mistake.data : "accepted");
  assert_null(space.inputs);
  assert_int_equal(space.dim, 0);
  RG_OK(rg_text_clear(&mistake));
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
               {"a choice one two one", "names 'one' twice"},
               {"a choice one;two three", "';' is not accepted"},
               {"a real 0 1 log", "greater than 0"},
               {"a real 1 2 lag", "may have 'log'"}};

  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
    check_wrong(1, (char *[]){(char *)(uintptr_t)wrong[i].text}, wrong[i].reason);
  static const struct {
    const char *text, *reason;
  } second[] = {{"k real 0 2", "twice"},
                {"a real 0 1 if k", "is written 'if CHOICE=WORD'"},
                {"a real 0 1 if k=", "is written 'if CHOICE=WORD'"},
                {"a real 0 1 if k = x", "is written 'if CHOICE=WORD'"},
                {"a real 0 1 if k=z", "'z' is not a word of 'k'"},
                {"a real 0 1 if k=x|z", "'z' is not a word of 'k'"},
                {"a real 0 1 if a=x", "there is no 'a' before it"}};
  for (size_t i = 0; i < sizeof(second) / sizeof(*second); i++)
    check_wrong(2, (char *[]){"k choice x y", (char *)(uintptr_t)second[i].text}, second[i].reason);
  check_wrong(2, (char *[]){"k real 0 1", "a real 0 1 if k=1"}, "'k' is not a choice");
  char many[2000] = "a choice";
  for (int i = 0; i < 255; i++) snprintf(many + strlen(many), 8, " w%d", i);
  check_wrong(1, (char *[]){many}, "more than 256 words");
}

RG_TEST(test_answers)
{
  static const struct {
    const char *line, *mistake; /* NULL: no inputs */
    double value;
  } answers[] = {
    {"{\"id\":3,\"value\":0.1}", NULL, 0.1},
    {" {\"value\": 7, \"id\": 3, \"remark\": [1]} \r", NULL, 7},
    {"{\"id\":3,\"value\":4.9406564584124654e-324}", NULL, 5e-324},
    {"{\"id\":3,\"value\":2,\"constraints\":{\"more\":1,\"cost\":-1}}", NULL, 2},
    {"{\"id\":3,\"value\":2,\"constraints\":{\"more\":1}}",
     "without a number as \"cost\" in \"constraints\"", 2},
    {"{\"id\":3,\"value\":2,\"constraints\":[1]}", "as \"cost\" in", 2},
    {"{\"id\":3,\"value\":2}", "as \"cost\" in", 2},
    {"{\"id\":3,\"value\":2,\"constraints\":{\"cost\":null}}", "as \"cost\" in", 2},
    {"{\"id\":3,\"value\":2,\"constraints\":{\"cost\":-1},\"duration\":-1}",
     "\"duration\" that is no number in", 2},
    {"{\"id\":3,\"value\":2,\"constraints\":{\"cost\":-1},\"duration\":\"1\"}",
     "\"duration\" that is no number in", 2},
    {"{\"id\":3,\"value\":2,\"constraints\":{\"cost\":-1},\"duration\":1e13}",
     "\"duration\" that is no number in", 2},
    {"{\"id\":3,\"value\":2,\"constraints\":{\"cost\":-1},\"duration\":2.5}", NULL, 2},
    {"{\"id\":3,\"value\":2,\"constraints\":{\"cost\":-1},\"record\":{\"size\":8}}", NULL, 2},
    {"{\"id\":3,\"value\":2,\"constraints\":{\"cost\":-1},\"record\":{\"more\":\"8\"}}", NULL, 2},
    {"{\"id\":3,\"value\":2,\"constraints\":{\"cost\":-1},\"record\":{\"size\":\"8\"}}", NULL, 2},
    {"{\"id\":3,\"value\":null}", "without a number", 0},
    {"{\"id\":3,\"value\":true}", "without a number", 0},
    {"{\"id\":3,\"value\":NaN}", "mistake, invalid token near 'NaN' (JSON has no NaN", 0},
    {"{\"id\":3,\"value\":-Infinity}", "mistake, invalid token near '-'", 0},
    {"{\"id\":3,\"value\":1e999}", "mistake, real number overflow", 0},
    {"{\"id\":3}", "without a number", 0},
    {"{\"id\":3,\"value\":1,\"value\":2}", "mistake, duplicate object key", 0},
    {"{\"id\":3,\"error\":\"why\"}", "reports: why", 0},
    {"{\"id\":3,\"error\":\"why\",\"retry\":false}", "reports: why", 0},
    {"{\"id\":3,\"error\":\"why\",\"retry\":true}", "reports: why", 0},
    {"{\"id\":3,\"value\":1,\"error\":\"both\"}", "reports: both", 0},
    {"{\"id\":3,\"error\":{}}", "reports: an error", 0},
    {"{\"id\":2,\"value\":1}", "answered request 2, not request 3", 0},
    {"{\"id\":\"3\",\"value\":1}", "without the \"id\"", 0},
    {"", "not a JSON object", 0},
    {"0.5", "not a JSON object", 0},
    {"{\"id\":3,\"value\":1} {\"id\":4,\"value\":1}", "mistake, end of file expected", 0}};

  for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
    const RgDomain domain = {.n_constraints = i < 3 ? 0 : 1, .constraints = (char *[]){"cost"}};
    RgText mistake = {0};
    double value = NAN, constraints[1], duration = NAN, size;
    RgReply reply = {.line = answers[i].line, .length = strlen(answers[i].line)};
    RG_OK(rg_protocol_read(3, &reply, &mistake));
    if (reply.object)
      RG_OK(rg_answer_read(
        reply.object, &domain,
        &(RgAnswer){&value, constraints, &duration, 1, (char *[]){"size"}, &size}, &mistake));
    json_decref(reply.object);
    const bool timed = strstr(answers[i].line, "2.5") != NULL;
    assert_true(timed ? duration == 2.5 : isnan(duration));
    assert_true(reply.final == (strstr(answers[i].line, "\"retry\":false") != NULL));
    if (!answers[i].mistake) {
      if (mistake.length) fail_msg("%s: %s", answers[i].line, mistake.data);
      assert_true(value == answers[i].value);
      assert_true(!domain.n_constraints || constraints[0] == -1);
      assert_true(strstr(answers[i].line, ":8}") ? size == 8 : isnan(size));
    } else if (!mistake.length || !strstr(mistake.data, answers[i].mistake)) {
      fail_msg("%s: %s", answers[i].line, mistake.length ? mistake.data : "accepted");
    }
    RG_OK(rg_text_clear(&mistake));
  }
}

/* The place of the program and its time limit do not change the trial. */
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
  const RgProblemClass *class = rg_registry_find_problem(NULL, "external");
  RgText texts[3] = {{0}};

  for (int i = 0; i < 3; i++) {
    void *options = options_make(class, settings[i]);
    RG_OK(class->source->identity(class, options, &texts[i]));
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
