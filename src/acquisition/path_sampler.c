/* Paths drawn jointly from the posterior, and their maxima. */
#include "acquisition/path_sampler.h"
#include "base/grow.h"
#include "base/inputs.h"
#include "gp/model/model.h"
#include "gp/model/pending.h"
#include "maths/design.h"
#include "maths/vector.h"

#include <math.h>
#include <string.h>

#define EXACT_MOST 20000 /* the same limit for `paths: exact`: 3.2 GB */
#define TIE 1e-12        /* relative to max(1, |g|), as rg_argmax */

/* An array that grows. */
typedef struct {
  size_t room;
  double *at;
} Buffer;

struct RgPathSampler {
  const RgDomain *domain;
  RgPathOptions options;
  int kind;                 /* never auto */
  RgSetPaths *set;          /* finite designs; created by the first draw */
  int capacity;             /* expected number of evaluations */
  RgFeatureBundle features; /* paths of random features */
  Buffer raw;               /* boxes: raw points, and the values of all paths of a bundle at them */
  Buffer noise;             /* n x count: noise of the data */
  Buffer F;                 /* finite designs: N x count */
  Buffer y;                 /* finite designs: n outputs, model units */
  int count;                /* room for optima */
  int *index;
  double *x, *value;
};

const char *const rg_path_weights[] = {"normal", "uniform", NULL};
const char *const rg_path_kind_names[] = {"auto", "rff", "exact", "pathwise", NULL};

PetscErrorCode rg_path_options_check(const void *options, const RgDomain *domain, RgPlace place,
                                     RgDiagnostics *diagnostics)
{
  const RgPathOptions *paths = options;
  const RgSpace *design = &domain->design;

  if (paths->kind != RG_PATHS_EXACT) return 0;
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
  return 0;
}

PetscErrorCode rg_path_sampler_create(const RgDomain *domain, const RgPathOptions *options,
                                      int capacity, RgPathSampler **out)
{
  RgPathSampler *sampler;

  PetscCall(PetscNew(&sampler));
  sampler->domain = domain;
  sampler->options = *options;
  sampler->capacity = capacity;
  sampler->kind = options->kind;
  if (sampler->kind == RG_PATHS_AUTO && !rg_space_is_finite(&domain->design))
    sampler->kind = RG_PATHS_PATHWISE;
  PetscCall(rg_feature_bundle_create(domain->design.dim, options->features, &sampler->features));
  *out = sampler;
  return 0;
}

PetscErrorCode rg_path_sampler_destroy(RgPathSampler **sampler)
{
  if (!*sampler) return 0;
  PetscCall(rg_set_paths_destroy(&(*sampler)->set));
  PetscCall(rg_feature_bundle_destroy(&(*sampler)->features));
  PetscCall(
    RG_FREE(&(*sampler)->raw.at, &(*sampler)->noise.at, &(*sampler)->F.at, &(*sampler)->y.at));
  PetscCall(PetscFree3((*sampler)->index, (*sampler)->x, (*sampler)->value));
  return PetscFree(*sampler);
}

/* Make room for `size` numbers. What the buffer holds is lost if it grows. */
static PetscErrorCode reserve(size_t size, Buffer *buffer)
{
  return rg_room(size, 2 * size, &buffer->room, &buffer->at);
}

/* Fill sampler->noise (n x count): `count` draws of the noise of the n data. */
static PetscErrorCode draw_noise(RgPathSampler *sampler, const RgPosterior *posterior, int count,
                                 RgRandom *draws)
{
  size_t size = (size_t)posterior->n * count;
  double deviation = sqrt(posterior->noise_variance + posterior->jitter);

  PetscCall(reserve(size, &sampler->noise));
  rg_vector_normals(draws, size, sampler->noise.at);
  for (size_t i = 0; i < size; i++) sampler->noise.at[i] *= deviation;
  return 0;
}

/* failure: fewer features than the kernel has terms. */
static void check_features(const RgPathSampler *sampler, const RgPosterior *posterior,
                           RgFailure *failure)
{
  if (sampler->options.features < posterior->kernel.n_terms)
    rg_failure_set(failure, "paths of %d features for a kernel of %d terms",
                   sampler->options.features, posterior->kernel.n_terms);
}

/* Fill sampler->features: `count` pathwise paths that share their features. */
static PetscErrorCode draw_bundle(RgPathSampler *sampler, RgPosterior *posterior, int count,
                                  RgRandom *draws, RgFailure *failure)
{
  check_features(sampler, posterior, failure);
  if (failure->failed) return 0;
  PetscCall(draw_noise(sampler, posterior, count, draws));
  return rg_feature_bundle_draw(&sampler->features, posterior, count, sampler->noise.at, draws);
}

/* Fill sampler->features.path: a path over the unit cube, with weights drawn from their
   posterior. */
static PetscErrorCode draw_rff(RgPathSampler *sampler, const RgPosterior *posterior,
                               RgRandom *draws, RgFailure *failure)
{
  RgFeaturePath *path = &sampler->features.path;

  check_features(sampler, posterior, failure);
  if (failure->failed) return 0;
  PetscCall(rg_feature_path_draw(path, &posterior->kernel, draws));
  PetscCall(draw_noise(sampler, posterior, 1, draws));
  return rg_feature_path_condition_weights(path, posterior, sampler->noise.at, failure);
}

/* ---- boxes ---------------------------------------------------------------------------------- */

typedef struct {
  RgPointProduct of;
  double *left, *right; /* its X and Y */
} Product;

static PetscErrorCode product_create(int m, int dim, RgRandom *random, Product *p, double *Z)
{
  const int split = dim / 2, rest = dim - split, columns = (int)ceil(sqrt(m));
  const int rows = (m + columns - 1) / columns;

  PetscCall(PetscMalloc2((size_t)rows * split, &p->left, (size_t)columns * rest, &p->right));
  p->of = (RgPointProduct){split, rows, columns, p->left, p->right};
  PetscCall(rg_design_sobol(random, rows, split, p->left));
  PetscCall(rg_design_sobol(random, columns, rest, p->right));
  for (int i = 0; i < m; i++, Z += dim) {
    memcpy(Z, p->left + (size_t)(i / columns) * split, split * sizeof(double));
    memcpy(Z + split, p->right + (size_t)(i % columns) * rest, rest * sizeof(double));
  }
  return 0;
}

/* The closure of one search: the path that the bundle has selected. */
typedef struct {
  RgFeatureBundle *features;
  const double *raw, *value; /* pathwise: raw points, and the values of this path at them */
} Search;

/* Raw points are compared in single precision; the search itself is exact. */
static PetscErrorCode path_function(void *closure, int m, const double *X, double *value,
                                    double *gradient)
{
  RgFeaturePath *path = &((Search *)closure)->features->path;

  if (gradient) return rg_feature_path_evaluate(path, m, X, value, gradient);
  return rg_feature_path_screen(path, m, X, value);
}

static PetscErrorCode path_raw(void *closure, RgRandom *random, int m, double *Z, double *value)
{
  const Search *search = closure;
  RgFeaturePath *path = &search->features->path;
  Product p;

  if (search->raw) {
    PetscCall(PetscArraycpy(Z, search->raw, (size_t)m * path->dim));
    return PetscArraycpy(value, search->value, m);
  }
  PetscCall(product_create(m, path->dim, random, &p, Z));
  PetscCall(rg_feature_path_screen_product(path, &p.of, m, Z, value));
  return PetscFree2(p.left, p.right);
}

/* Search for the maximum of one of `count` paths. */
static RgMaximiserOptions path_search(const RgPathSampler *sampler, int count,
                                      const RgMaximiserOptions *maximiser)
{
  const RgPathOptions *options = &sampler->options;
  RgMaximiserOptions search = *maximiser;

  if (count > 1) {
    search.raw_samples = rg_path_raw_samples(sampler->domain->design.dim);
    search.restarts = RG_PATH_RESTARTS;
  }
  if (options->raw_samples >= 0) search.raw_samples = options->raw_samples;
  if (options->restarts >= 0) search.restarts = options->restarts;
  return search;
}

/* rg_path_sampler_draw on a box. */
static PetscErrorCode optima_on_box(RgPathSampler *sampler, RgModel *model, int count,
                                    RgRandom *draws, const RgSearch *search, RgFailure *failure)
{
  const RgMaximiserOptions options = path_search(sampler, count, search->options);
  RgPosterior *posterior = &model->posterior;
  const int dim = sampler->domain->design.dim, m = options.raw_samples;
  const bool bundle = sampler->kind == RG_PATHS_PATHWISE;
  /* The raw points of a search are a product, but not under a warp, nor with integers or choices,
     whose designs the search chooses itself. */
  const bool product = !posterior->kernel.warp && dim > 1 && dim <= RG_SOBOL_MAX_DIM &&
                       !rg_space_has_levels(&sampler->domain->design);
  const bool shared = bundle && product;
  RgSearch each = *search;
  Search closure = {.features = &sampler->features};
  const RgScreen screen = {
    .function = path_function, .closure = &closure, .raw = product ? path_raw : NULL};

  each.options = &options;
  if (bundle) PetscCall(draw_bundle(sampler, posterior, count, draws, failure));
  if (shared && !failure->failed) {
    /* raw points, and the values of all paths at them */
    Product p;
    PetscCall(reserve((size_t)m * (dim + count), &sampler->raw));
    PetscCall(product_create(m, dim, search->random, &p, sampler->raw.at));
    PetscCall(rg_feature_bundle_screen(&sampler->features, &p.of, m, sampler->raw.at,
                                       sampler->raw.at + (size_t)m * dim));
    PetscCall(PetscFree2(p.left, p.right));
  }
  for (int s = 0; s < count && !failure->failed; s++) {
    if (bundle) PetscCall(rg_feature_bundle_select(&sampler->features, s));
    else PetscCall(draw_rff(sampler, posterior, draws, failure));
    if (failure->failed) break;
    if (shared) {
      closure.raw = sampler->raw.at;
      closure.value = sampler->raw.at + (size_t)m * (dim + s);
    }
    double *x = sampler->x + (size_t)s * dim;
    RgQuery query = {.x = x};
    PetscCall(rg_acquire_screened(sampler->domain, path_function, &closure, &screen, &each, &query,
                                  &sampler->value[s], failure));
    PetscCall(rg_feature_path_evaluate(&sampler->features.path, 1, x, &sampler->value[s], NULL));
    sampler->index[s] = -1;
  }
  return 0;
}

/* ---- finite designs ------------------------------------------------------------------------- */

/* Take in the data of the model, and decide how to draw the next paths. */
static PetscErrorCode follow_model(RgPathSampler *sampler, const RgModel *model,
                                   const RgHistory *history, RgFailure *failure)
{
  const RgSpace *design = &sampler->domain->design;

  if (!sampler->set)
    PetscCall(rg_set_paths_create(design, &model->kernel, sampler->capacity, &sampler->set));
  if (sampler->kind == RG_PATHS_AUTO)
    sampler->kind = rg_set_paths_is_structured(sampler->set) || design->size <= RG_PATHS_EXACT_MAX
                      ? RG_PATHS_EXACT
                      : RG_PATHS_PATHWISE;
  PetscCall(reserve((size_t)history->n, &sampler->y));
  for (int i = 0; i < history->n; i++) sampler->y.at[i] = rg_model_units(model, history->y[i]);
  PetscCall(rg_set_paths_update(sampler->set, &model->kernel, model->noise_variance, model->mean,
                                history->n, history->index, sampler->y.at, failure));
  const RgObservations pending = rg_model_pending(model);
  if (!failure->failed)
    PetscCall(rg_set_paths_pend(sampler->set, pending.n, pending.index, pending.y, failure));
  return 0;
}

/* F: `count` paths of features at all points. bundle: pathwise paths that share their features;
   otherwise they are unconditioned unless the paths are rff. */
static PetscErrorCode features_on_set(RgPathSampler *sampler, RgPosterior *posterior, bool bundle,
                                      int count, RgRandom *draws, RgFailure *failure)
{
  const RgSpace *design = &sampler->domain->design;
  RgFeaturePath *path = &sampler->features.path;
  double *value;

  if (bundle) PetscCall(draw_bundle(sampler, posterior, count, draws, failure));
  PetscCall(PetscMalloc1(design->size, &value));
  for (int s = 0; s < count && !failure->failed; s++) {
    if (bundle) PetscCall(rg_feature_bundle_select(&sampler->features, s));
    else if (sampler->kind == RG_PATHS_RFF) PetscCall(draw_rff(sampler, posterior, draws, failure));
    else PetscCall(rg_feature_path_draw(path, &posterior->kernel, draws));
    if (design->kind == RG_SPACE_GRID && !bundle) {
      PetscCall(rg_feature_path_on_grid(path, design, count, sampler->F.at + s));
      continue;
    }
    PetscCall(rg_feature_path_evaluate(path, design->size, design->points, value, NULL));
    for (int i = 0; i < design->size; i++) sampler->F.at[(size_t)i * count + s] = value[i];
  }
  return PetscFree(value);
}

/* Find the maximum of every path over the allowed points: the lowest index that ties with it. */
static void scan_maxima(const RgPathSampler *sampler, int count, const unsigned char *excluded)
{
  int size = sampler->domain->design.size;

  for (int s = 0; s < count; s++) {
    sampler->value[s] = -INFINITY;
    sampler->index[s] = -1;
  }
  for (int i = 0; i < size; i++) {
    const double *f = sampler->F.at + (size_t)i * count;
    if (excluded && excluded[i]) continue;
    for (int s = 0; s < count; s++)
      sampler->value[s] = f[s] > sampler->value[s] ? f[s] : sampler->value[s];
  }
  for (int s = 0; s < count; s++) {
    const double *f = sampler->F.at + s;
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
  const bool bundle = rg_posterior_solves(&model->posterior); /* it has its own solver */
  RgPosterior *posterior = &model->posterior;

  if (!bundle) PetscCall(follow_model(sampler, model, history, failure));
  if (failure->failed) return 0;
  if (!bundle) posterior = rg_set_paths_posterior(sampler->set);
  PetscCall(reserve((size_t)design->size * count, &sampler->F));
  if (!bundle && sampler->kind == RG_PATHS_EXACT)
    PetscCall(rg_set_paths_draw(sampler->set, count, draws, sampler->F.at, failure));
  else PetscCall(features_on_set(sampler, posterior, bundle, count, draws, failure));
  if (failure->failed) return 0;
  if (!bundle && sampler->kind == RG_PATHS_PATHWISE) {
    PetscCall(draw_noise(sampler, posterior, count, draws));
    PetscCall(rg_set_paths_condition(sampler->set, count, sampler->noise.at, sampler->F.at));
  }
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
  return 0;
}

PetscErrorCode rg_path_sampler_draw(RgPathSampler *sampler, RgModel *model, int count,
                                    const unsigned char *excluded, RgRandom *draws,
                                    const RgSearch *search, RgOptima *optima, RgFailure *failure)
{
  PetscCheck(!rg_model_uses_context(model), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "paths are drawn over the design; the model has a context");
  if (count > sampler->count) {
    PetscCall(PetscFree3(sampler->index, sampler->x, sampler->value));
    PetscCall(PetscMalloc3(count, &sampler->index, (size_t)count * sampler->domain->design.dim,
                           &sampler->x, count, &sampler->value));
    sampler->count = count;
  }
  if (rg_space_is_finite(&sampler->domain->design))
    PetscCall(optima_on_set(sampler, model, search->history, count, excluded, draws, failure));
  else PetscCall(optima_on_box(sampler, model, count, draws, search, failure));
  *optima = (RgOptima){count, sampler->index, sampler->x, sampler->value};
  return 0;
}

PetscErrorCode rg_path_sampler_covariance(RgPathSampler *sampler, int count, const int *index,
                                          double *C)
{
  PetscCheck(sampler->set, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "Covariances are those of a finite design, after a draw");
  return rg_set_paths_covariance(sampler->set, count, index, C);
}
