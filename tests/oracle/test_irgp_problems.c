/* Test functions and GP sample paths of the IRGP-UCB study (arXiv:2409.00979): values computed
   independently in Python. */
#include "gp/kernel/kernel.h"
#include "gp/path/sample_path.h"
#include "test_problem.h"

#define AT(...) ((const double[]){__VA_ARGS__})

RG_TEST(test_holder_table)
{
  RG_CLOSE(value_of("holder_table", NULL, AT(0, 0)), 0, 1e-15);
  RG_CLOSE(value_of("holder_table", NULL, AT(1, 2)), 0.467160032399, 1e-12);
  RG_CLOSE(value_of("holder_table", NULL, AT(-3, 4)), 0.166661878779, 1e-12);
  RG_CLOSE(value_of("holder_table", NULL, AT(8.05502, 9.66459)), 19.2085025678, 5e-12);
  RG_CLOSE(value_of("holder_table", NULL, AT(10, 9.64222733)), 16.26783290, 1e-9);
  RG_CLOSE(value_of("holder_table", NULL, AT(-4.85385585, 9.70211388)), 11.06955117, 1e-9);
  RG_CLOSE(value_of("holder_table", NULL, AT(8.09758273, -6.47949736)), 9.50467703, 1e-9);
}

RG_TEST(test_cross_in_tray)
{
  RG_CLOSE(value_of("cross_in_tray", NULL, AT(0, 0)), 0.0001, 1e-15);
  RG_CLOSE(value_of("cross_in_tray", NULL, AT(1, 2)), 1.99713708081, 1e-11);
  RG_CLOSE(value_of("cross_in_tray", NULL, AT(-3, 4)), 1.50204111364, 1e-11);
  RG_CLOSE(value_of("cross_in_tray", NULL, AT(4.41907587, -1.47062216)), 1.88993805, 1e-8);
  RG_CLOSE(value_of("cross_in_tray", NULL, AT(4.49099927, 4.49099927)), 1.79060172, 1e-8);
}

RG_TEST(test_ackley)
{
  RG_CLOSE(value_of("ackley", NULL, AT(1, 2, -3, 4)), -8.43469444444, 1e-12);
  RG_CLOSE(value_of("ackley", NULL, AT(0.5, 0.5, 0.5, 0.5)), -4.25365402657, 1e-12);
  RG_CLOSE(value_of("ackley", NULL, AT(32.768, 32.768, 32.768, 32.768)), -21.5703111513, 1e-12);
}

RG_TEST(test_optima)
{
  static const struct {
    const char *name;
    double optimum, x[2];
  } known[] = {
    {"holder_table", 19.208502567887, {8.055023476, 9.664590019}},
    {"cross_in_tray", 2.062611870823, {1.349406617, 1.349406617}},
  };

  for (int k = 0; k < 2; k++) {
    Instance it = instance_make(known[k].name, NULL, 1, 0);
    RG_CLOSE(it.problem.optimum, known[k].optimum, 1e-12);
    assert_int_equal(it.problem.n_optimisers, 4);
    for (int i = 0; i < 8; i++) RG_CLOSE(fabs(it.problem.optimisers[i]), known[k].x[i % 2], 1e-9);
    instance_free(&it);
  }
}

/* The default grid, with a fixed vector in place of the normal draws (O10). */
RG_TEST(test_grid_path)
{
  const RgProblemClass *class = rg_registry_find_problem(NULL, "gp_path");
  const double length_scale = 0.1;
  RgDomain domain = {0};
  RgKernel kernel;
  RgFailure failure = {0};
  double z[1000], f[1000], jitter, sum = 0;
  int best = 0;

  void *options = options_make(class, NULL);
  RG_OK(class->domain(class, options, &domain));
  assert_int_equal(domain.design.size, 1000);
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 3, false, &length_scale, 1, &kernel));
  for (int i = 0; i < 1000; i++) z[i] = sin(1.0 + i);
  RG_OK(rg_sample_path(NULL, &domain.design, &kernel, z, f, &jitter, &failure));
  assert_false(failure.failed);
  assert_true(jitter == 0);
  for (int i = 0; i < 1000; i++) {
    sum += f[i];
    if (f[i] > f[best]) best = i;
  }
  RG_CLOSE(f[0], 0.841470984808, 1e-11);
  RG_CLOSE(f[1], 1.23332405248, 1e-11);
  RG_CLOSE(f[123], -0.539408206681, 1e-11);
  RG_CLOSE(f[999], 0.561336064602, 1e-11);
  RG_CLOSE(sum, -3.576341412, 1e-9);
  RG_CLOSE(f[best], 1.8188656679, 1e-10);
  assert_int_equal(best, 604);
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_domain_destroy(&domain));
  options_free(class, options);
}

/* E max f = 3.137 +- 0.004 with 5/50/95 percent quantiles 2.58/3.10/3.83: the whole chain from the
   instance's stream to the scanned optimum. */
RG_TEST(test_mean_of_maxima)
{
  enum { N = 1000 };
  double sum = 0;
  int below = 0;

  for (int i = 0; i < N; i++) {
    Instance it = instance_make("gp_path", NULL, 2024, (uint64_t)i);
    sum += it.problem.optimum;
    below += it.problem.optimum < 3.10;
    instance_free(&it);
  }
  RG_CLOSE(sum / N, 3.137, 4 * (0.38 / sqrt(N) + 0.004) / 3.137);
  RG_CLOSE((double)below / N, 0.5, 4 * 0.5 / sqrt(N));
}
