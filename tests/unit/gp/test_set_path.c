/* Exact paths on finite sets: moments over many paths against the exact posterior, the update
   and the covariances against the posterior on the set, incremental data. */
#include "gp_support.h"

#include "gp/path/sample_path.h"
#include "gp/path/set_path.h"
#include "gp/posterior/set/set_posterior.h"

#define MOST 120
#define DATA 9

static void make_data(int size, int *index, double *y)
{
  for (int i = 0; i < DATA; i++) index[i] = (i * 7 + 2) % size;
  index[DATA - 1] = index[2]; /* a repeated point */
  support_normals(8, DATA, y);
}

typedef struct {
  RgDomain domain;
  RgKernel kernel;
  RgSetPaths *paths;
  RgSetPosterior *reference;
  int size, index[DATA];
  double y[DATA];
} Case;

static void case_create(int which, RgKernelFamily family, int variant, Case *c)
{
  RG_NO_FAILURE(failure);

  memset(c, 0, sizeof *c);
  support_space(which == 1, 4, which == 1 ? 3 : 2, &c->domain.design);
  c->size = c->domain.design.size;
  make_data(c->size, c->index, c->y);
  support_kernel(family, variant, &c->kernel);
  RG_OK(rg_set_paths_create(&c->domain.design, &c->kernel, 2, &c->paths));
  RG_OK(rg_set_posterior_create(&c->domain, &c->kernel, 0.02, 0.3, DATA, &c->reference));
  for (int i = 0; i < DATA; i++)
    RG_OK(rg_set_posterior_append(c->reference, c->index[i], c->y[i], &failure));
  RG_OK(rg_set_paths_update(c->paths, &c->kernel, 0.02, 0.3, DATA, c->index, c->y, &failure));
  assert_true(rg_set_paths_is_structured(c->paths) ==
              (which == 1 && family == RG_KERNEL_GAUSSIAN && !c->kernel.warp));
}

static void case_destroy(Case *c)
{
  RG_OK(rg_set_paths_destroy(&c->paths));
  RG_OK(rg_set_posterior_destroy(&c->reference));
  RG_OK(rg_kernel_destroy(&c->kernel));
  RG_OK(rg_domain_destroy(&c->domain));
}

/* An update of the zero path without noise is the posterior mean; covariances are those of the
   set. */
static void check_update(const Case *c)
{
  double F[2 * MOST] = {0}, e[2 * DATA] = {0}, C[3 * MOST], row[MOST];
  const int index[3] = {c->index[0], 5, c->size - 1};
  const double *mean = c->reference->mean;

  RG_OK(rg_set_paths_condition(c->paths, 2, e, F));
  for (int i = 0; i < c->size; i++) {
    RG_CLOSE(F[2 * i], mean[i], 1e-11);
    RG_CLOSE(F[2 * i + 1], mean[i], 1e-11);
  }
  RG_OK(rg_set_paths_covariance(c->paths, 3, index, C));
  for (int s = 0; s < 3; s++) {
    RG_OK(rg_set_posterior_covariance(c->reference, index[s], row));
    for (int i = 0; i < c->size; i++) RG_CLOSE(C[3 * i + s], row[i], 1e-11);
  }
}

RG_TEST(updates_and_covariances)
{
  for (int which = 0; which < 2; which++)
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++)
      for (int family = 0; family < 4; family += 2) {
        RG_OWNED(case_destroy) Case c;
        case_create(which, (RgKernelFamily)family, variant, &c);
        check_update(&c);
      }
}

/* Mean and covariance with point `at` of many draws, five standard errors. */
static void check_moments(Case *c, int at)
{
  enum { COUNT = 10, ROUNDS = 300 };
  static double F[MOST * COUNT], sum[MOST], product[MOST], square[MOST], row[MOST];
  const double *mean = c->reference->mean, n = COUNT * ROUNDS;
  RgStream stream = rg_stream(3, "set_path", 0, "draw", 1);
  RgRandom random = rg_stream_at(&stream, 0);
  RG_NO_FAILURE(failure);

  memset(sum, 0, sizeof sum);
  memset(product, 0, sizeof product);
  memset(square, 0, sizeof square);
  for (int round = 0; round < ROUNDS; round++) {
    RG_OK(rg_set_paths_draw(c->paths, COUNT, &random, F, &failure));
    for (int i = 0; i < c->size; i++)
      for (int s = 0; s < COUNT; s++) {
        double d = F[i * COUNT + s] - mean[i], p = d * (F[at * COUNT + s] - mean[at]);
        sum[i] += d;
        product[i] += p;
        square[i] += p * p;
      }
  }
  RG_OK(rg_set_posterior_covariance(c->reference, at, row));
  for (int i = 0; i < c->size; i++) {
    double sd = sqrt(c->reference->variance[i]), covariance = product[i] / n;
    double spread = sqrt((square[i] / n - covariance * covariance) / n);
    if (!(fabs(sum[i] / n) <= 5.0 * sd / sqrt(n)))
      fail_msg("mean at %d is %g off, sd %g", i, sum[i] / n, sd);
    if (!(fabs(covariance - row[i]) <= 5.0 * spread)) {
      fail_msg("covariance %d %d: %g, expected %g, standard error %g", at, i, covariance, row[i],
               spread);
    }
  }
}

RG_TEST(draws_have_the_posterior)
{
  for (int which = 0; which < 2; which++)
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
      RG_OWNED(case_destroy) Case c;
      case_create(which, variant % 2 ? RG_KERNEL_MATERN52 : RG_KERNEL_GAUSSIAN, variant, &c);
      check_moments(&c, 11);
      check_moments(&c, c.index[3]);
      case_destroy(&c);
      case_create(which, RG_KERNEL_GAUSSIAN, variant, &c);
      check_moments(&c, 0);
    }
}

/* Without data, a path is rg_sample_path of the same normals. */
RG_TEST(prior_paths_are_sample_paths)
{
  for (int which = 0; which < 2; which++) {
    double F[MOST], z[MOST], f[MOST], jitter;
    RgStream stream = rg_stream(4, "set_path", 0, "prior", 1);
    RgRandom random = rg_stream_at(&stream, 0), again = random;
    RG_NO_FAILURE(failure);
    RG_OWNED(case_destroy) Case c;
    case_create(which, RG_KERNEL_GAUSSIAN, 1, &c);
    RG_OK(rg_set_paths_update(c.paths, &c.kernel, 0.02, 0.3, 0, NULL, NULL, &failure));
    RG_OK(rg_set_paths_draw(c.paths, 1, &random, F, &failure));
    rg_random_normals(&again, (size_t)c.size, z);
    RG_OK(rg_sample_path(NULL, &c.domain.design, &c.kernel, z, f, &jitter, &failure));
    assert_true(jitter == 0.0);
    for (int i = 0; i < c.size; i++) RG_CLOSE(F[i], 0.3 + f[i], 1e-12);
  }
}

/* Data one by one, other outputs, other hyperparameters, fewer data: every result equals a
   computation from scratch. */
RG_TEST(updates_are_incremental)
{
  RG_NO_FAILURE(failure);

  for (int which = 0; which < 2; which++) {
    RG_OWNED(case_destroy) Case c;
    RG_OWNED(case_destroy) Case d;
    case_create(which, RG_KERNEL_GAUSSIAN, 1, &c);
    case_create(which, RG_KERNEL_GAUSSIAN, 1, &d);
    for (int n = 0; n <= DATA; n++) {
      double scale = n < 5 ? 1.0 : 0.5, y[DATA];
      for (int i = 0; i < n; i++) y[i] = scale * c.y[i];
      RG_OK(rg_set_paths_update(c.paths, &c.kernel, 0.02, 0.3, n, c.index, y, &failure));
    }
    c.kernel.terms[0].factors[0].length_scale[1] *= 1.5;
    RG_OK(rg_set_paths_update(c.paths, &c.kernel, 0.02, 0.3, DATA, c.index, c.y, &failure));
    RG_OK(rg_set_paths_update(d.paths, &d.kernel, 0.01, 0.1, DATA, c.index, c.y, &failure));
    RG_OK(rg_set_posterior_reset(c.reference, &c.kernel, 0.02, 0.3));
    RG_OK(rg_set_posterior_reset(d.reference, NULL, 0.01, 0.1));
    for (int i = 0; i < DATA; i++) {
      RG_OK(rg_set_posterior_append(c.reference, c.index[i], c.y[i], &failure));
      RG_OK(rg_set_posterior_append(d.reference, c.index[i], c.y[i], &failure));
    }
    check_update(&c);
    check_moments(&c, 4);
    check_update(&d);
  }
}

RG_TEST(an_index_outside_is_refused)
{
  const int outside = 1000;
  RG_OWNED(case_destroy) Case c;
  RG_NO_FAILURE(failure);

  case_create(0, RG_KERNEL_GAUSSIAN, 0, &c);
  RG_FAILS(rg_set_paths_update(c.paths, &c.kernel, 0.02, 0.3, 1, &outside, c.y, &failure),
           PETSC_ERR_ARG_OUTOFRANGE);
}
