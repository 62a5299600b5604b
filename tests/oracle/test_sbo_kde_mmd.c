/* MMD worst cases: oracles O10 and O11 of sbo_kde, and the optimality conditions. */
#include "gp_support.h"

#include "maths/blas.h"
#include "robust/mmd.h"

static double matern52(double r, double scale)
{
  double s = sqrt(5.0) * r / scale;

  return (1.0 + s + s * s / 3.0) * exp(-s);
}

static void line_kernel(int n, double scale, double *K)
{
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) K[i * n + j] = matern52(abs(i - j) / (n - 1.0), scale);
  }
}

/* K; the callee takes it over. */
static void create(int n, const double *K, const double *p, double jitter, RgMmd *mmd)
{
  double *copy;

  RG_OK(PetscMalloc1((size_t)n * n, &copy));
  memcpy(copy, K, sizeof(double) * n * n);
  RG_OK(rg_mmd_create(n, copy, p, jitter, mmd));
}

static const double u5[5] = {1.0, 0.2, -0.5, 0.4, 0.9}, p5[5] = {0.1, 0.2, 0.1, 0.4, 0.2};

static void begin(double jitter, RgMmd *mmd)
{
  double K[25];

  line_kernel(5, 0.25, K);
  RG_CLOSE(K[1], 0.52399410883182, 1e-13);
  create(5, K, p5, jitter, mmd);
}

RG_TEST(exact_worst_case)
{
  const double radius[3] = {0.1, 0.3, 0.6};
  const double expected[3] = {0.29591831310784, 0.032540107245041, -0.33576285552667};
  const double worst[3][5] = {
    {0.051007014987, 0.202271935839, 0.201167523040, 0.371915002096, 0.173638524038},
    {0.0, 0.160677917454, 0.431447083160, 0.301918868227, 0.105956131159},
    {0.0, 0.022877614928, 0.812430369490, 0.164692015582, 0.0}};
  RG_OWNED(rg_mmd_destroy) RgMmd mmd;
  RgFailure failure = {0};
  double value, q[5];

  begin(0.0, &mmd);
  RG_CLOSE(mmd.distance[2], 0.74217324921044, 1e-12);
  for (int k = 0; k < 3; k++) {
    RG_OK(rg_mmd_worst_case(&mmd, u5, radius[k], &value, q, &failure));
    RG_CLOSE(value, expected[k], 1e-12);
    for (int i = 0; i < 5; i++) RG_CLOSE(q[i], worst[k][i], 1e-11);
  }
  RG_OK(rg_mmd_worst_case(&mmd, u5, 0.743, &value, q, &failure));
  assert_true(value == -0.5 && q[2] == 1.0 && !failure.failed);
}

RG_TEST(minimax)
{
  const double radius[3] = {0.1, 0.3, 0.6};
  const double identity[3] = {0.3069309355328, 0.060792806598406, -0.30841438680319};
  const double exact[3] = {0.30035259381947, 0.041057781458405, -0.34788443708319};
  RG_OWNED(rg_mmd_destroy) RgMmd mmd;
  double value, up, down, weight[5], u[5];

  begin(0.0, &mmd);
  for (int k = 0; k < 3; k++) {
    for (int which = 0; which < 2; which++) {
      const RgMmdSensitivity kind = which ? RG_MMD_EXACT : RG_MMD_IDENTITY;
      const RgMmdMinimax how = {kind, false, false, 0};
      RG_OK(rg_mmd_minimax(&mmd, u5, radius[k], &how, &value, weight));
      RG_CLOSE(value, kind == RG_MMD_IDENTITY ? identity[k] : exact[k], 1e-12);
      for (int i = 0; i < 5; i++) {
        memcpy(u, u5, sizeof(u));
        u[i] += 1e-6;
        RG_OK(rg_mmd_minimax(&mmd, u, radius[k], &how, &up, NULL));
        u[i] -= 2e-6;
        RG_OK(rg_mmd_minimax(&mmd, u, radius[k], &how, &down, NULL));
        RG_CLOSE(weight[i], (up - down) / 2e-6, 1e-7);
      }
    }
  }
  const RgMmdMinimax released = {RG_MMD_IDENTITY, true, true, 0};
  const double as_released[3] = {-0.11063274316054, -0.23189822948162, -0.41379645896324};
  for (int k = 0; k < 3; k++) {
    RG_OK(rg_mmd_minimax(&mmd, u5, radius[k], &released, &value, NULL));
    RG_CLOSE(value, as_released[k], 1e-12);
  }
  assert_false(rg_mmd_reaches_worst(&mmd, u5, 0.742173249));
  assert_true(rg_mmd_reaches_worst(&mmd, u5, 0.742173250));
}

/* Five points that stand for twenty have the sensitivity of four copies of each. */
RG_TEST(minimax_of_a_thinner_grid)
{
  const RgMmdMinimax how = {RG_MMD_IDENTITY, false, false, 20};
  double K[400], p[20], u[20], five[25], up, down, value, expected, weight[5], v[5];
  RgMmd mmd, copies;

  line_kernel(5, 0.25, five);
  for (int i = 0; i < 20; i++) {
    p[i] = p5[i / 4] / 4;
    u[i] = u5[i / 4];
    for (int j = 0; j < 20; j++) K[i * 20 + j] = five[i / 4 * 5 + j / 4];
  }
  begin(0.0, &mmd);
  create(20, K, p, 0.0, &copies);
  RG_OK(rg_mmd_minimax(&mmd, u5, 0.05, &how, &value, weight));
  RG_OK(rg_mmd_minimax(&copies, u, 0.05, &how, &expected, NULL));
  RG_CLOSE(value, expected, 1e-12);
  for (int i = 0; i < 5; i++) {
    memcpy(v, u5, sizeof(v));
    v[i] += 1e-6;
    RG_OK(rg_mmd_minimax(&mmd, v, 0.05, &how, &up, NULL));
    v[i] -= 2e-6;
    RG_OK(rg_mmd_minimax(&mmd, v, 0.05, &how, &down, NULL));
    RG_CLOSE(weight[i], (up - down) / 2e-6, 1e-7);
  }
  RG_OK(rg_mmd_destroy(&copies));
  RG_OK(rg_mmd_destroy(&mmd));
}

RG_TEST(radius)
{
  RG_CLOSE(rg_mmd_radius(0.1, 5), 1.8541323734375, 1e-12);
  RG_CLOSE(rg_mmd_radius(0.1, 6), 1.6925835425539, 1e-12);
  RG_CLOSE(rg_mmd_radius(0.1, 100), 0.41459660262893, 1e-12);
}

/* With g = K(q - p)/tau + u and s = g - q'g: q >= 0, s >= 0, q s = 0, on the border of the ball. */
static void check_optimal(const RgMmd *mmd, const double *u, double r, const double *q)
{
  int n = mmd->n;
  double Kq[100], gap[100], size = 0.0, sum = 0.0, tau, numerator = 0.0, denominator = 0.0;

  cblas_dsymv(CblasColMajor, CblasLower, n, 1.0, mmd->K, n, q, 1, 0.0, Kq, 1);
  for (int i = 0; i < n; i++) {
    size += (q[i] - mmd->p[i]) * (Kq[i] - mmd->Kp[i]);
    sum += q[i];
    assert_true(q[i] >= 0.0);
  }
  RG_CLOSE(sum, 1.0, 1e-10);
  RG_CLOSE(sqrt(size), r, 1e-9);
  double first = NAN, of_u = NAN; /* tau by least squares over the support */
  for (int i = 0; i < n; i++) {
    if (q[i] < 1e-9) continue;
    if (isnan(first)) first = Kq[i] - mmd->Kp[i], of_u = u[i];
    numerator -= (Kq[i] - mmd->Kp[i] - first) * (u[i] - of_u);
    denominator += (u[i] - of_u) * (u[i] - of_u);
  }
  tau = numerator / denominator;
  assert_true(tau > 0.0);
  double level = 0.0;
  for (int i = 0; i < n; i++) gap[i] = (Kq[i] - mmd->Kp[i]) / tau + u[i];
  for (int i = 0; i < n; i++) level += q[i] * gap[i];
  for (int i = 0; i < n; i++) {
    assert_true(gap[i] - level > -1e-6);
    assert_true(q[i] * fabs(gap[i] - level) < 1e-6);
  }
}

RG_TEST(hundred_points)
{
  static double K[100 * 100];
  const double scales[3] = {0.1, 0.4, 1.5}, part[3] = {0.1, 0.5, 0.9};
  double u[100], p[100], q[100], value;
  RgFailure failure = {0};
  RgMmd mmd;

  for (int k = 0; k < 9; k++) {
    double sum = 0.0;
    line_kernel(100, scales[k % 3], K);
    support_normals(10 + k, 100, u);
    support_normals(20 + k, 100, p);
    for (int i = 0; i < 100; i++) sum += p[i] = p[i] * p[i];
    for (int i = 0; i < 100; i++) p[i] /= sum;
    create(100, K, p, 1e-8, &mmd);
    int worst = 0;
    for (int i = 0; i < 100; i++) worst = u[i] < u[worst] ? i : worst;
    double r = part[k / 3] * mmd.distance[worst];
    RG_OK(rg_mmd_worst_case(&mmd, u, r, &value, q, &failure));
    assert_false(failure.failed);
    check_optimal(&mmd, u, r, q);
    RG_OK(rg_mmd_destroy(&mmd));
  }
}

/* Where u is level, many points join the support at the same tau. Without a way out of the ties the
   path cycles for 53 of these 100 widths. */
RG_TEST(level_values)
{
  static double K[100 * 100];
  double u[100], p[100], q[100], value;
  RgFailure failure = {0};
  RgMmd mmd;

  for (int i = 0; i < 100; i++) {
    p[i] = i < 30 ? 1.0 / 30.0 : 0.0;
    for (int j = 0; j < 100; j++) K[i * 100 + j] = exp((i - j) * (i - j) / -50.0);
  }
  create(100, K, p, 1e-8, &mmd);
  for (int width = 0; width < 100; width++) {
    for (int i = 0; i < 100; i++)
      u[i] = 1.1 * exp(-pow((i - 20.0) / (3.0 + 0.1 * width), 2.0)) -
             0.7 * exp(-pow((i - 2.0) / 5.0, 2.0));
    int worst = 0;
    for (int i = 0; i < 100; i++) worst = u[i] < u[worst] ? i : worst;
    double r = 0.2 * mmd.distance[worst];
    RG_OK(rg_mmd_worst_case(&mmd, u, r, &value, q, &failure));
    assert_false(failure.failed);
    check_optimal(&mmd, u, r, q);
  }
  RG_OK(rg_mmd_destroy(&mmd));
}
