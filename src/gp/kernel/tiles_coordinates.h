/* Part of tiles_body.h: loops that need the coordinates of data and candidates. Up to four
   coordinates at a time stay in registers. */
#define GROUP 4

/* Run `call(d, w)` with the constants that equal dim (1..4) and width (8 or 16). */
#define DISPATCH_DIM(dim, call, w)                                                                 \
  switch (dim) {                                                                                   \
  case 1: call(1, w); break;                                                                       \
  case 2: call(2, w); break;                                                                       \
  case 3: call(3, w); break;                                                                       \
  default: call(4, w);                                                                             \
  }
#define DISPATCH(dim, width, call)                                                                 \
  do {                                                                                             \
    if ((width) == RG_TILE) {                                                                      \
      DISPATCH_DIM(dim, call, RG_TILE)                                                             \
    } else {                                                                                       \
      DISPATCH_DIM(dim, call, RG_LANES)                                                            \
    }                                                                                              \
  } while (0)

/* r2 = or += the distances over `dim` coordinates; width candidates of rows `full` long. */
INLINE void distances_of(int dim, int width, bool more, int n, const double *x, int stride,
                         const double *Z, int full, double *r2)
{
  Vector z[GROUP][RG_TILE / LANES];

  for (int k = 0; k < dim; k++)
    for (int v = 0; v < width / LANES; v++) z[k][v] = *(const Vector *)(Z + k * full + v * LANES);
  for (int i = 0; i < n; i++, x += stride, r2 += full) {
    for (int v = 0; v < width / LANES; v++) {
      Vector *out = (Vector *)(r2 + v * LANES), sum = {0};
      if (more) sum = *out;
      for (int k = 0; k < dim; k++) {
        Vector u = x[k] - z[k][v];
        sum += u * u;
      }
      *out = sum;
    }
  }
}

static void distances(int dim, int n, const double *x, int stride, const double *Z, int width,
                      double *r2)
{
  for (int j = 0; j < width; j += RG_TILE) {
    int part = width - j < RG_TILE ? RG_LANES : RG_TILE;
    for (int k = 0; k < dim; k += GROUP) {
      const double *first = Z + (size_t)k * width + j;

#define FIRST(d, w) distances_of(d, w, false, n, x, stride, first, width, r2 + j)
#define MORE(d, w) distances_of(d, w, true, n, x + k, stride, first, width, r2 + j)
      if (k == 0) DISPATCH(dim, part, FIRST);
      else DISPATCH(dim - k, part, MORE);
#undef FIRST
#undef MORE
    }
  }
}

INLINE void gradient_of(int dim, int width, int n, const double *x, int stride, const double *Z,
                        const double *w, const double *slope, double *g)
{
  Vector z[GROUP][RG_TILE / LANES], sum[GROUP][RG_TILE / LANES];

  for (int k = 0; k < dim; k++) {
    for (int v = 0; v < width / LANES; v++) {
      z[k][v] = *(const Vector *)(Z + k * width + v * LANES);
      sum[k][v] = *(const Vector *)(g + k * width + v * LANES);
    }
  }
  for (int i = 0; i < n; i++, x += stride, w += width, slope += width) {
    for (int v = 0; v < width / LANES; v++) {
      Vector c = *(const Vector *)(w + v * LANES) * *(const Vector *)(slope + v * LANES);
      for (int k = 0; k < dim; k++) sum[k][v] += c * (z[k][v] - x[k]);
    }
  }
  for (int k = 0; k < dim; k++)
    for (int v = 0; v < width / LANES; v++) *(Vector *)(g + k * width + v * LANES) = sum[k][v];
}

static void gradient(int dim, int n, const double *x, int stride, const double *Z, int width,
                     const double *w, const double *slope, double *g)
{
  for (int k = 0; k < dim; k += GROUP) {
    size_t at = (size_t)k * width;

#define CALL(d, wd) gradient_of(d, wd, n, x + k, stride, Z + at, w, slope, g + at)
    DISPATCH(dim - k, width, CALL);
#undef CALL
  }
}

INLINE void moments_of(int dim, int width, int n, const double *x, int stride, const double *Z,
                       const double *w, const double *slope, double *sums)
{
  Vector z[GROUP][RG_TILE / LANES], sum[GROUP][RG_TILE / LANES];
  double lanes[RG_TILE];

  for (int k = 0; k < dim; k++) {
    for (int v = 0; v < width / LANES; v++) {
      z[k][v] = *(const Vector *)(Z + k * width + v * LANES);
      sum[k][v] = (Vector){0};
    }
  }
  for (int i = 0; i < n; i++, x += stride, w += width, slope += width) {
    for (int v = 0; v < width / LANES; v++) {
      Vector c = *(const Vector *)(w + v * LANES) * *(const Vector *)(slope + v * LANES);
      for (int k = 0; k < dim; k++) {
        Vector u = z[k][v] - x[k];
        sum[k][v] += c * (u * u);
      }
    }
  }
  for (int k = 0; k < dim; k++) {
    for (int v = 0; v < width / LANES; v++) *(Vector *)(lanes + v * LANES) = sum[k][v];
    sums[k] += sum_of(width, lanes);
  }
}

static void moments(int dim, int n, const double *x, int stride, const double *Z, int width,
                    const double *w, const double *slope, double *sums)
{
  for (int k = 0; k < dim; k += GROUP) {
#define CALL(d, wd) moments_of(d, wd, n, x + k, stride, Z + (size_t)k * width, w, slope, sums + k)
    DISPATCH(dim - k, width, CALL);
#undef CALL
  }
}
