/* Acquisition functions of the upper confidence bounds of a list of contexts. */
#include "acquisition/context_ucb.h"

#include "acquisition/local_search.h"
#include "base/poll.h"
#include "gp/model/model.h"
#include "gp/model/surrogate.h"
#include "gp/posterior/exact/nearby.h"

#include <math.h>

#define VARIANCE_FLOOR 1e-10
/* Accuracy of interpolation between contexts: for a first look at raw points, while starts climb,
   and while the best of them climb. In one design coordinate there is no first look, since the best
   raw points lie on few hills; criteria that choose among contexts or slopes, and so have kinks,
   get more, and the end is on nodes to FINEST, because a query is often next to data, where U has
   kinks. In more coordinates, values need fewer nodes than slopes, and
   the end of a least U needs more than an average. */
#define FIRST 3e-3
#define FIRST_SLOPES 1e-3
#define ROUGH 3e-5
#define ROUGH_VALUES 1e-4
#define ROUGH_SLOPES 1e-5
#define ROUGH_KINKS 1e-8
#define FINE 1e-7
#define FINEST 1e-11
#define FINE_MINIMUM 1e-8
/* Up to this, and twice of it in one design coordinate, all contexts serve a criterion that costs
   more than U, so that nodes save little; in one coordinate they serve all criteria under a product
   kernel, whose hills next to data are many. */
#define FEW_DATA 64
#define ROUGH_NODES 96 /* largest number of nodes; beyond it the search uses none */
#define FINE_NODES 256
#define FINE_PRODUCT 32    /* the same limit for a product kernel, whose form costs no more */
#define SLOPE_ROUNDS 8     /* quasi-Newton rounds at the end, before those of the bundle method */
#define CONFIRM 1e-5       /* tolerated difference from all contexts, relative to max(1, |a|) */
#define NOISE_SHARE 0.0625 /* residual of a projection as a share of the noise variance, */
#define PROJECT_LEAST 1e-6 /* at least this share of k(x,x), */
#define PROJECT_MOST 1e-3  /* and at most this share */
/* With more than RG_LONG_DATA data a value at all contexts is dear. If ROUGH needs more than
   LONG_FEW nodes, the search takes up to LONG_NODES of LONG_ROUGH. The best starts climb on nodes
   of LONG_FINE. A slope of U by the context needs more nodes than U. */
#define LONG_FEW 64
#define LONG_NODES 400
#define LONG_ROUGH 1e-2
#define LONG_FINE 1e-5
#define LONG_ROUGH_SLOPES 3e-3
#define LONG_FINE_SLOPES 1e-6
#define LONG_ROUNDS 16    /* limit of rounds: a climb along a kink would go on for long */
#define LAST_CLIMB 6      /* limit of rounds of the last climb, on all contexts */
#define LONG_STEP 64      /* its first step is that of a search with 64 times the raw points */
#define LONG_CONFIRM 1e-3 /* replaces CONFIRM */
#define LONG_PROJECT 1e-2 /* a projection may leave the noise variance, at most this share */
#define NEAR_CONTEXTS 32  /* with more contexts than this, only data near them take part */
#define FINISH 40         /* approximate number of designs that the end of a search evaluates */

/* Whether the criterion is an average of U. */
static bool is_linear(const RgContextual *what)
{
  return what->criterion == rg_ucb_expectation && !what->mix &&
         !((const RgContextWeights *)what->closure)->measure;
}

/* Create U at all contexts, or at the nodes where there are some, which it takes over. */
static PetscErrorCode create(RgPosterior *posterior, int dim_x, double width,
                             const RgContextual *what, RgContextForm form, int designs,
                             const RgContextNodes *nodes, RgContextUcb *ucb)
{
  /* With nodes one matrix product serves all designs of a batch. */
  const size_t J = nodes->n > 0 ? RG_CONTEXT_BATCH : 1, M = (size_t)what->M * J;
  const size_t slopes = (size_t)what->n_slopes * (posterior->kernel.dim - dim_x) * J;
  const bool few = nodes->n > 0;

  *ucb = (RgContextUcb){.what = *what, .nodes = *nodes, .width = width};
  PetscCall(rg_context_posterior_create(posterior, dim_x, few ? nodes->n : what->M,
                                        few ? nodes->contexts : what->contexts,
                                        few ? 0 : what->n_slopes, form, designs, &ucb->posterior));
  PetscCall(rg_context_moments_create(&ucb->posterior, &ucb->moments));
  PetscCall(rg_context_moments_create(&ucb->posterior, &ucb->bar));
  PetscCall(PetscMalloc4(M, &ucb->u, slopes, &ucb->slope, M, &ucb->u_bar, slopes, &ucb->slope_bar));
  return PetscMalloc2(nodes->n * J, &ucb->node_u, nodes->n * J, &ucb->node_bar);
}

/* Create an average of U from nodes, which it takes over: the average of what is interpolated from
   them is a weighted average over the nodes alone. */
static PetscErrorCode create_weighted(RgPosterior *posterior, int dim_x, double width,
                                      const RgContextual *what, RgContextForm form, int designs,
                                      const RgContextNodes *nodes, RgContextUcb *ucb)
{
  const RgContextWeights *weights = what->closure;
  RgContextNodes owned = *nodes;
  RgContextWeights *own;
  double *each, *weight;

  PetscCall(PetscMalloc1(what->M, &each));
  PetscCall(PetscMalloc1(nodes->n, &weight));
  PetscCall(PetscNew(&own));
  for (int m = 0; m < what->M; m++)
    each[m] = weights->weight ? weights->weight[m] : 1.0 / weights->size;
  rg_context_nodes_pull(nodes, 1, each, NULL, weight);
  *own = (RgContextWeights){nodes->n, weight, NULL};
  const RgContextual at_nodes = {nodes->n, 0, nodes->contexts, rg_ucb_expectation, own, NULL};
  PetscCall(create(posterior, dim_x, width, &at_nodes, form, designs, &(RgContextNodes){0}, ucb));
  ucb->own = own;
  PetscCall(rg_context_nodes_destroy(&owned));
  return PetscFree(each);
}

PetscErrorCode rg_context_ucb_create(RgModel *model, double width, const RgContextual *what,
                                     RgContextForm form, int designs, RgContextUcb *ucb)
{
  return create(&model->posterior, model->domain->design.dim, width, what, form, designs,
                &(RgContextNodes){0}, ucb);
}

PetscErrorCode rg_context_ucb_destroy(RgContextUcb *ucb)
{
  PetscCall(rg_context_moments_destroy(&ucb->moments));
  PetscCall(rg_context_moments_destroy(&ucb->bar));
  PetscCall(PetscFree4(ucb->u, ucb->slope, ucb->u_bar, ucb->slope_bar));
  PetscCall(PetscFree2(ucb->node_u, ucb->node_bar));
  PetscCall(rg_context_posterior_destroy(&ucb->posterior));
  PetscCall(rg_context_nodes_destroy(&ucb->nodes));
  if (ucb->own) PetscCall(PetscFree(ucb->own->weight));
  return PetscFree(ucb->own);
}

/* Compute U and dU/dc of design j of the batch, at the contexts of the posterior. */
static void confidence_bounds(const RgContextUcb *ucb, int j, double *u)
{
  const int M = ucb->posterior.size, S = ucb->posterior.n_slopes, dim = ucb->posterior.dim_c;
  const double *mean = ucb->moments.mean + (size_t)j * M;
  const double *variance = ucb->moments.variance + (size_t)j * M;
  const double *mean_slope = ucb->moments.mean_slope + (size_t)j * S * dim;
  const double *variance_slope = ucb->moments.variance_slope + (size_t)j * S * dim;

  for (int m = 0; m < M; m++) {
    /* fmax would be slower. */
    const double v = variance[m] > VARIANCE_FLOOR ? variance[m] : VARIANCE_FLOOR;
    u[m] = mean[m] + ucb->width * sqrt(v);
  }
  for (int l = 0; l < S * dim; l++) {
    const double v = variance[M - S + l / dim];
    ucb->slope[l] = mean_slope[l];
    if (v > VARIANCE_FLOOR) ucb->slope[l] += ucb->width * variance_slope[l] / (2.0 * sqrt(v));
  }
}

/* Convert partial derivatives by U and dU/dc into partial derivatives by the moments. */
static void chain_rule(RgContextUcb *ucb, int j, const double *u_bar)
{
  const int M = ucb->posterior.size, S = ucb->posterior.n_slopes, dim = ucb->posterior.dim_c;
  const double *variance = ucb->moments.variance + (size_t)j * M;
  const double *variance_slope = ucb->moments.variance_slope + (size_t)j * S * dim;
  double *mean_bar = ucb->bar.mean + (size_t)j * M;
  double *variance_bar = ucb->bar.variance + (size_t)j * M;
  double *mean_slope_bar = ucb->bar.mean_slope + (size_t)j * S * dim;
  double *variance_slope_bar = ucb->bar.variance_slope + (size_t)j * S * dim;

  for (int m = 0; m < M; m++) {
    const bool flat = variance[m] <= VARIANCE_FLOOR;
    mean_bar[m] = u_bar[m];
    variance_bar[m] = flat ? 0.0 : u_bar[m] * ucb->width / (2.0 * sqrt(variance[m]));
  }
  for (int l = 0; l < S * dim; l++) {
    const int m = M - S + l / dim;
    const double v = variance[m], bar = ucb->slope_bar[l];
    mean_slope_bar[l] = bar;
    variance_slope_bar[l] = 0.0;
    if (v <= VARIANCE_FLOOR) continue;
    variance_slope_bar[l] = bar * ucb->width / (2.0 * sqrt(v));
    variance_bar[m] -= bar * ucb->width * variance_slope[l] / (4.0 * v * sqrt(v));
  }
}

/* Compute phi from u and slope, and its derivatives by them when the caller wants a gradient. */
static PetscErrorCode value_of(const RgContextUcb *ucb, bool gradient, const double *u,
                               const double *slope, double *value, double *u_bar, double *slope_bar)
{
  const RgContextual *what = &ucb->what;

  if (gradient) {
    PetscCall(PetscArrayzero(u_bar, what->M));
    PetscCall(PetscArrayzero(slope_bar, what->n_slopes * ucb->posterior.dim_c));
  }
  return what->criterion(what->closure, u, slope, value, gradient ? u_bar : NULL,
                         gradient ? slope_bar : NULL);
}

/* Evaluate the batch through the nodes. */
static PetscErrorCode batch_by_nodes(RgContextUcb *ucb, int J, bool gradient, double *value)
{
  const RgContextNodes *nodes = &ucb->nodes;
  const size_t M = (size_t)nodes->size, S = (size_t)nodes->slopes, N = (size_t)nodes->n;

  for (int j = 0; j < J; j++) confidence_bounds(ucb, j, ucb->node_u + j * N);
  rg_context_nodes_values(nodes, J, ucb->node_u, ucb->u, ucb->slope);
  for (int j = 0; j < J; j++)
    PetscCall(value_of(ucb, gradient, ucb->u + j * M, ucb->slope + j * S, &value[j],
                       ucb->u_bar + j * M, ucb->slope_bar + j * S));
  if (!gradient) return 0;
  rg_context_nodes_pull(nodes, J, ucb->u_bar, ucb->slope_bar, ucb->node_bar);
  for (int j = 0; j < J; j++) chain_rule(ucb, j, ucb->node_bar + j * N);
  return 0;
}

static PetscErrorCode batch(RgContextUcb *ucb, int J, const double *X, double *value,
                            double *gradient)
{
  ucb->posterior.values_only = !gradient;
  PetscCall(rg_context_posterior_predict(&ucb->posterior, J, X, &ucb->moments));
  if (ucb->nodes.n > 0) PetscCall(batch_by_nodes(ucb, J, gradient, value));
  for (int j = 0; j < J && ucb->nodes.n == 0; j++) {
    confidence_bounds(ucb, j, ucb->u);
    PetscCall(value_of(ucb, gradient, ucb->u, ucb->slope, &value[j], ucb->u_bar, ucb->slope_bar));
    if (gradient) chain_rule(ucb, j, ucb->u_bar);
  }
  if (gradient)
    PetscCall(rg_context_posterior_gradient(&ucb->posterior, J, X, &ucb->bar, gradient));
  return 0;
}

PetscErrorCode rg_context_ucb_function(void *closure, int m, const double *X, double *value,
                                       double *gradient)
{
  RgContextUcb *ucb = closure;
  const size_t dim = (size_t)ucb->posterior.dim_x;
  /* Work pair by pair, because a gradient needs the solutions that the values of the same
     designs left behind. */
  const int kept = rg_context_posterior_kept(&ucb->posterior);
  const int size =
    gradient && !ucb->posterior.is_product ? PetscMin(kept, RG_CONTEXT_BATCH) : RG_CONTEXT_BATCH;

  for (int begin = 0; begin < m; begin += size) {
    PetscCall(rg_poll());
    PetscCall(batch(ucb, PetscMin(size, m - begin), X + begin * dim, value + begin,
                    gradient ? gradient + begin * dim : NULL));
  }
  if (ucb->what.mix) ucb->what.mix(ucb->what.closure, m, (int)dim, value, gradient);
  return 0;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Whether data are so many that values at all contexts are dear. */
static bool is_long(const RgModel *model)
{
  return model->posterior.n > RG_LONG_DATA;
}

static bool has_one_coordinate(const RgModel *model)
{
  return model->domain->design.dim == 1;
}

/* Whether climbs are those for kinks, in several coordinates: of a least U, a steepest slope with
   its gradient, or a worst case over a set of distributions. */
static bool climbs_along_kinks(const RgModel *model, const RgContextualOptions *options,
                               const RgContextual *what, const RgSearch *search)
{
  const bool steepest = what->criterion == rg_ucb_penalised && what->n_slopes &&
                        !((const RgContextPenalised *)what->closure)->flat_penalty;

  return (steepest || what->criterion == rg_ucb_minimum || options->few_first) &&
         !has_one_coordinate(model) && !is_long(model) &&
         search->options->local_search == RG_LOCAL_SEARCH_BATCHED;
}

/* Use all contexts. */
static PetscErrorCode acquire_listed(RgModel *model, const RgContextualOptions *options,
                                     const RgContextual *exact, const RgContextual *few,
                                     const RgSearch *search, RgQuery *query, double *value,
                                     RgFailure *failure)
{
  RgContextUcb ucb, coarse;
  RgScreen screen = {.function = rg_context_ucb_function,
                     .closure = &coarse,
                     .kinks = climbs_along_kinks(model, options, exact, search),
                     .rounds = exact->n_slopes ? SLOPE_ROUNDS : 0};
  const int most = search->options->raw_samples;
  bool screened = !few || few->M < exact->M;

  if (screened) {
    PetscCall(rg_context_ucb_create(model, options->width, exact, RG_CONTEXT_ROUGH, most, &coarse));
    if (!rg_context_posterior_is_reduced(&coarse.posterior)) {
      PetscCall(rg_context_ucb_destroy(&coarse));
      screened = few;
      if (few)
        PetscCall(
          rg_context_ucb_create(model, options->width, few, RG_CONTEXT_ROUGH, most, &coarse));
    }
  }
  PetscCall(rg_context_ucb_create(model, options->width, exact, RG_CONTEXT_EXACT,
                                  screened ? FINISH : most, &ucb));
  if (!screened) screen.closure = &ucb;
  PetscCall(rg_acquire_screened(model->domain, rg_context_ucb_function, &ucb, &screen, search,
                                query, value, failure));
  if (screened) PetscCall(rg_context_ucb_destroy(&coarse));
  return rg_context_ucb_destroy(&ucb);
}

/* Whether the data near a design may do. The noise bounds the condition of their matrix, and one
   context coordinate orders them. */
static bool may_be_near(const RgModel *model)
{
  const RgPosterior *posterior = &model->posterior;
  const double least = PROJECT_LEAST * rg_kernel_diagonal(&posterior->kernel);

  return is_long(model) && model->domain->context.dim == 1 && rg_posterior_has_factor(posterior) &&
         posterior->noise_variance >= least;
}

/* How U is interpolated: under `posterior`, to `tolerance`, from at most `most` nodes. */
typedef struct {
  RgPosterior *posterior;
  bool near; /* with more than NEAR_CONTEXTS nodes only data near a design take part */
  double tolerance;
  int most;
} Interpolated;

/* `what`, interpolated where few nodes suffice; *found reports whether they do. */
static PetscErrorCode create_with_nodes(const RgModel *model, const RgContextualOptions *options,
                                        const RgContextual *what, const Interpolated *how,
                                        bool *found, RgContextUcb *ucb)
{
  const int dim_x = model->domain->design.dim;
  RgContextNodes nodes;
  int most = PetscMin(how->most, what->M / 2);

  if (options->nodes > 0) most = PetscMin(most, options->nodes);
  PetscCall(rg_context_nodes_create(&how->posterior->kernel, dim_x, what->M, what->contexts,
                                    what->n_slopes, how->tolerance, most, &nodes));
  *found = nodes.n > 0;
  if (*found)
    PetscCall((is_linear(what) ? create_weighted : create)(
      how->posterior, dim_x, options->width, what,
      how->near && nodes.n > NEAR_CONTEXTS ? RG_CONTEXT_NEAR : RG_CONTEXT_PAIRS, 1, &nodes, ucb));
  return 0;
}

/* Residual that a projection may leave: a share of the noise, within bounds. */
static double projection_tolerance(const RgModel *model)
{
  const double noise =
    model->posterior.noise_variance / rg_kernel_diagonal(&model->posterior.kernel);

  if (is_long(model)) return fmin(fmax(noise, PROJECT_LEAST), LONG_PROJECT);
  return fmin(fmax(NOISE_SHARE * noise, PROJECT_LEAST), PROJECT_MOST);
}

/* The function that a search on nodes begins with. */
typedef struct {
  bool projects, gains; /* gains: a projection is cheaper than the full posterior */
  bool has_first;       /* `first` exists */
  RgPosterior projected;
  RgContextUcb ucb, first;
} Rough;

static double rough_tolerance(const RgModel *model, const RgContextual *what)
{
  const bool kinks = !is_linear(what) && what->criterion != rg_ucb_minimum;

  if (has_one_coordinate(model)) return kinks ? ROUGH_KINKS : ROUGH;
  return what->n_slopes ? ROUGH_SLOPES : ROUGH_VALUES;
}

/* Nodes if possible, else `few`, else all contexts, each under a projection if one exists. near:
   from near data where nodes are many. */
static PetscErrorCode rough_create(RgModel *model, const RgContextualOptions *options,
                                   const RgContextual *exact, const RgContextual *few, bool near,
                                   Rough *rough)
{
  RgPosterior *posterior = &model->posterior;
  bool found;

  PetscCall(rg_posterior_project(posterior, projection_tolerance(model), &rough->projected,
                                 &rough->projects));
  if (rough->projects) posterior = &rough->projected;
  const RgContextual *what = few && options->few_first ? few : exact;
  const bool dear = is_long(model);
  Interpolated how = {posterior, near, rough_tolerance(model, what), dear ? LONG_FEW : ROUGH_NODES};
  PetscCall(create_with_nodes(model, options, what, &how, &found, &rough->ucb));
  how.tolerance = what->n_slopes ? LONG_ROUGH_SLOPES : LONG_ROUGH;
  how.most = few ? PetscMin(few->M, LONG_NODES) : LONG_NODES;
  if (!found && dear) PetscCall(create_with_nodes(model, options, what, &how, &found, &rough->ucb));
  what = few ? few : exact;
  if (!found)
    PetscCall(create(posterior, model->domain->design.dim, options->width, what,
                     near ? RG_CONTEXT_NEAR : RG_CONTEXT_PAIRS, 1, &(RgContextNodes){0},
                     &rough->ucb));
  rough->has_first = false;
  rough->gains = rough->projects || found || (few && few->M < exact->M);
  if (has_one_coordinate(model)) return 0;
  what = few && options->few_first ? few : exact;
  how = (Interpolated){posterior, near, what->n_slopes ? FIRST_SLOPES : FIRST,
                       PetscMin(rough->ucb.posterior.size - 1, ROUGH_NODES)};
  return create_with_nodes(model, options, what, &how, &rough->has_first, &rough->first);
}

static PetscErrorCode exact_value(RgModel *model, double width, const RgContextual *exact,
                                  const double *x, double *value)
{
  RgContextUcb ucb;

  PetscCall(rg_context_ucb_create(model, width, exact, RG_CONTEXT_PAIRS, 1, &ucb));
  PetscCall(rg_context_ucb_function(&ucb, 1, x, value, NULL));
  return rg_context_ucb_destroy(&ucb);
}

/* The value of `exact` at the query. If the search gave another value, climb on all contexts, in
   the given form. */
static PetscErrorCode confirm(RgModel *model, const RgContextualOptions *how,
                              const RgContextual *exact, RgContextForm form, double tolerance,
                              const RgSearch *search, double *x, double *value)
{
  RgMaximiserOptions options = *search->options;
  const bool kinks = climbs_along_kinks(model, how, exact, search);
  const RgLocalSearch ascend = kinks ? rg_local_search_bundle
                               : options.local_search == RG_LOCAL_SEARCH_LBFGSB
                                 ? rg_local_search_lbfgsb
                                 : rg_local_search_batched;
  const size_t dim = (size_t)model->domain->design.dim;
  const double given = *value;
  double *moved, climbed;
  RgContextUcb ucb;

  PetscCall(exact_value(model, how->width, exact, x, value));
  if (fabs(*value - given) <= tolerance * fmax(1.0, fabs(*value)) || !options.max_iterations)
    return 0;
  if (!kinks) options.max_iterations = PetscMin(options.max_iterations, LAST_CLIMB);
  if (is_long(model)) options.raw_samples *= LONG_STEP;
  PetscCall(PetscMalloc1(dim, &moved));
  PetscCall(PetscArraycpy(moved, x, dim));
  climbed = *value;
  PetscCall(rg_context_ucb_create(model, how->width, exact, form, FINISH, &ucb));
  PetscCall(ascend(&options, (int)dim, 1, moved, &climbed, rg_context_ucb_function, &ucb));
  PetscCall(rg_context_ucb_destroy(&ucb));
  if (form == RG_CONTEXT_NEAR) PetscCall(exact_value(model, how->width, exact, moved, &climbed));
  if (form != RG_CONTEXT_NEAR || climbed > *value) {
    PetscCall(PetscArraycpy(x, moved, dim));
    *value = climbed;
  }
  return PetscFree(moved);
}

/* Whether the kernel is a product of a part in x and a part in c. */
static PetscErrorCode find_product(const RgModel *model, bool *is_product)
{
  RgKernel left = {0}, right = {0};

  *is_product = rg_posterior_has_factor(&model->posterior);
  if (!*is_product) return 0;
  PetscCall(rg_kernel_split(&model->posterior.kernel, model->domain->design.dim, &left, &right,
                            is_product));
  if (!*is_product) return 0;
  PetscCall(rg_kernel_destroy(&left));
  return rg_kernel_destroy(&right);
}

static PetscErrorCode acquire_by_nodes(RgModel *model, const RgContextualOptions *options,
                                       const RgContextual *exact, const RgContextual *few,
                                       const RgSearch *search, RgQuery *query, double *value,
                                       RgFailure *failure)
{
  RgContextUcb end;
  Rough rough;
  RgMaximiserOptions limited = *search->options;
  RgSearch climbs = *search;
  const double tolerance = is_long(model) ? LONG_CONFIRM : CONFIRM;
  bool is_product, fewer;

  if (is_long(model)) limited.max_iterations = PetscMin(limited.max_iterations, LONG_ROUNDS);
  climbs.options = &limited;
  PetscCall(find_product(model, &is_product));
  PetscCall(rough_create(model, options, exact, few, !is_product && may_be_near(model), &rough));
  const bool near = rough.ucb.posterior.form == RG_CONTEXT_NEAR;
  const RgContextForm whole = near ? RG_CONTEXT_NEAR : RG_CONTEXT_EXACT;
  const bool finest = has_one_coordinate(model) && !options->few_first;
  const bool kinks = climbs_along_kinks(model, options, exact, search);
  Interpolated how = {&model->posterior, near, finest ? FINEST : FINE,
                      is_product ? FINE_PRODUCT : FINE_NODES};
  if (kinks && !exact->n_slopes) how.tolerance = FINE_MINIMUM;
  if (is_long(model) && !is_product) {
    how.tolerance = exact->n_slopes ? LONG_FINE_SLOPES : LONG_FINE;
    how.most = LONG_NODES;
  }
  const RgScreen screen = {.function = rg_context_ucb_function,
                           .closure = &rough.ucb,
                           .first = rough.has_first ? rg_context_ucb_function : NULL,
                           .first_closure = &rough.first,
                           .kinks = kinks,
                           .rounds = exact->n_slopes ? SLOPE_ROUNDS : 0};
  PetscCall(create_with_nodes(model, options, exact, &how, &fewer, &end));
  if (!fewer) PetscCall(rg_context_ucb_create(model, options->width, exact, whole, FINISH, &end));
  PetscCall(rg_acquire_screened(model->domain, rg_context_ucb_function, &end,
                                rough.gains ? &screen : NULL, &climbs, query, value, failure));
  PetscCall(rg_context_ucb_destroy(&end));
  PetscCall(rg_context_ucb_destroy(&rough.ucb));
  if (rough.has_first) PetscCall(rg_context_ucb_destroy(&rough.first));
  if (rough.projects) PetscCall(rg_posterior_destroy(&rough.projected));
  if ((fewer || near) && !failure->failed)
    PetscCall(confirm(model, options, exact, whole, tolerance, search, query->x, value));
  return 0;
}

/* Designs of a batch that depend on each other need one search throughout, because a coarse
   function would distort what the search learns from its batches. The nodes are accurate to FINE
   where the study sets how many may stand for the contexts. */
static PetscErrorCode acquire_mixed(RgModel *model, const RgContextualOptions *options,
                                    const RgContextual *exact, const RgSearch *search,
                                    RgQuery *query, double *value, RgFailure *failure)
{
  RgContextUcb ucb;
  bool found = false;

  const Interpolated how = {&model->posterior, false, FINE, FINE_NODES};
  if (options->nodes > 0) PetscCall(create_with_nodes(model, options, exact, &how, &found, &ucb));
  if (!found)
    PetscCall(rg_context_ucb_create(model, options->width, exact, RG_CONTEXT_EXACT,
                                    search->options->raw_samples, &ucb));
  PetscCall(rg_acquire_screened(model->domain, rg_context_ucb_function, &ucb, NULL, search, query,
                                value, failure));
  return rg_context_ucb_destroy(&ucb);
}

PetscErrorCode rg_acquire_contextual(RgModel *model, const RgContextualOptions *options,
                                     const RgContextual *exact, const RgContextual *few,
                                     const RgSearch *search, RgQuery *query, double *value,
                                     RgFailure *failure)
{
  /* Leave the search of a released program unchanged. */
  bool listed = options->nodes == 0 || search->options->local_search == RG_LOCAL_SEARCH_ADAM ||
                rg_space_is_finite(&model->domain->design);
  bool is_product = false;
  RgContextNodes nodes;

  if (exact->mix) return acquire_mixed(model, options, exact, search, query, value, failure);
  const int few_data = has_one_coordinate(model) ? 2 * FEW_DATA : FEW_DATA;
  /* A criterion of a method, none of those here, costs more than U. */
  const bool dear = exact->criterion != rg_ucb_expectation &&
                    exact->criterion != rg_ucb_penalised && exact->criterion != rg_ucb_minimum;
  listed = listed || (dear && model->posterior.n <= few_data &&
                      (has_one_coordinate(model) || !options->few_first));
  if (!listed) PetscCall(find_product(model, &is_product));
  if (is_product && has_one_coordinate(model) && model->posterior.n <= few_data) {
    listed = true;
  } else if (is_product) { /* would the search need many nodes? */
    PetscCall(rg_context_nodes_create(&model->posterior.kernel, model->domain->design.dim, exact->M,
                                      exact->contexts, 0, ROUGH,
                                      PetscMin(ROUGH_NODES, exact->M / 2), &nodes));
    listed = nodes.n == 0;
    PetscCall(rg_context_nodes_destroy(&nodes));
  }
  return (listed ? acquire_listed : acquire_by_nodes)(model, options, exact, few, search, query,
                                                      value, failure);
}

/* ---- criteria -------------------------------------------------------------------------------- */

PetscErrorCode rg_ucb_expectation(void *closure, const double *u, const double *slope,
                                  double *value, double *u_bar, double *slope_bar)
{
  const RgContextWeights *weights = closure;
  const RgMeasure *measure = weights->measure;
  const int n = weights->size;
  double sum = 0.0;

  if (measure) {
    if (u_bar) PetscCall(rg_measure_gradient(measure, n, u, weights->weight, value, u_bar));
    else PetscCall(rg_measure_value(measure, 1, n, u, weights->weight, value));
    return 0;
  }
  for (int m = 0; m < n; m++) {
    const double weight = weights->weight ? weights->weight[m] : 1.0 / n;
    sum += weight * u[m];
    if (u_bar) u_bar[m] = weight;
  }
  *value = sum;
  return 0;
}

PetscErrorCode rg_ucb_penalised(void *closure, const double *u, const double *slope, double *value,
                                double *u_bar, double *slope_bar)
{
  RgContextPenalised *penalised = closure;
  int steepest = 0, dim = penalised->dim_c;
  double largest = -1.0;

  for (int l = 0; l < penalised->n_slopes; l++) {
    double norm = 0.0;
    for (int k = l * dim; k < (l + 1) * dim; k++) norm += slope[k] * slope[k];
    norm = sqrt(norm);
    if (norm > largest) largest = norm, steepest = l;
  }
  PetscCall(rg_ucb_expectation(&penalised->centre, u, slope, value, u_bar, slope_bar));
  *value -= penalised->radius * largest;
  if (!slope_bar || penalised->flat_penalty || !(largest > 0.0)) return 0;
  for (int k = steepest * dim; k < (steepest + 1) * dim; k++)
    slope_bar[k] = -penalised->radius * slope[k] / largest;
  return 0;
}

PetscErrorCode rg_ucb_minimum(void *closure, const double *u, const double *slope, double *value,
                              double *u_bar, double *slope_bar)
{
  const int M = *(const int *)closure;
  int least = 0;

  for (int m = 1; m < M; m++)
    if (u[m] < u[least]) least = m;
  *value = u[least];
  if (u_bar) u_bar[least] = 1.0;
  return 0;
}
