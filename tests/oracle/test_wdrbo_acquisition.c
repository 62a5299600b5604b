/* ERBO, WDRBO and StableOpt on small data: oracles O9 to O12 of wdrbo. */
#include "gp/model/model.h"
#include "gp_support.h"

#include "acquisition/context_ucb.h"

/* The tiny data set of wdrbo 8, outputs standardised. */
static const double Z[8] = {0.1, 0.3, 0.4, 0.7, 0.8, 0.2, 0.6, 0.9};
static const double contexts[4] = {0.3, 0.7, 0.2, 0.9};
static const double y[4] = {-0.40964401518646, 1.2289320455594, -1.1118908983632, 0.29260286799033};
static const double weights[4] = {0.25, 0.25, 0.25, 0.25};

typedef struct {
  RgDomain domain;
  RgKernel kernel;
  RgModel model;
  RgContextPenalised penalised;
  RgContextUcb ucb;
} Case;

/* `grid` contexts 0 .. 1 for the penalty after the four observed ones. */
static void begin(int grid, double radius, bool flat, Case *test)
{
  const double scales[2] = {0.3, 0.5};
  RgFailure failure = {0};
  double *list;

  *test = (Case){.domain.design.dim = 1, .domain.context.dim = 1};
  RG_OK(PetscMalloc1(4 + grid, &list));
  for (int i = 0; i < 4; i++) list[i] = contexts[i];
  for (int i = 0; i < grid; i++) list[4 + i] = i / (grid - 1.0);
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, true, scales, 1.0, &test->kernel));
  test->model.domain = &test->domain;
  RG_OK(rg_posterior_create(&test->kernel, 0.01, 0.0, 4, &test->model.posterior));
  RG_OK(rg_posterior_set(&test->model.posterior, NULL, 0.01, 0.0, 4, Z, y, &failure));
  test->penalised = (RgContextPenalised){{4, weights, NULL}, radius, grid, 1, flat};
  const RgContextual bound = {4 + grid, grid, list, rg_ucb_penalised, &test->penalised, NULL};
  RG_OK(rg_context_ucb_create(&test->model, 1.5, &bound, RG_CONTEXT_EXACT, 500, &test->ucb));
  RG_OK(PetscFree(list));
}

static void end(Case *test)
{
  RG_OK(rg_context_ucb_destroy(&test->ucb));
  RG_OK(rg_posterior_destroy(&test->model.posterior));
  RG_OK(rg_kernel_destroy(&test->kernel));
}

RG_TEST(confidence_bounds_and_slopes)
{
  const double u[4] = {0.98083809474438, 1.1311637073808, 0.8618200692642, 1.120823782494};
  const double slope[5] = {0.13609209583309, 1.2034309778736, 0.51401037108535, -0.86631210512493,
                           0.88057014624552};
  const double x = 0.5;
  double value;
  Case test;

  begin(5, 0.0, false, &test);
  RG_OK(rg_context_ucb_function(&test.ucb, 1, &x, &value, NULL));
  RG_CLOSE(value, 1.0236614134709, 1e-11);
  for (int i = 0; i < 4; i++) RG_CLOSE(test.ucb.u[i], u[i], 1e-11);
  for (int i = 0; i < 5; i++) RG_CLOSE(test.ucb.slope[i], slope[i], 1e-11);
  end(&test);
  begin(2001, 1.0, false, &test);
  RG_OK(rg_context_ucb_function(&test.ucb, 1, &x, &value, NULL));
  RG_CLOSE(1.0236614134709 - value, 1.2425985185402, 1e-11);
  end(&test);
}

RG_TEST(penalised_value_and_gradient)
{
  const double x = 0.5, radius = 0.3 / sqrt(4.0);
  double value, gradient;
  Case test;

  begin(5, radius, false, &test);
  RG_OK(rg_context_ucb_function(&test.ucb, 1, &x, &value, &gradient));
  RG_CLOSE(value, 0.84314676678982, 1e-11);
  RG_CLOSE(gradient, -4.1040311365761, 1e-9);
  end(&test);
  begin(5, radius, true, &test);
  RG_OK(rg_context_ucb_function(&test.ucb, 1, &x, &value, &gradient));
  RG_CLOSE(value, 0.84314676678982, 1e-11);
  RG_CLOSE(gradient, -4.2358036432022, 1e-9);
  end(&test);
}

RG_TEST(maximisers_on_a_grid)
{
  const double radius[2] = {0.0, 0.15}, best[2] = {1.343687515464, 1.0603164510171};
  const int index[2] = {34, 43};
  double x[101], value[101];
  Case test;

  for (int i = 0; i <= 100; i++) x[i] = 0.01 * i;
  for (int k = 0; k < 2; k++) {
    begin(5, radius[k], false, &test);
    RG_OK(rg_context_ucb_function(&test.ucb, 101, x, value, NULL));
    assert_int_equal(rg_argmax(101, value, NULL), index[k]);
    RG_CLOSE(value[index[k]], best[k], 1e-11);
    end(&test);
  }
}

/* The gradient of every criterion, with another measure too, on a kernel that is no product too. */
RG_TEST(gradients)
{
  const double list[5] = {0.1, 0.3, 0.55, 0.7, 0.95}, weight[3] = {0.5, 0.2, 0.3};
  const double scales[2] = {0.3, 0.5}, x = 0.47, h = 1e-6;
  RgContextWeights expectation = {3, weight, NULL};
  RgContextPenalised penalised = {{3, weight, NULL}, 0.2, 2, 1, false};
  RG_OWNED(rg_measure_destroy) RgMeasure cvar;
  RgContextWeights tail = {3, weight, &cvar};
  RgContextPenalised penalised_tail = {{3, weight, &cvar}, 0.2, 2, 1, false};
  int all = 5;
  RgContextCriterion criteria[5] = {rg_ucb_expectation, rg_ucb_penalised, rg_ucb_minimum,
                                    rg_ucb_expectation, rg_ucb_penalised};
  void *argument[5] = {&expectation, &penalised, &all, &tail, &penalised_tail};
  Case test;
  RgFailure failure = {0};

  RG_OK(rg_measure_create("cvar(0.6)", &cvar));
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    begin(5, 0.0, false, &test);
    RG_OWNED(rg_kernel_destroy) RgKernel kernel;
    RG_OK(rg_kernel_create((RgKernelFamily)family, 2, true, scales, 1.0, &kernel));
    RG_OK(rg_posterior_set(&test.model.posterior, &kernel, 0.01, 0.0, 4, Z, y, &failure));
    for (int k = 0; k < 5; k++) {
      const RgContextual what = {5, 2, list, criteria[k], argument[k], NULL};
      RG_OWNED(rg_context_ucb_destroy) RgContextUcb ucb;
      double points[3] = {x, x + h, x - h}, value[3], gradient[3];
      RG_OK(rg_context_ucb_create(&test.model, 1.5, &what, RG_CONTEXT_EXACT, 500, &ucb));
      RG_OK(rg_context_ucb_function(&ucb, 3, points, value, gradient));
      RG_CLOSE(gradient[0], (value[1] - value[2]) / (2.0 * h), 1e-6);
    }
    end(&test);
  }
}
