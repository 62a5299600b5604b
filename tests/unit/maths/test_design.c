#include "test_main.h"

#include "maths/design.h"

#include <gsl/gsl_qrng.h>

#include <stdlib.h>

static RgRandom test_random(uint64_t iteration)
{
  RgStream stream = rg_stream(2024, "test", 0, "design", 1);

  return rg_stream_at(&stream, iteration);
}

/* Points per elementary interval 2^-a x 2^-b of coordinates j and k (n points, `dim` per row). */
static void count_cells(const double *points, int n, int dim, int j, int k, int a, int b,
                        int *cells)
{
  memset(cells, 0, ((size_t)1 << (a + b)) * sizeof *cells);
  for (int i = 0; i < n; i++) {
    int row = (int)ldexp(points[(size_t)i * dim + j], a);
    int column = (int)ldexp(points[(size_t)i * dim + k], b);
    cells[row * (1 << b) + column]++;
  }
}

#define NET_DIM 7

/* Every prefix of 2^k points has one point in each interval of length 2^-k, in every dimension. */
RG_TEST(intervals_hold_one_point_each)
{
  static const int dims[] = {40, RG_SOBOL_MAX_DIM};
  RgRandom random = test_random(1);
  static double points[1024 * RG_SOBOL_MAX_DIM];
  int cells[1024];

  for (int d = 0; d < 2; d++) {
    RG_OK(rg_design_sobol(&random, 1024, dims[d], points));
    for (int k = 0; k <= 10; k++)
      for (int j = 0; j < dims[d]; j++) {
        count_cells(points, 1 << k, dims[d], j, j, k, 0, cells);
        for (int i = 0; i < 1 << k; i++) assert_int_equal(cells[i], 1);
      }
  }
}

/* The first two coordinates form a (0, k, 2)-net: one point in each rectangle of area 2^-k. */
RG_TEST(rectangles_hold_one_point_each)
{
  RgRandom random = test_random(2);
  double points[1024 * 2];
  int cells[1024];

  RG_OK(rg_design_sobol(&random, 1024, 2, points));
  for (int k = 0; k <= 10; k++)
    for (int a = 0; a <= k; a++) {
      count_cells(points, 1 << k, 2, 0, 1, a, k - a, cells);
      for (int i = 0; i < 1 << k; i++) assert_int_equal(cells[i], 1);
    }
}

static int compare_ints(const void *a, const void *b)
{
  return *(const int *)a - *(const int *)b;
}

/* Scrambling permutes elementary rectangles, in every pair of dimensions: the same counts as
   without scrambling, in another order. */
RG_TEST(scrambling_permutes_rectangles)
{
  RgRandom random = test_random(3);
  double points[256 * NET_DIM], plain[256 * NET_DIM];
  int cells[256], expected[256];
  gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, NET_DIM);

  RG_OK(rg_design_sobol(&random, 256, NET_DIM, points));
  memset(plain, 0, NET_DIM * sizeof *plain);
  for (int i = 1; i < 256; i++) gsl_qrng_get(sequence, plain + (size_t)i * NET_DIM);
  gsl_qrng_free(sequence);
  for (int j = 0; j < NET_DIM; j++)
    for (int k = 0; k < j; k++)
      for (int a = 0; a <= 8; a++) {
        count_cells(points, 256, NET_DIM, j, k, a, 8 - a, cells);
        count_cells(plain, 256, NET_DIM, j, k, a, 8 - a, expected);
        qsort(cells, 256, sizeof *cells, compare_ints);
        qsort(expected, 256, sizeof *expected, compare_ints);
        assert_memory_equal(cells, expected, sizeof cells);
      }
}

RG_TEST(prefix_and_repetition)
{
  RgRandom first = test_random(4), second = test_random(4), other = test_random(5);
  double a[64 * 3], b[100 * 3], c[64 * 3];

  RG_OK(rg_design_sobol(&first, 64, 3, a));
  RG_OK(rg_design_sobol(&second, 100, 3, b));
  RG_OK(rg_design_sobol(&other, 64, 3, c));
  assert_memory_equal(a, b, sizeof a);
  for (int i = 0; i < 64 * 3; i++) {
    assert_true(a[i] > 0 && a[i] < 1);
    assert_true(a[i] != c[i]);
  }
}

#define KEYS 20000

/* Over the keys each point is uniform in the cube: means, squares and products of coordinates. */
RG_TEST(every_point_is_uniform)
{
  double points[8 * 2], sums[8][4] = {{0}};
  /* Standard deviations of u, u^2 and u v. */
  const double sd[3] = {sqrt(1.0 / 12), sqrt(4.0 / 45), sqrt(1.0 / 9 - 1.0 / 16)};
  const double mean[3] = {0.5, 1.0 / 3, 0.25};

  for (uint64_t key = 0; key < KEYS; key++) {
    RgRandom random = test_random(key);
    RG_OK(rg_design_sobol(&random, 8, 2, points));
    for (int i = 0; i < 8; i++) {
      double u = points[2 * i], v = points[2 * i + 1];
      sums[i][0] += u;
      sums[i][1] += u * u;
      sums[i][2] += u * v;
    }
  }
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 3; k++)
      RG_CLOSE((sums[i][k] / KEYS - mean[k]) / sd[k], 0.0, 5 / sqrt(KEYS));
}

/* The third digits of the points 0, 1/2, 1/4, 3/4 are flipped independently: all 16 patterns are
   equally likely (chi-square with 15 degrees of freedom, 0.9999 quantile 44.3). */
RG_TEST(digits_are_flipped_independently)
{
  int counts[16] = {0};
  double points[4], chi_square = 0;

  for (uint64_t key = 0; key < KEYS; key++) {
    RgRandom random = test_random(key);
    int pattern = 0;
    RG_OK(rg_design_sobol(&random, 4, 1, points));
    for (int i = 0; i < 4; i++) pattern = 2 * pattern + ((int)(points[i] * 8) & 1);
    counts[pattern]++;
  }
  for (int i = 0; i < 16; i++) {
    double expected = KEYS / 16.0;
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  assert_true(chi_square < 44.3);
}

/* A smooth integral in four dimensions: unbiased, and far better than independent points, whose
   standard error with 1024 points would be 0.019. */
RG_TEST(smooth_integrals_are_accurate)
{
  double points[1024 * 4], sum = 0, squares = 0;
  int repeats = 200;

  for (int key = 0; key < repeats; key++) {
    RgRandom random = test_random((uint64_t)key);
    double mean = 0;
    RG_OK(rg_design_sobol(&random, 1024, 4, points));
    for (int i = 0; i < 1024; i++) {
      double product = 1;
      for (int j = 0; j < 4; j++) product *= 0.5 + points[4 * i + j];
      mean += product / 1024;
    }
    sum += mean - 1;
    squares += (mean - 1) * (mean - 1);
  }
  double error = sqrt(squares / repeats);
  assert_true(error < 2e-4);
  assert_true(fabs(sum / repeats) < 5 * error / sqrt(repeats));
}

/* Values of SciPy's Sobol sequence (the same direction numbers) beyond GSL's 40 dimensions, and of
   GSL's up to there. */
RG_TEST(sequences_are_those_of_their_sources)
{
  static const struct {
    int i, j;
    double value;
  } known[] = {{1, 0, 0.5},
               {5, 1, 0.875},
               {6, 2, 0.875},
               {100, 40, 0.7109375},
               {777, 99, 0.5107421875},
               {1000, 500, 0.7255859375},
               {1023, 1110, 0.5888671875}};
  static double points[1024 * RG_SOBOL_MAX_DIM];
  double first[3 * 40];

  RG_OK(rg_sobol_points(1023, RG_SOBOL_MAX_DIM, points));
  for (int k = 0; k < 7; k++)
    RG_CLOSE(points[(known[k].i - 1) * RG_SOBOL_MAX_DIM + known[k].j], known[k].value, 0);
  RG_OK(rg_sobol_points(3, 40, first));
  for (int j = 0; j < 40; j++) {
    RG_CLOSE(first[j], 0.5, 0);
    RG_CLOSE(first[40 + j] + first[80 + j], 1, 0);
  }
}

RG_TEST(too_many_dimensions_are_refused)
{
  RgRandom random = test_random(0);
  double points[RG_SOBOL_MAX_DIM + 1];

  RG_OK(rg_design_sobol(&random, 1, RG_SOBOL_MAX_DIM, points));
  RG_OK(rg_design_sobol(&random, 0, 2, points));
  RG_FAILS(rg_design_sobol(&random, 1, RG_SOBOL_MAX_DIM + 1, points), PETSC_ERR_ARG_OUTOFRANGE);
  RG_FAILS(rg_design_sobol(&random, 1, 0, points), PETSC_ERR_ARG_OUTOFRANGE);
}

RG_TEST(latin_hypercube_fills_every_stratum)
{
  static const int sizes[] = {1, 2, 7, 1000};
  double points[1000 * 5];

  for (int s = 0; s < 4; s++) {
    RgRandom random = test_random(6);
    int m = sizes[s];
    RG_OK(rg_design_latin_hypercube(&random, m, 5, points));
    for (int j = 0; j < 5; j++) {
      bool filled[1000] = {false};
      for (int i = 0; i < m; i++) {
        double value = points[5 * i + j];
        assert_true(value > 0 && value < 1);
        int stratum = (int)(value * m);
        assert_false(filled[stratum]);
        filled[stratum] = true;
      }
    }
  }
}

/* Strata are paired at random: over many designs of two points both diagonals occur. */
RG_TEST(latin_hypercube_permutes_independently)
{
  int rising = 0;
  double points[4];

  for (uint64_t key = 0; key < KEYS; key++) {
    RgRandom random = test_random(key);
    RG_OK(rg_design_latin_hypercube(&random, 2, 2, points));
    rising += (points[0] < points[2]) == (points[1] < points[3]);
  }
  RG_CLOSE((double)rising / KEYS, 0.5, 2.5 / sqrt(KEYS));
}

RG_TEST(uniform_points_are_the_stream)
{
  RgRandom random = test_random(7), same = test_random(7);
  double points[6];

  RG_OK(rg_design_uniform(&random, 3, 2, points));
  for (int i = 0; i < 6; i++) assert_true(points[i] == rg_random_uniform(&same));
}
