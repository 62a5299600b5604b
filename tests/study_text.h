/* Studies given as text in a test. */
#ifndef RG_TESTS_STUDY_TEXT_H
#define RG_TESTS_STUDY_TEXT_H

#include <stdio.h>

#include "study/plan/plan.h"

#include "test_main.h"

/* Parse a study that must be fine. */
static inline void parse_study(const char *text, RgStudy *study)
{
  RgDiagnostics diagnostics = {0};

  RG_OK(rg_study_parse(NULL, "t.yaml", text, strlen(text), study, &diagnostics));
  if (diagnostics.n)
    fail_msg("%d:%d: %s", diagnostics.list[0].place.line, diagnostics.list[0].place.column,
             diagnostics.list[0].message);
}

/* Parse a study, and plan it. */
static inline void plan_study(const char *text, RgStudy *study, RgPlan *plan)
{
  parse_study(text, study);
  RG_OK(rg_plan_fill(study, plan));
}

/* The plan of a text, given as for printf, with its study: they live until the next call. */
__attribute__((format(printf, 1, 2))) static inline RgPlan *plan_of(const char *format, ...)
{
  static RgStudy study;
  static RgPlan plan;
  char text[4000];
  va_list arguments;

  va_start(arguments, format);
  assert_true(vsnprintf(text, sizeof(text), format, arguments) < (int)sizeof(text));
  va_end(arguments);
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
  plan_study(text, &study, &plan);
  return &plan;
}

/* The study alone. */
#define study_of(...) (plan_of(__VA_ARGS__)->study)

/* A study of some problems and algorithms with five iterations. */
#define STUDY(problems, algorithms)                                                                \
  "study: t\ncommon: {iterations: 5}\nproblems: " problems "\nalgorithms: " algorithms "\n"

#endif
