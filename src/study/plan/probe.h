/* Whether methods that are programs start and answer. */
#ifndef RG_STUDY_PLAN_PROBE_H
#define RG_STUDY_PLAN_PROBE_H

#include "study/spec/study.h"

/* Try every entry of such a method once on every problem entry, up to the first where it fails;
   what is wrong is added to `diagnostics`. Starts programs. Not collective. */
PetscErrorCode rg_study_probe(const RgStudy *study, RgDiagnostics *diagnostics);

#endif
