/* Part of tiles_body.h: products of a triangle with a tile, and small Cholesky factors. */
/* Rows of two vectors whose sums are in registers: 16 out of 32 registers, or 8 out of 16. */
#if LANES == 8 || defined(__aarch64__)
#define ROWS 8
#else
#define ROWS 4
#endif

/* out (ROWS x vectors) = or -= sum over l in [0, count) of M[l*by_term + r*by_row] V_l; rows of V
   and out are v_stride and out_stride apart. */
INLINE void panel(int vectors, bool subtract, int count, const double *M, size_t by_term,
                  size_t by_row, const double *V, size_t v_stride, double *out, size_t out_stride)
{
  Vector sum[ROWS][2];

  for (int r = 0; r < ROWS; r++)
    for (int v = 0; v < vectors; v++) sum[r][v] = (Vector){0};
  for (int l = 0; l < count; l++, M += by_term, V += v_stride) {
    Vector in[2];
    for (int v = 0; v < vectors; v++) in[v] = *(const Vector *)(V + v * LANES);
    for (int r = 0; r < ROWS; r++) {
      double m = M[r * by_row];
      for (int v = 0; v < vectors; v++) sum[r][v] += m * in[v];
    }
  }
  for (int r = 0; r < ROWS; r++) {
    for (int v = 0; v < vectors; v++) {
      Vector *to = (Vector *)(out + r * out_stride + v * LANES);
      if (subtract) *to -= sum[r][v];
      else *to = sum[r][v];
    }
  }
}

/* Runs from the last rows up, because a row needs the rows above it as they were. */
INLINE void lower_of(int width, int n, const double *M, size_t ld, double *V)
{
  const int vectors = width / LANES < 2 ? 1 : 2;

  for (int i = n - ROWS; i >= 0; i -= ROWS)
    for (int j = 0; j < width; j += vectors * LANES)
      panel(vectors, false, i + ROWS, M + i, ld, 1, V + j, width, V + (size_t)i * width + j, width);
}

/* Runs from the first rows down. */
INLINE void upper_of(int width, int n, const double *M, size_t ld, double *V)
{
  const int vectors = width / LANES < 2 ? 1 : 2;

  for (int i = 0; i < n; i += ROWS) {
    double *from = V + (size_t)i * width;
    for (int j = 0; j < width; j += vectors * LANES)
      panel(vectors, false, n - i, M + i + i * ld, 1, ld, from + j, width, from + j, width);
  }
}

static void lower(int n, const double *M, size_t ld, int width, double *V)
{
  if (width == RG_TILE) lower_of(RG_TILE, n, M, ld, V);
  else lower_of(RG_LANES, n, M, ld, V);
}

static void upper(int n, const double *M, size_t ld, int width, double *V)
{
  if (width == RG_TILE) upper_of(RG_TILE, n, M, ld, V);
  else upper_of(RG_LANES, n, M, ld, V);
}

/* Runs along the rows of M, which are its columns too. */
INLINE void symmetric_of(int width, int n, const double *M, size_t ld, const double *V, double *out)
{
  const int vectors = width / LANES < 2 ? 1 : 2;

  for (int i = 0; i < n; i += ROWS)
    for (int j = 0; j < width; j += vectors * LANES)
      panel(vectors, false, n, M + i * ld, 1, ld, V + j, width, out + (size_t)i * width + j, width);
}

static void symmetric(int n, const double *M, size_t ld, int width, const double *V, double *out)
{
  if (width == RG_TILE) symmetric_of(RG_TILE, n, M, ld, V, out);
  else symmetric_of(RG_LANES, n, M, ld, V, out);
}

/* ---- small Cholesky factors: the vectors run down the columns -------------------------------- */

/* The number of columns that are done at a time. */
#define COLUMNS 8

/* out (rows [i, i + length) of COLUMNS columns) = or -= the product of rows of M, which has `ld`,
   with the COLUMNS columns given by B[l*by_term + c*by_column]. */
INLINE void columns(bool subtract, int length, int count, const double *M, size_t ld,
                    const double *B, size_t by_term, size_t by_column, double *out)
{
  for (int c = 0; c < COLUMNS; c += ROWS) {
    const double *from = B + c * by_column;
    double *to = out + c * ld;
    int i = 0;
    for (; i + 2 * LANES <= length; i += 2 * LANES)
      panel(2, subtract, count, from, by_term, by_column, M + i, ld, to + i, ld);
    for (; i < length; i += LANES)
      panel(1, subtract, count, from, by_term, by_column, M + i, ld, to + i, ld);
  }
}

static int cholesky(int n, double *A, size_t ld)
{
  int padded = rg_pad(n);

  for (int j = 0; j < n; j += COLUMNS) {
    int last = j + COLUMNS < n ? j + COLUMNS : n;
    columns(true, padded - j, j, A + j, ld, A + j, ld, 1, A + j + j * ld);
    for (int c = j; c < last; c++) {
      double *restrict column = A + c * ld, pivot;
      for (int q = j; q < c; q++) {
        const double *other = A + q * ld, factor = other[c];
        for (int i = c; i < n; i++) column[i] -= factor * other[i];
      }
      if (!(column[c] > 0.0)) return c + 1; /* NaN, too */
      pivot = sqrt(column[c]);
      column[c] = pivot;
      pivot = 1.0 / pivot;
      for (int i = c + 1; i < n; i++) column[i] *= pivot;
    }
  }
  return 0;
}

/* Runs over the columns from the right: with L = [L1 0; L21 L2], X = [X1 0; X21 X2], X21 L1 =
   -X2 L21. This order keeps X L - I small, so that X k is as accurate as solving with L (Higham,
   Accuracy and Stability of Numerical Algorithms, 14.2). */
static void invert(int n, const double *L, size_t ld, double *X)
{
  int padded = rg_pad(n);

  for (int j = padded - COLUMNS; j >= 0; j -= COLUMNS) {
    int last = j + COLUMNS < n ? j + COLUMNS : n, below = j + COLUMNS;
    for (int c = j; c < j + COLUMNS; c++) memset(X + c * ld, 0, (size_t)padded * sizeof *X);
    /* X2 L21, sixteen rows at a time, because the triangle ends at each. */
    for (int i = below; i < padded; i += RG_TILE) {
      int length = padded - i < RG_TILE ? RG_LANES : RG_TILE;
      int count = (i + length < n ? i + length : n) - below;
      columns(false, length, count, X + i + below * ld, ld, L + below + j * ld, 1, ld,
              X + i + j * ld);
    }
    for (int c = last - 1; c >= j; c--) {
      double *restrict column = X + c * ld, inverse = 1.0 / L[c + c * ld];
      for (int i = below; i < n; i++) column[i] = -column[i];
      column[c] = 1.0;
      for (int q = c + 1; q < last; q++) {
        const double *other = X + q * ld, factor = L[q + c * ld];
        for (int i = q; i < n; i++) column[i] -= factor * other[i];
      }
      for (int i = c; i < n; i++) column[i] *= inverse;
    }
  }
}
