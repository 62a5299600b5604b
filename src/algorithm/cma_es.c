/* cma_es: covariance matrix adaptation evolution strategy, (mu/mu_w, lambda), with restarts.

   A generation is lambda draws x_i = m + sigma C^(1/2) z_i. Its best half, weighted by rank, moves
   the mean m; the path of the mean adapts the step size sigma (cumulative step-size adaptation) and
   the covariance C (rank-one and rank-mu updates). A run that has converged starts again on a
   uniform point with twice the population (IPOP). The first mean is the best point of the initial
   design, a uniform one without it.
   Source: Hansen (2016), The CMA evolution strategy: a tutorial, arXiv:1604.00772, with positive
   weights; restarts: Auger, Hansen (2005), A restart CMA evolution strategy with increasing
   population size, CEC. Equation numbers are those of the tutorial.
   Deviations: f is evaluated at x_i folded into the box at its borders, the updates use x_i itself.
   Own file, no library: the plain reference. Synchronous workers whose number divides lambda
   evaluate parts of a generation together; queries are those of one worker.
   Cost per iteration: O(d^2), and O(d^3) for a spectral decomposition about every d/10 generations.
   Needs a box without context. Revision 1. */
#include "acquisition/ranking.h"
#include "maths/blas.h"
#include "regatta/algorithm.h"

#include <math.h>
#include <string.h>

#define CONDITION 1e14 /* condition of C beyond which a run ends */
/* Relative range of values over a stretch of generations at which a run ends. */
#define FLAT 1e-12
#define SHORT 1e-12 /* largest deviation in the unit cube at which a run ends */

typedef struct {
  double sigma;
  int population;
  bool restarts;
} Options;

static const RgParam params[] = {
  RG_REAL("sigma", Options, sigma, "0.3", RG_POSITIVE, 10, "sigma", "first step size, unit cube"),
  RG_INT("population", Options, population, "auto", 4, 100000, "lambda",
         "points of a generation; auto: 4 + 3 log d"),
  RG_BOOL("restarts", Options, restarts, "true",
          "double the population at every restart; false: it stays"),
  {0},
};

enum { SIGMA, RESTARTS };

static const RgRecordColumn columns[] = {[SIGMA] = {"step_size", "sigma, unit cube"},
                                         [RESTARTS] = {"restarts", "runs given up so far"},
                                         {0}};

typedef struct {
  int dim, lambda, mu, restarts;
  double mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi; /* (A1)-(A7), E|N(0, I)| */
  double sigma;
  double *mean, *p_sigma, *p_c;      /* d each */
  double *C, *axes;                  /* d x d; eigenvectors, row k = axis k */
  double *deviation, *z, *step;      /* d: roots of the eigenvalues; scratch */
  int generation, decomposed, asked; /* asked: -1 before the first generation */
  int known, rows;                   /* values of this generation; rows of the history so far */
  double *weight, *x, *value;        /* mu; lambda x d, not folded; lambda */
  int *rank;                         /* lambda: best first */
  int stretch, seen;                 /* generations over which values are compared; those so far */
  double highest, lowest;            /* range of the best values of this stretch */
} State;

/* ---- a run ---------------------------------------------------------------------------------- */

/* Set the weights and rates of a population of lambda (tutorial, table 1). */
static PetscErrorCode set_rates(State *s, int lambda)
{
  const double n = s->dim;
  double sum = 0, squares = 0;

  PetscCall(PetscFree4(s->weight, s->x, s->value, s->rank));
  s->lambda = lambda;
  s->mu = lambda / 2;
  PetscCall(PetscMalloc4(s->mu, &s->weight, (size_t)lambda * s->dim, &s->x, lambda, &s->value,
                         lambda, &s->rank));
  for (int i = 0; i < s->mu; i++) sum += s->weight[i] = log((lambda + 1) / 2.0) - log(i + 1.0);
  for (int i = 0; i < s->mu; i++) {
    s->weight[i] /= sum;
    squares += s->weight[i] * s->weight[i];
  }
  s->mu_eff = 1 / squares;
  s->c_sigma = (s->mu_eff + 2) / (n + s->mu_eff + 5);
  s->d_sigma = 1 + 2 * fmax(0, sqrt((s->mu_eff - 1) / (n + 1)) - 1) + s->c_sigma;
  s->c_c = (4 + s->mu_eff / n) / (n + 4 + 2 * s->mu_eff / n);
  s->c_1 = 2 / ((n + 1.3) * (n + 1.3) + s->mu_eff);
  s->c_mu = fmin(1 - s->c_1, 2 * (s->mu_eff - 2 + 1 / s->mu_eff) / ((n + 2) * (n + 2) + s->mu_eff));
  s->chi = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  s->stretch = 10 + (int)ceil(30 * n / lambda);
  return 0;
}

static void begin(State *s, double sigma, const double *mean)
{
  const size_t dim = (size_t)s->dim;

  s->sigma = sigma;
  memcpy(s->mean, mean, dim * sizeof *mean);
  memset(s->p_sigma, 0, dim * sizeof(double));
  memset(s->p_c, 0, dim * sizeof(double));
  memset(s->C, 0, dim * dim * sizeof(double));
  memset(s->axes, 0, dim * dim * sizeof(double));
  for (size_t j = 0; j < dim; j++) s->C[j * dim + j] = s->axes[j * dim + j] = s->deviation[j] = 1;
  s->generation = s->decomposed = s->seen = 0;
  s->highest = -INFINITY;
  s->lowest = INFINITY;
  s->asked = s->known = 0;
}

static int first_population(const void *options, int dim)
{
  const int population = ((const Options *)options)->population;
  return population > 0 ? population : 4 + (int)(3 * log(dim));
}

static PetscErrorCode create(RgAlgorithm *algorithm)
{
  State *s = algorithm->state;
  const int dim = s->dim = algorithm->setup.domain->design.dim;

  PetscCall(PetscMalloc6(dim, &s->mean, dim, &s->p_sigma, dim, &s->p_c, dim, &s->deviation, dim,
                         &s->z, dim, &s->step));
  PetscCall(PetscMalloc2((size_t)dim * dim, &s->C, (size_t)dim * dim, &s->axes));
  s->asked = -1;
  return set_rates(s, first_population(algorithm->options, dim));
}

/* Covariance, axes, and what the decomposition takes. */
static void cost_of(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  cost->bytes = 8 * 3.0 * size->dim_x * size->dim_x;
}

static PetscErrorCode destroy(RgAlgorithm *algorithm)
{
  State *s = algorithm->state;

  PetscCall(PetscFree6(s->mean, s->p_sigma, s->p_c, s->deviation, s->z, s->step));
  PetscCall(PetscFree2(s->C, s->axes));
  return PetscFree4(s->weight, s->x, s->value, s->rank);
}

/* ---- equations ------------------------------------------------------------------------------ */

/* (37), (38): x = m + sigma B D z. */
static void draw(State *s, RgRandom *random, double *x)
{
  memcpy(x, s->mean, (size_t)s->dim * sizeof *x);
  for (int k = 0; k < s->dim; k++)
    cblas_daxpy(s->dim, s->sigma * s->deviation[k] * rg_random_normal(random),
                s->axes + (size_t)k * s->dim, 1, x, 1);
}

/* The place of a point on the line after it is folded into the unit interval at both ends. */
static double fold(double x)
{
  const double y = fabs(fmod(x, 2));

  return y > 1 ? 2 - y : y;
}

/* (41), (42): the mean moves by `step` sigma. */
static void move_mean(State *s)
{
  memset(s->step, 0, (size_t)s->dim * sizeof(double));
  for (int i = 0; i < s->mu; i++)
    for (int j = 0; j < s->dim; j++)
      s->step[j] += s->weight[i] * (s->x[(size_t)s->rank[i] * s->dim + j] - s->mean[j]) / s->sigma;
}

/* (43), (44): p_sigma gets C^(-1/2) step; returns its length relative to E|N(0, I)|. */
static double update_step_path(State *s)
{
  const double keep = 1 - s->c_sigma, add = sqrt(s->c_sigma * (2 - s->c_sigma) * s->mu_eff);

  for (int j = 0; j < s->dim; j++) s->p_sigma[j] *= keep;
  for (int k = 0; k < s->dim; k++) {
    const double *axis = s->axes + (size_t)k * s->dim;
    const double along = cblas_ddot(s->dim, axis, 1, s->step, 1) / s->deviation[k];
    cblas_daxpy(s->dim, add * along, axis, 1, s->p_sigma, 1);
  }
  return cblas_dnrm2(s->dim, s->p_sigma, 1) / s->chi;
}

/* (45)-(47): p_c and C. */
static void update_covariance(State *s, double length)
{
  const size_t dim = (size_t)s->dim;
  const double warm = sqrt(1 - pow(1 - s->c_sigma, 2.0 * (s->generation + 1)));
  const bool moving = length / warm < 1.4 + 2 / (s->dim + 1.0);
  const double add = moving ? sqrt(s->c_c * (2 - s->c_c) * s->mu_eff) : 0;
  const double lost = moving ? 0 : s->c_c * (2 - s->c_c);
  const double keep = 1 - s->c_1 - s->c_mu + s->c_1 * lost;

  for (size_t j = 0; j < dim; j++) s->p_c[j] = (1 - s->c_c) * s->p_c[j] + add * s->step[j];
  cblas_dscal((int)(dim * dim), keep, s->C, 1);
  cblas_dsyr(CblasRowMajor, CblasUpper, s->dim, s->c_1, s->p_c, 1, s->C, s->dim);
  for (int i = 0; i < s->mu; i++) {
    const double *x = s->x + (size_t)s->rank[i] * dim;
    for (size_t j = 0; j < dim; j++) s->z[j] = (x[j] - s->mean[j]) / s->sigma;
    cblas_dsyr(CblasRowMajor, CblasUpper, s->dim, s->c_mu * s->weight[i], s->z, 1, s->C, s->dim);
  }
}

/* C = B D^2 B', unless this was done recently. Returns false if the condition of C is no longer
   finite. */
static bool decompose(State *s)
{
  const int dim = s->dim;
  const double every = 1 / (10 * dim * (s->c_1 + s->c_mu));

  if (s->generation - s->decomposed < every) return true;
  s->decomposed = s->generation;
  memcpy(s->axes, s->C, (size_t)dim * dim * sizeof(double));
  /* the upper triangle by rows is the lower one by columns; eigenvectors come column by column */
  if (LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', dim, s->axes, dim, s->deviation)) return false;
  if (!(s->deviation[0] > 0 && s->deviation[dim - 1] < CONDITION * s->deviation[0])) return false;
  for (int k = 0; k < dim; k++) s->deviation[k] = sqrt(s->deviation[k]);
  return true;
}

/* Whether a run can gain no more: the values of `stretch` generations are equal, or deviations
   vanish. */
static bool converged(State *s)
{
  const double best = s->value[s->rank[0]];
  double largest = 0;

  s->highest = fmax(s->highest, best);
  s->lowest = fmin(s->lowest, best);
  for (int j = 0; j < s->dim; j++) largest = fmax(largest, s->C[(size_t)j * (s->dim + 1)]);
  if (s->sigma * sqrt(largest) < SHORT) return true;
  if (++s->seen < s->stretch) return false;
  const bool flat = s->highest - s->lowest <= FLAT * fmax(1, fabs(s->highest));
  s->seen = 0;
  s->highest = -INFINITY;
  s->lowest = INFINITY;
  return flat;
}

/* Learns from a whole generation. Returns false if the run is over. */
static bool update(State *s)
{
  for (int i = 0; i < s->lambda; i++) rg_ranking_insert(s->value, i, i, s->lambda, s->rank);
  move_mean(s);
  const double length = update_step_path(s);
  update_covariance(s, length);
  cblas_daxpy(s->dim, s->sigma, s->step, 1, s->mean, 1);
  s->sigma *= exp(fmin(1, s->c_sigma / s->d_sigma * (length - 1)));
  s->generation++;
  s->asked = s->known = 0;
  return !converged(s) && decompose(s);
}

/* ---- the method ----------------------------------------------------------------------------- */

static PetscErrorCode restart(RgAlgorithm *algorithm, int t)
{
  const Options *options = algorithm->options;
  State *s = algorithm->state;
  RgRandom random = rg_algorithm_stream_at(algorithm, "start", t);

  s->restarts++;
  if (options->restarts && s->lambda < 1 << 20) PetscCall(set_rates(s, 2 * s->lambda));
  rg_random_uniforms(&random, (size_t)s->dim, s->z);
  begin(s, options->sigma, s->z);
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  State *s = algorithm->state;
  RgRandom random = rg_algorithm_stream_at(algorithm, "point", t);

  if (s->asked < 0) {
    /* The first run starts at the best point of the initial design. */
    const Options *options = algorithm->options;
    RgRandom first = rg_algorithm_stream_at(algorithm, "start", 0);
    const int best = rg_history_best(history);
    rg_random_uniforms(&first, (size_t)s->dim, s->z);
    begin(s, options->sigma, best >= 0 ? history->x + (size_t)best * s->dim : s->z);
  } else
    for (int i = s->rows; i < history->n; i++) s->value[s->known++] = history->y[i];
  s->rows = history->n;
  if (s->known == s->lambda && !update(s)) PetscCall(restart(algorithm, t));
  double *x = s->x + (size_t)s->asked++ * s->dim;
  draw(s, &random, x);
  for (int j = 0; j < s->dim; j++) query->x[j] = fold(x[j]);
  query->extra[SIGMA] = s->sigma;
  query->extra[RESTARTS] = s->restarts;
  return 0;
}

const RgAlgorithmClass rg_algorithm_cma_es = {
  RG_ABOUT("cma_es", "CMA-ES", 1,
           "generations of normal draws; rank-weighted means move the centre, evolution paths\n"
           "adapt step size and covariance; restarts with twice the population",
           "Hansen (2016), The CMA evolution strategy: a tutorial, arXiv:1604.00772"),
  .needs = RG_NEEDS_BOX | RG_NEEDS_NO_CONTEXT | RG_NEEDS_ALTERNATION,
  .traits = RG_BLIND,
  .terms = &(const RgTerms){.generation = first_population},
  RG_OPTIONS(Options, params),
  .cost = cost_of,
  RG_STATE(State, create, destroy),
  RG_ASK(ask, columns),
};
