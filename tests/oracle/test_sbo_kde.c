/* SBO-KDE study: density estimates, worst case in total variation, acquisition functions (sbo_kde 8,
   O3 to O9), and Table 2. */
#include "maths/normal.h"
#include "density/kde.h"
#include "robust/total_variation.h"
#include "test_main.h"
#include "oracle/laws.h"

#include <math.h>

/* ---- density estimates ----------------------------------------------------------------------- */

static const double seen[6] = {.42, .56, .48, .61, .50, .39};

enum { FINE = 4000, COARSE = 6000 };

static double gap(const RgKde *kde, const RgDistribution *law, double c)
{
  return fabs(rg_kde_density(kde, &c) - rg_distribution_density(law, c));
}

/* int |p - q| over the real line, p the estimate in one coordinate and q the density of a law
   without atoms (the paper calls this total variation), to about 1e-4. Midpoint sums: a fine grid
   where almost all mass of both densities lies, a geometric one outside. */
static double kde_distance(const RgKde *kde, const RgDistribution *law)
{
  double lower = rg_distribution_quantile(law, 0.005);
  double upper = rg_distribution_quantile(law, 0.995), sum = 0, most = 1;
  const double margin = upper - lower, h = kde->bandwidth[0];
  lower -= margin;
  upper += margin;
  const double width = (upper - lower) / FINE;
  for (int k = 0; k < FINE; k++) sum += width * gap(kde, law, lower + (k + 0.5) * width);
  for (int i = 0; i < kde->n; i++)
    most = fmax(most, fmax(lower - kde->points[i], kde->points[i] - upper) + 10 * h);
  const double first = 1e-3 * margin, growth = log(1e6 * (most + margin) / first) / COARSE;
  for (int k = 0; k < COARSE; k++) {
    const double from = first * expm1(k * growth), to = first * expm1((k + 1) * growth);
    sum += (to - from) *
           (gap(kde, law, lower - 0.5 * (from + to)) + gap(kde, law, upper + 0.5 * (from + to)));
  }
  return sum;
}

RG_TEST(density_estimate)
{
  const double both[12] = {.42, .10, .56, .35, .48, .50, .61, .65, .50, .80, .39, .95};
  const double at[2] = {.5, .5}, off = .3;
  RgKde kde;
  RG_OWNED(rg_distribution_destroy) RgDistribution law;

  RG_OK(rg_kde_create(6, 1, seen, NULL, &kde));
  RG_CLOSE(kde.bandwidth[0], 0.055993789080224, 1e-14);
  RG_CLOSE(rg_kde_density(&kde, at), 3.7430848860373, 1e-12);
  RG_CLOSE(rg_kde_density(&kde, &off), 0.45459464128061, 1e-13);
  law_make("normal(0.5, 0.1)", &law);
  RG_CLOSE(kde_distance(&kde, &law), 0.10550930580319, 1e-4);
  RG_OK(rg_kde_destroy(&kde));
  RG_OK(rg_kde_create(6, 2, both, NULL, &kde));
  RG_CLOSE(kde.bandwidth[0], 0.056116488188686, 1e-14);
  RG_CLOSE(kde.bandwidth[1], 0.20918455822065, 1e-14);
  RG_CLOSE(rg_kde_density(&kde, at), 4.3353281137254, 1e-12);
  RG_OK(rg_kde_destroy(&kde));
}

/* The Gauss rule against draws and against polynomials. */
RG_TEST(gauss_rule_of_the_estimate)
{
  RgKde kde;
  double node[8], weight[8], total = 0, mean = 0, square = 0;
  int n;

  RG_OK(rg_kde_create(6, 1, seen, NULL, &kde));
  RG_OK(rg_kde_gauss(&kde, -10, 10, 8, &n, node, weight));
  assert_int_equal(n, 8);
  for (int i = 0; i < n; i++) {
    total += weight[i];
    mean += weight[i] * node[i];
    square += weight[i] * node[i] * node[i];
  }
  double first = 0, second = kde.bandwidth[0] * kde.bandwidth[0];
  for (int i = 0; i < 6; i++) {
    first += seen[i] / 6;
    second += seen[i] * seen[i] / 6;
  }
  RG_CLOSE(total, 1, 1e-13);
  RG_CLOSE(mean, first, 1e-13);
  RG_CLOSE(square, second, 1e-13);
  RG_OK(rg_kde_destroy(&kde));
  RG_OK(rg_kde_create(3, 1, (const double[]){.4, .4, .4}, NULL, &kde));
  RG_OK(rg_kde_gauss(&kde, 0, 1, 8, &n, node, weight));
  assert_int_equal(n, 1);
  RG_CLOSE(node[0], .4, 1e-14);
  RG_CLOSE(weight[0], 1, 1e-14);
  RG_OK(rg_kde_destroy(&kde));
}

RG_TEST(sampling_clips_and_spreads)
{
  enum { M = 4096 };
  const double points[3] = {0.1, 0.5, 0.9};
  const RgStream stream = rg_stream(1, "kde", 0, "x", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  double samples[M], below = 0, expected = 0;
  RG_OWNED(rg_kde_destroy) RgKde kde;

  RG_OK(rg_kde_create(3, 1, points, NULL, &kde));
  for (int sobol = 0; sobol < 2; sobol++) {
    below = expected = 0;
    if (sobol) RG_OK(rg_kde_sample_sobol(&kde, &random, 0, 1, M, samples));
    else RG_OK(rg_kde_sample(&kde, &random, 0, 1, M, samples));
    for (int i = 0; i < M; i++) {
      assert_true(samples[i] >= 0 && samples[i] <= 1);
      below += samples[i] == 0;
    }
    for (int i = 0; i < 3; i++) expected += rg_normal_cdf(-points[i] / kde.bandwidth[0]) / 3;
    RG_CLOSE(below / M, expected, sobol ? 0.005 : 0.04);
  }
}

/* Where contexts lie outside the box, draws and the rule reach them, in their coordinate alone. */
RG_TEST(outside_contexts_extend_the_box)
{
  enum { M = 2048 };
  static const double cases[][3] = {{10, 10, 10},  {-3, -3, -3},   {8, 10, 13}, {-9, -7, -6},
                                    {0.2, 0.6, 4}, {-2, 0.5, 0.9}, {-1, 2, 0}};
  const RgStream stream = rg_stream(1, "kde", 0, "outside", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  double samples[2 * M], node[16], weight[16];

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double *c = cases[i], inside[3] = {0.2, 0.5, 0.7};
    const double low = fmin(0, fmin(c[0], fmin(c[1], c[2])));
    const double high = fmax(1, fmax(c[0], fmax(c[1], c[2])));
    const double pairs[6] = {inside[0], c[0], inside[1], c[1], inside[2], c[2]};
    double mean = 0, rule = 0, total = 0, most = 0;
    RgKde two, one;
    int n;
    RG_OK(rg_kde_create(3, 2, pairs, NULL, &two));
    RG_OK(rg_kde_create(3, 1, c, NULL, &one));
    RG_OK(rg_kde_gauss(&one, 0, 1, 16, &n, node, weight));
    for (int k = 0; k < n; k++) {
      assert_true(node[k] >= low - 1e-12 && node[k] <= high + 1e-12);
      rule += weight[k] * node[k], total += weight[k];
    }
    RG_CLOSE(total, 1, 1e-13);
    for (int sobol = 0; sobol < 2; sobol++) {
      if (sobol) RG_OK(rg_kde_sample_sobol(&two, &random, 0, 1, M, samples));
      else RG_OK(rg_kde_sample(&two, &random, 0, 1, M, samples));
      for (int k = 0; k < M; k++) {
        assert_true(samples[2 * k] >= 0 && samples[2 * k] <= 1);
        assert_true(samples[2 * k + 1] >= low && samples[2 * k + 1] <= high);
        most = fmax(most, fabs(samples[2 * k + 1] - 0.5));
      }
    }
    assert_true(most > 0.5); /* some draw lies outside */
    RG_OK(rg_kde_sample_sobol(&one, &random, 0, 1, M, samples));
    for (int k = 0; k < M; k++) mean += samples[k] / M;
    RG_CLOSE(mean, rule, 5e-3 * (high - low));
    RG_OK(rg_kde_destroy(&one));
    RG_OK(rg_kde_destroy(&two));
  }
}

/* Means over 20 runs fall into the 5%..95% range of such means (sbo_kde 6.2). */
RG_TEST(table_2)
{
  static const struct {
    int n;
    double normal[2], complicated[2];
  } rows[] = {{10, {0.296, 0.390}, {0.575, 0.680}},
              {100, {0.125, 0.166}, {0.491, 0.579}},
              {200, {0.100, 0.118}, {0.462, 0.543}},
              {300, {0.082, 0.108}, {0.455, 0.557}}};
  enum { RUNS = 20, MOST = 300 };
  const size_t n_rows = getenv("REGATTA_LONG") ? sizeof rows / sizeof *rows : 2;
  double contexts[MOST];

  for (int column = 0; column < 2; column++) {
    RG_OWNED(rg_distribution_destroy) RgDistribution law;
    law_make(column ? MIXTURE : "normal(0.5, 0.1)", &law);
    for (size_t r = 0; r < n_rows; r++) {
      const double *range = column ? rows[r].complicated : rows[r].normal;
      double sum = 0, squares = 0;
      for (int run = 0; run < RUNS; run++) {
        const RgStream stream = rg_stream(1, "table 2", 0, "context", (uint64_t)run);
        RG_OWNED(rg_kde_destroy) RgKde kde;
        for (int i = 0; i < rows[r].n; i++) {
          RgRandom random = rg_stream_at(&stream, (uint64_t)i);
          contexts[i] = rg_distribution_sample(&law, &random);
        }
        RG_OK(rg_kde_create(rows[r].n, 1, contexts, NULL, &kde));
        const double distance = kde_distance(&kde, &law);
        sum += distance;
        squares += distance * distance;
      }
      const double mean = sum / RUNS;
      print_message("Table 2, %s, n = %d: %.4f +- %.4f\n", column ? "complicated" : "normal",
                    rows[r].n, mean, sqrt((squares / RUNS - mean * mean) / (RUNS - 1)));
      assert_true(mean > range[0] - 0.01 && mean < range[1] + 0.01);
    }
  }
}

/* ---- acquisition functions ------------------------------------------------------------------- */

RG_TEST(worst_case_by_hand)
{
  const double u[4] = {3, 1, 2, 5}, w[4] = {.1, .4, .3, .2};
  double value, q[4], floor_mass, work[8];

  value = rg_total_variation_worst(4, u, w, 0.5, 0.5, q, &floor_mass, work);
  RG_CLOSE(value, 1.275, 1e-15);
  RG_CLOSE(floor_mass, 0.25, 1e-15);
  RG_CLOSE(q[0], 0.05, 1e-15);
  assert_true(q[3] == 0);
  value = rg_total_variation_worst(4, u, w, 0.5, 0, q, &floor_mass, work);
  RG_CLOSE(value, 2.3, 1e-15);
  value = rg_total_variation_worst(4, u, w, 0.5, 2.5, q, &floor_mass, work);
  RG_CLOSE(value, 0.5, 1e-15);
  RG_CLOSE(floor_mass, 1, 1e-15);
}

/* Against the best of a fine grid of eta, with ties and equal weights. */
RG_TEST(worst_case_at_random)
{
  const RgStream stream = rg_stream(1, "tv", 0, "x", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  enum { N = 40 };
  double u[N], q[N], work[2 * N], value, mass;

  for (int trial = 0; trial < 200; trial++) {
    const double radius = 0.1 * (trial % 25), floor = rg_random_normal(&random);
    double best = -INFINITY, total = 0, reached = 0, moved = 0;
    for (int i = 0; i < N; i++) u[i] = floor - 0.1 + round(20 * rg_random_uniform(&random)) / 20;
    value = rg_total_variation_worst(N, u, NULL, floor, radius, q, &mass, work);
    for (int k = -1; k < N; k++) {
      const double eta = k < 0 ? floor : u[k];
      double sum = -0.5 * radius * fmax(0, eta - floor);
      for (int i = 0; i < N; i++) sum += fmin(u[i], eta) / N;
      best = fmax(best, sum);
    }
    RG_CLOSE(value, best, 1e-13);
    for (int i = 0; i < N; i++) {
      assert_true(q[i] >= 0 && q[i] <= 1.0 / N + 1e-15);
      total += q[i];
      reached += q[i] * u[i];
      if (u[i] > floor) moved += 1.0 / N - q[i];
    }
    RG_CLOSE(total + mass, 1, 1e-13);
    RG_CLOSE(reached + mass * floor, value, 1e-13);
    assert_true(2 * moved <= radius + 1e-13);
  }
}
