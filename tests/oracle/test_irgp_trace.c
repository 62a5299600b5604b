/* specs irgp_ucb, section 8: O15, a trace of IRGP-UCB with given uniform numbers. */
#include "test_main.h"

#include "acquisition/confidence.h"
#include "regatta/acquire.h"
#include "gp/model/model.h"
#include "gp/posterior/set/set_posterior.h"

enum { N = 10 };

/* t, U, zeta, chosen index, acquisition, R_t */
static const double trace[][6] = {{1, 0.50, 4.6051701860, 8, 2.1618381844, 0.0000000000},
                                  {2, 0.90, 3.4295968562, 6, 1.7991435639, 0.3345288996},
                                  {3, 0.10, 7.8240460109, 9, 1.9432624571, 0.4704658210},
                                  {4, 0.30, 5.6268214335, 0, 1.5890070406, 1.0337119408},
                                  {5, 0.70, 3.9322257127, 7, 1.1005935153, 1.1404925092},
                                  {6, 0.05, 9.2103403720, 8, 1.0929937757, 1.1404925092}};

static double objective(int index)
{
  double x = 0.1 * index;

  return sin(3.0 * x) + 0.5 * cos(7.0 * x);
}

static void make_grid(RgDomain *domain)
{
  double points[N], lower = 0.0, upper = 1.0;

  for (int i = 0; i < N; i++) points[i] = 0.1 * i;
  memset(domain, 0, sizeof *domain);
  RG_OK(rg_space_set(&domain->design, 1, N, points, &lower, &upper));
}

RG_TEST(test_o15_trace)
{
  RG_OWNED(rg_domain_destroy) RgDomain domain;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_set_posterior_destroy) RgSetPosterior *posterior;
  RgFailure failure = {0};
  double scale = 0.2, optimum = objective(8), regret = 0.0, sd[N], value[N];

  make_grid(&domain);
  RG_CLOSE(optimum, 1.06324611981, 1e-11);
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 1, false, &scale, 1.0, &kernel));
  RG_OK(rg_set_posterior_create(&domain, &kernel, 1e-4, 0.0, 10, &posterior));
  RG_OK(rg_set_posterior_append(posterior, 1, objective(1), &failure));
  RG_OK(rg_set_posterior_append(posterior, 4, objective(4), &failure));
  for (size_t t = 0; t < sizeof trace / sizeof trace[0]; t++) {
    double zeta = rg_irgp_quantile(rg_irgp_shift_finite(N), 0.5, 1.0 - trace[t][1]);
    RgUcb ucb = {sqrt(zeta)};
    for (int i = 0; i < N; i++) sd[i] = sqrt(posterior->variance[i]);
    rg_acquisition_ucb(&ucb, N, posterior->mean, sd, value, NULL, NULL);
    int chosen = rg_argmax(N, value, NULL);
    regret += optimum - objective(chosen);
    RG_CLOSE(zeta, trace[t][2], 1e-10);
    assert_int_equal(chosen, (int)trace[t][3]);
    RG_CLOSE(value[chosen], trace[t][4], 1e-9);
    RG_CLOSE(regret, trace[t][5], 1e-9);
    RG_OK(rg_set_posterior_append(posterior, chosen, objective(chosen), &failure));
  }
  assert_false(failure.failed);
}

/* The same trace through the model and rg_acquire, as the algorithm runs it. */
RG_TEST(test_o15_acquire)
{
  RG_OWNED(rg_domain_destroy) RgDomain domain;
  RgSurrogateOptions surrogate = {0};
  RgMaximiserOptions maximiser = {0};
  RgStream stream = rg_stream(1, "test", 0, "trace", 1);
  RgRandom random = rg_stream_at(&stream, 1);
  RG_OWNED(rg_history_destroy) RgHistory history;
  RG_OWNED(rg_model_destroy) RgModel model;
  RgFailure failure = {0};
  double x, value;
  RgQuery query = {.x = &x};

  make_grid(&domain);
  RG_OK(rg_params_defaults(rg_surrogate_params, &surrogate));
  RG_OK(rg_params_defaults(rg_maximiser_params, &maximiser));
  RG_OK(PetscMalloc1(1, &surrogate.length_scale.values));
  surrogate.length_scale.n = 1;
  surrogate.length_scale.values[0] = 0.2;
  surrogate.kernel = RG_KERNEL_GAUSSIAN;
  surrogate.fit = RG_FIT_FIXED;
  surrogate.variance = 1.0;
  surrogate.standardise = false;
  surrogate.mean = RG_MEAN_ZERO;
  RG_OK(rg_history_create(&domain, 10, &history));
  RG_OK(rg_model_create(&domain, &surrogate, false, 1e-4, 10, &stream, NULL, &model));
  RG_OK(rg_history_append(&history, &domain.design.points[1], 1, NULL, -1, objective(1)));
  RG_OK(rg_history_append(&history, &domain.design.points[4], 4, NULL, -1, objective(4)));
  history.n_initial = 2;
  for (size_t t = 0; t < sizeof trace / sizeof trace[0]; t++) {
    RgUcb ucb = {sqrt(trace[t][2])};
    RgAcquisition acquisition = {rg_acquisition_ucb, &ucb};
    RG_OK(rg_model_update(&model, &history, &failure));
    RG_OK(rg_acquire(&model, &acquisition,
                     &(RgSearch){.options = &maximiser, .history = &history, .random = &random},
                     &query, &value, &failure));
    assert_int_equal(query.index, (int)trace[t][3]);
    RG_CLOSE(value, trace[t][4], 1e-8);
    RG_OK(rg_history_append(&history, &x, query.index, NULL, -1, objective(query.index)));
  }
  assert_false(failure.failed);
  RG_OK(rg_params_clear(rg_surrogate_params, &surrogate));
}
