#include "test_main.h"

#include "regatta/domain.h"

RG_TEST(box_scales_exactly_at_its_ends)
{
  RgSpace space;
  double lower[3] = {-5.0, 0.1, 1e6}, upper[3] = {10.0, 0.7, 1e6 + 3.0};
  double ones[3] = {1, 1, 1}, zeros[3] = {0, 0, 0}, native[3], unit[3];

  RG_OK(rg_space_box(&space, 3, lower, upper));
  assert_int_equal(space.kind, RG_SPACE_BOX);
  assert_false(rg_space_is_finite(&space));
  assert_int_equal(space.size, 0);
  rg_space_to_native(&space, zeros, native);
  assert_memory_equal(native, lower, sizeof native);
  rg_space_to_native(&space, ones, native);
  assert_memory_equal(native, upper, sizeof native);
  rg_space_to_unit(&space, (double[]){-2.0, 0.4, 1e6 + 1.5}, unit);
  RG_CLOSE(unit[0], 0.2, 1e-15);
  RG_CLOSE(unit[1], 0.5, 1e-15);
  RG_CLOSE(unit[2], 0.5, 1e-15);
  rg_space_to_native(&space, unit, unit); /* in place */
  RG_CLOSE(unit[0], -2.0, 1e-15);
  RG_OK(rg_space_destroy(&space));
  assert_null(space.lower);
}

RG_TEST(set_scales_by_its_columns)
{
  RG_OWNED(rg_space_destroy) RgSpace space;
  const double points[8] = {15.0, 7.0, 0.3, 7.0, 96.27, 7.0, 40.0, 7.0};
  double native[2];

  RG_OK(rg_space_set(&space, 2, 4, points, NULL, NULL));
  assert_true(rg_space_is_finite(&space));
  assert_int_equal(space.size, 4);
  RG_CLOSE(space.points[2], 0.0, 0.0);
  RG_CLOSE(space.points[4], 1.0, 0.0);
  RG_CLOSE(space.points[0], (15.0 - 0.3) / (96.27 - 0.3), 1e-15);
  for (int i = 0; i < 4; i++) {
    assert_true(space.points[2 * i + 1] == 0.5); /* the constant column */
    rg_space_to_native(&space, space.points + 2 * i, native);
    assert_true(fabs(native[0] - points[2 * i]) <= 2.3e-16 * 96.27);
    assert_true(native[1] == 7.0);
  }
  rg_space_to_unit(&space, points, native);
  assert_true(native[0] == space.points[0]);
  assert_true(native[1] == 0.5);
}

RG_TEST(set_scales_by_given_bounds)
{
  RG_OWNED(rg_space_destroy) RgSpace space;
  const double points[2] = {2.0, 4.0}, lower[1] = {0.0}, upper[1] = {8.0};

  RG_OK(rg_space_set(&space, 1, 2, points, lower, upper));
  assert_true(space.points[0] == 0.25);
  assert_true(space.points[1] == 0.5);
}

RG_TEST(grid_is_row_major_and_exact)
{
  RG_OWNED(rg_space_destroy) RgSpace space;
  const int levels[3] = {2, 3, 2};
  const double axes[7] = {0, 1, 0, 0.3, 1, 10, 20};

  RG_OK(rg_space_grid(&space, 3, levels, axes, NULL, NULL));
  assert_int_equal(space.kind, RG_SPACE_GRID);
  assert_int_equal(space.size, 12);
  for (int a = 0, i = 0; a < 2; a++)
    for (int b = 0; b < 3; b++)
      for (int c = 0; c < 2; c++, i++) {
        double native[3];
        /* Bit for bit, not only close. */
        assert_true(space.points[3 * i] == axes[a]);
        assert_true(space.points[3 * i + 1] == axes[2 + b]);
        assert_true(space.points[3 * i + 2] == (double)c);
        assert_true(space.points[3 * i + 1] == space.axes[2 + b]);
        rg_space_to_native(&space, space.points + 3 * i, native);
        assert_true(native[2] == axes[5 + c]);
      }
}

RG_TEST(grid_with_one_level_keeps_its_value)
{
  RG_OWNED(rg_space_destroy) RgSpace space;
  const int levels[2] = {1, 2};
  const double axes[3] = {3.5, -1.0, 1.0};
  double native[2];

  RG_OK(rg_space_grid(&space, 2, levels, axes, NULL, NULL));
  assert_int_equal(space.size, 2);
  assert_true(space.axes[0] == 0.5);
  rg_space_to_native(&space, space.points + 2, native);
  assert_true(native[0] == 3.5);
  assert_true(native[1] == 1.0);
}

RG_TEST(impossible_spaces_are_refused)
{
  RgSpace space;
  const double zero[1] = {0}, one[1] = {1}, nan[1] = {NAN}, two[1] = {2};
  const int none[1] = {0}, many[4] = {1000, 1000, 1000, 1000};

#define REFUSED(call)                                                                              \
  do {                                                                                             \
    memset(&space, 0, sizeof space);                                                               \
    RG_FAILS(call, PETSC_ERR_ARG_OUTOFRANGE);                                                      \
    RG_OK(rg_space_destroy(&space));                                                               \
  } while (0)
  REFUSED(rg_space_box(&space, 1, one, zero));
  REFUSED(rg_space_box(&space, 1, one, one));
  REFUSED(rg_space_box(&space, 0, zero, one));
  REFUSED(rg_space_set(&space, 1, 1, nan, NULL, NULL));
  REFUSED(rg_space_set(&space, 1, 1, two, zero, one));
  REFUSED(rg_space_set(&space, 1, 0, two, NULL, NULL));
  REFUSED(rg_space_grid(&space, 1, none, zero, NULL, NULL));
  REFUSED(rg_space_grid(&space, 4, many, zero, NULL, NULL));
}

RG_TEST(domain_owns_its_parts)
{
  RgDomain domain = {0};
  const double zero[1] = {0}, one[1] = {1}, points[2] = {0, 1};

  RG_OK(rg_space_box(&domain.design, 1, zero, one));
  RG_OK(rg_space_set(&domain.context, 1, 2, points, NULL, NULL));
  RG_OK(PetscMalloc1(2, &domain.context_prob));
  domain.control = RG_CONTEXT_NATURE;
  RG_OK(rg_domain_destroy(&domain));
  assert_null(domain.context_prob);
  assert_int_equal(domain.context.dim, 0);
  assert_int_equal(domain.control, RG_CONTEXT_NONE);
}
