/* The initial design of a trial. */
#ifndef RG_STUDY_TRIAL_TRIAL_DESIGN_H
#define RG_STUDY_TRIAL_TRIAL_DESIGN_H

#include "regatta/domain.h"
#include "regatta/stream.h"
#include "study/file/study.h"

/* Make n designs in a space. The given designs come first; the rest is of `kind`
   (RG_INITIAL_...), from the start of a stream. points: n x dim, unit coordinates; indices: n,
   -1 on a box. On a finite set no point is used twice: each point of a box design moves to the
   nearest free point, O(n size dim). */
PetscErrorCode rg_trial_design(const RgStream *stream, const RgSpace *space, int kind,
                               const RgGiven *given, int n, double *points, int *indices);

#endif
