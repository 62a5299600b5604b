#include "gp_support.h"

#include "gp/posterior/posterior.h"
#include "gp/path/sample_path.h"
#include "gp/posterior/set/set_posterior.h"

#define MAX_POINTS 400
#define MAX_DATA 90

/* Domains over 4 inputs: 0 a set, 1 a grid, 2 grid x grid, 3 set x grid. */
#define DOMAINS 4

static void make_space(bool grid, int dim, uint64_t seed, RgSpace *space)
{
  const int levels[] = {4, 3, 5, 2};
  const double zero[4] = {0}, one[] = {1.0, 1.0, 1.0, 1.0};

  if (grid) {
    double axes[14];

    for (int i = 0, k = 0; k < 4; i += levels[k], k++) {
      for (int l = 0; l < levels[k]; l++) axes[i + l] = (l + 0.1 * (double)seed) / levels[k];
    }
    RG_OK(rg_space_grid(space, dim, levels, axes, zero, one));
  } else {
    double points[30 * 4];

    support_points(seed, 30, dim, points);
    RG_OK(rg_space_set(space, dim, 30, points, zero, one));
  }
}

static void make_domain(int which, RgDomain *domain)
{
  memset(domain, 0, sizeof *domain);
  switch (which) {
  case 0: make_space(false, 4, 1, &domain->design); break;
  case 1: make_space(true, 4, 2, &domain->design); break;
  case 2:
    make_space(true, 3, 3, &domain->design);
    make_space(true, 1, 4, &domain->context);
    break;
  default: make_space(false, 2, 5, &domain->design); make_space(true, 2, 6, &domain->context);
  }
}

/* Flat index -> coordinates. */
static int joined_points(const RgDomain *domain, double *X)
{
  int nc = domain->context.dim ? domain->context.size : 1, dx = domain->design.dim;

  for (int i = 0; i < domain->design.size * nc; i++) {
    for (int k = 0; k < SUPPORT_DIM; k++) {
      X[i * SUPPORT_DIM + k] = k < dx
                                 ? domain->design.points[(i / nc) * dx + k]
                                 : domain->context.points[(i % nc) * domain->context.dim + k - dx];
    }
  }
  return domain->design.size * nc;
}

/* The same data in the posterior with a Cholesky factor. */
static void compare(RgSetPosterior *set, RgPosterior *reference, int size, const double *X)
{
  double mean[MAX_POINTS], variance[MAX_POINTS], row[MAX_POINTS], other[MAX_POINTS];
  RgPrediction work = {0};

  assert_int_equal(set->prior.size, size);
  assert_int_equal(set->n, reference->n);
  RG_OK(rg_posterior_predict(reference, size, X, mean, variance, &work));
  for (int i = 0; i < size; i++) {
    RG_CLOSE(set->mean[i], mean[i], 1e-9);
    RG_CLOSE(set->variance[i], variance[i], 1e-10);
    assert_true(set->variance[i] >= 0.0);
  }
  RG_OK(rg_set_posterior_covariance(set, size / 2, row));
  RG_OK(rg_posterior_covariance(reference, 1, X + size / 2 * SUPPORT_DIM, size, X, other));
  for (int i = 0; i < size; i++) RG_CLOSE(row[i], other[i], 1e-10);
  RG_OK(rg_prediction_destroy(&work));
}

static void one_domain_one_kernel(int which, RgKernelFamily family, int variant)
{
  double X[MAX_POINTS * SUPPORT_DIM], y[MAX_DATA];
  RgDomain domain;
  RgKernel kernel, other;
  RgSetPosterior *set;
  RgPosterior reference;
  RgFailure failure = {0};
  int size;

  make_domain(which, &domain);
  size = joined_points(&domain, X);
  assert_true(size <= MAX_POINTS);
  support_kernel(family, variant, &kernel);
  support_kernel(RG_KERNEL_MATERN52, 1, &other);
  support_normals(7, MAX_DATA, y);
  RG_OK(rg_set_posterior_create(&domain, &kernel, 1e-2, 0.2, 3, &set));
  RG_OK(rg_posterior_create(&kernel, 1e-2, 0.2, MAX_DATA, &reference));
  compare(set, &reference, size, X);
  for (int round = 0; round < 2; round++) {
    int count = round ? 12 : MAX_DATA; /* more than two blocks of rows, with repeated points */

    for (int n = 0; n < count; n++) {
      int index = (n * n * 7 + 3) % size;

      RG_OK(rg_set_posterior_append(set, index, y[n], &failure));
      RG_OK(rg_posterior_append(&reference, X + index * SUPPORT_DIM, y[n], &failure));
      if (n % 40 == 0) compare(set, &reference, size, X);
    }
    compare(set, &reference, size, X);
    RG_OK(rg_set_posterior_reset(set, round ? NULL : &other, 1e-3, 0.1));
    RG_OK(rg_posterior_set(&reference, &other, 1e-3, 0.1, 0, X, y, &failure));
    compare(set, &reference, size, X);
  }
  assert_false(failure.failed);
  RG_OK(rg_set_posterior_destroy(&set));
  RG_OK(rg_posterior_destroy(&reference));
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_kernel_destroy(&other));
  RG_OK(rg_domain_destroy(&domain));
}

/* A kernel over 4 inputs as a sum of terms on overlapping groups. */
static void overlapping_kernel(RgKernelFamily family, RgKernel *kernel)
{
  const double scales[] = {0.31, 0.52, 0.27, 0.74}, variances[] = {1.2, 0.7};
  const int group[] = {0, 0, 1, 1};

  RG_OK(rg_kernel_create_additive(family, 4, 2, group, true, scales, variances, kernel));
  kernel->terms[1].factors[0].inputs[0] = 1; /* inputs 0 1 and 1 3 */
}

/* One representation against rows, from the same data. The product loses digits in proportion to
   the size of the weights, so noise is moderate here (for the small noise of studies see
   tests/oracle). */
static void one_method(RgSetMethod method, const RgDomain *domain, const RgKernel *kernel)
{
  RgSetPosterior *set, *rows;
  RgFailure failure = {0};
  double y[MAX_DATA], a[MAX_POINTS], b[MAX_POINTS];
  int size;

  support_normals(11, MAX_DATA, y);
  RG_OK(rg_set_posterior_create_with(method, domain, kernel, 1e-3, 0.2, 3, &set));
  RG_OK(rg_set_posterior_create_with(RG_SET_ROWS, domain, kernel, 1e-3, 0.2, 3, &rows));
  size = set->prior.size;
  assert_true(size <= MAX_POINTS);
  for (int round = 0; round < 2; round++) {
    for (int n = 0; n < (round ? 5 : 70); n++) {
      int index = (n * n * 7 + 3) % size;

      RG_OK(rg_set_posterior_append(set, index, y[n], &failure));
      RG_OK(rg_set_posterior_append(rows, index, y[n], &failure));
      if (n % 10) continue;
      RG_OK(rg_set_posterior_covariance(set, size / 3, a));
      RG_OK(rg_set_posterior_covariance(rows, size / 3, b));
      for (int i = 0; i < size; i++) {
        RG_CLOSE(a[i], b[i], 1e-10);
        RG_CLOSE(set->mean[i], rows->mean[i], 1e-10);
        RG_CLOSE(set->variance[i], rows->variance[i], 1e-10);
      }
    }
    RG_OK(rg_set_posterior_reset(set, NULL, 1e-2, 0.0));
    RG_OK(rg_set_posterior_reset(rows, NULL, 1e-2, 0.0));
  }
  assert_false(failure.failed);
  RG_OK(rg_set_posterior_destroy(&set));
  RG_OK(rg_set_posterior_destroy(&rows));
}

RG_TEST(structured_methods_agree_with_rows)
{
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    for (int which = 0; which < DOMAINS; which++) {
      const int group[] = {0, 0, 1, 1};
      const double scales[] = {0.31, 0.52, 0.27, 0.74};
      RgDomain domain;
      RgKernel kernel;

      make_domain(which, &domain);
      if (which == 1 || which == 2) {
        overlapping_kernel((RgKernelFamily)family, &kernel);
        one_method(RG_SET_ADDITIVE, &domain, &kernel);
        RG_OK(rg_kernel_destroy(&kernel));
      }
      if (which > 0) {
        RG_OK(rg_kernel_create_product((RgKernelFamily)family, 4, 2, group, true, scales, 1.3,
                                       &kernel));
        one_method(RG_SET_PRODUCT, &domain, &kernel);
        RG_OK(rg_kernel_destroy(&kernel));
      }
      RG_OK(rg_domain_destroy(&domain));
    }
  }
}

/* A posterior chooses its representation, and a new kernel may change the choice. */
RG_TEST(methods_are_chosen_by_structure)
{
  const double lower[4] = {0}, upper[] = {1, 1, 1, 1}, scale = 0.4;
  const int levels[] = {8, 8, 8, 8};
  double axes[32];
  RgDomain grid = {0}, set;
  RgKernel gaussian, matern, sum;
  RgSetPosterior *posterior;
  RgFailure failure = {0};

  for (int i = 0; i < 32; i++) axes[i] = (i % 8) / 7.0;
  RG_OK(rg_space_grid(&grid.design, 4, levels, axes, lower, upper));
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 4, false, &scale, 1.0, &gaussian));
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN32, 4, false, &scale, 1.0, &matern));
  overlapping_kernel(RG_KERNEL_MATERN32, &sum);
  RG_OK(rg_set_posterior_create(&grid, &gaussian, 1e-4, 0.0, 100, &posterior));
  assert_string_equal(posterior->backend->name, "product");
  RG_OK(rg_set_posterior_append(posterior, 77, 1.0, &failure));
  RG_OK(rg_set_posterior_reset(posterior, &sum, 1e-4, 0.0));
  assert_string_equal(posterior->backend->name, "additive");
  RG_OK(rg_set_posterior_append(posterior, 77, 1.0, &failure));
  RG_OK(rg_set_posterior_reset(posterior, &matern, 1e-4, 0.0));
  assert_string_equal(posterior->backend->name, "rows");
  RG_OK(rg_set_posterior_append(posterior, 77, 1.0, &failure));
  RG_CLOSE(posterior->mean[77], 1.0 / 1.0001, 1e-14);
  RG_OK(rg_set_posterior_destroy(&posterior));
  RG_OK(rg_set_posterior_create(&grid, &gaussian, 1e-4, 0.0, 10,
                                &posterior)); /* a small set uses rows */
  assert_string_equal(posterior->backend->name, "rows");
  RG_OK(rg_set_posterior_destroy(&posterior));
  set = grid;
  set.design.kind = RG_SPACE_SET;
  RG_OK(rg_set_posterior_create(&set, &gaussian, 1e-4, 0.0, 100, &posterior));
  assert_string_equal(posterior->backend->name, "rows");
  RG_OK(rg_set_posterior_destroy(&posterior));
  assert_false(failure.failed);
  RG_OK(rg_kernel_destroy(&gaussian));
  RG_OK(rg_kernel_destroy(&matern));
  RG_OK(rg_kernel_destroy(&sum));
  RG_OK(rg_domain_destroy(&grid));
}

/* ---- listeners ------------------------------------------------------------------------------- */

/* A second mean kept by the updates. */
typedef struct {
  int resets, size;
  double mean[MAX_POINTS];
} Follower;

static PetscErrorCode follower_reset(void *closure, const RgSetPosterior *posterior)
{
  Follower *follower = closure;

  follower->resets++;
  follower->size = posterior->prior.size;
  memcpy(follower->mean, posterior->mean, follower->size * sizeof(double));
  return 0;
}

static PetscErrorCode follower_update(void *closure, const RgSetPosterior *posterior,
                                      const RgSetUpdate *update)
{
  Follower *follower = closure;
  double mean = posterior->mean[update->index];

  RG_CLOSE(update->step * update->pivot, update->y - mean, 1e-13);
  for (int i = 0; i < follower->size; i++) follower->mean[i] += update->step * update->row[i];
  return 0;
}

RG_TEST(listeners_follow)
{
  Follower follower = {0};
  RgSetListener listener = {
    .closure = &follower, .reset = follower_reset, .update = follower_update};
  RgDomain domain;
  RgKernel kernel;
  RgSetPosterior *set;
  RgFailure failure = {0};

  make_domain(2, &domain);
  support_kernel(RG_KERNEL_GAUSSIAN, 1, &kernel);
  RG_OK(rg_set_posterior_create(&domain, &kernel, 1e-2, 0.5, 4, &set));
  RG_OK(rg_set_posterior_follow(set, &listener));
  for (int round = 0; round < 2; round++) {
    for (int n = 0; n < 5; n++) RG_OK(rg_set_posterior_append(set, 3 * n + 1, 0.3 * n, &failure));
    for (int i = 0; i < follower.size; i++) {
      RG_CLOSE(follower.mean[i], set->mean[i], 1e-14);
    }
    RG_OK(rg_set_posterior_reset(set, NULL, 1e-2, 0.1));
  }
  assert_int_equal(follower.resets, 3);
  assert_false(failure.failed);
  RG_OK(rg_set_posterior_destroy(&set));
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_domain_destroy(&domain));
}

RG_TEST(agrees_with_the_cholesky_posterior)
{
  for (int which = 0; which < DOMAINS; which++) {
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
      one_domain_one_kernel(which, RG_KERNEL_GAUSSIAN, variant);
      one_domain_one_kernel(which, RG_KERNEL_MATERN32, variant);
    }
  }
}

/* Without noise a second observation at a point changes nothing and breaks nothing. */
RG_TEST(noiseless_repeats_are_skipped)
{
  RgDomain domain;
  RgKernel kernel;
  RgSetPosterior *set;
  RgFailure failure = {0};
  double before[MAX_POINTS];

  make_domain(0, &domain);
  support_kernel(RG_KERNEL_MATERN52, 1, &kernel);
  RG_OK(rg_set_posterior_create(&domain, &kernel, 0.0, 0.0, 4, &set));
  RG_OK(rg_set_posterior_append(set, 5, 1.5, &failure));
  RG_OK(rg_set_posterior_append(set, 9, -0.5, &failure));
  RG_CLOSE(set->mean[5], 1.5, 1e-14);
  assert_true(set->variance[5] < 1e-14);
  memcpy(before, set->mean, 30 * sizeof(double));
  RG_OK(rg_set_posterior_append(set, 5, 1.5, &failure));
  RG_OK(rg_set_posterior_append(set, 5, 7.0, &failure));
  assert_memory_equal(before, set->mean, 30 * sizeof(double));
  assert_int_equal(set->n, 4);
  assert_false(failure.failed);
  RG_OK(rg_set_posterior_append(set, 6, NAN, &failure));
  assert_true(failure.failed);
  RG_OK(rg_set_posterior_destroy(&set));
  assert_null(set);
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_domain_destroy(&domain));
}

/* The grid's factor and the dense one give the same path from the same numbers. A sum over groups
   of inputs is singular on a grid (its rank is the number of points of the groups): jitter. */
RG_TEST(paths_agree_between_routes)
{
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
      RgDomain domain;
      RgKernel kernel;
      RgSpace set;
      RgFailure failure = {0};
      double z[MAX_POINTS], f[MAX_POINTS], dense[MAX_POINTS], jitter[2];

      make_domain(1, &domain);
      support_kernel((RgKernelFamily)family, variant, &kernel);
      support_normals(8, domain.design.size, z);
      set = domain.design;
      set.kind = RG_SPACE_SET;
      RG_OK(rg_sample_path(NULL, &domain.design, &kernel, z, f, &jitter[0], &failure));
      RG_OK(rg_sample_path(NULL, &set, &kernel, z, dense, &jitter[1], &failure));
      assert_false(failure.failed);
      const bool linear = !rg_kernel_classes[family]->columns; /* of small rank too */
      assert_true(jitter[0] == jitter[1] && (linear || (jitter[0] > 0.0) == (variant == 3)));
      for (int i = 0; i < set.size; i++) RG_CLOSE(f[i], dense[i], 1e-9);
      RG_OK(rg_kernel_destroy(&kernel));
      RG_OK(rg_domain_destroy(&domain));
    }
  }
}

/* Nearly equal points: jitter steps in and is reported; still a path. */
RG_TEST(paths_through_a_singular_matrix_report_jitter)
{
  const double zero = 0.0, one = 1.0, scale = 5.0;
  double z[60], f[60], axis[60], jitter;
  int levels = 60;
  RgSpace grid = {0}, set;
  RgKernel kernel;
  RgFailure failure = {0};

  for (int i = 0; i < 60; i++) axis[i] = i / 59.0;
  support_normals(9, 60, z);
  RG_OK(rg_space_grid(&grid, 1, &levels, axis, &zero, &one));
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 1, false, &scale, 2.0, &kernel));
  set = grid;
  set.kind = RG_SPACE_SET;
  for (int route = 0; route < 2; route++) {
    RG_OK(rg_sample_path(NULL, route ? &set : &grid, &kernel, z, f, &jitter, &failure));
    assert_false(failure.failed);
    assert_true(jitter >= 1.99e-10 && jitter <= 2.01e-4);
    for (int i = 0; i < 60; i++) assert_true(isfinite(f[i]));
    for (int i = 1; i < 60; i++) RG_CLOSE(f[i], f[i - 1], 0.1); /* smooth: scale 5 */
  }
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_space_destroy(&grid));
}
