#include "test_main.h"

#include "fake_study.h"
#include "study/record/record.h"

/* Two records of one trial, of the second problem's first algorithm: with context and model. */
typedef struct {
  Fake fake;
  RgRecord then, now;
  RgText text;
} Pair;

/* A test with a pair of its own. */
#define PAIR_TEST(name)                                                                            \
  static void name##_of(Pair *pair);                                                               \
  RG_TEST(name)                                                                                    \
  {                                                                                                \
    Pair pair = {0};                                                                               \
    fake_create(1, &pair.fake);                                                                    \
    RG_OK(fake_record(&pair.fake, 2, &pair.then));                                                 \
    RG_OK(fake_record(&pair.fake, 2, &pair.now));                                                  \
    name##_of(&pair);                                                                              \
    RG_OK(rg_record_destroy(&pair.then));                                                          \
    RG_OK(rg_record_destroy(&pair.now));                                                           \
    RG_OK(rg_text_clear(&pair.text));                                                              \
    fake_destroy(&pair.fake);                                                                      \
  }                                                                                                \
  static void name##_of(Pair *pair)

/* The text about the difference; NULL: there is no text. Valid until the next call. */
static const char *difference(Pair *pair)
{
  RG_OK(rg_text_clear(&pair->text));
  RG_OK(rg_record_compare(&pair->then, &pair->now, &pair->text));
  return pair->text.length ? pair->text.data : NULL;
}

static const char *initial_difference(Pair *pair, double tolerance)
{
  RG_OK(rg_text_clear(&pair->text));
  RG_OK(rg_record_compare_initial(&pair->then, &pair->now, tolerance, &pair->text));
  return pair->text.length ? pair->text.data : NULL;
}

PAIR_TEST(equal_records_have_no_difference)
{
  assert_null(difference(pair));
  assert_null(initial_difference(pair, 0));
  pair->now.provenance.wall = 1e6; /* who, where and when are not results */
  strcpy(pair->now.provenance.host, "elsewhere");
  pair->now.column[RG_COLUMN_WALL_FIT][2] = 17;
  assert_null(difference(pair));
  pair->then.column[RG_COLUMN_Y][3] = 0.0;
  pair->now.column[RG_COLUMN_Y][3] = -0.0;
  pair->then.column[RG_COLUMN_F][3] = NAN;
  pair->now.column[RG_COLUMN_F][3] = -NAN;
  assert_null(difference(pair));
  for (int k = 0; k < FAKE_ROWS; k++) pair->now.column[RG_COLUMN_JITTER][k] = NAN;
  RG_OK(PetscFree(pair->then.column[RG_COLUMN_JITTER])); /* absent is the same as all NaN */
  assert_null(difference(pair));
}

PAIR_TEST(the_first_bit_that_differs_is_named)
{
  double *y = pair->now.column[RG_COLUMN_Y];
  y[6] = 0.25;
  pair->then.column[RG_COLUMN_Y][6] = nextafter(0.25, 1);
  y[8] = 3;
  assert_string_equal(difference(pair), "y of evaluation 7 is 0.25, was 0.25000000000000006");
  y[6] = pair->then.column[RG_COLUMN_Y][6];
  assert_non_null(strstr(difference(pair), "y of evaluation 9 is 3, was "));
  y[8] = pair->then.column[RG_COLUMN_Y][8];
  assert_null(difference(pair));

  double *x = pair->now.column[RG_COLUMN_X]; /* two numbers per evaluation */
  x[7] = NAN;
  assert_non_null(strstr(difference(pair), "x of evaluation 4 is nan, was "));
  x[7] = pair->then.column[RG_COLUMN_X][7];

  pair->now.extra[2][5] = 1;
  assert_non_null(strstr(difference(pair), "alpha of evaluation 6 is 1, was "));
  strcpy(pair->now.extra_name[2], "gamma"); /* a column that the other record does not have */
  assert_non_null(strstr(difference(pair), "gamma of evaluation 1 is "));
}

PAIR_TEST(what_is_not_a_column_counts_too)
{
  pair->then.optimum = 1;
  pair->now.optimum = 2;
  assert_string_equal(difference(pair), "its optimum is 2, was 1");
  pair->then.optimum = NAN;
  assert_string_equal(difference(pair), "its optimum is 2, was nan");
  pair->now.optimum = NAN;
  assert_null(difference(pair));

  pair->now.n_rows = 5;
  assert_string_equal(difference(pair), "it has 5 evaluations, had 12");
  pair->now.status = RG_STATUS_FAILED;
  strcpy(pair->now.message, "evaluation 6: no number");
  assert_string_equal(difference(pair), "it is failed, was complete: evaluation 6: no number");
  pair->then.status = RG_STATUS_FAILED; /* equal except for their messages */
  pair->then.n_rows = 5;
  assert_string_equal(difference(pair), "its checksum differs (evaluation 6: no number)");
  strcpy(pair->then.message, pair->now.message);
  assert_null(difference(pair));
  pair->now.dim_z = 1;
  assert_string_equal(difference(pair), "its dimensions differ");
  pair->now.id[0] = 'x';
  assert_string_equal(difference(pair), "it is another trial");
  assert_string_equal(initial_difference(pair, 1), "it is another trial");
}

/* Other arithmetic: the comparison has a tolerance, and covers only what does not depend on
   earlier evaluations. */
PAIR_TEST(initial_designs_may_be_a_little_off)
{
  double *then = pair->then.column[RG_COLUMN_Y], *now = pair->now.column[RG_COLUMN_Y];
  now[FAKE_INITIAL] = 1e9; /* later evaluations are not compared */
  assert_null(initial_difference(pair, 0));
  then[0] = -100;
  then[1] = now[1] = 50;
  then[2] = now[2] = 1;
  now[0] = -100 + 0.9e-4;
  now[2] = 1 + 0.9e-4; /* relative to the largest of the column */
  assert_null(initial_difference(pair, 1e-6));
  assert_non_null(strstr(initial_difference(pair, 1e-7), "y of evaluation 1 is -99.9999"));
  now[0] = then[0];
  assert_non_null(strstr(initial_difference(pair, 1e-7), "y of evaluation 3 is 1.000"));
  now[2] = then[2];
  pair->now.column[RG_COLUMN_C][1] = NAN;
  assert_non_null(strstr(initial_difference(pair, 1), "c of evaluation 2 is nan"));
  pair->now.n_rows = 1; /* failed early: the existing rows are compared */
  assert_null(initial_difference(pair, 1e-6));
}
