/* Rows of the posterior covariance of a sum of kernels on few axes each. A row of L^-1 K(data,
   grid) (rrgp_ucb 2.1) is then also a sum of one small table per term. So the recursion works on
   the tables, and only its result is spread over the grid. */
#include "base/grow.h"
#include "gp/kernel/family.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/posterior/set/set_posterior.h"
#include "maths/blas.h"

/* The part of the grid that one term sees. */
typedef struct {
  int first;  /* its slowest axis */
  int size;   /* number of points */
  int offset; /* offset of its table among all tables */
  /* n_axes: step in its table per level of an axis; 0: the term ignores this axis; owned */
  int *stride;
  double *points; /* size x dim, the other axes at their first level; owned */
} Component;

typedef struct {
  int n_components;
  int total;             /* entries of all tables */
  Component *components; /* one per term; owned */
  int n, capacity;       /* numbers of rows, and of rows that fit */
  double *rows;          /* capacity x total: tables of L^-1 K(data, grid) */
  double *table;         /* total: tables of the last covariance */
  double *coefficient;   /* capacity */
} Additive;

/* used (n_axes): the axes that a term depends on. Returns the number of points of its part of
   the grid. */
static size_t term_axes(const RgSetPrior *prior, const RgKernelTerm *term, bool *used)
{
  size_t size = 1;

  for (int a = 0; a < prior->n_axes; a++) used[a] = false;
  for (int f = 0; f < term->n_factors; f++)
    for (int k = 0; k < term->factors[f].n_inputs; k++) used[term->factors[f].inputs[k]] = true;
  for (int a = 0; a < prior->n_axes; a++) size *= used[a] ? (size_t)prior->levels[a] : 1;
  return size;
}

/* Worthwhile if all tables together have at most a quarter of the grid's entries. */
static bool additive_applies(const RgSetPrior *prior)
{
  size_t total = 0;
  bool used[64];

  if (prior->n_axes == 0 || prior->n_axes > 64 || rg_kernel_shifts(&prior->kernel)) return false;
  for (int t = 0; t < prior->kernel.n_terms; t++)
    total += term_axes(prior, &prior->kernel.terms[t], used);
  return 4 * total <= (size_t)prior->size;
}

static PetscErrorCode component_create(const RgSetPrior *prior, const RgKernelTerm *term,
                                       int offset, Component *component)
{
  size_t dim = (size_t)prior->n_axes;
  bool used[64];
  int step = 1;

  component->offset = offset;
  component->size = (int)term_axes(prior, term, used);
  component->first = prior->n_axes - 1;
  PetscCall(PetscCalloc1(dim, &component->stride));
  PetscCall(PetscMalloc1(component->size * dim, &component->points));
  for (int a = prior->n_axes - 1; a >= 0; a--) {
    if (!used[a]) continue;
    component->first = a;
    component->stride[a] = step;
    step *= prior->levels[a];
  }
  for (int i = 0; i < component->size; i++) {
    double *point = component->points + i * dim;
    PetscCall(PetscArraycpy(point, prior->points, dim));
    for (int a = 0, begin = 0; a < prior->n_axes; begin += prior->levels[a++]) {
      int level = used[a] ? i / component->stride[a] % prior->levels[a] : 0;
      point[a] = prior->axes[begin + level];
    }
  }
  return 0;
}

static PetscErrorCode additive_create(const RgSetPrior *prior, int capacity, void **state)
{
  Additive *additive;

  PetscCall(PetscNew(&additive));
  additive->capacity = PetscMax(capacity, 1);
  additive->n_components = prior->kernel.n_terms;
  PetscCall(PetscCalloc1(additive->n_components, &additive->components));
  for (int t = 0; t < additive->n_components; t++) {
    PetscCall(
      component_create(prior, &prior->kernel.terms[t], additive->total, &additive->components[t]));
    additive->total += additive->components[t].size;
  }
  PetscCall(PetscMalloc1((size_t)additive->capacity * additive->total, &additive->rows));
  PetscCall(PetscMalloc1(additive->total, &additive->table));
  PetscCall(PetscMalloc1(additive->capacity, &additive->coefficient));
  *state = additive;
  return 0;
}

static PetscErrorCode additive_destroy(void **state)
{
  Additive *additive = *state;

  for (int t = 0; t < additive->n_components; t++)
    PetscCall(RG_FREE(&additive->components[t].stride, &additive->components[t].points));
  return RG_FREE(&additive->components, &additive->rows, &additive->table, &additive->coefficient,
                 state);
}

/* out (the grid of the axes from `axis` on) += table, from its entry `at`. The last axes form
   one run if the component has all of them or none of them. */
static double *add_component(const Component *component, const RgSetPrior *prior, int axis, int run,
                             const double *table, double *out)
{
  if (axis == run) {
    int length = 1;
    for (int a = run; a < prior->n_axes; a++) length *= prior->levels[a];
    if (component->stride[prior->n_axes - 1]) {
      for (int j = 0; j < length; j++) out[j] += table[j];
    } else {
      double value = *table;
      for (int j = 0; j < length; j++) out[j] += value;
    }
    return out + length;
  }
  for (int i = 0; i < prior->levels[axis]; i++)
    out = add_component(component, prior, axis + 1, run, table + i * component->stride[axis], out);
  return out;
}

/* Sum the tables over the grid, from the fastest axis outwards. A part that does not depend on
   an axis is summed once and copied along it. */
static PetscErrorCode spread(const Additive *additive, const RgSetPrior *prior, double *out)
{
  size_t size = 1;

  out[0] = 0.0;
  for (int a = prior->n_axes - 1; a >= 0; a--) {
    for (int i = 1; i < prior->levels[a]; i++) PetscCall(PetscArraycpy(out + i * size, out, size));
    size *= (size_t)prior->levels[a];
    for (int t = 0; t < additive->n_components; t++) {
      const Component *component = &additive->components[t];
      int run = prior->n_axes - 1; /* first axis of the run at the end */
      if (component->first != a) continue;
      while (run > a && !component->stride[run - 1] == !component->stride[prior->n_axes - 1]) run--;
      add_component(component, prior, a, run, additive->table + component->offset, out);
    }
  }
  return 0;
}

static PetscErrorCode additive_covariance(void *state, const RgSetPrior *prior, int index,
                                          double *out)
{
  Additive *additive = state;

  for (int j = 0; j < additive->n; j++) additive->coefficient[j] = 0.0;
  for (int t = 0; t < additive->n_components; t++) {
    const Component *component = &additive->components[t];
    const RgKernel term = {prior->kernel.dim, 1, &prior->kernel.terms[t], prior->kernel.warp, NULL};
    int at = 0;
    for (int a = prior->n_axes - 1, rest = index; a >= 0; rest /= prior->levels[a--])
      at += rest % prior->levels[a] * component->stride[a];
    PetscCall(rg_kernel_cross(&term, 1, component->points + (size_t)at * prior->n_axes,
                              component->size, component->points,
                              additive->table + component->offset));
    for (int j = 0; j < additive->n; j++) {
      additive->coefficient[j] +=
        additive->rows[(size_t)j * additive->total + component->offset + at];
    }
  }
  if (additive->n)
    cblas_dgemv(CblasColMajor, CblasNoTrans, additive->total, additive->n, -1.0, additive->rows,
                additive->total, additive->coefficient, 1, 1.0, additive->table, 1);
  return spread(additive, prior, out);
}

/* The tables are those of the covariance computed last. */
static PetscErrorCode additive_push(void *state, double pivot, const double *row)
{
  Additive *additive = state;
  const size_t length = (size_t)additive->n * additive->total;

  if (additive->n == additive->capacity) {
    additive->capacity *= 2;
    PetscCall(PetscRealloc(2 * length * sizeof(double), &additive->rows));
    PetscCall(PetscRealloc(additive->capacity * sizeof(double), &additive->coefficient));
  }
  for (int k = 0; k < additive->total; k++) additive->rows[length + k] = additive->table[k] / pivot;
  additive->n++;
  return 0;
}

static void additive_pop(void *state, int m)
{
  ((Additive *)state)->n -= m;
}

const RgSetBackend rg_set_backend_additive = {.name = "additive",
                                              .applies = additive_applies,
                                              .create = additive_create,
                                              .destroy = additive_destroy,
                                              .covariance = additive_covariance,
                                              .push = additive_push,
                                              .pop = additive_pop};

typedef struct {
  int n_first, n_second;
  double *first, *second; /* the halves' points, the other half at its first point; all inputs */
  int n, capacity;        /* observations; room */
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
    for (int k = 1; k < factor->n_inputs; k++)
      if ((factor->inputs[k] < split) != (factor->inputs[0] < split)) return false;
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

  PetscCall(PetscMalloc1(n * dim, points));
  for (int i = 0; i < n; i++)
    PetscCall(PetscArraycpy(*points + i * dim, prior->points + (size_t)i * stride * dim, dim));
  return 0;
}

static PetscErrorCode product_create(const RgSetPrior *prior, int capacity, void **state)
{
  const size_t room = (size_t)PetscMax(capacity, 1);
  Product *product;
  int split;

  PetscCall(PetscNew(&product));
  product->capacity = (int)room;
  (void)find_split(prior, &split, &product->n_second); /* there is one: the back end applies */
  product->n_first = prior->size / product->n_second;
  PetscCall(gather(prior, product->n_first, product->n_second, &product->first));
  PetscCall(gather(prior, product->n_second, 1, &product->second));
  PetscCall(PetscMalloc1((room + 1) * product->n_first, &product->A));
  PetscCall(PetscMalloc1((room + 1) * product->n_second, &product->B));
  PetscCall(PetscMalloc1((room + 1) * product->n_first, &product->scaled));
  PetscCall(PetscMalloc3(room * room, &product->L, room, &product->c, room, &product->w));
  *state = product;
  return 0;
}

static PetscErrorCode product_destroy(void **state)
{
  Product *product = *state;

  PetscCall(PetscFree3(product->L, product->c, product->w));
  return RG_FREE(&product->first, &product->second, &product->A, &product->B, &product->scaled,
                 state);
}

static PetscErrorCode double_capacity(Product *product)
{
  const size_t old = (size_t)product->capacity, wide = 2 * old, bytes = (wide + 1) * sizeof(double);
  double *L, *c, *w;

  PetscCall(PetscRealloc(bytes * product->n_first, &product->A));
  PetscCall(PetscRealloc(bytes * product->n_second, &product->B));
  PetscCall(PetscRealloc(bytes * product->n_first, &product->scaled));
  PetscCall(PetscMalloc3(wide * wide, &L, wide, &c, wide, &w));
  for (size_t i = 0; i < old; i++)
    PetscCall(PetscArraycpy(L + i * wide, product->L + i * old, old));
  PetscCall(PetscArraycpy(c, product->c, old));
  PetscCall(PetscFree3(product->L, product->c, product->w));
  product->L = L;
  product->c = c;
  product->w = w;
  product->capacity *= 2;
  return 0;
}

static PetscErrorCode product_covariance(void *state, const RgSetPrior *prior, int index,
                                         double *out)
{
  Product *product = state;
  int n = product->n, n_first = product->n_first, n_second = product->n_second;
  int i = index / n_second, j = index % n_second;

  /* The columns of the point become row n of A and B. The variance is in a. */
  double *last_a = product->A + (size_t)n * n_first, *last_b = product->B + (size_t)n * n_second;
  const double inverse = 1.0 / prior->kernel.terms[0].variance;
  const size_t dim = (size_t)prior->kernel.dim;
  PetscCall(
    rg_kernel_cross(&prior->kernel, 1, product->first + i * dim, n_first, product->first, last_a));
  PetscCall(rg_kernel_cross(&prior->kernel, 1, product->second + j * dim, n_second, product->second,
                            last_b));
  for (int k = 0; k < n_second; k++) last_b[k] *= inverse;
  for (int s = 0; s < n; s++)
    product->c[s] = product->A[(size_t)s * n_first + i] * product->B[(size_t)s * n_second + j];
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
  return 0;
}

/* The columns and L^-1 k(data, z) are those of the covariance just asked for. */
static PetscErrorCode product_push(void *state, double pivot, const double *row)
{
  Product *product = state;

  if (product->n == product->capacity) PetscCall(double_capacity(product));
  double *last = product->L + (size_t)product->n * product->capacity;
  PetscCall(PetscArraycpy(last, product->c, product->n));
  last[product->n++] = pivot;
  return 0;
}

static void product_pop(void *state, int m)
{
  ((Product *)state)->n -= m;
}

const RgSetBackend rg_set_backend_product = {.name = "product",
                                             .applies = product_applies,
                                             .create = product_create,
                                             .destroy = product_destroy,
                                             .covariance = product_covariance,
                                             .push = product_push,
                                             .pop = product_pop};
