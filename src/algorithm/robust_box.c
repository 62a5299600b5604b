/* A robustness measure of a posterior on boxes: nodes, predictions, surfaces to be searched. */
#include "algorithm/robust_box.h"

#include <math.h>
#include <string.h>

#include "base/poll.h"
#include "maths/law.h"
#include "robust/integral.h"

enum { POINTS = 1 << 16 }; /* number of (design, node) pairs in one prediction */

PetscErrorCode rg_robust_box_check(const RgTexts *law, const RgDomain *domain, RgPlace place,
                                   RgDiagnostics *diagnostics)
{
  const int dim = domain->context.dim;

  if (rg_space_is_finite(&domain->context)) return 0;
  if (!law->n && !domain->n_laws)
    rg_diagnostics_add(diagnostics, place,
                       "'law: auto' is the problem's law of the contexts, and this problem states "
                       "none; accepted are one law, or one for each of the %d coordinates",
                       dim);
  if (law->n && law->n != 1 && law->n != dim)
    rg_diagnostics_add(diagnostics, place,
                       "'law' has %d laws for %d context coordinates, accepted are 1 or %d", law->n,
                       dim, dim);
  for (int j = 0; j < law->n; j++)
    PetscCall(rg_law_check("law", law->values[j], place, diagnostics));
  return 0;
}

PetscErrorCode rg_robust_box_create(const RgAlgorithm *algorithm, const char *measure,
                                    const RgTexts *law, int levels_max, RgRobustBox *box)
{
  const RgDomain *domain = algorithm->setup.domain;

  PetscCall(rg_measure_create(measure, &box->measure));
  box->dim = domain->design.dim;
  box->dim_c = domain->context.dim;
  box->capacity = rg_space_is_finite(&domain->context) ? domain->context.size
                                                       : (int)lround(pow(levels_max, box->dim_c));
  PetscCall(PetscMalloc2((size_t)box->capacity * box->dim_c, &box->nodes, box->capacity, &box->p));
  PetscCall(PetscCalloc1(box->dim_c, &box->law));
  if (!rg_space_is_finite(&domain->context))
    PetscCall(rg_law_create_all(law->n ? law->n : domain->n_laws,
                                law->n ? law->values : domain->laws, box->dim_c, box->law));
  return rg_surrogate_create_model(algorithm, RG_INPUTS_BOTH, &box->model);
}

PetscErrorCode rg_robust_box_destroy(RgRobustBox *box)
{
  for (int j = 0; box->law && j < box->dim_c; j++) PetscCall(rg_law_destroy(&box->law[j]));
  PetscCall(PetscFree(box->law));
  PetscCall(PetscFree2(box->nodes, box->p));
  PetscCall(rg_measure_destroy(&box->measure));
  PetscCall(rg_prediction_destroy(&box->prediction));
  return rg_model_destroy(&box->model);
}

static double cell_probability(const RgDistribution *law, int levels, int i)
{
  const double below = i ? rg_distribution_cdf(law, (double)i / levels) : 0;
  const double above = i < levels - 1 ? rg_distribution_cdf(law, (i + 1.0) / levels) : 1;

  return above - below;
}

PetscErrorCode rg_robust_box_place(const RgDomain *domain, int levels, int evaluation,
                                   RgRobustBox *box)
{
  const RgSpace *context = &domain->context;

  if (rg_space_is_finite(context)) {
    box->n_nodes = context->size;
    memcpy(box->nodes, context->points, (size_t)context->size * box->dim_c * sizeof(double));
    memcpy(box->p, domain->context_prob, context->size * sizeof(double));
    return 0;
  }
  box->n_nodes = (int)lround(pow(levels, box->dim_c));
  for (int i = 0; i < box->n_nodes; i++) {
    rg_robust_node(box->dim_c, levels, i, box->nodes + (size_t)i * box->dim_c);
    box->p[i] = 1.0;
  }
  for (int j = 0; j < box->dim_c; j++) {
    /* the probabilities of the cells in coordinate j */
    RgDistribution law;
    PetscCall(rg_law_at(&box->law[j], evaluation, &law));
    for (int i = 0; i < box->n_nodes; i++)
      box->p[i] *= cell_probability(&law, levels,
                                    rg_robust_cell(levels, box->nodes[(size_t)i * box->dim_c + j]));
    PetscCall(rg_distribution_destroy(&law));
  }
  return 0;
}

/* ---- predictions ----------------------------------------------------------------------------- */

/* Posterior at all (design, node) pairs in native units, and its derivatives by the coordinates
   of the design. One block of memory. */
typedef struct {
  int m, n;                            /* designs, nodes */
  double *Z;                           /* m n x (dim + dim_c) */
  double *mean, *variance;             /* m n */
  double *bar;                         /* 2 m n: partial derivatives for rg_posterior_gradient */
  double *mean_slope, *variance_slope; /* m n x (dim + dim_c); NULL without gradient */
} Group;

/* Z (m n_nodes x (dim + dim_c)): every design with every node. */
static void join(const RgRobustBox *box, int m, const double *X, double *Z)
{
  const size_t n = (size_t)box->n_nodes, all = (size_t)box->dim + box->dim_c;

  for (size_t k = 0; k < m * n; k++) {
    memcpy(Z + k * all, X + k / n * box->dim, box->dim * sizeof(double));
    memcpy(Z + k * all + box->dim, box->nodes + k % n * box->dim_c, box->dim_c * sizeof(double));
  }
}

static PetscErrorCode group_create(RgRobustBox *box, int m, const double *X, bool slopes,
                                   Group *group)
{
  const int n = box->n_nodes, all = box->dim + box->dim_c;
  const size_t mn = (size_t)m * n;
  const double scale = box->model.scale;

  *group = (Group){.m = m, .n = n};
  PetscCall(PetscMalloc1(mn * (4 + (size_t)all * (slopes ? 3 : 1)), &group->mean));
  group->variance = group->mean + mn;
  group->bar = group->variance + mn;
  group->Z = group->bar + 2 * mn;
  join(box, m, X, group->Z);
  box->prediction.values_only = !slopes;
  PetscCall(rg_posterior_predict(&box->model.posterior, (int)mn, group->Z, group->mean,
                                 group->variance, &box->prediction));
  if (slopes) {
    group->mean_slope = group->Z + mn * all;
    group->variance_slope = group->mean_slope + mn * all;
    for (size_t k = 0; k < mn; k++) group->bar[k] = scale;
    PetscCall(rg_posterior_gradient(&box->model.posterior, (int)mn, group->Z, group->bar, NULL,
                                    &box->prediction, group->mean_slope));
    for (size_t k = 0; k < mn; k++) {
      group->bar[k] = 0;
      group->bar[mn + k] = scale * scale;
    }
    PetscCall(rg_posterior_gradient(&box->model.posterior, (int)mn, group->Z, group->bar,
                                    group->bar + mn, &box->prediction, group->variance_slope));
  }
  for (size_t k = 0; k < mn; k++) {
    group->mean[k] = group->mean[k] * scale + box->model.shift;
    group->variance[k] *= scale * scale;
  }
  return 0;
}

/* The designs that are taken at once, so that memory does not grow with their number. */
static int block_of(const RgRobustBox *box)
{
  return PetscMax(1, POINTS / box->n_nodes);
}

PetscErrorCode rg_robust_box_values(RgRobustBox *box, int m, const double *X, double *value,
                                    double *lower, double *upper)
{
  const int block = block_of(box);

  for (int i = 0; i < m; i += block) {
    PetscCall(rg_poll());
    const int n = PetscMin(block, m - i);
    Group group;
    PetscCall(group_create(box, n, X + (size_t)i * box->dim, false, &group));
    if (value)
      PetscCall(rg_measure_value(&box->measure, n, group.n, group.mean, box->p, value + i));
    if (lower || upper)
      PetscCall(rg_measure_credible_bounds(
        &box->measure, &(RgCredible){n, group.n, group.mean, group.variance, box->width}, box->p,
        lower ? lower + i : NULL, upper ? upper + i : NULL));
    PetscCall(PetscFree(group.mean));
  }
  return 0;
}

/* The surface after mean and variance have moved by `step` along coordinate j. Out: value (m);
   scratch: 2 m n. */
static PetscErrorCode moved(const RgRobustSurface *surface, const Group *group, int j, double step,
                            double *scratch, double *value)
{
  const RgRobustBox *box = surface->box;
  const size_t mn = (size_t)group->m * group->n, all = (size_t)box->dim + box->dim_c;
  double *mean = scratch, *variance = scratch + mn;

  for (size_t k = 0; k < mn; k++) mean[k] = group->mean[k] + step * group->mean_slope[k * all + j];
  if (!surface->upper)
    return rg_measure_value(&box->measure, group->m, group->n, mean, box->p, value);
  /* the deviation moves by its derivative, so that intervals are linear in the step */
  for (size_t k = 0; k < mn; k++) {
    const double sd = sqrt(group->variance[k]);
    const double change = sd > 0 ? step * group->variance_slope[k * all + j] / (2 * sd) : 0;
    const double next = fmax(sd + change, 0);
    variance[k] = next * next;
  }
  return rg_measure_credible_bounds(&box->measure,
                                    &(RgCredible){group->m, group->n, mean, variance, box->width},
                                    box->p, NULL, value);
}

static PetscErrorCode surface_block(const RgRobustSurface *surface, int m, const double *X,
                                    double *value, double *gradient)
{
  enum { UP, DOWN };
  RgRobustBox *box = surface->box;
  const double step = 1e-6;
  double *scratch, *side[2];
  Group group;

  PetscCall(group_create(box, m, X, true, &group));
  PetscCall(PetscMalloc3(2 * (size_t)m * group.n, &scratch, m, &side[UP], m, &side[DOWN]));
  PetscCall(moved(surface, &group, 0, 0, scratch, value));
  for (int j = 0; j < box->dim; j++) {
    PetscCall(moved(surface, &group, j, step, scratch, side[UP]));
    PetscCall(moved(surface, &group, j, -step, scratch, side[DOWN]));
    for (int i = 0; i < m; i++)
      gradient[(size_t)i * box->dim + j] = (side[UP][i] - side[DOWN][i]) / (2 * step);
  }
  PetscCall(PetscFree3(scratch, side[UP], side[DOWN]));
  return PetscFree(group.mean);
}

PetscErrorCode rg_robust_surface(void *closure, int m, const double *X, double *value,
                                 double *gradient)
{
  const RgRobustSurface *surface = closure;
  const size_t dim = (size_t)surface->box->dim;
  const int block = block_of(surface->box);

  if (!gradient)
    return rg_robust_box_values(surface->box, m, X, surface->upper ? NULL : value, NULL,
                                surface->upper ? value : NULL);
  for (int i = 0; i < m; i += block) {
    PetscCall(rg_poll());
    PetscCall(
      surface_block(surface, PetscMin(block, m - i), X + i * dim, value + i, gradient + i * dim));
  }
  return 0;
}

PetscErrorCode rg_robust_box_expected(RgRobustBox *box, const RgStream *stream, int count,
                                      int features, int m, const double *X, double *expected)
{
  RgPosterior *posterior = &box->model.posterior;
  const int n = posterior->n, dim = box->dim + box->dim_c;
  const size_t mn = (size_t)m * box->n_nodes;
  RgFeaturePath path;
  double *Z, *f, *value, *noise;

  PetscCall(PetscMalloc4(mn * dim, &Z, mn, &f, m, &value, PetscMax(n, 1), &noise));
  join(box, m, X, Z);
  PetscCall(PetscArrayzero(expected, m));
  PetscCall(rg_feature_path_create(dim, features, &path));
  for (int s = 0; s < count; s++) {
    RgRandom draw = rg_stream_at(stream, (uint64_t)s);
    PetscCall(rg_feature_path_draw(&path, &posterior->kernel, &draw));
    rg_random_normals(&draw, (size_t)n, noise);
    for (int i = 0; i < n; i++) noise[i] *= sqrt(posterior->noise_variance + posterior->jitter);
    PetscCall(rg_feature_path_condition_pathwise(&path, posterior, noise));
    PetscCall(rg_feature_path_evaluate(&path, (int)mn, Z, f, NULL));
    for (size_t k = 0; k < mn; k++) f[k] = f[k] * box->model.scale + box->model.shift;
    PetscCall(rg_measure_value(&box->measure, m, box->n_nodes, f, box->p, value));
    for (int i = 0; i < m; i++) expected[i] += value[i] / count;
  }
  PetscCall(rg_feature_path_destroy(&path));
  return PetscFree4(Z, f, value, noise);
}

PetscErrorCode rg_robust_variance(void *closure, int m, const double *C, double *value,
                                  double *gradient)
{
  const RgRobustLine *line = closure;
  RgRobustBox *box = line->box;
  const size_t all = (size_t)box->dim + box->dim_c;
  double *Z, *mean, *ones, *G;

  PetscCall(PetscMalloc4(m * all, &Z, m, &mean, m, &ones, m * all, &G));
  for (int i = 0; i < m; i++) {
    memcpy(Z + i * all, line->x, box->dim * sizeof(double));
    memcpy(Z + i * all + box->dim, C + (size_t)i * box->dim_c, box->dim_c * sizeof(double));
  }
  box->prediction.values_only = !gradient;
  PetscCall(rg_posterior_predict(&box->model.posterior, m, Z, mean, value, &box->prediction));
  if (gradient) {
    for (int i = 0; i < m; i++) {
      mean[i] = 0;
      ones[i] = 1;
    }
    PetscCall(rg_posterior_gradient(&box->model.posterior, m, Z, mean, ones, &box->prediction, G));
    for (int i = 0; i < m; i++)
      memcpy(gradient + (size_t)i * box->dim_c, G + i * all + box->dim,
             box->dim_c * sizeof(double));
  }
  return PetscFree4(Z, mean, ones, G);
}
