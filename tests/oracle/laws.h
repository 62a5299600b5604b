/* Laws of contexts for the tests of the SBO-KDE study. */
#ifndef RG_TESTS_ORACLE_LAWS_H
#define RG_TESTS_ORACLE_LAWS_H

#include "maths/distribution.h"
#include "test_main.h"

/* A law of many modes, two of them heavy-tailed. */
#define MIXTURE                                                                                    \
  "mixture(normal(0.1, 0.02), normal(0.3, 0.075), normal(0.4, 0.1), normal(0.5, 0.1), "            \
  "normal(0.7, 0.075), normal(0.8, 0.03), cauchy(0.8, 0.02), cauchy(0.2, 0.02))"

static inline void law_make(const char *text, RgDistribution *law)
{
  RgText mistake = {0};

  RG_OK(rg_distribution_parse(text, law, &mistake));
  if (mistake.data) fail_msg("%s", mistake.data);
}

#endif
