/* Values of irgp_ucb.md, section 8: PIMS, MES, JES and their tail functions (O6), random features
   (O8), the exact path (O9), the truncation factor (O16). */
#include "test_main.h"

#include "acquisition/sampled.h"
#include "maths/vector.h"
#include "gp/posterior/exact/exact.h"

static const double X3[] = {0.1, 0.2, 0.4, 0.9, 0.8, 0.3}, Y3[] = {0.5, -0.3, 0.9};
static const double ABC[] = {0.5, 0.5, 0.75, 0.35, 0.1, 0.2};

static void o5_posterior(RgPosterior *posterior)
{
  const double ell = 0.3;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RgFailure failure = {0};

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, false, &ell, 1.0, &kernel));
  RG_OK(rg_posterior_create(&kernel, 1e-4, 0.0, 3, posterior));
  RG_OK(rg_posterior_set(posterior, NULL, 1e-4, 0.0, 3, X3, Y3, &failure));
}

RG_TEST(o6_pims_mes)
{
  const double z[] = {1.16559515311, 1.87918586124, 80.008612714};
  const double information[] = {0.188167907717, 0.0677028682291, 0.0}, maxima[] = {1.2, 1.5, 2.0};
  double mean[3], sd[3], value[3];
  const RgPims pims = {1.3};
  const RgMes mes = {3, maxima};
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};

  o5_posterior(&posterior);
  RG_OK(rg_posterior_predict(&posterior, 3, ABC, mean, sd, &work));
  for (int j = 0; j < 3; j++) sd[j] = sqrt(sd[j]);
  rg_acquisition_pims(&pims, 3, mean, sd, value, NULL, NULL);
  for (int j = 0; j < 3; j++) RG_CLOSE(value[j], -z[j], 1e-11);
  rg_acquisition_mes(&mes, 3, mean, sd, value, NULL, NULL);
  for (int j = 0; j < 3; j++) RG_CLOSE(value[j], information[j], 1e-11);
}

/* Logarithm of the expected improvement over the maximum 1.3 of a path, as EIMS maximises it, from
   a program in Python with 40 digits. */
RG_TEST(eims)
{
  const double log_improvement[] = {-3.0741232296454406, -5.92922978534582, -3214.9779501572};
  double mean[3], sd[3], value[3];
  const RgEi ei = {1.3};
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};

  o5_posterior(&posterior);
  RG_OK(rg_posterior_predict(&posterior, 3, ABC, mean, sd, &work));
  for (int j = 0; j < 3; j++) sd[j] = sqrt(sd[j]);
  rg_acquisition_log_ei(&ei, 3, mean, sd, value, NULL, NULL);
  for (int j = 0; j < 3; j++) RG_CLOSE(value[j], log_improvement[j], 1e-10 * -log_improvement[j]);
}

RG_TEST(o6_jes)
{
  const double optima[] = {0.7, 0.5, 0.9, 0.1, 0.2, 0.6}, maximum[] = {1.2, 1.5, 1.1};
  const double expected[] = {0.471150235172, 0.535986966093, 1.82654191928e-06};
  const double parts[3][4] = {{0.936980174667, 0.266208558191, 0.509773761737, 0.130130256275},
                              {0.0550140601094, 0.511981264292, 2.01946619226, 0.455666287296},
                              {0.869330759561, 0.461876089176, 0.339411806784, 0.205010268522}};
  double mean[3], variance[3], at[3], own[9], C[9], value[3];
  RgJesOptimum optimum[3];
  const RgJes jes = {3, optimum, 1e-4, 1e-14};
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};
  RG_OWNED(rg_cross_covariance_destroy) RgCrossCovariance cross;

  o5_posterior(&posterior);
  RG_OK(rg_posterior_predict(&posterior, 3, optima, at, NULL, &work));
  RG_OK(rg_posterior_predict(&posterior, 3, ABC, mean, variance, &work));
  RG_OK(rg_cross_covariance_create(&posterior, 3, optima, &cross));
  RG_OK(rg_cross_covariance_evaluate(&cross, 3, optima, own));
  RG_OK(rg_cross_covariance_evaluate(&cross, 3, ABC, C));
  for (int l = 0; l < 3; l++) { /* eta = 0 */
    double m, v, out;

    optimum[l] = (RgJesOptimum){maximum[l], (maximum[l] - at[l]) / own[4 * l], 1.0 / own[4 * l]};
    m = mean[0] + C[3 * l] * optimum[l].residual;
    v = variance[0] - C[3 * l] * C[3 * l] * optimum[l].inverse;
    rg_vector_ops()->truncated_variance(1, maximum[l], &m, &v, 1e-14, &out);
    RG_CLOSE(m, parts[l][0], 1e-11);
    RG_CLOSE(v, parts[l][1], 1e-11);
    RG_CLOSE((maximum[l] - m) / sqrt(v), parts[l][2], 1e-11);
    RG_CLOSE(out, parts[l][3], 1e-11);
  }
  RG_OK(rg_acquisition_jes(&jes, 3, &(RgJesMoments){mean, variance, C}, value, NULL));
  for (int j = 0; j < 3; j++) RG_CLOSE(value[j], expected[j], 1e-11);
}

RG_TEST(o6_tails)
{
  const double a[] = {-40.0, -10.0, -1.0, 0.0, 1.0, 5.0};
  const double hazard[] = {40.0249688472,  10.098093234,   1.52513527616,
                           0.797884560803, 0.287599970939, 1.4867199409e-06};
  const double log_cdf[] = {-804.608442014, -53.2312851505,  -1.84102164501,
                            -0.69314718056, -0.172753779023, -2.86651612964e-07};
  const double term[] = {4.10906506961, 2.7408189807,   1.07845400693,
                         0.69314718056, 0.316553764493, 4.00345146523e-06};
  double h[6], l[6], t[6] = {0}, minus[6], one[6];

  rg_vector_ops()->normal_tails(6, a, h, l);
  for (int i = 0; i < 6; i++) {
    minus[i] = -a[i];
    one[i] = 1.0;
  }
  rg_vector_ops()->truncated_entropy(6, 0.0, minus, one, t);
  for (int i = 0; i < 6; i++) {
    RG_CLOSE(h[i] / hazard[i], 1.0, 1e-11);
    RG_CLOSE(l[i] / log_cdf[i], 1.0, 1e-11);
    RG_CLOSE(t[i] / term[i], 1.0, 1e-11);
  }
}

RG_TEST(o8_random_features)
{
  const double normal[] = {-1.2, 0.4, 2.1, 0.9}, angle[] = {0.3, 1.7, 4.0, 5.5};
  const double theta[] = {0.5, -1.0, 0.25, 1.5}, e[] = {0.05, -0.02, 0.1};
  const double x[] = {0.0, 0.4, 1.0}, y[] = {0.2, -0.1, 0.7}, none[3] = {0}, at = 0.25, four = 0.4;
  const double feature[] = {0.558608863976, -0.307059950259, 0.582325677775, 0.705695730173};
  const double weights[2][4] = {{-0.372739295161, -0.550197978153, -0.503396903708, 0.332865682667},
                                {-0.360619057072, -0.443638351808, -0.40665462971, 0.334292021713}};
  const double value[] = {-0.0214963685993, -0.0140565368345}, ell = 0.5;
  const double two_pi = 6.283185307179586476925287, amplitude = sqrt(0.5);
  double g;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_OWNED(rg_feature_path_destroy) RgFeaturePath path;
  RgFailure failure = {0};

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 1, false, &ell, 1.0, &kernel));
  RG_OK(rg_posterior_create(&kernel, 1e-2, 0.0, 3, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 1e-2, 0.0, 3, x, y, &failure));
  RG_OK(rg_feature_path_create(1, 4, &path));
  for (int sampled = 0; sampled < 2; sampled++) {
    for (int m = 0; m < 4; m++) {
      path.frequency[m] = normal[m] / ell / two_pi;
      path.phase[m] = angle[m] / two_pi;
      path.amplitude[m] = amplitude;
    }
    for (int m = 0; m < 4; m++) { /* one feature at a time */
      for (int k = 0; k < 4; k++) path.weight[k] = k == m ? amplitude : 0.0;
      RG_OK(rg_feature_path_evaluate(&path, 1, &four, &g, NULL));
      RG_CLOSE(g, feature[m], 1e-11);
    }
    for (int m = 0; m < 4; m++) path.weight[m] = sampled ? theta[m] * amplitude : 0.0;
    RG_OK(rg_feature_path_condition_weights(&path, &posterior, sampled ? e : none, &failure));
    for (int m = 0; m < 4; m++) RG_CLOSE(path.weight[m] / amplitude, weights[sampled][m], 1e-11);
    RG_OK(rg_feature_path_evaluate(&path, 1, &at, &g, NULL));
    RG_CLOSE(g, value[sampled], 1e-11);
  }
  assert_false(failure.failed);
}

RG_TEST(o9_exact_path)
{
  const double prior[] = {0.8414709848,  1.1702546743,  1.2233441747,  0.8173724537, 0.0350304053,
                          -0.7213178505, -0.9628927137, -0.5058685125, 0.3148174838, 0.8544823888};
  const double expected[] = {0.7095887869,  0.9230984851,  0.8598348004,  0.3900405717,
                             -0.3895911353, -1.1271082047, -1.3929879767, -0.9949139620,
                             -0.1949508058, 0.4158377111};
  const double axis[] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}, zero = 0.0, one = 1.0;
  const double ell = 0.2, y[] = {0.4, -0.2};
  const int levels = 10, index[] = {3, 8};
  double F[20], e[4] = {0.01, 0.01, -0.005, -0.005};
  RG_OWNED(rg_space_destroy) RgSpace space;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  RgSetPaths *paths;
  RgFailure failure = {0};

  RG_OK(rg_space_grid(&space, 1, &levels, axis, &zero, &one));
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 1, false, &ell, 1.0, &kernel));
  for (int grid = 0; grid < 2; grid++) {
    if (!grid) space.kind = RG_SPACE_SET;
    RG_OK(rg_set_paths_create(&space, &kernel, 2, &paths));
    RG_OK(rg_set_paths_update(paths, &kernel, 1e-4, 0.0, 2, index, y, &failure));
    for (int i = 0; i < 20; i++) F[i] = prior[i / 2];
    for (int l = 0; l < 4; l++) e[l] = l < 2 ? 0.01 : -0.005;
    RG_OK(rg_set_paths_condition(paths, 2, e, F));
    for (int i = 0; i < 20; i++) RG_CLOSE(F[i], expected[i / 2], 1e-9);
    RG_OK(rg_set_paths_destroy(&paths));
    space.kind = RG_SPACE_GRID;
  }
  assert_false(failure.failed);
}

/* The value printed at -40 has lost four digits to cancellation. */
RG_TEST(o16_truncation)
{
  const double a[] = {-40.0, -3.0, 0.0, 2.0};
  const double expected[] = {0.0006226683784, 0.07055918679, 0.3633802276, 0.8864519483};
  double factor[4];

  rg_vector_ops()->truncation(4, a, factor, NULL);
  for (int i = 0; i < 4; i++) RG_CLOSE(factor[i] / expected[i], 1.0, 1e-9);
}
