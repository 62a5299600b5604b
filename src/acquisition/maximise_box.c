/* Multi-start maximisation over a box: raw points, starts, local search. */
#include "acquisition/levels.h"
#include "acquisition/ranking.h"
#include "maths/design.h"
#include "maths/normal.h"
#include "regatta/acquire.h"

#include <math.h>
#include <string.h>

static const char *const selections[] = {"best", "boltzmann", NULL};
static const char *const local_searches[] = {"batched", "lbfgsb", "adam", NULL};

const RgParam rg_maximiser_params[] = {
  RG_INT(
    "raw_samples", RgMaximiserOptions, raw_samples, "1024", 1, 1e7, "",
    "scrambled Sobol points of the unit cube evaluated in one batch, fresh at every iteration"),
  RG_INT("restarts", RgMaximiserOptions, restarts, "50", 1, 1e5, "",
         "starts of the local search, drawn from the raw points by `selection`"),
  RG_INT("incumbents", RgMaximiserOptions, incumbents, "5", 0, 1e5, "",
         "best observed inputs added to the raw points"),
  RG_INT("perturbations", RgMaximiserOptions, perturbations, "20", 0, 1e5, "",
         "Gaussian perturbations of the best observed input added to the raw points"),
  RG_REAL(
    "perturbation", RgMaximiserOptions, perturbation, "0.05", RG_POSITIVE, 1.0, "",
    "largest deviation of the perturbations, unit cube; the others fall geometrically to a 25th"),
  RG_CHOICE(
    "selection", RgMaximiserOptions, selection, "best", selections, "",
    "starts are the best raw points, or drawn with weights exp(temperature * (a - mean a)/sd a)"),
  RG_REAL("temperature", RgMaximiserOptions, temperature, "1", 0.0, 1e3, "",
          "of the boltzmann selection; 0 draws uniformly"),
  RG_INT("max_iterations", RgMaximiserOptions, max_iterations, "200", 0, 1e6, "",
         "of the local search, per start; 0 keeps the best raw point"),
  RG_REAL("tolerance", RgMaximiserOptions, tolerance, "1e-9", 1e-15, 1.0, "",
          "a start stops when the improvement it expects is below tolerance * max(1, |a|)"),
  RG_CHOICE("local_search", RgMaximiserOptions, local_search, "batched", local_searches, "",
            "projected quasi-Newton of all starts in lockstep with merging, one L-BFGS-B per "
            "start, or Adam on their sum, whose ends alone compete (as released with wdrbo)"),
  RG_ENTRY("local_share", REAL, RgMaximiserOptions, local_share, double, "auto", 0, 1,
           rg_param_later, "",
           "share of the raw_samples that lie near the best observed inputs; the rest are Sobol "
           "points; auto: 0. Each copies one of the best inputs and moves some of its coordinates "
           "(Regis, Shoemaker 2013; the candidates of TuRBO; `sample_around_best` of BoTorch)"),
  RG_ENTRY("local_points", INT, RgMaximiserOptions, local_points, int, "auto", 1, 1e6,
           rg_param_later, "",
           "number of best observed inputs that local points copy; auto: a twentieth of the "
           "evaluations, at least 1"),
  RG_ENTRY("local_inputs", REAL, RgMaximiserOptions, local_inputs, double, "auto", RG_POSITIVE, 1e6,
           rg_param_later, "k",
           "each of the d coordinates of a local point moves with probability min(1, k/d), and one "
           "always does; auto: 20"),
  RG_ENTRY(
    "local_deviation", REAL, RgMaximiserOptions, local_deviation, double, "auto", RG_POSITIVE, 10,
    rg_param_later, "",
    "deviation of the normal that moves a coordinate, unit cube, truncated to it; auto: 0.1"),
  {0},
};

#define SHARE 10    /* one start in SHARE is reserved for extra points */
#define EXAMINED 16 /* end points apart that get a value of the true function */
#define APART 5e-3  /* largest distance of neighbours along a coordinate, unit cube */
#define FINALISTS 4 /* end points that climb on the true function */
/* With kinks: rounds of the climbs on the cheaper function, and this many for each coordinate more;
   a hill is long, and its top is another one on the true function. */
#define KINK_ROUNDS 4
#define KINK_ROUNDS_EACH 2
#define KINK_APART 2e-2

enum { SELECT_BEST, SELECT_BOLTZMANN }; /* RgMaximiserOptions.selection */

typedef struct {
  int dim, n, m;  /* numbers of raw points and starts */
  double *points; /* n x dim */
  double *value;  /* n, -INFINITY where not finite */
  double *key;    /* n: keys of the selection */
  char *taken;    /* n: whether already chosen */
  int *chosen;    /* m, best first */
  double *starts; /* m x dim */
  double *ends;   /* m: their values */
} Screening;

static PetscErrorCode screening_create(const RgMaximiserOptions *options, int dim, int n_extra,
                                       Screening *screening)
{
  const size_t n = (size_t)options->raw_samples + n_extra, d = (size_t)dim;
  const size_t m = PetscMin((size_t)options->restarts, n);

  *screening = (Screening){.dim = dim, .n = (int)n};
  PetscCall(PetscMalloc7(n * d, &screening->points, n, &screening->value, n, &screening->key, n,
                         &screening->taken, m, &screening->chosen, m * d, &screening->starts, m,
                         &screening->ends));
  return PetscArrayzero(screening->taken, n);
}

/* The best points by the first function, one for each start, get the value of `function`. */
static PetscErrorCode rank_again(const RgScreen *with, int starts, Screening *screening)
{
  const int most = PetscMin(starts, screening->n);
  const size_t dim = (size_t)screening->dim;
  int *list, count = 0;
  double *X, *value;

  PetscCall(PetscMalloc3(most, &list, most * dim, &X, most, &value));
  for (int i = 0; i < screening->n; i++)
    count = rg_ranking_insert(screening->value, i, count, most, list);
  for (int k = 0; k < count; k++)
    PetscCall(PetscArraycpy(X + k * dim, screening->points + list[k] * dim, dim));
  PetscCall(with->function(with->closure, count, X, value, NULL));
  for (int k = 0; k < count; k++) screening->value[list[k]] = value[k];
  return PetscFree3(list, X, value);
}

PetscErrorCode rg_local_points(const RgMaximiserOptions *options, const RgHistory *history,
                               RgRandom *random, int n, double *X)
{
  const double sd = options->local_deviation > 0 ? options->local_deviation : 0.1;
  const double moved = options->local_inputs > 0 ? options->local_inputs : 20;
  const int best = options->local_points > 0 ? options->local_points : history->n / 20;
  const int dim = history->dim, wanted = PetscMax(best, 1);
  int *list, count = 0;

  PetscCall(PetscMalloc1((size_t)wanted, &list));
  for (int i = 0; i < history->n; i++)
    count = rg_ranking_insert(history->y, i, count, wanted, list);
  for (int i = 0; i < n; i++, X += dim) {
    const double *from =
      history->x + (size_t)list[rg_random_below(random, (uint64_t)count)] * (size_t)dim;
    const int always = (int)rg_random_below(random, (uint64_t)dim);
    for (int j = 0; j < dim; j++) {
      X[j] = from[j];
      if (j != always && rg_random_uniform(random) * dim >= moved) continue;
      const double low = rg_normal_cdf(-from[j] / sd), high = rg_normal_cdf((1 - from[j]) / sd);
      const double p = low + (high - low) * rg_random_uniform(random);
      X[j] = fmin(fmax(from[j] + sd * rg_normal_quantile(p), 0), 1);
    }
  }
  return PetscFree(list);
}

/* The number of raw points near the best observed inputs; none where these are no points of the
   searched cube. */
static int n_local(const RgSearch *search, int dim)
{
  const double share = search->options->local_share;

  if (!(share > 0) || !search->history || !search->history->n || search->history->dim != dim)
    return 0;
  return (int)lround(share * search->options->raw_samples);
}

/* Draw the raw points and evaluate them in one batch, together with the extra points. */
static PetscErrorCode screen(const RgSearch *search, const RgScreen *with, Screening *screening)
{
  const int dim = screening->dim, local = n_local(search, dim);
  const int n_raw = search->options->raw_samples, global = n_raw - local;
  const size_t raw_size = (size_t)n_raw * dim;
  int known = 0;
  const RgBatchFunction first = with->first ? with->first : with->function;
  void *closure = with->first ? with->first_closure : with->closure;

  if (with->raw) {
    PetscCall(
      with->raw(with->closure, search->random, global, screening->points, screening->value));
    known = global;
  } else if (global) {
    PetscCall(rg_design_sobol(search->random, global, dim, screening->points));
  }
  if (local)
    PetscCall(rg_local_points(search->options, search->history, search->random, local,
                              screening->points + (size_t)global * dim));
  if (search->n_extra)
    memcpy(screening->points + raw_size, search->extra,
           (size_t)search->n_extra * dim * sizeof(double));
  if (screening->n > known)
    PetscCall(first(closure, screening->n - known, screening->points + (size_t)known * dim,
                    screening->value + known, NULL));
  if (with->first) PetscCall(rank_again(with, search->options->restarts, screening));
  for (int i = 0; i < screening->n; i++)
    if (!isfinite(screening->value[i])) screening->value[i] = -INFINITY;
  return 0;
}

/* Keys whose largest entries are a draw without replacement with weights exp(temperature * Z), Z
   = (a - mean a)/sd a (Gumbel-max). */
static void boltzmann_keys(double temperature, RgRandom *random, Screening *screening)
{
  double mean = 0.0, square = 0.0;
  int finite = 0;

  for (int i = 0; i < screening->n; i++) {
    if (!isfinite(screening->value[i])) continue;
    finite++;
    mean += screening->value[i];
  }
  mean /= finite ? finite : 1;
  for (int i = 0; i < screening->n; i++)
    if (isfinite(screening->value[i]))
      square += (screening->value[i] - mean) * (screening->value[i] - mean);
  double sd = finite > 1 ? sqrt(square / (finite - 1)) : 0.0;
  for (int i = 0; i < screening->n; i++) {
    double gumbel = -log(rg_random_exponential(random));
    double z = sd > 0.0 ? (screening->value[i] - mean) / sd : 0.0;
    screening->key[i] = temperature * z + gumbel;
  }
}

/* Append at most `wanted` points from index `begin` on, those with the largest keys, each point
   once. */
static void choose(int begin, int wanted, const double *key, Screening *screening)
{
  int *list = screening->chosen + screening->m, count = 0;

  for (int i = begin; i < screening->n && wanted > 0; i++)
    if (isfinite(screening->value[i]) && !screening->taken[i])
      count = rg_ranking_insert(key, i, count, wanted, list);
  for (int k = 0; k < count; k++) screening->taken[list[k]] = 1;
  screening->m += count;
}

/* Choose the starts: the best raw point; one in SHARE from the best extra points, because raw
   points miss a narrow peak next to an extra point; the rest by selection. Sort them by value,
   best first. */
static void select_starts(const RgMaximiserOptions *options, RgRandom *random, Screening *screening)
{
  const double *value = screening->value;
  int *chosen = screening->chosen, sorted = 0;
  int wanted = PetscMin(options->restarts, screening->n);
  int kept = (wanted + SHARE - 1) / SHARE;

  choose(0, 1, value, screening);
  choose(options->raw_samples, PetscMin(wanted - screening->m, kept), value, screening);
  if (options->selection == SELECT_BOLTZMANN) {
    boltzmann_keys(options->temperature, random, screening);
    value = screening->key;
  }
  choose(0, wanted - screening->m, value, screening);
  for (int k = 0; k < screening->m; k++) {
    int i = chosen[k];
    sorted = rg_ranking_insert(screening->value, i, sorted, screening->m, chosen);
  }
  for (int k = 0; k < screening->m; k++) {
    screening->ends[k] = screening->value[chosen[k]];
    memcpy(screening->starts + (size_t)k * screening->dim,
           screening->points + (size_t)chosen[k] * screening->dim, screening->dim * sizeof(double));
  }
}

/* Restore the order, best first, after the starts moved. */
static void sort_starts(Screening *screening)
{
  const int dim = screening->dim;

  for (int k = 0; k < screening->m; k++) {
    if (!isfinite(screening->ends[k])) screening->ends[k] = -INFINITY;
    for (int l = k; l > 0 && screening->ends[l] > screening->ends[l - 1]; l--) {
      double value = screening->ends[l];
      screening->ends[l] = screening->ends[l - 1];
      screening->ends[l - 1] = value;
      for (int j = 0; j < dim; j++) {
        double *a = &screening->starts[(size_t)l * dim + j], *b = a - dim, x = *a;
        *a = *b;
        *b = x;
      }
    }
  }
}

/* Keep the best of the starts, sorted by value, that are farther than `least` from a better one: at
   most `most`. */
static void keep_apart(int most, double least, Screening *screening)
{
  const int dim = screening->dim;
  int kept = 0;

  for (int k = 0; k < screening->m && kept < most; k++) {
    const double *x = screening->starts + (size_t)k * dim;
    bool apart = true;
    for (int l = 0; l < kept && apart; l++) {
      double distance = 0;
      for (int j = 0; j < dim; j++)
        distance = fmax(distance, fabs(x[j] - screening->starts[(size_t)l * dim + j]));
      apart = distance > least;
    }
    if (!apart) continue;
    screening->ends[kept] = screening->ends[k];
    memmove(screening->starts + (size_t)kept * dim, x, dim * sizeof(double));
    kept++;
  }
  screening->m = kept;
}

PetscErrorCode rg_maximise_box(const RgSearch *search, int dim, RgBatchFunction function,
                               void *closure, double *best_x, double *best_value,
                               RgFailure *failure)
{
  return rg_maximise_box_screened(search, dim, function, closure, NULL, best_x, best_value,
                                  failure);
}

/* Let the best end points of the search on a cheaper function climb on the true one. */
static PetscErrorCode finish(const RgMaximiserOptions *options, RgLocalSearch ascend,
                             RgBatchFunction function, void *closure, const RgScreen *with,
                             Screening *screening)
{
  RgMaximiserOptions climbs = *options;

  if (with->kinks) climbs.max_iterations = PetscMin(options->max_iterations, with->rounds);
  sort_starts(screening);
  keep_apart(EXAMINED, APART, screening);
  PetscCall(function(closure, screening->m, screening->starts, screening->ends, NULL));
  sort_starts(screening);
  if (with->kinks) keep_apart(FINALISTS, KINK_APART, screening);
  screening->m = PetscMin(screening->m, FINALISTS);
  if (climbs.max_iterations > 0)
    PetscCall(ascend(&climbs, screening->dim, screening->m, screening->starts, screening->ends,
                     function, closure));
  if (options->max_iterations > 0 && with->kinks)
    PetscCall(rg_local_search_bundle(options, screening->dim, screening->m, screening->starts,
                                     screening->ends, function, closure));
  return 0;
}

static PetscErrorCode maximise(const RgSearch *search, int dim, RgBatchFunction function,
                               void *closure, const RgScreen *with, double *best_x,
                               double *best_value, RgFailure *failure)
{
  const RgMaximiserOptions *options = search->options;
  RgMaximiserOptions climbs = *options;
  static const RgLocalSearch searches[] = {[RG_LOCAL_SEARCH_BATCHED] = rg_local_search_batched,
                                           [RG_LOCAL_SEARCH_LBFGSB] = rg_local_search_lbfgsb,
                                           [RG_LOCAL_SEARCH_ADAM] = rg_local_search_adam};
  const RgLocalSearch ascend = searches[options->local_search];
  const bool levels = search->space && rg_space_has_levels(search->space);
  const bool real = !levels || isinf(rg_levels_designs(search->space));
  Screening screening;
  int best = 0;

  PetscCall(screening_create(options, dim, search->n_extra, &screening));
  PetscCall(screen(search, with, &screening));
  select_starts(options, search->random, &screening);
  if (with->kinks)
    climbs.max_iterations = PetscMin(climbs.max_iterations, KINK_ROUNDS + KINK_ROUNDS_EACH * dim);
  if (options->max_iterations > 0 && real)
    PetscCall(ascend(&climbs, dim, screening.m, screening.starts, screening.ends, with->function,
                     with->closure));
  if (with->function != function || with->closure != closure || with->kinks)
    PetscCall(finish(options, ascend, function, closure, with, &screening));
  if (options->max_iterations > 0 && levels)
    PetscCall(rg_levels_climb(search->space, options, screening.m, screening.starts, screening.ends,
                              real ? ascend : NULL, function, closure));
  for (int k = 1; k < screening.m; k++)
    if (screening.ends[k] > screening.ends[best]) best = k;
  *best_value = screening.m ? screening.ends[best] : -INFINITY;
  memcpy(best_x, screening.m ? screening.starts + (size_t)best * dim : screening.points,
         dim * sizeof(double));
  if (!screening.m)
    rg_failure_set(failure, "the acquisition function is finite at none of %d points", screening.n);
  return PetscFree7(screening.points, screening.value, screening.key, screening.taken,
                    screening.chosen, screening.starts, screening.ends);
}

/* ---- integers and choices -------------------------------------------------------------------- */

/* An RgRawDesign that lists all designs of a space of few. */
static PetscErrorCode raw_designs(void *closure, RgRandom *random, int n, double *X, double *value)
{
  const RgSnapped *snapped = closure;

  rg_levels_enumerate(snapped->space, n, X);
  return rg_snapped_function(closure, n, X, value, NULL);
}

/* Search the designs once, without the seen ones (NULL: with all of them). */
static PetscErrorCode maximise_designs(const RgSearch *search, const RgSeen *seen,
                                       RgBatchFunction function, void *closure,
                                       const RgScreen *with, double *best_x, double *best_value,
                                       RgFailure *failure)
{
  const RgSpace *space = search->space;
  const bool one = with->function == function && with->closure == closure;
  RgSnapped whole = {space, seen, function, closure};
  RgSnapped rough = {space, seen, with->function, with->closure};
  RgScreen screen = {.function = rg_snapped_function, .closure = one ? &whole : &rough};
  RgMaximiserOptions options = *search->options;
  RgSearch snapped = *search;
  double *extra = NULL;

  const double designs = rg_levels_designs(space);
  snapped.options = &options;
  if (designs <= options.raw_samples) {
    options.raw_samples = (int)designs;
    options.max_iterations = 0;
    options.local_share = 0;
    screen.raw = raw_designs;
    snapped.n_extra = 0;
  } else if (seen) {
    /* the extra points, and the neighbours of those that were seen */
    const size_t dim = (size_t)space->dim;
    double *x;
    snapped.n_extra = search->n_extra;
    const size_t room = (size_t)snapped.n_extra * (size_t)(1 + rg_levels_most(space));
    PetscCall(PetscMalloc1(PetscMax(room, 1) * dim, &extra));
    PetscCall(PetscMalloc1(dim, &x));
    PetscCall(PetscArraycpy(extra, search->extra, snapped.n_extra * dim));
    for (int i = 0; i < search->n_extra; i++) {
      PetscCall(PetscArraycpy(x, search->extra + i * dim, dim));
      rg_space_snap(space, x, NULL);
      if (rg_seen_has(seen, x))
        snapped.n_extra += rg_levels_neighbours(space, x, extra + snapped.n_extra * dim);
    }
    PetscCall(PetscFree(x));
    snapped.extra = extra;
  }
  PetscCall(maximise(&snapped, space->dim, rg_snapped_function, &whole, &screen, best_x, best_value,
                     failure));
  rg_space_snap(space, best_x, NULL);
  return PetscFree(extra);
}

PetscErrorCode rg_maximise_box_screened(const RgSearch *search, int dim, RgBatchFunction function,
                                        void *closure, const RgScreen *with, double *best_x,
                                        double *best_value, RgFailure *failure)
{
  const RgScreen plain = {.function = function, .closure = closure};
  RgSeen seen = {0};

  if (!with || search->options->local_search == RG_LOCAL_SEARCH_ADAM) with = &plain;
  if (!search->space || !rg_space_has_levels(search->space))
    return maximise(search, dim, function, closure, with, best_x, best_value, failure);
  const bool once = search->once && search->history;
  if (once) {
    PetscCall(rg_seen_create(search->space, search->history, &seen));
    PetscCall(
      maximise_designs(search, &seen, function, closure, with, best_x, best_value, failure));
    PetscCall(rg_seen_destroy(&seen));
    if (!failure->failed) return 0;
    *failure = (RgFailure){0}; /* every design was seen */
  }
  return maximise_designs(search, NULL, function, closure, with, best_x, best_value, failure);
}
