/* Paths drawn jointly from the posterior, and their maxima; finite designs. */
#include "acquisition/path_sampler_internal.h"
#include "base/grow.h"
#include "gp/model/pending.h"
#include "maths/vector.h"

#include <math.h>

#define EXACT_MOST 20000 /* the same limit for `paths: exact`: 3.2 GB */
#define TIE 1e-12        /* relative to max(1, |g|), as rg_argmax */

const char *const rg_path_weights[] = {"normal", "uniform", NULL};
const char *const rg_path_kind_names[] = {"auto", "rff", "exact", "pathwise", NULL};

PetscErrorCode rg_path_options_check(const void *options, const RgDomain *domain, RgPlace place,
                                     RgDiagnostics *diagnostics)
{
  const RgPathOptions *paths = options;
  const RgSpace *design = &domain->design;

  PetscFunctionBeginUser;
  if (paths->kind != RG_PATHS_EXACT) PetscFunctionReturn(0);
  if (!rg_space_is_finite(design)) {
    rg_diagnostics_add(diagnostics, place,
                       "paths: 'exact' needs a finite design, and this one is a box; on a box: "
                       "auto, rff, pathwise");
  } else if (design->kind != RG_SPACE_GRID && design->size > EXACT_MOST) {
    rg_diagnostics_add(diagnostics, place,
                       "paths: 'exact' factors a matrix of the %d points of the design, at most "
                       "%d; larger sets: auto, rff, pathwise",
                       design->size, EXACT_MOST);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_path_sampler_create(const RgDomain *domain, const RgPathOptions *options,
                                      int capacity, RgPathSampler **out)
{
  RgPathSampler *sampler;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&sampler));
  sampler->domain = domain;
  sampler->options = *options;
  sampler->capacity = capacity;
  sampler->kind = options->kind;
  if (sampler->kind == RG_PATHS_AUTO && !rg_space_is_finite(&domain->design))
    sampler->kind = RG_PATHS_PATHWISE;
  PetscCall(rg_feature_bundle_create(domain->design.dim, options->features, &sampler->features));
  *out = sampler;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_path_sampler_destroy(RgPathSampler **sampler)
{
  PetscFunctionBeginUser;
  if (!*sampler) PetscFunctionReturn(0);
  PetscCall(rg_set_paths_destroy(&(*sampler)->set));
  PetscCall(rg_feature_bundle_destroy(&(*sampler)->features));
  PetscCall(RG_FREE(&(*sampler)->raw, &(*sampler)->noise, &(*sampler)->F, &(*sampler)->y));
  PetscCall(PetscFree3((*sampler)->index, (*sampler)->x, (*sampler)->value));
  PetscCall(PetscFree(*sampler));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_path_sampler_reserve(size_t size, size_t *room, double **array)
{
  PetscFunctionBeginUser;
  if (size <= *room) PetscFunctionReturn(0);
  PetscCall(PetscFree(*array));
  PetscCall(PetscMalloc1(2 * size, array));
  *room = 2 * size;
  PetscFunctionReturn(0);
}

static PetscErrorCode reserve_optima(RgPathSampler *sampler, int count)
{
  PetscFunctionBeginUser;
  if (count <= sampler->count) PetscFunctionReturn(0);
  PetscCall(PetscFree3(sampler->index, sampler->x, sampler->value));
  PetscCall(PetscMalloc3(count, &sampler->index, (size_t)count * sampler->domain->design.dim,
                         &sampler->x, count, &sampler->value));
  sampler->count = count;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_path_sampler_noise(RgPathSampler *sampler, const RgPosterior *posterior,
                                     int count, RgRandom *draws)
{
  size_t size = (size_t)posterior->n * count;
  double deviation = sqrt(posterior->noise_variance + posterior->jitter);

  PetscFunctionBeginUser;
  PetscCall(rg_path_sampler_reserve(size, &sampler->noise_room, &sampler->noise));
  rg_vector_normals(draws, size, sampler->noise);
  for (size_t i = 0; i < size; i++) sampler->noise[i] *= deviation;
  PetscFunctionReturn(0);
}

void rg_path_sampler_check(const RgPathSampler *sampler, const RgPosterior *posterior,
                           RgFailure *failure)
{
  if (sampler->options.features < posterior->kernel.n_terms)
    rg_failure_set(failure, "paths of %d features for a kernel of %d terms",
                   sampler->options.features, posterior->kernel.n_terms);
}

PetscErrorCode rg_path_sampler_rff(RgPathSampler *sampler, const RgPosterior *posterior,
                                   RgRandom *draws, RgFailure *failure)
{
  RgFeaturePath *path = &sampler->features.path;

  PetscFunctionBeginUser;
  rg_path_sampler_check(sampler, posterior, failure);
  if (failure->failed) PetscFunctionReturn(0);
  PetscCall(rg_feature_path_draw(path, &posterior->kernel, draws));
  PetscCall(rg_path_sampler_noise(sampler, posterior, 1, draws));
  PetscCall(rg_feature_path_condition_weights(path, posterior, sampler->noise, failure));
  PetscFunctionReturn(0);
}

/* ---- finite designs
   --------------------------------------------------------------------------- */

/* Take in the data of the model, and decide how to draw the next paths. */
static PetscErrorCode follow_model(RgPathSampler *sampler, const RgModel *model,
                                   const RgHistory *history, RgFailure *failure)
{
  const RgSpace *design = &sampler->domain->design;

  PetscFunctionBeginUser;
  if (!sampler->set)
    PetscCall(rg_set_paths_create(design, &model->kernel, sampler->capacity, &sampler->set));
  if (sampler->kind == RG_PATHS_AUTO)
    sampler->kind = rg_set_paths_is_structured(sampler->set) || design->size <= RG_PATHS_EXACT_MAX
                      ? RG_PATHS_EXACT
                      : RG_PATHS_PATHWISE;
  PetscCall(rg_path_sampler_reserve((size_t)history->n, &sampler->y_room, &sampler->y));
  for (int i = 0; i < history->n; i++) sampler->y[i] = rg_model_units(model, history->y[i]);
  PetscCall(rg_set_paths_update(sampler->set, &model->kernel, model->noise_variance, model->mean,
                                history->n, history->index, sampler->y, failure));
  const RgObservations pending = rg_model_pending(model);
  if (!failure->failed)
    PetscCall(rg_set_paths_pend(sampler->set, pending.n, pending.index, pending.y, failure));
  PetscFunctionReturn(0);
}

/* F: `count` paths of features at all points; unconditioned unless the paths are rff. */
static PetscErrorCode features_on_set(RgPathSampler *sampler, int count, RgRandom *draws,
                                      RgFailure *failure)
{
  const RgSpace *design = &sampler->domain->design;
  RgPosterior *posterior = rg_set_paths_posterior(sampler->set);
  RgFeaturePath *path = &sampler->features.path;
  double *value;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(design->size, &value));
  for (int s = 0; s < count && !failure->failed; s++) {
    if (sampler->kind == RG_PATHS_RFF)
      PetscCall(rg_path_sampler_rff(sampler, posterior, draws, failure));
    else PetscCall(rg_feature_path_draw(path, &posterior->kernel, draws));
    if (design->kind == RG_SPACE_GRID) {
      PetscCall(rg_feature_path_on_grid(path, design, count, sampler->F + s));
      continue;
    }
    PetscCall(rg_feature_path_evaluate(path, design->size, design->points, value, NULL));
    for (int i = 0; i < design->size; i++) sampler->F[(size_t)i * count + s] = value[i];
  }
  PetscCall(PetscFree(value));
  PetscFunctionReturn(0);
}

/* F from a posterior with its own solver: pathwise paths that share their features. */
static PetscErrorCode bundle_on_set(RgPathSampler *sampler, RgPosterior *posterior, int count,
                                    RgRandom *draws, RgFailure *failure)
{
  const RgSpace *design = &sampler->domain->design;
  RgFeatureBundle *bundle = &sampler->features;
  double *value;

  PetscFunctionBeginUser;
  rg_path_sampler_check(sampler, posterior, failure);
  if (failure->failed) PetscFunctionReturn(0);
  PetscCall(rg_path_sampler_reserve((size_t)design->size * count, &sampler->F_room, &sampler->F));
  PetscCall(rg_path_sampler_noise(sampler, posterior, count, draws));
  PetscCall(rg_feature_bundle_draw(bundle, posterior, count, sampler->noise, draws));
  PetscCall(PetscMalloc1(design->size, &value));
  for (int s = 0; s < count; s++) {
    PetscCall(rg_feature_bundle_select(bundle, s));
    PetscCall(rg_feature_path_evaluate(&bundle->path, design->size, design->points, value, NULL));
    for (int i = 0; i < design->size; i++) sampler->F[(size_t)i * count + s] = value[i];
  }
  PetscCall(PetscFree(value));
  PetscFunctionReturn(0);
}

static PetscErrorCode draw_on_set(RgPathSampler *sampler, int count, RgRandom *draws,
                                  RgFailure *failure)
{
  PetscFunctionBeginUser;
  PetscCall(rg_path_sampler_reserve((size_t)sampler->domain->design.size * count, &sampler->F_room,
                                    &sampler->F));
  if (sampler->kind == RG_PATHS_EXACT) {
    PetscCall(rg_set_paths_draw(sampler->set, count, draws, sampler->F, failure));
    PetscFunctionReturn(0);
  }
  PetscCall(features_on_set(sampler, count, draws, failure));
  if (sampler->kind == RG_PATHS_PATHWISE && !failure->failed) {
    PetscCall(rg_path_sampler_noise(sampler, rg_set_paths_posterior(sampler->set), count, draws));
    PetscCall(rg_set_paths_condition(sampler->set, count, sampler->noise, sampler->F));
  }
  PetscFunctionReturn(0);
}

/* Maximum of every path over the allowed points, and the lowest index that ties with it. */
static void scan_maxima(const RgPathSampler *sampler, int count, const unsigned char *excluded)
{
  int size = sampler->domain->design.size;

  for (int s = 0; s < count; s++) {
    sampler->value[s] = -INFINITY;
    sampler->index[s] = -1;
  }
  for (int i = 0; i < size; i++) {
    const double *f = sampler->F + (size_t)i * count;
    if (excluded && excluded[i]) continue;
    for (int s = 0; s < count; s++)
      sampler->value[s] = f[s] > sampler->value[s] ? f[s] : sampler->value[s];
  }
  for (int s = 0; s < count; s++) {
    const double *f = sampler->F + s;
    double floor = sampler->value[s] - TIE * fmax(1.0, fabs(sampler->value[s]));
    int i = 0;
    while (i < size && !(f[(size_t)i * count] >= floor && !(excluded && excluded[i]))) i++;
    if (i == size) continue;
    sampler->index[s] = i;
    sampler->value[s] = f[(size_t)i * count];
  }
}

static PetscErrorCode optima_on_set(RgPathSampler *sampler, RgModel *model,
                                    const RgHistory *history, int count,
                                    const unsigned char *excluded, RgRandom *draws,
                                    RgFailure *failure)
{
  const RgSpace *design = &sampler->domain->design;

  PetscFunctionBeginUser;
  if (rg_posterior_solves(&model->posterior)) {
    PetscCall(bundle_on_set(sampler, &model->posterior, count, draws, failure));
  } else {
    PetscCall(follow_model(sampler, model, history, failure));
    if (failure->failed) PetscFunctionReturn(0);
    PetscCall(draw_on_set(sampler, count, draws, failure));
  }
  if (failure->failed) PetscFunctionReturn(0);
  scan_maxima(sampler, count, excluded);
  for (int s = 0; s < count; s++) {
    int i = sampler->index[s];
    if (i < 0) {
      rg_failure_set(failure, "a path over %d points has no finite maximum", design->size);
      break;
    }
    PetscCall(PetscArraycpy(sampler->x + (size_t)s * design->dim,
                            design->points + (size_t)i * design->dim, design->dim));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_path_sampler_draw(RgPathSampler *sampler, RgModel *model, int count,
                                    const unsigned char *excluded, RgRandom *draws,
                                    const RgSearch *search, RgOptima *optima, RgFailure *failure)
{
  PetscFunctionBeginUser;
  PetscCheck(!rg_model_uses_context(model), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "paths are drawn over the design; the model has a context");
  PetscCall(reserve_optima(sampler, count));
  if (rg_space_is_finite(&sampler->domain->design))
    PetscCall(optima_on_set(sampler, model, search->history, count, excluded, draws, failure));
  else PetscCall(rg_path_sampler_box(sampler, model, count, draws, search, failure));
  *optima = (RgOptima){count, sampler->index, sampler->x, sampler->value};
  PetscFunctionReturn(0);
}

PetscErrorCode rg_path_sampler_covariance(RgPathSampler *sampler, int count, const int *index,
                                          double *C)
{
  PetscFunctionBeginUser;
  PetscCheck(sampler->set, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "Covariances are those of a finite design, after a draw");
  PetscCall(rg_set_paths_covariance(sampler->set, count, index, C));
  PetscFunctionReturn(0);
}
