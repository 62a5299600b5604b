/* rrgp_ucb 4.4 and O6: the carrier-lifetime problem, its stand-in, the user's table, and the kernel
   of x + w. */
#include "test_problem.h"

#include "gp/posterior/set/set_posterior.h"
#include "temporary_file.h"

#include <stdlib.h>

static void standin(const char *measure, double optimum, int index)
{
  const Setting settings[] = {{"measure", measure}, {NULL, NULL}};
  RG_OWNED(instance_free)
  Instance instance = instance_make("carrier_lifetime_synthetic", settings, 1, 0);
  double x[2], F;
  RgPoint point = {index, x, -1, NULL};
  RgFailure failure = {0};

  RG_CLOSE(instance.problem.optimum, optimum, 1e-11);
  RG_OK(rg_problem_objective(&instance.problem, 1, &point, &F, &failure));
  RG_CLOSE(F, optimum, 1e-11);
}

RG_TEST(the_standin_has_the_values_of_the_specification)
{
  RG_OWNED(instance_free)
  Instance instance = instance_make("carrier_lifetime_synthetic", NULL, 1, 0);
  RgProblem *problem = &instance.problem;
  const double *points = problem->domain.design.points, *offsets = problem->domain.context.points;
  double least = INFINITY, most = -INFINITY, sum = 0, square = 0, above = 0;
  unsigned char seen[88][72] = {{0}};

  assert_int_equal(problem->domain.design.size, 64);
  assert_int_equal(problem->domain.context.size, 99);
  for (int i = 0; i < 64; i++) {
    for (int j = 0; j < 99; j++) {
      double x[2], w[2], f;
      RgPoint point = {i, x, j, w};
      RgFailure failure = {0};
      rg_space_to_native(&problem->domain.design, points + 2 * i, x);
      rg_space_to_native(&problem->domain.context, offsets + 2 * j, w);
      RG_OK(rg_problem_evaluate(problem, 1, &point, &f, &failure));
      int a = (int)lround((x[0] + w[0] - 8) / 2), b = (int)lround((x[1] + w[1] - 8) / 2);
      RG_CLOSE(x[0] + w[0], 8 + 2 * a, 1e-12);
      assert_in_range(a, 0, 87);
      assert_in_range(b, 0, 71);
      assert_int_equal(seen[a][b]++, 0); /* X + Omega tiles the lattice */
      if (a == 0 && b == 0) RG_CLOSE(f, 1.97507642921, 1e-10);
      if (a == 87 && b == 71) RG_CLOSE(f, 2.69813062628, 1e-10);
      if (a == 44 && b == 36) RG_CLOSE(f, 1.83373212534, 1e-10);
      least = fmin(least, f);
      most = fmax(most, f);
      sum += f;
      square += f * f;
      above += f >= 2.9;
    }
  }
  RG_CLOSE(least, 1.40353593145, 1e-10);
  RG_CLOSE(most, 3.41243656985, 1e-10);
  RG_CLOSE(sum / 6336, 2.46486269461, 1e-10);
  RG_CLOSE(sqrt(square / 6336 - pow(sum / 6336, 2)), 0.395888580025, 1e-4);
  RG_CLOSE(above / 6336, 0.158775252525, 1e-10);
  standin("expectation", 3.11324725756, 56);
  standin("ptr(2.9)", 0.919191919192, 4);
  standin("expectation - 4*mad", 2.75030466275, 58);
}

/* Matern 3/2 of x + w, variance 4, length scale 25 of 154 units; O6. */
RG_TEST(the_kernel_is_of_the_sum)
{
  const double length_scale = 25.0 / 154.0;
  const double points[] = {0.1,
                           0.2,
                           0.05,
                           0.02, /* x, w */
                           0.1 + 6 / 154.0,
                           0.2 + 10 / 154.0,
                           0.05 + 4 / 154.0,
                           0.02 - 2 / 154.0};
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = {0}, copy = {0}, left = {0}, right = {0};
  double K[4], gradient[4], one = 1.0;
  bool splits;

  RG_OK(rg_kernel_create_shift(RG_KERNEL_MATERN32, 4, false, &length_scale, 4.0, &kernel));
  RG_OK(rg_kernel_copy(&kernel, &copy));
  RG_OK(rg_kernel_matrix(&copy, 2, points, K));
  RG_CLOSE(K[0], 4.0, 1e-15);
  RG_CLOSE(K[1], 3.10858746725, 1e-11);
  RG_OK(rg_kernel_split(&kernel, 2, &left, &right, &splits));
  assert_false(splits);
  RG_OK(rg_kernel_cross_gradient(&kernel, 1, points, 1, points + 4, &one, gradient));
  for (int j = 0; j < 2; j++) { /* the same by x and by w, and against differences */
    double moved[4], up, down;
    assert_true(gradient[j] == gradient[j + 2]);
    memcpy(moved, points + 4, sizeof moved);
    moved[j + 2] += 1e-6;
    RG_OK(rg_kernel_cross(&kernel, 1, points, 1, moved, &up));
    moved[j + 2] -= 2e-6;
    RG_OK(rg_kernel_cross(&kernel, 1, points, 1, moved, &down));
    RG_CLOSE(gradient[j], (up - down) / 2e-6, 1e-6);
  }
}

/* The posterior on the set against the kernel's own matrix; and q0 of Bayesian quadrature. */
RG_TEST(the_set_posterior_knows_the_sum)
{
  const double length_scale = 25.0 / 154.0;
  RG_OWNED(instance_free)
  Instance instance = instance_make("carrier_lifetime_synthetic", NULL, 1, 0);
  RG_OWNED(rg_set_posterior_destroy) RgSetPosterior *posterior;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = {0};
  RgFailure failure = {0};
  double *row, direct, q0 = 0.0;

  RG_OK(PetscMalloc1(6336, &row));
  RG_OK(rg_kernel_create_shift(RG_KERNEL_MATERN32, 4, false, &length_scale, 4.0, &kernel));
  RG_OK(rg_set_posterior_create(&instance.problem.domain, &kernel, 1e-6, 0.0, 10, &posterior));
  const double *z = posterior->prior.points;
  for (int j = 0; j < 99; j++) {
    RG_OK(rg_set_posterior_covariance(posterior, 20 * 99 + j, row));
    for (int k = 0; k < 99; k++) q0 += row[20 * 99 + k] / 99.0 / 99.0;
  }
  RG_CLOSE(q0, 3.31260291482, 1e-11);
  RG_OK(rg_set_posterior_append(posterior, 77, 2.0, &failure));
  for (int i = 0; i < 6336; i += 501) {
    RG_OK(rg_kernel_cross(&kernel, 1, z + 4 * 77, 1, z + 4 * (size_t)i, &direct));
    RG_CLOSE(posterior->mean[i], direct * 2.0 / (4.0 + 1e-6), 1e-12);
  }
  RG_OK(PetscFree(row));
}

/* The table of a user: every node, further columns, points that are no nodes, a repeated row. */
static char *table(const char *extra, int skipped)
{
  size_t room = 6400 * 32;
  char *text = malloc(room), *at = text;

  at += sprintf(at, "# made up\nx1,x2,lt\n7,8,1.5\n8,300,2\n");
  for (int i = 0; i < 6336; i++)
    if (i != skipped)
      at += sprintf(at, "%d,%d,%.3f\n", 8 + 2 * (i / 72), 8 + 2 * (i % 72), i / 1e3);
  strcpy(at, extra);
  return text;
}

static void read_user_table(const char *extra, int skipped, const char *message)
{
  const RgProblemClass *class = rg_registry_find_problem(NULL, "carrier_lifetime");
  char *text = table(extra, skipped);
  RG_OWNED(file_remove) TemporaryFile file = file_make("lifetime.csv", text);
  const Setting settings[] = {{"path", file.path}, {"measure", "worst"}, {NULL, NULL}};
  void *options = options_make(class, settings);
  RgDiagnostics diagnostics = {0};

  RG_OK(class->check(class, options, (RgPlace){0}, &diagnostics));
  if (message) {
    assert_int_equal(diagnostics.n, 1);
    if (!strstr(diagnostics.list[0].message, message))
      fail_msg("%s, not: %s", diagnostics.list[0].message, message);
  } else {
    assert_int_equal(diagnostics.n, 0);
    RG_OWNED(instance_free) Instance instance = instance_make("carrier_lifetime", settings, 1, 0);
    RG_CLOSE(instance.problem.optimum, (77 * 72 + 63) / 1e3, 1e-12);
  }
  options_free(class, options);
  free(text);
}

RG_TEST(tables_of_users_are_read_and_checked)
{
  read_user_table("", -1, NULL);
  read_user_table("8,8,0.000\n", -1, NULL);
  read_user_table("8,8,0.5\n", -1, "node (8, 8) stands there twice");
  read_user_table("", 100, "no row for the node (10, 64)");
  read_user_table("8,8,nan\n", -1, "a cell is not a number");
}
