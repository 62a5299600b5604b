/* The numeric fingerprint: machines with equal fingerprints are promised equal bits. */
#ifndef RG_STUDY_RUN_FINGERPRINT_H
#define RG_STUDY_RUN_FINGERPRINT_H

#include "base/text.h"
#include "regatta/error.h"

typedef struct {
  /* A hash of what libm, dgemm, dpotrf, dtrsm and our vector kernels give on fixed numbers. */
  uint64_t hash;
  char blas_core[64]; /* name of the OpenBLAS core */
  int blas_threads;
  char cpu[128]; /* model name */
  bool native;   /* built with REGATTA_NATIVE */
} RgFingerprint;

/* Compute the fingerprint; takes about 5 ms. Not collective. */
PetscErrorCode rg_fingerprint(RgFingerprint *fingerprint);

#endif
