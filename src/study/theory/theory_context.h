/* Bounds of SBO-KDE, DRBO-KDE and WDRBO for the cells of a study. Private to study/theory.c. */
#ifndef RG_STUDY_THEORY_CONTEXT_H
#define RG_STUDY_THEORY_CONTEXT_H

#include "study/theory/theory.h"

/* Whether the rule is one of these: contexts from a box that nature draws. */
bool rg_theory_is_context(RgTheory theory);
/* Noise variance, in units of `kernel`, that the information gain is computed with: lambda = 1 of
   WDRBO; 0.01 of the others where it is fitted or zero. In units where k(z,z) = 1. */
double rg_theory_context_noise(const RgCell *cell, RgTheory theory, double noise, double largest);
/* What is not known of the constants; static. */
const char *rg_theory_context_remark(const RgCell *cell, RgTheory theory);
/* Fill in theory->value[curve]; gain, noise and largest are set. kernel: of the model over (x, c);
   it is scaled to k(z,z) = 1. Nominal values: a = 1, b of the kernel, C0 of a normal law with the
   quartiles of the problem's; B = 1, kappa = 1. Nothing for curves of other methods. O(n^2). */
PetscErrorCode rg_theory_context_curve(const RgCell *cell, const RgDomain *domain,
                                       const RgKernel *kernel, RgCurve curve, double delta,
                                       RgCellTheory *theory);

#endif
