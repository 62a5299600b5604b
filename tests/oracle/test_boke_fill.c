/* Fill distances of the BOKE study (arXiv:2502.06178): values computed independently. */
#include "test_main.h"

#include "regatta/stream.h"
#include "regret/fill_distance.h"

static double fill_of(int n, int dim, const double *points)
{
  RG_OWNED(rg_fill_destroy) RgFill fill;
  double distance;

  RG_OK(rg_fill_create(dim, n, &fill));
  for (int i = 0; i < n; i++) RG_OK(rg_fill_append(&fill, points + i * dim));
  distance = rg_fill_distance(&fill);
  return distance;
}

/* O9a. */
RG_TEST(test_known)
{
  const double line[] = {0.9, 0.1, 0.4, 0.45}, square[] = {0.25, 0.25, 0.75, 0.75};
  double cells[18];

  for (int i = 0; i < 9; i++) {
    cells[2 * i] = (i % 3 + 0.5) / 3;
    cells[2 * i + 1] = (i / 3 + 0.5) / 3;
  }
  RG_CLOSE(fill_of(4, 1, line), 0.225, 1e-14);
  RG_CLOSE(fill_of(2, 2, square), 0.790569415042, 1e-12);
  RG_CLOSE(fill_of(9, 2, cells), 0.235702260396, 1e-9);
}

/* O9b. */
RG_TEST(test_covering)
{
  RG_CLOSE(rg_fill_covering_bound(100, 1), 0.005, 1e-14);
  RG_CLOSE(rg_fill_covering_bound(1e10, 1), 5e-11, 1e-24); /* beyond what an int holds */
  RG_CLOSE(rg_fill_covering_bound(100, 2), 0.0564189583548, 1e-12);
  RG_CLOSE(rg_fill_covering_bound(100, 3), 0.133650461757, 1e-11);
  RG_CLOSE(rg_fill_covering_bound(100, 6), 0.353007234102, 1e-11);
}

/* In the plane the supremum is at a corner, where an edge is equally far from two points, or at the
   centre of a circle through three: all of them, for a random design. */
static double exact_in_the_plane(int n, const double *p)
{
  double best = 0;

  for (int pass = 0; pass < 3; pass++)
    for (int i = 0; i < n; i++)
      for (int j = pass ? i + 1 : 0; j < (pass ? n : 1); j++)
        for (int k = pass == 2 ? j + 1 : 0; k < (pass == 2 ? n : 4); k++) {
          double x, y, least = INFINITY;
          const double *a = p + 2 * i, *b = p + 2 * j, *c = p + 2 * k;
          double bx = b[0] - a[0], by = b[1] - a[1],
                 h = 0.5 * (b[0] * b[0] + b[1] * b[1] - a[0] * a[0] - a[1] * a[1]);
          if (pass == 0) {
            x = k & 1, y = k >> 1;
          } else if (pass == 1) { /* on the edge k */
            x = k & 1, y = k & 1;
            if (k < 2) y = (h - bx * x) / by;
            else x = (h - by * y) / bx;
          } else {
            double cx = c[0] - a[0], cy = c[1] - a[1],
                   g = 0.5 * (c[0] * c[0] + c[1] * c[1] - a[0] * a[0] - a[1] * a[1]);
            x = (h * cy - g * by) / (bx * cy - by * cx);
            y = (bx * g - cx * h) / (bx * cy - by * cx);
          }
          if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) continue;
          for (int l = 0; l < n; l++) least = fmin(least, hypot(x - p[2 * l], y - p[2 * l + 1]));
          best = fmax(best, least);
        }
  return best;
}

RG_TEST(test_plane)
{
  RgStream stream = rg_stream(1, "fill", 0, "points", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  double points[80], distance[40];

  for (int trial = 0; trial < 2; trial++) {
    rg_random_uniforms(&random, 80, points);
    for (int n = 1; n <= 40; n++) distance[n - 1] = fill_of(n, 2, points);
    for (int n = 1; n <= 40; n += 13)
      RG_CLOSE(distance[n - 1], exact_in_the_plane(n, points), 5e-4);
    for (int n = 1; n < 40; n++) assert_true(distance[n] <= distance[n - 1] + 1e-9);
  }
}

RG_TEST(test_range)
{
  RgFill fill;

  PetscPushErrorHandler(PetscIgnoreErrorHandler, NULL);
  assert_int_equal(rg_fill_create(11, 5, &fill), PETSC_ERR_ARG_OUTOFRANGE);
  assert_int_equal(rg_fill_create(0, 5, &fill), PETSC_ERR_ARG_OUTOFRANGE);
  PetscPopErrorHandler();
}
