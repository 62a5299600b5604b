/* The initial design of a trial. */
#ifndef RG_STUDY_TRIAL_TRIAL_DESIGN_H
#define RG_STUDY_TRIAL_TRIAL_DESIGN_H

#include "regatta/domain.h"
#include "regatta/stream.h"
#include "study/spec/study.h"

/* n designs of `kind` (RG_INITIAL_...) in a space, from the start of a stream, but for the first
   ones, which are given. points: n x dim, unit coordinates; indices: n, -1 on a box. On a finite
   set no point is taken twice: a design of the box is moved to the nearest free points there,
   O(n size dim). */
PetscErrorCode rg_trial_design(const RgStream *stream, const RgSpace *space, int kind,
                               const RgGiven *given, int n, double *points, int *indices);

#endif
