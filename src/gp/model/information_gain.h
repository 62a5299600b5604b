/* Maximum information gain of a finite set, gamma_t = max over t points A of I(y_A; f_A) = 1/2
   log det(I + K_A / noise). It lies between the gain of greedy selection and the smallest of
   four upper bounds. Source: irgp_ucb 7.3 (Srinivas et al. 2010, sections 2 and 5). */
#ifndef RG_GP_MODEL_INFORMATION_GAIN_H
#define RG_GP_MODEL_INFORMATION_GAIN_H

#include "regatta/domain.h"
#include "gp/kernel/kernel.h"

/* Upper bounds of gamma_t. v = k(x,x), noise = noise variance, G_k = gain of k greedy points. */
typedef enum {
  RG_GAIN_HADAMARD,    /* t/2 log(1 + v/noise) */
  RG_GAIN_SUBMODULAR,  /* G_t / (1 - 1/e), the guarantee of greedy selection; implied by the next
                          bound and never below it */
  RG_GAIN_CERTIFICATE, /* minimum over k of G_k + t/2 log(1 + max_x sd_k^2(x)/noise) */
  RG_GAIN_INTERLACING  /* 1/2 sum_{i<=t} log(1 + lambda_i/noise), lambda_1 >= lambda_2 >= .. the
                          eigenvalues of K: holds when no point is chosen twice */
} RgGainBound;

extern const char *const rg_gain_bound_names[]; /* NULL-terminated */

/* gamma_1 .. gamma_n. All arrays n long, entry t - 1 for t points; owned. */
typedef struct {
  int n;
  int *index;         /* greedy points in their order */
  double *gain;       /* G_t: a lower bound of gamma_t */
  double *upper;      /* smallest upper bound */
  RgGainBound *bound; /* the bound that attains it; among equal ones the first in the list above */
} RgInformationGain;

/* Greedy selection: the point of largest posterior variance, the lowest index within 1e-10 v of it.
   A domain without replacement gives every point once (n <= number of points) and admits the
   interlacing bound: from the eigenvalues of the factors on a product grid with a kernel of one
   term that factors over coordinates, else from a dense matrix of at most 3000 points, else not.
   domain: finite design (and contexts). noise_variance > 0. Errors: PETSC_ERR_ARG_OUTOFRANGE.
   O(N n^2), dense eigenvalues O(N^3). */
PetscErrorCode rg_information_gain_create(const RgDomain *domain, const RgKernel *kernel,
                                          double noise_variance, int n, RgInformationGain *gain);
PetscErrorCode rg_information_gain_destroy(RgInformationGain *gain);

#endif
