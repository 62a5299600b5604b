/* Kernels, bandwidths, density and regression of the BOKE study (arXiv:2502.06178): values computed
   independently. */
#include "test_main.h"

#include "density/regression.h"
#include "density/regression_loops.h"

static const double d1_x[] = {0.1, 0.4, 0.45, 0.9}, d1_y[] = {0.2, -0.5, 0.7, 0.1};
static const double d2_x[] = {0.2, 0.3, 0.7, 0.8, 0.5, 0.1, 0.2, 0.3}, d2_y[] = {1, 2, -1, 1.4};

static RgRegression make(RgSmoothing kernel, int dim, int n, const double *x, const double *y)
{
  RgRegression regression;

  RG_OK(rg_regression_create(kernel, dim, 1, &regression));
  for (int i = 0; i < n; i++) RG_OK(rg_regression_append(&regression, x + i * dim, y ? y[i] : 0));
  return regression;
}

typedef struct {
  double m, log_weight, d_m[8], d_log[8];
} Estimate;

static Estimate at(RgRegression *regression, double h, const double *x)
{
  Estimate e;

  RG_OK(rg_regression_predict(regression, h, 1, x, &e.m, &e.log_weight, e.d_m, e.d_log));
  return e;
}

RG_TEST(test_kernels)
{
  RG_CLOSE(rg_smoothing_value(RG_SMOOTHING_GAUSSIAN, 0.36), 0.835270211411, 1e-11);
  RG_CLOSE(rg_smoothing_value(RG_SMOOTHING_EPANECHNIKOV, 0.36), 0.64, 1e-14);
  RG_CLOSE(rg_smoothing_value(RG_SMOOTHING_UNIFORM, 0.36), 1.0, 0);
  RG_CLOSE(rg_smoothing_value(RG_SMOOTHING_GAUSSIAN, 1), 0.606530659713, 1e-11);
  RG_CLOSE(rg_smoothing_value(RG_SMOOTHING_EPANECHNIKOV, 1), 0, 0);
  RG_CLOSE(rg_smoothing_value(RG_SMOOTHING_UNIFORM, 1), 1, 0);
  RG_CLOSE(0.15 * rg_smoothing_level_radius(RG_SMOOTHING_GAUSSIAN, 1, 0.1), 0.321894903943, 1e-11);
  RG_CLOSE(0.15 * rg_smoothing_level_radius(RG_SMOOTHING_EPANECHNIKOV, 1, 0.1), 0.142302494708,
           1e-11);
}

RG_TEST(test_bandwidths)
{
  static const struct {
    int n, dim;
    double scott, silverman;
  } known[] = {
    {1, 1, 1, 1.05922384105},
    {10, 1, 0.63095734448, 0.668325061958},
    {50, 2, 0.521000730959, 0.521000730959},
    {100, 6, 0.63095734448, 0.588704018652},
    {200, 8, 0.643054083418, 0.595779880472},
  };
  const double points[] = {1, 5, 2, 5, 6, 5};
  double deviation[2];

  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    RG_CLOSE(rg_bandwidth(RG_BANDWIDTH_SCOTT, 1, known[i].n, known[i].dim), known[i].scott, 1e-11);
    RG_CLOSE(rg_bandwidth(RG_BANDWIDTH_SILVERMAN, 1, known[i].n, known[i].dim), known[i].silverman,
             1e-11);
  }
  RG_CLOSE(rg_bandwidth(RG_BANDWIDTH_SCOTT, 0.1 * pow(6, 0.75), 100, 6), 0.241887506597, 1e-11);
  RG_CLOSE(rg_bandwidth(RG_BANDWIDTH_SCOTT, 0.1 * pow(2, 0.75), 50, 2), 0.0876215294015, 1e-11);
  RG_CLOSE(rg_bandwidth(RG_BANDWIDTH_SPACING, 2, 16, 4), 1, 1e-15);
  RG_CLOSE(rg_bandwidth(RG_BANDWIDTH_FIXED, 2, 16, 4), 2, 0);
  rg_sample_deviations(3, 2, points, deviation);
  RG_CLOSE(deviation[0], sqrt(7), 1e-15);
  RG_CLOSE(deviation[1], 0, 0);
  rg_sample_deviations(1, 2, points, deviation);
  RG_CLOSE(deviation[0], 0, 0);
}

/* An independent program in NumPy and SciPy: Psi(0.6), the largest |z| where Psi is 0.1, and mean
   and weight of D1 at x = 0.3, h = 0.3. */
RG_TEST(kernels_of_density_estimation)
{
  static const struct {
    RgSmoothing kernel;
    double psi, radius, mean, weight;
  } expected[] = {
    {RG_SMOOTHING_TRIANGULAR, 0.4, 0.9, 0.05555555555556, 1.5},
    {RG_SMOOTHING_BIWEIGHT, 0.4096, 0.8269052146305, 0.03636785880167, 1.661265432099},
    {RG_SMOOTHING_TRIWEIGHT, 0.262144, 0.7320116915997, -0.01663992324362, 1.295674725652},
    {RG_SMOOTHING_TRICUBE, 0.481890304, 0.8122293494191, 0.04821900272085, 1.911348486797},
    {RG_SMOOTHING_COSINE, 0.5877852522925, 0.9362314391415, 0.07812432131077, 2.073132184971},
  };

  for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
    const RgSmoothing kernel = expected[k].kernel;
    RG_OWNED(rg_regression_destroy) RgRegression r = make(kernel, 1, 4, d1_x, d1_y);
    Estimate e = at(&r, 0.3, (const double[]){0.3});
    RG_CLOSE(rg_smoothing_value(kernel, 0.36), expected[k].psi, 1e-12);
    RG_CLOSE(rg_smoothing_value(kernel, 0), 1, 0);
    RG_CLOSE(rg_smoothing_value(kernel, 1), 0, 0);
    RG_CLOSE(rg_smoothing_value(kernel, 7), 0, 0);
    RG_CLOSE(rg_smoothing_level_radius(kernel, 1, 0.1), expected[k].radius, 1e-12);
    RG_CLOSE(e.m, expected[k].mean, 1e-11);
    RG_CLOSE(exp(e.log_weight), expected[k].weight, 1e-11);
    e = at(&r, 0.15, (const double[]){0.65});
    assert_true(e.log_weight == -INFINITY);
    RG_CLOSE(e.m, 0.7, 1e-15);
  }
}

/* An independent program in NumPy: Psi(0.6); the largest |z| where Psi is 0.1; mean and weight of D1
   at x = 0.3, h = 0.15; mean, weight and gradients of D2 at (0.4, 0.5), h = 0.25; and which of the
   33 bandwidths leave-one-out errors choose. In one coordinate the two kernels are the same. */
RG_TEST(kernels_with_a_kink_that_are_nowhere_0)
{
  enum { N = 25 };
  static const struct {
    RgSmoothing kernel;
    double mean, weight, d_mean[2], d_log[2], chosen;
  } expected[] = {
    {RG_SMOOTHING_EXPONENTIAL,
     0.9293232716647,
     1.020599035387,
     {-0.2927915739338, 1.469584449226},
     {-1.097552877728, -2.0110213716},
     -1},
    {RG_SMOOTHING_LAPLACIAN,
     0.842510767604,
     0.6298462725153,
     {-1.833484375877, 1.33372295685},
     {-1.128782099502, -2.847744826024},
     1},
  };
  static const double far[][3] = {
    {0.5, 2, -24999.30685282}, {0.5078125, 3, -24218.75}, {0.8125, -2, -6249.306852819}};
  double x[2 * N], y[N], h;

  for (int i = 0; i < N; i++) {
    x[2 * i] = fmod(0.6180339887498949 * (i + 1), 1);
    x[2 * i + 1] = fmod(0.7548776662466927 * (i + 1), 1);
    y[i] = sin(9 * x[2 * i]) + cos(4 * x[2 * i + 1]) + 0.2 * cos(50.0 * (i + 1));
  }
  for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
    const RgSmoothing kernel = expected[k].kernel;
    RG_OWNED(rg_regression_destroy) RgRegression one = make(kernel, 1, 4, d1_x, d1_y);
    RG_OWNED(rg_regression_destroy) RgRegression two = make(kernel, 2, 4, d2_x, d2_y);
    RG_OWNED(rg_regression_destroy)
    RgRegression apart =
      make(kernel, 1, 3, (const double[]){0.25, 0.75, 0.875}, (const double[]){1, 3, -7});
    RG_CLOSE(rg_smoothing_value(kernel, 0.36), 0.548811636094, 1e-12);
    RG_CLOSE(rg_smoothing_value(kernel, 0), 1, 0);
    RG_CLOSE(rg_smoothing_level_radius(kernel, 1, 0.1), 2.302585092994, 1e-12);
    Estimate e = at(&one, 0.15, (const double[]){0.3});
    RG_CLOSE(e.m, 0.04759078099268, 1e-11);
    RG_CLOSE(exp(e.log_weight), 1.163209337208, 1e-11);
    e = at(&two, 0.25, (const double[]){0.4, 0.5});
    RG_CLOSE(e.m, expected[k].mean, 1e-11);
    RG_CLOSE(exp(e.log_weight), expected[k].weight, 1e-11);
    for (int j = 0; j < 2; j++) {
      RG_CLOSE(e.d_m[j], expected[k].d_mean[j], 1e-11);
      RG_CLOSE(e.d_log[j], expected[k].d_log[j], 1e-11);
    }
    e = at(&two, 0.25, d2_x); /* at a point nothing is infinite */
    assert_true(isfinite(e.d_m[0]) && isfinite(e.d_log[0]));
    for (int i = 0; i < 3; i++) { /* the weights themselves are 0 to rounding */
      e = at(&apart, 1e-5, far[i]);
      RG_CLOSE(e.m, far[i][1], 1e-14);
      RG_CLOSE(e.log_weight, far[i][2], 1e-12);
    }
    RG_OK(rg_bandwidth_cross_validated(kernel, N, 2, x, y, 0.1, &h));
    RG_CLOSE(h, 0.1 * pow(10, expected[k].chosen / 16), 1e-15);
  }
  RG_CLOSE(rg_smoothing_level_radius(RG_SMOOTHING_EXPONENTIAL, 3, 0.1), 2.302585092994, 1e-12);
  RG_CLOSE(rg_smoothing_level_radius(RG_SMOOTHING_LAPLACIAN, 3, 0.1), 1.329398123272, 1e-12);
}

/* O2a to O2d. */
RG_TEST(test_regression_1d)
{
  RG_OWNED(rg_regression_destroy)
  RgRegression gaussian = make(RG_SMOOTHING_GAUSSIAN, 1, 4, d1_x, d1_y);
  RG_OWNED(rg_regression_destroy)
  RgRegression epanechnikov = make(RG_SMOOTHING_EPANECHNIKOV, 1, 4, d1_x, d1_y);
  RG_OWNED(rg_regression_destroy)
  RgRegression uniform = make(RG_SMOOTHING_UNIFORM, 1, 4, d1_x, d1_y);

  Estimate e = at(&gaussian, 0.15, (const double[]){0.3});
  RG_CLOSE(e.m, 0.058535128898, 1e-11);
  RG_CLOSE(exp(e.log_weight), 1.81871581576, 1e-11);
  RG_CLOSE(exp(-0.5 * e.log_weight), 0.741510966311, 1e-11);
  RG_CLOSE(e.d_m[0], 0.0491916416323, 1e-11);
  RG_CLOSE(e.d_log[0], 2.17570265672, 1e-11);
  e = at(&gaussian, 0.01, (const double[]){0.65});
  RG_CLOSE(e.m, 0.7, 1e-12);
  RG_CLOSE(e.log_weight, -200, 1e-11);
  e = at(&epanechnikov, 0.16, (const double[]){0.3});
  RG_CLOSE(e.m, -0.301069518717, 1e-11);
  RG_CLOSE(exp(e.log_weight), 0.73046875, 1e-11);
  e = at(&epanechnikov, 0.15, (const double[]){0.7});
  assert_true(e.log_weight == -INFINITY);
  RG_CLOSE(e.m, 0.1, 1e-15);
  RG_CLOSE(e.d_m[0], 0, 0);
  e = at(&uniform, 0.16, (const double[]){0.3});
  RG_CLOSE(e.m, 0.1, 1e-11);
  RG_CLOSE(exp(e.log_weight), 2, 1e-15);
}

/* O3. */
RG_TEST(test_regression_2d)
{
  RG_OWNED(rg_regression_destroy) RgRegression r = make(RG_SMOOTHING_GAUSSIAN, 2, 4, d2_x, d2_y);
  Estimate e = at(&r, 0.25, (const double[]){0.4, 0.5});

  RG_CLOSE(e.m, 0.957707046061, 1e-11);
  RG_CLOSE(exp(e.log_weight), 1.54817338372, 1e-11);
  RG_CLOSE(e.log_weight, 0.437075773884, 1e-11);
  RG_CLOSE(r.mean, 0.85, 1e-14);
  RG_CLOSE(rg_regression_deviation(&r), sqrt((0.0225 + 1.3225 + 3.4225 + 0.3025) / 4), 1e-14);
}

/* O4. */
RG_TEST(test_underflow)
{
  const double x[] = {0.25, 0.75, 0.875}, y[] = {1, 3, -7};
  RG_OWNED(rg_regression_destroy) RgRegression r = make(RG_SMOOTHING_GAUSSIAN, 1, 3, x, y);
  static const double known[][3] = {
    {0.5, 2, -3124999.30685}, {0.5078125, 3, -2932739.25781}, {0.8125, -2, -195311.806853}};

  for (int i = 0; i < 3; i++) {
    Estimate e = at(&r, 1e-4, known[i]);
    RG_CLOSE(e.m, known[i][1], 1e-14);
    RG_CLOSE(e.log_weight, known[i][2], 2e-12);
  }
}

/* O12b. */
RG_TEST(test_density)
{
  const double points[] = {0.1, 0.15, 0.3, 0.35, 0.9};
  RG_OWNED(rg_regression_destroy)
  RgRegression density = make(RG_SMOOTHING_GAUSSIAN, 1, 5, points, NULL);

  RG_CLOSE(exp(at(&density, 0.1, (const double[]){0.2}).log_weight) / (5 * 0.1 * sqrt(2 * M_PI)),
           1.93104874296, 1e-11);
}

/* 40 random points in 3 coordinates: written down again without vectors, gradients by differences,
   m between the observations, a repetition raises W at the point by one. */
RG_TEST(test_random)
{
  enum { N = 40, DIM = 3 };
  RgStream stream = rg_stream(1, "density", 0, "points", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  double x[N * DIM], y[N], z[DIM];

  rg_random_uniforms(&random, N * DIM, x);
  rg_random_normals(&random, N, y);
  for (int kernel = 0; rg_smoothing_names[kernel]; kernel++) {
    RgRegression r = make((RgSmoothing)kernel, DIM, N, x, y);
    for (int trial = 0; trial < 20; trial++) {
      const double h = 0.35;
      double mass = 0, moment = 0;
      rg_random_uniforms(&random, DIM, z);
      for (int i = 0; i < N; i++) {
        double r2 = 0, sum = 0;
        for (int j = 0; j < DIM; j++) {
          r2 += pow((z[j] - x[i * DIM + j]) / h, 2);
          sum += fabs(z[j] - x[i * DIM + j]) / h;
        }
        if (kernel == RG_SMOOTHING_LAPLACIAN) r2 = sum * sum;
        mass += rg_smoothing_value((RgSmoothing)kernel, r2);
        moment += y[i] * rg_smoothing_value((RgSmoothing)kernel, r2);
      }
      Estimate e = at(&r, h, z);
      assert_true(e.m >= -4 && e.m <= 4);
      if (mass == 0) continue;
      RG_CLOSE(e.m, moment / mass, 1e-12);
      RG_CLOSE(e.log_weight, log(mass), 1e-12);
      for (int j = 0; j < DIM; j++) {
        const double step = 1e-6, u = z[j];
        z[j] = u + step;
        Estimate above = at(&r, h, z);
        z[j] = u - step;
        Estimate below = at(&r, h, z);
        z[j] = u;
        if (kernel == RG_SMOOTHING_UNIFORM) continue;
        RG_CLOSE(e.d_m[j], (above.m - below.m) / (2 * step), 1e-6);
        RG_CLOSE(e.d_log[j], (above.log_weight - below.log_weight) / (2 * step), 1e-6);
      }
    }
    double before = exp(at(&r, 0.35, x).log_weight);
    RG_OK(rg_regression_append(&r, x, y[0]));
    RG_CLOSE(exp(at(&r, 0.35, x).log_weight), before + 1, 1e-13);
    RG_OK(rg_regression_destroy(&r));
  }
}

/* The distance to the nearest point by plain loops, its gradient by differences. */
RG_TEST(test_nearest_point)
{
  enum { N = 20, DIM = 3 };
  RgStream stream = rg_stream(1, "density", 0, "points", 2);
  RgRandom random = rg_stream_at(&stream, 0);
  double x[N * DIM], y[N] = {0}, z[3 * DIM], distance[3], gradient[DIM];

  rg_random_uniforms(&random, N * DIM, x);
  RG_OWNED(rg_regression_destroy) RgRegression r = make(RG_SMOOTHING_GAUSSIAN, DIM, N, x, y);
  for (int trial = 0; trial < 20; trial++) {
    double nearest = INFINITY;
    rg_random_uniforms(&random, DIM, z);
    for (int i = 0; i < N; i++) {
      double r2 = 0;
      for (int j = 0; j < DIM; j++) r2 += pow(z[j] - x[i * DIM + j], 2);
      nearest = fmin(nearest, sqrt(r2));
    }
    RG_OK(rg_regression_distance(&r, 1, z, distance, gradient));
    RG_CLOSE(distance[0], nearest, 1e-14);
    for (int j = 0; j < DIM; j++) {
      memcpy(z + DIM, z, DIM * sizeof *z);
      memcpy(z + 2 * DIM, z, DIM * sizeof *z);
      z[DIM + j] += 1e-7;
      z[2 * DIM + j] -= 1e-7;
      RG_OK(rg_regression_distance(&r, 3, z, distance, NULL));
      RG_CLOSE(gradient[j], (distance[1] - distance[2]) / 2e-7, 1e-6);
    }
  }
}

/* Every instruction set the machine has gives what plain loops do. */
RG_TEST(test_instruction_sets)
{
  enum { N = 48, DIM = 5 };
  RgStream stream = rg_stream(1, "density", 0, "points", 1);
  RgRandom random = rg_stream_at(&stream, 0);
  double x[N * DIM], y[N], z[DIM], r2[N], e[N], sums[2];

  rg_random_uniforms(&random, N * DIM, x);
  rg_random_uniforms(&random, N, y);
  rg_random_uniforms(&random, DIM, z);
  for (int level = 0; level < RG_VECTOR_LEVELS; level++) {
    const RgRegressionLoops *loops = rg_regression_loops_at(level);
    if (!loops) continue;
    double nearest = INFINITY, mass = 0, moment = 0;
    double least = loops->distances(DIM, N, x, N, z, r2);
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int k = 0; k < DIM; k++) sum += pow(x[k * N + i] - z[k], 2);
      RG_CLOSE(r2[i], sum, 1e-15);
      nearest = fmin(nearest, r2[i]);
    }
    assert_true(nearest == least);
    loops->weigh(RG_SMOOTHING_GAUSSIAN, N, 9, nearest, r2, y, e, sums);
    for (int i = 0; i < N; i++) {
      RG_CLOSE(e[i], exp(4.5 * (nearest - r2[i])), 1e-15);
      mass += e[i];
      moment += e[i] * y[i];
    }
    RG_CLOSE(sums[0], mass, 1e-14);
    RG_CLOSE(sums[1], moment, 1e-14);
    for (int kernel = RG_SMOOTHING_EPANECHNIKOV; rg_smoothing_names[kernel]; kernel++) {
      const bool relative = kernel >= RG_SMOOTHING_EXPONENTIAL;
      const double one = relative ? exp(-sqrt(2 * nearest)) : 1;
      loops->weigh((RgSmoothing)kernel, N, 2, nearest, r2, y, e, sums);
      for (int i = 0; i < N; i++)
        RG_CLOSE(e[i] * one, rg_smoothing_value((RgSmoothing)kernel, 2 * r2[i]), 1e-15);
    }
  }
}

/* Leave-one-out errors of a plain double loop, at the bandwidths themselves. In the last case the
   best one is so small that all weights of a point far from the others are 0 to rounding. */
RG_TEST(cross_validated_bandwidth)
{
  enum { N = 25 };
  double x[N], y[N], h;

  for (int c = 0; c < 3; c++) {
    const int m = c == 1;
    for (int i = 0; i < N; i++) {
      x[i] = fmod(0.6180339887498949 * (i + 1), 1);
      if (c == 2) x[i] = i ? 0.3 * x[i] : 1;
      y[i] = c == 2 ? sin(40 * x[i]) : sin(7 * x[i]) + 0.2 * cos(50.0 * i);
    }
    double best = INFINITY, expected = 0;
    for (int k = 16; k >= -16; k--) {
      const double tried = 0.1 * pow(10, k / 16.0);
      double error = 0;
      for (int i = 0; i < N; i++) {
        double sum = 0, weights = 0, near = INFINITY, value = 0;
        for (int j = 0; j < N; j++) {
          const double z = (x[i] - x[j]) / tried;
          const double w = m ? fmax(1 - z * z, 0) : exp(-z * z / 2);
          if (j == i) continue;
          sum += w * y[j];
          weights += w;
          if (fabs(x[i] - x[j]) < near) near = fabs(x[i] - x[j]), value = y[j];
        }
        value = weights > 0 ? sum / weights : value;
        error += (y[i] - value) * (y[i] - value);
      }
      if (error < best) best = error, expected = tried;
    }
    RG_OK(rg_bandwidth_cross_validated(m ? RG_SMOOTHING_EPANECHNIKOV : RG_SMOOTHING_GAUSSIAN, N, 1,
                                       x, y, 0.1, &h));
    RG_CLOSE(h, expected, 1e-15);
    assert_true(c == 2 ? h < 0.018 : h < 0.9 && h > 0.011); /* h is inside the grid */
  }
  for (int i = 0; i < N; i++) y[i] = 1; /* all are equally good */
  RG_OK(rg_bandwidth_cross_validated(RG_SMOOTHING_GAUSSIAN, N, 1, x, y, 0.1, &h));
  RG_CLOSE(h, 1, 1e-15);
  RG_OK(rg_bandwidth_cross_validated(RG_SMOOTHING_GAUSSIAN, 2, 1, x, y, 0.1, &h));
  RG_CLOSE(h, 0.1, 0);
}
