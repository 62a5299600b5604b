/* Rows of the posterior covariance from the two halves of a product kernel on a product set:

     cov(., z) = k(., z) - sum_s w_s k(., z_s),  w = (K + noise)^-1 k(data, z),

   where k(., z_s), as a matrix over (first half, second half), is the outer product of two columns.
   With them as rows of A (n x nA) and B (n x nB) the row is A' diag(1, -w) B. */
#include "gp/kernel/family.h"
#include "base/grow.h"
#include "maths/blas.h"
#include "gp/posterior/set/set_backend.h"

typedef struct {
  int split; /* inputs of the first half */
  int n_first, n_second;
  double *first, *second; /* the halves' points, the other half at its first point; all inputs */
  int n, capacity;        /* observations held; room */
  double *A, *B;  /* capacity + 1 rows of n_first, n_second: columns of the observed points */
  double *scaled; /* capacity + 1 rows of n_first */
  double *L;      /* capacity x capacity, row-major: Cholesky factor of K + noise */
  double *c, *w;  /* capacity: L^-1 k(data, z) and the weights */
} Product;

/* Is every factor a product over the inputs before and after the split? */
static bool kernel_splits(const RgKernel *kernel, int split)
{
  if (kernel->n_terms != 1) return false;
  for (int f = 0; f < kernel->terms[0].n_factors; f++) {
    const RgKernelFactor *factor = &kernel->terms[0].factors[f];

    if (factor->shift) return false;
    if (rg_kernel_classes[factor->family]->separable) continue;
    for (int k = 1; k < factor->n_inputs; k++) {
      if ((factor->inputs[k] < split) != (factor->inputs[0] < split)) return false;
    }
  }
  return true;
}

/* The split with the fewest table entries; false: the kernel has no split. */
static bool find_split(const RgSetPrior *prior, int *split, int *n_second)
{
  int dim = prior->kernel.dim, best = 0;

  if (prior->n_axes == 0) {
    *split = prior->design_dim;
    *n_second = prior->n_contexts;
    return prior->design_dim < dim && kernel_splits(&prior->kernel, *split);
  }
  for (int p = dim - 1, behind = 1; p > 0; p--) {
    behind *= prior->levels[p];
    if (!kernel_splits(&prior->kernel, p)) continue;
    if (best && prior->size / behind + behind >= best) continue;
    best = prior->size / behind + behind;
    *split = p;
    *n_second = behind;
  }
  return best > 0;
}

static bool product_applies(const RgSetPrior *prior)
{
  int split, n_second;

  return find_split(prior, &split, &n_second);
}

/* n points of the set, the first one at `index` 0 and `stride` apart. */
static PetscErrorCode gather(const RgSetPrior *prior, int n, int stride, double **points)
{
  size_t dim = (size_t)prior->kernel.dim;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n * dim, points));
  for (int i = 0; i < n; i++) {
    PetscCall(PetscArraycpy(*points + i * dim, prior->points + (size_t)i * stride * dim, dim));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode free_halves(Product *product)
{
  PetscFunctionBeginUser;
  PetscCall(RG_FREE(&product->first, &product->second, &product->A, &product->B, &product->scaled));
  PetscFunctionReturn(0);
}

static PetscErrorCode make_halves(const RgSetPrior *prior, Product *product)
{
  size_t rows = (size_t)product->capacity + 1;

  PetscFunctionBeginUser;
  PetscCheck(find_split(prior, &product->split, &product->n_second), PETSC_COMM_SELF,
             PETSC_ERR_ARG_WRONG, "The kernel is no product of two halves");
  product->n_first = prior->size / product->n_second;
  PetscCall(gather(prior, product->n_first, product->n_second, &product->first));
  PetscCall(gather(prior, product->n_second, 1, &product->second));
  PetscCall(PetscMalloc1(rows * product->n_first, &product->A));
  PetscCall(PetscMalloc1(rows * product->n_second, &product->B));
  PetscCall(PetscMalloc1(rows * product->n_first, &product->scaled));
  PetscFunctionReturn(0);
}

static PetscErrorCode product_create(const RgSetPrior *prior, int capacity, void **state)
{
  Product *product;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&product));
  product->capacity = PetscMax(capacity, 1);
  PetscCall(make_halves(prior, product));
  PetscCall(PetscMalloc3((size_t)product->capacity * product->capacity, &product->L,
                         product->capacity, &product->c, product->capacity, &product->w));
  *state = product;
  PetscFunctionReturn(0);
}

static PetscErrorCode product_destroy(void **state)
{
  Product *product = *state;

  PetscFunctionBeginUser;
  PetscCall(free_halves(product));
  PetscCall(PetscFree3(product->L, product->c, product->w));
  PetscCall(PetscFree(product));
  *state = NULL;
  PetscFunctionReturn(0);
}

static PetscErrorCode product_reset(void *state, const RgSetPrior *prior)
{
  Product *product = state;
  int split, n_second;

  PetscFunctionBeginUser;
  product->n = 0;
  if (!find_split(prior, &split, &n_second) || split != product->split) {
    PetscCall(free_halves(product));
    PetscCall(make_halves(prior, product));
  }
  PetscFunctionReturn(0);
}

/* A copy with room for `rows` rows of `length`. */
static PetscErrorCode widen(size_t kept, size_t rows, size_t length, double **table)
{
  double *wider;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(rows * length, &wider));
  PetscCall(PetscArraycpy(wider, *table, kept * length));
  PetscCall(PetscFree(*table));
  *table = wider;
  PetscFunctionReturn(0);
}

static PetscErrorCode double_capacity(Product *product)
{
  size_t old = (size_t)product->capacity, wide = 2 * old;
  double *L, *c, *w;

  PetscFunctionBeginUser;
  PetscCall(widen(old + 1, wide + 1, (size_t)product->n_first, &product->A));
  PetscCall(widen(old + 1, wide + 1, (size_t)product->n_second, &product->B));
  PetscCall(widen(0, wide + 1, (size_t)product->n_first, &product->scaled));
  PetscCall(PetscMalloc3(wide * wide, &L, wide, &c, wide, &w));
  for (size_t i = 0; i < old; i++) {
    PetscCall(PetscArraycpy(L + i * wide, product->L + i * old, old));
  }
  PetscCall(PetscArraycpy(c, product->c, old));
  PetscCall(PetscFree3(product->L, product->c, product->w));
  product->L = L;
  product->c = c;
  product->w = w;
  product->capacity *= 2;
  PetscFunctionReturn(0);
}

/* Columns of point `index` as row n of A and B. */
static PetscErrorCode columns_of(Product *product, const RgSetPrior *prior, int index)
{
  const RgKernel *kernel = &prior->kernel;
  double *a = product->A + (size_t)product->n * product->n_first;
  double *b = product->B + (size_t)product->n * product->n_second;
  double inverse = 1.0 / kernel->terms[0].variance;
  size_t dim = (size_t)kernel->dim;

  PetscFunctionBeginUser;
  PetscCall(rg_kernel_cross(kernel, 1, product->first + (index / product->n_second) * dim,
                            product->n_first, product->first, a));
  PetscCall(rg_kernel_cross(kernel, 1, product->second + (index % product->n_second) * dim,
                            product->n_second, product->second, b));
  for (int j = 0; j < product->n_second; j++) b[j] *= inverse; /* the variance is in a */
  PetscFunctionReturn(0);
}

static PetscErrorCode product_covariance(void *state, const RgSetPrior *prior, int index,
                                         double *out)
{
  Product *product = state;
  int n = product->n, n_first = product->n_first, n_second = product->n_second;
  int i = index / n_second, j = index % n_second;

  PetscFunctionBeginUser;
  PetscCall(columns_of(product, prior, index));
  for (int s = 0; s < n; s++) {
    product->c[s] = product->A[(size_t)s * n_first + i] * product->B[(size_t)s * n_second + j];
  }
  if (n) {
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, product->L,
                product->capacity, product->c, 1);
    PetscCall(PetscArraycpy(product->w, product->c, n));
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, product->L,
                product->capacity, product->w, 1);
  }
  for (int s = 0; s <= n; s++) {
    const double *a = product->A + (size_t)s * n_first;
    double *scaled = product->scaled + (size_t)s * n_first;
    double weight = s < n ? -product->w[s] : 1.0;

    for (int k = 0; k < n_first; k++) scaled[k] = weight * a[k];
  }
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n_first, n_second, n + 1, 1.0,
              product->scaled, n_first, product->B, n_second, 0.0, out, n_second);
  PetscFunctionReturn(0);
}

/* The columns and L^-1 k(data, z) are those of the covariance just asked for. */
static PetscErrorCode product_push(void *state, const RgSetPrior *prior, int index, double pivot,
                                   const double *row)
{
  Product *product = state;

  (void)prior;
  (void)index;
  (void)row;
  PetscFunctionBeginUser;
  if (product->n == product->capacity) PetscCall(double_capacity(product));
  PetscCall(
    PetscArraycpy(product->L + (size_t)product->n * product->capacity, product->c, product->n));
  product->L[(size_t)product->n * product->capacity + product->n] = pivot;
  product->n++;
  PetscFunctionReturn(0);
}

static void product_pop(void *state, int m)
{
  ((Product *)state)->n -= m;
}

const RgSetBackend rg_set_backend_product = {"product",       product_applies, product_create,
                                             product_destroy, product_reset,   product_covariance,
                                             product_push,    product_pop};
