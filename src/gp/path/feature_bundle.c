/* Several paths of the same random features. */
#include "gp/path/feature_bundle.h"
#include "base/grow.h"
#include "base/poll.h"
#include "maths/blas.h"
#include "base/room.h"
#include "maths/vector.h"
#include "gp/path/feature_path_internal.h"

#include <string.h>

#define BLOCK 128 /* points per block: their kernel values with the data stay in cache */

PetscErrorCode rg_feature_bundle_create(int dim, int features, RgFeatureBundle *bundle)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(bundle, sizeof *bundle));
  PetscCall(rg_feature_path_create(dim, features, &bundle->path));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_feature_bundle_destroy(RgFeatureBundle *bundle)
{
  PetscFunctionBeginUser;
  PetscCall(rg_feature_path_destroy(&bundle->path));
  PetscCall(RG_FREE(&bundle->weight, &bundle->alpha, &bundle->work));
  PetscCall(PetscMemzero(bundle, sizeof *bundle));
  PetscFunctionReturn(0);
}

static PetscErrorCode reserve(size_t size, size_t *room, double **array)
{
  return rg_room(size, 2 * size, room, array);
}

/* The features come with the first weights. */
static PetscErrorCode draw_weights(RgFeatureBundle *bundle, RgRandom *random)
{
  const RgFeaturePath *path = &bundle->path;
  const size_t M = (size_t)path->n;

  PetscFunctionBeginUser;
  PetscCall(reserve(M * bundle->count, &bundle->weight_room, &bundle->weight));
  memcpy(bundle->weight, path->weight, M * sizeof(double));
  for (int s = 1; s < bundle->count; s++) {
    double *weight = bundle->weight + s * M;

    rg_vector_normals(random, M, weight);
    rg_vector_ops()->multiply(path->n, path->amplitude, weight);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_feature_bundle_draw(RgFeatureBundle *bundle, RgPosterior *posterior, int count,
                                      const double *e, RgRandom *random)
{
  const RgVectorOps *ops = rg_vector_ops();
  RgFeaturePath *path = &bundle->path;
  const size_t M = (size_t)path->n;
  const double *x = posterior->X;
  double *r, *cosine = path->work;

  PetscFunctionBeginUser;
  bundle->count = count;
  PetscCall(rg_feature_path_draw(path, &posterior->kernel, random));
  PetscCall(draw_weights(bundle, random));
  PetscCall(reserve((size_t)posterior->n * count, &bundle->alpha_room, &bundle->alpha));
  PetscCall(rg_feature_path_reserve_alpha(path, posterior->n));
  r = bundle->alpha;
  for (int i = 0; i < posterior->n; i++, x += path->dim) {
    PetscCall(rg_poll());
    ops->turns(path->rows, rg_feature_path_rows(path, x), path->n, path->frequency, M, path->phase,
               cosine);
    ops->circle(path->n, cosine, cosine, NULL);
    for (int s = 0; s < count; s++, r++, e++) {
      *r =
        posterior->y[i] - posterior->mean - ops->dot(path->n, bundle->weight + s * M, cosine) - *e;
    }
  }
  PetscCall(rg_posterior_solve_many(posterior, count, bundle->alpha));
  path->mean = posterior->mean;
  path->posterior = posterior;
  PetscCall(rg_feature_bundle_select(bundle, 0));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_feature_bundle_select(RgFeatureBundle *bundle, int s)
{
  RgFeaturePath *path = &bundle->path;
  const size_t M = (size_t)path->n;

  PetscFunctionBeginUser;
  PetscCheck(s >= 0 && s < bundle->count, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Path %d of %d", s, bundle->count);
  memcpy(path->weight, bundle->weight + s * M, M * sizeof(double));
  for (int i = 0; i < path->posterior->n; i++) {
    path->alpha[i] = bundle->alpha[(size_t)i * bundle->count + s];
  }
  path->has_coarse = false;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_feature_bundle_screen(RgFeatureBundle *bundle, const RgPointProduct *product,
                                        int m, const double *Z, double *value)
{
  const RgPosterior *posterior = bundle->path.posterior;
  const size_t dim = (size_t)bundle->path.dim;
  const int n = posterior->n, count = bundle->count;

  PetscFunctionBeginUser;
  PetscCall(
    rg_feature_path_screen_weights(&bundle->path, product, count, bundle->weight, m, value));
  PetscCall(reserve((size_t)n * BLOCK, &bundle->work_room, &bundle->work));
  for (int first = 0; n && first < m; first += BLOCK) {
    int width = PetscMin(BLOCK, m - first);

    PetscCall(
      rg_kernel_cross(&posterior->kernel, n, posterior->X, width, Z + first * dim, bundle->work));
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, count, width, n, 1.0, bundle->alpha, count,
                bundle->work, width, 1.0, value + first, m);
  }
  PetscFunctionReturn(0);
}
