/* Maxima of paths over the unit cube. The raw points of a search are a product: Sobol points in
   the first half of the coordinates times Sobol points in the second half. Features then take
   (rows + columns) M cosines instead of rows * columns * M. */
#include "regatta/acquire.h"
#include "acquisition/path_sampler_internal.h"
#include "base/inputs.h"
#include "gp/model/model.h"
#include "maths/design.h"

#include <math.h>
#include <string.h>

typedef struct {
  RgPointProduct of;
  double *left, *right; /* its X and Y */
} Product;

static PetscErrorCode product_create(int m, int dim, RgRandom *random, Product *p, double *Z)
{
  const int split = dim / 2, rest = dim - split, columns = (int)ceil(sqrt(m));
  const int rows = (m + columns - 1) / columns;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2((size_t)rows * split, &p->left, (size_t)columns * rest, &p->right));
  p->of = (RgPointProduct){split, rows, columns, p->left, p->right};
  PetscCall(rg_design_sobol(random, rows, split, p->left));
  PetscCall(rg_design_sobol(random, columns, rest, p->right));
  for (int i = 0; i < m; i++, Z += dim) {
    memcpy(Z, p->left + (size_t)(i / columns) * split, split * sizeof(double));
    memcpy(Z + split, p->right + (size_t)(i % columns) * rest, rest * sizeof(double));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode product_destroy(Product *p)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(p->left, p->right));
  PetscFunctionReturn(0);
}

/* One search: the bundle of paths, and the index of the path. */
typedef struct {
  RgFeatureBundle *features;
  const double *raw, *value; /* pathwise: raw points, and the values of this path at them */
} Search;

/* Raw points are compared in single precision; the search itself is exact. */
static PetscErrorCode path_function(void *closure, int m, const double *X, double *value,
                                    double *gradient)
{
  RgFeaturePath *path = &((Search *)closure)->features->path;

  PetscFunctionBeginUser;
  if (gradient) PetscCall(rg_feature_path_evaluate(path, m, X, value, gradient));
  else PetscCall(rg_feature_path_screen(path, m, X, value));
  PetscFunctionReturn(0);
}

static PetscErrorCode path_raw(void *closure, RgRandom *random, int m, double *Z, double *value)
{
  const Search *search = closure;
  RgFeaturePath *path = &search->features->path;
  Product p;

  PetscFunctionBeginUser;
  if (search->raw) {
    PetscCall(PetscArraycpy(Z, search->raw, (size_t)m * path->dim));
    PetscCall(PetscArraycpy(value, search->value, m));
    PetscFunctionReturn(0);
  }
  PetscCall(product_create(m, path->dim, random, &p, Z));
  PetscCall(rg_feature_path_screen_product(path, &p.of, m, Z, value));
  PetscCall(product_destroy(&p));
  PetscFunctionReturn(0);
}

/* Fill sampler->raw: m raw points, and the values of all paths at them. */
static PetscErrorCode screen_bundle(RgPathSampler *sampler, int count, int m, RgRandom *random)
{
  int dim = sampler->domain->design.dim;
  Product p;

  PetscFunctionBeginUser;
  PetscCall(rg_path_sampler_reserve((size_t)m * (dim + count), &sampler->raw_room, &sampler->raw));
  PetscCall(product_create(m, dim, random, &p, sampler->raw));
  PetscCall(rg_feature_bundle_screen(&sampler->features, &p.of, m, sampler->raw,
                                     sampler->raw + (size_t)m * dim));
  PetscCall(product_destroy(&p));
  PetscFunctionReturn(0);
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

/* Whether the raw points of a search are a product: not with integers or choices, whose designs
   the search chooses itself, and not under a warp. */
static bool takes_products(const RgPathSampler *sampler, const RgPosterior *posterior)
{
  const RgSpace *design = &sampler->domain->design;

  return !posterior->kernel.warp && design->dim > 1 && design->dim <= RG_SOBOL_MAX_DIM &&
         !rg_space_has_levels(design);
}

static PetscErrorCode search_path(RgPathSampler *sampler, const RgPosterior *posterior, int s,
                                  const RgSearch *search, Search *closure, RgFailure *failure)
{
  int dim = sampler->domain->design.dim;
  const bool product = takes_products(sampler, posterior);
  const RgScreen screen = {
    .function = path_function, .closure = closure, .raw = product ? path_raw : NULL};
  RgSearch with = *search;
  double *extra, *x = sampler->x + (size_t)s * dim;

  PetscFunctionBeginUser;
  PetscCall(rg_observed_starts(search, &with.n_extra, &extra));
  with.extra = extra;
  with.space = &sampler->domain->design;
  PetscCall(rg_maximise_box_screened(&with, dim, path_function, closure, &screen, x,
                                     &sampler->value[s], failure));
  PetscCall(rg_feature_path_evaluate(&sampler->features.path, 1, x, &sampler->value[s], NULL));
  PetscCall(PetscFree(extra));
  sampler->index[s] = -1;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_path_sampler_box(RgPathSampler *sampler, RgModel *model, int count,
                                   RgRandom *draws, const RgSearch *search, RgFailure *failure)
{
  const RgMaximiserOptions options = path_search(sampler, count, search->options);
  RgPosterior *posterior = &model->posterior;
  const int dim = sampler->domain->design.dim, m = options.raw_samples;
  const bool bundle = sampler->kind == RG_PATHS_PATHWISE;
  const bool shared = bundle && takes_products(sampler, posterior); /* number of raw points */
  RgSearch each = *search;
  Search closure = {.features = &sampler->features};

  PetscFunctionBeginUser;
  each.options = &options;
  if (bundle) {
    rg_path_sampler_check(sampler, posterior, failure);
    if (failure->failed) PetscFunctionReturn(0);
    PetscCall(rg_path_sampler_noise(sampler, posterior, count, draws));
    PetscCall(rg_feature_bundle_draw(&sampler->features, posterior, count, sampler->noise, draws));
    if (shared) PetscCall(screen_bundle(sampler, count, m, search->random));
  }
  for (int s = 0; s < count && !failure->failed; s++) {
    if (bundle) PetscCall(rg_feature_bundle_select(&sampler->features, s));
    else PetscCall(rg_path_sampler_rff(sampler, posterior, draws, failure));
    if (failure->failed) break;
    if (shared) {
      closure.raw = sampler->raw;
      closure.value = sampler->raw + (size_t)m * (dim + s);
    }
    PetscCall(search_path(sampler, posterior, s, &each, &closure, failure));
  }
  PetscFunctionReturn(0);
}
