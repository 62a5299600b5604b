/* The numeric fingerprint: equal bits are promised between machines of equal fingerprint. */
#ifndef RG_STUDY_RUN_FINGERPRINT_H
#define RG_STUDY_RUN_FINGERPRINT_H

#include "base/text.h"

typedef struct {
  uint64_t hash;      /* of fixed computations: libm on a grid, dgemm, dpotrf, dtrsm, and each
                         vector kernel of ours (study/run/vector_probe.h) */
  char blas_core[64]; /* OpenBLAS core name */
  int blas_threads;
  char cpu[128]; /* model name */
  bool native;   /* built with REGATTA_NATIVE */
} RgFingerprint;

/* About 5 ms. Not collective. */
PetscErrorCode rg_fingerprint(RgFingerprint *fingerprint);

#endif
