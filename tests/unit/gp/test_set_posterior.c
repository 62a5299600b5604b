#include "gp_support.h"

#include "gp/posterior/posterior.h"
#include "gp/path/sample_path.h"
#include "gp/posterior/set/set_posterior.h"

#define MAX_POINTS 400
#define MAX_DATA 90

/* Domains over 4 inputs: 0 a set, 1 a grid, 2 grid x grid, 3 set x grid. */
#define DOMAINS 4

static void make_domain(int which, RgDomain *domain)
{
  static const int dims[DOMAINS][2] = {{4, 0}, {4, 0}, {3, 1}, {2, 2}};
  static const uint64_t seeds[DOMAINS][2] = {{1, 0}, {2, 0}, {3, 4}, {5, 6}};

  memset(domain, 0, sizeof *domain);
  support_space(which == 1 || which == 2, dims[which][0], seeds[which][0], &domain->design);
  if (which > 1) support_space(true, dims[which][1], seeds[which][1], &domain->context);
}

/* Flat index -> coordinates. */
static int joined_points(const RgDomain *domain, double *X)
{
  const RgSpace *design = &domain->design, *context = &domain->context;
  const int nc = context->dim ? context->size : 1, dx = design->dim, dc = context->dim;

  for (int i = 0; i < design->size * nc; i++) {
    memcpy(X + i * SUPPORT_DIM, design->points + i / nc * dx, dx * sizeof *X);
    for (int k = 0; k < dc; k++) X[i * SUPPORT_DIM + dx + k] = context->points[i % nc * dc + k];
  }
  return design->size * nc;
}

/* The same data in the posterior with a Cholesky factor. */
static void compare(RgSetPosterior *set, RgPosterior *reference, int size, const double *X)
{
  double mean[MAX_POINTS], variance[MAX_POINTS], row[MAX_POINTS], other[MAX_POINTS];

  assert_int_equal(set->prior.size, size);
  assert_int_equal(set->n, reference->n);
  support_predict(reference, size, X, mean, variance);
  support_same(size, set->mean, mean, 1e-9);
  support_same(size, set->variance, variance, 1e-10);
  for (int i = 0; i < size; i++) assert_true(set->variance[i] >= 0.0);
  RG_OK(rg_set_posterior_covariance(set, size / 2, row));
  RG_OK(rg_posterior_covariance(reference, 1, X + size / 2 * SUPPORT_DIM, size, X, other));
  support_same(size, row, other, 1e-10);
}

static void one_domain_one_kernel(int which, RgKernelFamily family, int variant)
{
  double X[MAX_POINTS * SUPPORT_DIM], y[MAX_DATA];
  RG_OWNED(rg_domain_destroy) RgDomain domain;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel, other;
  RG_OWNED(rg_set_posterior_destroy) RgSetPosterior *set;
  RG_OWNED(rg_posterior_destroy) RgPosterior reference;
  RG_NO_FAILURE(failure);
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
  RG_OWNED(rg_set_posterior_destroy) RgSetPosterior *set, *rows;
  RG_NO_FAILURE(failure);
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
      support_same(size, a, b, 1e-10);
      support_same(size, set->mean, rows->mean, 1e-10);
      support_same(size, set->variance, rows->variance, 1e-10);
    }
    RG_OK(rg_set_posterior_reset(set, NULL, 1e-2, 0.0));
    RG_OK(rg_set_posterior_reset(rows, NULL, 1e-2, 0.0));
  }
}

RG_TEST(structured_methods_agree_with_rows)
{
  const int group[] = {0, 0, 1, 1};
  const double scales[] = {0.31, 0.52, 0.27, 0.74};

  for (int which = 1; which < DOMAINS; which++) {
    RG_OWNED(rg_domain_destroy) RgDomain domain;
    make_domain(which, &domain);
    for (int k = 0; k < RG_KERNEL_FAMILIES; k++) {
      const RgKernelFamily family = (RgKernelFamily)k;
      RG_OWNED(rg_kernel_destroy) RgKernel sum;
      RG_OWNED(rg_kernel_destroy) RgKernel product;
      overlapping_kernel(family, &sum);
      RG_OK(rg_kernel_create_product(family, 4, 2, group, true, scales, 1.3, &product));
      if (which < 3) one_method(RG_SET_ADDITIVE, &domain, &sum);
      one_method(RG_SET_PRODUCT, &domain, &product);
    }
  }
}

/* A posterior chooses its representation, and a new kernel may change the choice. */
RG_TEST(methods_are_chosen_by_structure)
{
  const double lower[4] = {0}, upper[] = {1, 1, 1, 1}, scale = 0.4;
  const int levels[] = {8, 8, 8, 8};
  double axes[32];
  RG_OWNED(rg_domain_destroy) RgDomain grid = {0};
  RG_OWNED(rg_kernel_destroy) RgKernel gaussian;
  RG_OWNED(rg_kernel_destroy) RgKernel matern;
  RG_OWNED(rg_kernel_destroy) RgKernel sum;
  RG_NO_FAILURE(failure);

  for (int i = 0; i < 32; i++) axes[i] = (i % 8) / 7.0;
  RG_OK(rg_space_grid(&grid.design, 4, levels, axes, lower, upper));
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 4, false, &scale, 1.0, &gaussian));
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN32, 4, false, &scale, 1.0, &matern));
  overlapping_kernel(RG_KERNEL_MATERN32, &sum);
  RgDomain set = grid;
  set.design.kind = RG_SPACE_SET;
  const struct {
    const RgDomain *domain;
    int data; /* with few data rows are cheaper */
    const char *backend;
  } first[] = {{&grid, 100, "product"}, {&grid, 10, "rows"}, {&set, 100, "rows"}};
  const struct {
    const RgKernel *kernel;
    const char *backend;
  } then[] = {{&sum, "additive"}, {&matern, "rows"}};

  for (int k = 0; k < 3; k++) {
    RG_OWNED(rg_set_posterior_destroy) RgSetPosterior *posterior;
    RG_OK(
      rg_set_posterior_create(first[k].domain, &gaussian, 1e-4, 0.0, first[k].data, &posterior));
    assert_string_equal(posterior->backend->name, first[k].backend);
    RG_OK(rg_set_posterior_append(posterior, 77, 1.0, &failure));
    for (int r = 0; k == 0 && r < 2; r++) {
      RG_OK(rg_set_posterior_reset(posterior, then[r].kernel, 1e-4, 0.0));
      assert_string_equal(posterior->backend->name, then[r].backend);
      RG_OK(rg_set_posterior_append(posterior, 77, 1.0, &failure));
    }
    RG_CLOSE(posterior->mean[77], 1.0 / 1.0001, 1e-14);
  }
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
  RG_OWNED(rg_domain_destroy) RgDomain domain;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_set_posterior_destroy) RgSetPosterior *set;
  RG_NO_FAILURE(failure);

  make_domain(2, &domain);
  support_kernel(RG_KERNEL_GAUSSIAN, 1, &kernel);
  RG_OK(rg_set_posterior_create(&domain, &kernel, 1e-2, 0.5, 4, &set));
  RG_OK(rg_set_posterior_follow(set, &listener));
  for (int round = 0; round < 2; round++) {
    for (int n = 0; n < 5; n++) RG_OK(rg_set_posterior_append(set, 3 * n + 1, 0.3 * n, &failure));
    for (int i = 0; i < follower.size; i++) RG_CLOSE(follower.mean[i], set->mean[i], 1e-14);
    RG_OK(rg_set_posterior_reset(set, NULL, 1e-2, 0.1));
  }
  assert_int_equal(follower.resets, 3);
}

RG_TEST(agrees_with_the_cholesky_posterior)
{
  for (int which = 0; which < DOMAINS; which++)
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
      one_domain_one_kernel(which, RG_KERNEL_GAUSSIAN, variant);
      one_domain_one_kernel(which, RG_KERNEL_MATERN32, variant);
    }
}

/* Without noise a second observation at a point changes nothing and breaks nothing. */
RG_TEST(noiseless_repeats_are_skipped)
{
  RG_OWNED(rg_domain_destroy) RgDomain domain;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
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
}

/* The grid's factor and the dense one give the same path from the same numbers. A sum over groups
   of inputs is singular on a grid (its rank is the number of points of the groups): jitter. */
RG_TEST(paths_agree_between_routes)
{
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++)
    for (int variant = 0; variant < SUPPORT_VARIANTS; variant++) {
      RG_OWNED(rg_domain_destroy) RgDomain domain;
      RG_OWNED(rg_kernel_destroy) RgKernel kernel;
      RgSpace set;
      RG_NO_FAILURE(failure);
      double z[MAX_POINTS], f[MAX_POINTS], dense[MAX_POINTS], jitter[2];
      make_domain(1, &domain);
      support_kernel((RgKernelFamily)family, variant, &kernel);
      support_normals(8, domain.design.size, z);
      set = domain.design;
      set.kind = RG_SPACE_SET;
      RG_OK(rg_sample_path(NULL, &domain.design, &kernel, z, f, &jitter[0], &failure));
      RG_OK(rg_sample_path(NULL, &set, &kernel, z, dense, &jitter[1], &failure));
      const bool linear = !rg_kernel_classes[family]->columns; /* of small rank too */
      assert_true(jitter[0] == jitter[1] && (linear || (jitter[0] > 0.0) == (variant == 3)));
      for (int i = 0; i < set.size; i++) RG_CLOSE(f[i], dense[i], 1e-9);
    }
}

/* Nearly equal points: jitter steps in and is reported; still a path. */
RG_TEST(paths_through_a_singular_matrix_report_jitter)
{
  const double zero = 0.0, one = 1.0, scale = 5.0;
  double z[60], f[60], axis[60], jitter;
  int levels = 60;
  RgSpace set;
  RG_OWNED(rg_space_destroy) RgSpace grid = {0};
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_NO_FAILURE(failure);

  for (int i = 0; i < 60; i++) axis[i] = i / 59.0;
  support_normals(9, 60, z);
  RG_OK(rg_space_grid(&grid, 1, &levels, axis, &zero, &one));
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 1, false, &scale, 2.0, &kernel));
  set = grid;
  set.kind = RG_SPACE_SET;
  for (int route = 0; route < 2; route++) {
    RG_OK(rg_sample_path(NULL, route ? &set : &grid, &kernel, z, f, &jitter, &failure));
    assert_true(jitter >= 1.99e-10 && jitter <= 2.01e-4);
    for (int i = 0; i < 60; i++) assert_true(isfinite(f[i]));
    for (int i = 1; i < 60; i++) RG_CLOSE(f[i], f[i - 1], 0.1); /* smooth: scale 5 */
  }
}
