/* Draws, mean and quantiles of the law of a squared confidence width. */
#include "regatta/theory.h"

#include "acquisition/confidence.h"
#include "maths/normal.h"

double rg_confidence_draw(const RgConfidenceLaw *law, RgRandom *random)
{
  switch (law->kind) {
  case RG_LAW_EXPONENTIAL: return law->a + rg_random_exponential(random) / law->b;
  case RG_LAW_GAMMA: return rg_random_gamma(random, law->a, law->b);
  default: return law->a;
  }
}

double rg_confidence_mean(const RgConfidenceLaw *law)
{
  switch (law->kind) {
  case RG_LAW_EXPONENTIAL: return law->a + 1 / law->b;
  case RG_LAW_GAMMA: return law->a * law->b;
  default: return law->a;
  }
}

double rg_confidence_quantile(const RgConfidenceLaw *law, double p)
{
  switch (law->kind) {
  case RG_LAW_EXPONENTIAL: return rg_irgp_quantile(law->a, law->b, p);
  case RG_LAW_GAMMA: return law->b * rg_gamma_quantile(law->a, p);
  default: return law->a;
  }
}
