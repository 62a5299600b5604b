/* lasso: the penalties of a Lasso regression, one per feature, chosen by cross-validation.

   Data: y = X w + e. Rows of X are normal, features i and j have the correlation rho^|i-j|; w has
   `active` entries +1, -1, +1, ... at equal distances; e is normal, scaled to |X w| = snr |e|. The
   last 15 % of the rows are kept back, the others are the n training rows. For x in [-1, 1]^d the
   penalty of feature j is a_j = a_max 10^(x_j - 1), where a_max = max_j |X_j . y| / n. A fold's fit
   minimises |y - X b|^2/2m + sum_j a_j |b_j| over the m rows outside of the fold, and
     f = -mean over folds of (mean squared error on the fold) / (|y - X w|^2/n).
   LassoBench: Sehic, Gramfort, Salmon, Nardi 2022, arXiv:2111.02790, section 4.1. Differences: the
   data are drawn here, another set per instance. Rows are drawn independently, so folds are
   consecutive rows. The fit is coordinate descent to the same duality gap, without `celer`. */
#include "maths/blas.h"
#include "regatta/problem.h"

#include <math.h>

enum { ROUNDS = 1000, ACTIVE_PASSES = 10 };

typedef struct {
  int dim, samples, active, folds;
  double correlation, snr, tolerance;
} Options;

static const RgParam params[] = {
  RG_INT("dim", Options, dim, "60", 2, 1e6, "d", "features; 60, 100, 300 and 1000 in the source"),
  RG_INT("samples", Options, samples, "auto", 2, 1e6, "",
         "rows of data, of which 85 % are for training; auto: dim/2"),
  RG_INT("active", Options, active, "auto", 1, 1e6, "",
         "features with a weight; auto: 5 % of them; the source also has 10 %"),
  RG_REAL("correlation", Options, correlation, "0.6", 0, 0.999, "rho", "of neighbouring features"),
  RG_REAL("snr", Options, snr, "10", RG_POSITIVE, 1e6, "",
          "ratio of signal to noise; 3 is the noisy case of the source"),
  RG_INT("folds", Options, folds, "5", 2, 1000, "", "folds of the cross-validation"),
  RG_REAL("tolerance", Options, tolerance, "1e-4", 1e-14, 1, "",
          "duality gap at which a fit ends, in units of |y|^2/m"),
  {0},
};

typedef struct {
  int n, d;         /* training rows, features */
  double *X;        /* n x d, column by column */
  double *y;        /* n */
  double largest;   /* a_max */
  double oracle;    /* |y - X w|^2/n */
  double *norm;     /* folds x d: |X_j|^2 without the rows of the fold */
  double *b, *rate; /* d: weights of a fit; penalties */
  double *r;        /* n: residual y - X b of all rows */
} Data;

static int samples_of(const Options *o)
{
  return o->samples > 0 ? o->samples : o->dim / 2;
}

static int training_rows(const Options *o)
{
  return samples_of(o) - (int)ceil(0.15 * samples_of(o));
}

static int active_of(const Options *o)
{
  return o->active > 0 ? o->active : PetscMax(1, o->dim / 20);
}

static PetscErrorCode check(const RgProblemClass *class, const void *options, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *o = options;

  if (training_rows(o) < o->folds)
    rg_diagnostics_add(
      diagnostics, place,
      "%s: %d samples leave %d for training, fewer than the %d folds: accepted are "
      "samples >= %d",
      class->name, samples_of(o), training_rows(o), o->folds, (int)ceil((o->folds + 1) / 0.85));
  if (active_of(o) > o->dim)
    rg_diagnostics_add(diagnostics, place, "%s: active = %d is more than dim = %d", class->name,
                       active_of(o), o->dim);
  return 0;
}

static PetscErrorCode domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  return rg_space_cube(&domain->design, ((const Options *)options)->dim, -1, 1);
}

/* The time of an evaluation depends on x: it is measured, not declared. */
static void cost_of(const void *options, RgProblemCost *cost)
{
  const Options *o = options;
  const double values = (double)training_rows(o) * o->dim;

  cost->setup = 50 * values;
  cost->bytes = 8 * (values + (o->folds + 4.0) * o->dim);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Draw the data; the signal of row i is summed as its features are drawn. */
static PetscErrorCode draw(const Options *o, RgRandom random, Data *data)
{
  const int all = samples_of(o), stride = o->dim / active_of(o);
  const double rho = o->correlation, rest = sqrt(1 - rho * rho);
  double *signal, *noise, signals = 0, noises = 0;

  PetscCall(PetscCalloc2(all, &signal, all, &noise));
  for (int i = 0; i < all; i++) {
    double x = 0;
    for (int j = 0; j < o->dim; j++) {
      const double z = rg_random_normal(&random);
      const int k = j / stride;
      x = j ? rho * x + rest * z : z;
      if (i < data->n) data->X[(size_t)j * (size_t)data->n + (size_t)i] = x;
      if (j % stride == 0 && k < active_of(o)) signal[i] += k % 2 ? -x : x;
    }
    signals += signal[i] * signal[i];
  }
  rg_random_normals(&random, (size_t)all, noise);
  for (int i = 0; i < all; i++) noises += noise[i] * noise[i];
  const double scale = sqrt(signals / noises) / o->snr;
  data->oracle = 0;
  for (int i = 0; i < data->n; i++) {
    data->y[i] = signal[i] + scale * noise[i];
    data->oracle += scale * noise[i] * scale * noise[i] / data->n;
  }
  return PetscFree2(signal, noise);
}

/* The rows of a fold are first .. last - 1. */
static void rows_of(const Data *data, int folds, int fold, int *first, int *last)
{
  const int size = data->n / folds, longer = data->n % folds;

  *first = fold * size + PetscMin(fold, longer);
  *last = *first + size + (fold < longer);
}

/* The product of two columns without the rows of a fold. */
static double product(const Data *data, int first, int last, const double *u, const double *v)
{
  return cblas_ddot(first, u, 1, v, 1) + cblas_ddot(data->n - last, u + last, 1, v + last, 1);
}

static PetscErrorCode create(RgProblem *problem, RgFailure *failure)
{
  const Options *o = problem->options;
  const size_t d = (size_t)o->dim, n = (size_t)training_rows(o);
  int first, last;
  Data *data;

  PetscCall(PetscNew(&data));
  problem->data = data;
  data->n = (int)n;
  data->d = o->dim;
  PetscCall(PetscMalloc3(n * d, &data->X, n, &data->y, n, &data->r));
  PetscCall(PetscMalloc3(d, &data->b, d, &data->rate, (size_t)o->folds * d, &data->norm));
  PetscCall(draw(o, rg_stream_at(&problem->stream, 0), data));
  for (size_t j = 0; j < d; j++) {
    const double *x = data->X + j * n;
    data->largest = fmax(data->largest, fabs(product(data, 0, 0, x, data->y)) / data->n);
    for (int fold = 0; fold < o->folds; fold++) {
      rows_of(data, o->folds, fold, &first, &last);
      data->norm[(size_t)fold * d + j] = product(data, first, last, x, x);
    }
  }
  return 0;
}

static PetscErrorCode destroy(RgProblem *problem)
{
  Data *data = problem->data;

  PetscCall(PetscFree3(data->X, data->y, data->r));
  return PetscFree3(data->b, data->rate, data->norm);
}

/* ---- fit ------------------------------------------------------------------------------------- */

/* Minimise over each b_j in turn; active: only over those that are not 0. */
static void pass(Data *data, const double *norm, int first, int last, bool active)
{
  const int m = data->n - (last - first);

  for (int j = 0; j < data->d; j++) {
    const double *x = data->X + (size_t)j * (size_t)data->n, old = data->b[j];
    if ((active && old == 0) || !(norm[j] > 0)) continue;
    const double slope = product(data, first, last, x, data->r) + norm[j] * old;
    const double size = fabs(slope) - m * data->rate[j];
    data->b[j] = size > 0 ? copysign(size, slope) / norm[j] : 0;
    if (data->b[j] != old) cblas_daxpy(data->n, old - data->b[j], x, 1, data->r, 1);
  }
}

/* Whether the duality gap is at most tolerance |y|^2/m. With s the largest number <= 1 for which
   s |X_j . r|/m <= a_j for all j, the dual value is (|y|^2 - |y - s r|^2)/2m. */
static bool converged(const Data *data, int first, int last, double tolerance)
{
  const int m = data->n - (last - first);
  double primal = product(data, first, last, data->r, data->r) / 2, s = 1;
  const double own = 2 * primal, total = product(data, first, last, data->y, data->y);
  const double both = product(data, first, last, data->y, data->r);

  for (int j = 0; j < data->d; j++) {
    const double *x = data->X + (size_t)j * (size_t)data->n;
    const double slope = fabs(product(data, first, last, x, data->r));
    if (s * slope > m * data->rate[j]) s = m * data->rate[j] / slope;
    primal += m * data->rate[j] * fabs(data->b[j]);
  }
  return primal - (s * both - s * s * own / 2) <= tolerance * total;
}

/* The mean squared error on the rows of a fold, of the fit to the others. */
static double error_on(const Options *o, Data *data, int fold)
{
  const double *norm = data->norm + (size_t)fold * (size_t)data->d;
  int first, last;

  rows_of(data, o->folds, fold, &first, &last);
  for (int j = 0; j < data->d; j++) data->b[j] = 0;
  for (int i = 0; i < data->n; i++) data->r[i] = data->y[i];
  for (int round = 0; round < ROUNDS; round++) {
    pass(data, norm, first, last, false);
    for (int k = 0; k < ACTIVE_PASSES; k++) pass(data, norm, first, last, true);
    if (converged(data, first, last, o->tolerance)) break;
  }
  const double *r = data->r + first;
  return cblas_ddot(last - first, r, 1, r, 1) / (last - first);
}

static PetscErrorCode evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure)
{
  const Options *o = problem->options;
  Data *data = problem->data;

  for (int i = 0; i < m; i++) {
    double sum = 0;
    for (int j = 0; j < data->d; j++) data->rate[j] = data->largest * pow(10, points[i].x[j] - 1);
    for (int fold = 0; fold < o->folds; fold++) sum += error_on(o, data, fold);
    f[i] = 0 - sum / o->folds / data->oracle;
  }
  return 0;
}

const RgProblemClass rg_problem_lasso = {
  RG_ABOUT("lasso", "Weighted Lasso", 1,
           "minus the cross-validated loss of a Lasso regression with a penalty per feature, over\n"
           "that of the true weights, on [-1, 1]^d; synthetic data, 5 % of the features active.\n"
           "The maximum is not known, so there is no regret; values of -1 and more are good",
           "Sehic, Gramfort, Salmon, Nardi 2022, LassoBench, arXiv:2111.02790, section 4.1"),
  RG_OPTIONS(Options, params),
  .traits = RG_PROBLEM_RANDOM | RG_PROBLEM_UNKNOWN,
  .cost = cost_of,
  RG_DOMAIN(domain, check),
  .create = create,
  .evaluate = evaluate,
  .destroy = destroy,
};
