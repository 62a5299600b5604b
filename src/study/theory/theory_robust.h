/* Bounds of RRGP-UCB for the cells of a study. Private to study/theory.c. */
#ifndef RG_STUDY_THEORY_ROBUST_H
#define RG_STUDY_THEORY_ROBUST_H

#include "study/theory/theory.h"

/* Rules that these bounds are about. */
static inline bool rg_theory_is_robust(RgTheory theory)
{
  return theory == RG_THEORY_RRGP || theory == RG_THEORY_RRGP_CONTINUOUS;
}

/* Set theory->slope from the measure of the domain. */
PetscErrorCode rg_theory_robust_slope(const RgDomain *domain, RgCellTheory *theory);
/* Fill in theory->value[curve] where the theorem holds for the measure; gain, slope, largest and
   noise are set. C1 is that of the largest prior variance. */
PetscErrorCode rg_theory_robust_curve(const RgDomain *domain, RgCurve curve, double delta,
                                      RgCellTheory *theory);

#endif
