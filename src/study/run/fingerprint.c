/* The numeric fingerprint: a hash of libm, BLAS and our vector kernels on fixed numbers. */
#include "study/run/fingerprint.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "maths/blas.h"
#include "maths/lbfgsb.h"
#include "base/hash.h"
#include "gp/kernel/kernel.h"
#include "study/run/vector_probe.h"

enum { GRID = 512, ORDER = 48 };

/* Elementary functions on a grid that reaches into their tails. */
static void libm_values(double *out)
{
  for (int i = 0; i < GRID; i++) {
    double x = -30.0 + 60.0 * i / (GRID - 1);
    out[i] =
      exp(x) + log1p(x * x) + sin(3 * x) + erfc(x / 3) + pow(1.0 + x * x, 0.37) + lgamma(31 + x);
  }
}

/* Compute a kernel matrix, its Cholesky factor, a triangular solve and a product. `out`: 3 x
   ORDER^2. */
static PetscErrorCode algebra_values(double *out)
{
  double *K = out, *A = out + ORDER * ORDER, *B = A + ORDER * ORDER;
  double X[2 * ORDER], length_scale[2] = {0.3, 0.7};
  RgKernel kernel;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2 * ORDER; i++) X[i] = fmod(0.754877666 * (i + 1), 1.0);
  PetscCall(rg_kernel_create(RG_KERNEL_MATERN52, 2, true, length_scale, 1.3, &kernel));
  PetscCall(rg_kernel_matrix(&kernel, ORDER, X, K));
  PetscCall(rg_kernel_destroy(&kernel));
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, ORDER, ORDER, ORDER, 1.0, K, ORDER, K, ORDER,
              0.0, A, ORDER);
  for (int i = 0; i < ORDER; i++) K[i * (ORDER + 1)] += 1e-3;
  lapack_int info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', ORDER, K, ORDER);
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "dpotrf returned %d", (int)info);
  PetscCall(PetscArraycpy(B, A, ORDER * ORDER));
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, ORDER, ORDER, 1.0,
              K, ORDER, B, ORDER);
  PetscFunctionReturn(0);
}

static void read_cpu_model(char *model, size_t size)
{
  char line[256];
  FILE *file = fopen("/proc/cpuinfo", "r");

  snprintf(model, size, "unknown");
  if (!file) return;
  while (fgets(line, sizeof(line), file)) {
    char *colon = strchr(line, ':');
    if (!colon || strncmp(line, "model name", 10)) continue;
    colon++;
    while (isspace((unsigned char)*colon)) colon++;
    colon[strcspn(colon, "\n")] = 0;
    snprintf(model, size, "%s", colon);
    break;
  }
  (void)fclose(file); /* opened for reading, so an error loses nothing */
}

PetscErrorCode rg_fingerprint(RgFingerprint *fingerprint)
{
  enum { LENGTH = GRID + 3 * ORDER * ORDER + 1 };
  double *values;
  uint64_t hash[2], probe;

  PetscFunctionBeginUser;
  memset(fingerprint, 0, sizeof(*fingerprint));
  PetscCall(PetscCalloc1(LENGTH, &values));
  libm_values(values);
  PetscCall(algebra_values(values + GRID));
  PetscCall(rg_vector_probe(&probe));
  memcpy(values + LENGTH - 1, &probe, sizeof(probe));
  rg_hash128(values, LENGTH * sizeof(double), hash);
  PetscCall(PetscFree(values));
  fingerprint->hash = hash[0];
  if (rg_lbfgsb_substitute()[0]) {
    rg_hash128(rg_lbfgsb_substitute(), strlen(rg_lbfgsb_substitute()), hash);
    fingerprint->hash ^= hash[0];
  }
  snprintf(fingerprint->blas_core, sizeof(fingerprint->blas_core), "%s", rg_blas_core());
  fingerprint->blas_threads = rg_blas_threads();
  read_cpu_model(fingerprint->cpu, sizeof(fingerprint->cpu));
#ifdef RG_NATIVE
  fingerprint->native = true;
#endif
  PetscFunctionReturn(0);
}
