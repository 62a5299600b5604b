/* Rows of the posterior covariance of a sum of kernels on few axes each. A row of L^-1 K(data,
   grid) (rrgp_ucb 2.1) is then also a sum of one small table per term. So the recursion works on
   the tables, and only its result is spread over the grid. */
#include "maths/blas.h"
#include "base/grow.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/posterior/set/set_backend.h"

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
  int n_components, n_axes;
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
  for (int f = 0; f < term->n_factors; f++) {
    for (int k = 0; k < term->factors[f].n_inputs; k++) used[term->factors[f].inputs[k]] = true;
  }
  for (int a = 0; a < prior->n_axes; a++) size *= used[a] ? (size_t)prior->levels[a] : 1;
  return size;
}

/* Worthwhile if all tables together have at most a quarter of the grid's entries. */
static bool additive_applies(const RgSetPrior *prior)
{
  size_t total = 0;
  bool used[64];

  if (prior->n_axes == 0 || prior->n_axes > 64 || rg_kernel_shifts(&prior->kernel)) return false;
  for (int t = 0; t < prior->kernel.n_terms; t++) {
    total += term_axes(prior, &prior->kernel.terms[t], used);
  }
  return 4 * total <= (size_t)prior->size;
}

static int component_index(const Component *component, const RgSetPrior *prior, int index)
{
  int at = 0;

  for (int a = prior->n_axes - 1; a >= 0; a--) {
    at += index % prior->levels[a] * component->stride[a];
    index /= prior->levels[a];
  }
  return at;
}

static PetscErrorCode component_create(const RgSetPrior *prior, const RgKernelTerm *term,
                                       int offset, Component *component)
{
  size_t dim = (size_t)prior->n_axes;
  bool used[64];
  int step = 1;

  PetscFunctionBeginUser;
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
  PetscFunctionReturn(0);
}

static PetscErrorCode free_components(Additive *additive)
{
  PetscFunctionBeginUser;
  for (int t = 0; t < additive->n_components; t++) {
    PetscCall(RG_FREE(&additive->components[t].stride, &additive->components[t].points));
  }
  PetscCall(RG_FREE(&additive->components, &additive->rows, &additive->table));
  PetscFunctionReturn(0);
}

static PetscErrorCode make_components(const RgSetPrior *prior, Additive *additive)
{
  PetscFunctionBeginUser;
  additive->n_axes = prior->n_axes;
  additive->n_components = prior->kernel.n_terms;
  additive->total = 0;
  PetscCall(PetscCalloc1(additive->n_components, &additive->components));
  for (int t = 0; t < additive->n_components; t++) {
    PetscCall(
      component_create(prior, &prior->kernel.terms[t], additive->total, &additive->components[t]));
    additive->total += additive->components[t].size;
  }
  PetscCall(PetscMalloc1((size_t)additive->capacity * additive->total, &additive->rows));
  PetscCall(PetscMalloc1(additive->total, &additive->table));
  PetscFunctionReturn(0);
}

static PetscErrorCode additive_create(const RgSetPrior *prior, int capacity, void **state)
{
  Additive *additive;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&additive));
  additive->capacity = PetscMax(capacity, 1);
  PetscCall(make_components(prior, additive));
  PetscCall(PetscMalloc1(additive->capacity, &additive->coefficient));
  *state = additive;
  PetscFunctionReturn(0);
}

static PetscErrorCode additive_destroy(void **state)
{
  Additive *additive = *state;

  PetscFunctionBeginUser;
  PetscCall(free_components(additive));
  PetscCall(RG_FREE(&additive->coefficient, &additive));
  *state = NULL;
  PetscFunctionReturn(0);
}

/* The axes that the terms see may have changed with the kernel. */
static PetscErrorCode additive_reset(void *state, const RgSetPrior *prior)
{
  Additive *additive = state;

  PetscFunctionBeginUser;
  additive->n = 0;
  PetscCall(free_components(additive));
  PetscCall(make_components(prior, additive));
  PetscFunctionReturn(0);
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
  for (int i = 0; i < prior->levels[axis]; i++) {
    out = add_component(component, prior, axis + 1, run, table + i * component->stride[axis], out);
  }
  return out;
}

/* First axis of the run at the end. */
static int run_begin(const Component *component, int n_axes)
{
  int a = n_axes - 1;

  while (a > component->first && !component->stride[a - 1] == !component->stride[n_axes - 1]) a--;
  return a;
}

/* Sum the tables over the grid, from the fastest axis outwards. A part that does not depend on
   an axis is summed once and copied along it. */
static PetscErrorCode spread(const Additive *additive, const RgSetPrior *prior, double *out)
{
  size_t size = 1;

  PetscFunctionBeginUser;
  out[0] = 0.0;
  for (int a = prior->n_axes - 1; a >= 0; a--) {
    for (int i = 1; i < prior->levels[a]; i++) PetscCall(PetscArraycpy(out + i * size, out, size));
    size *= (size_t)prior->levels[a];
    for (int t = 0; t < additive->n_components; t++) {
      const Component *component = &additive->components[t];

      if (component->first != a) continue;
      add_component(component, prior, a, run_begin(component, prior->n_axes),
                    additive->table + component->offset, out);
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode additive_covariance(void *state, const RgSetPrior *prior, int index,
                                          double *out)
{
  Additive *additive = state;

  PetscFunctionBeginUser;
  for (int j = 0; j < additive->n; j++) additive->coefficient[j] = 0.0;
  for (int t = 0; t < additive->n_components; t++) {
    const Component *component = &additive->components[t];
    const RgKernel term = {prior->kernel.dim, 1, &prior->kernel.terms[t], prior->kernel.warp, NULL};
    int at = component_index(component, prior, index);

    PetscCall(rg_kernel_cross(&term, 1, component->points + (size_t)at * prior->n_axes,
                              component->size, component->points,
                              additive->table + component->offset));
    for (int j = 0; j < additive->n; j++) {
      additive->coefficient[j] +=
        additive->rows[(size_t)j * additive->total + component->offset + at];
    }
  }
  if (additive->n) {
    cblas_dgemv(CblasColMajor, CblasNoTrans, additive->total, additive->n, -1.0, additive->rows,
                additive->total, additive->coefficient, 1, 1.0, additive->table, 1);
  }
  PetscCall(spread(additive, prior, out));
  PetscFunctionReturn(0);
}

/* The tables are those of the covariance computed last. */
static PetscErrorCode additive_push(void *state, const RgSetPrior *prior, int index, double pivot,
                                    const double *row)
{
  Additive *additive = state;
  double *last;

  (void)prior;
  (void)index;
  (void)row;
  PetscFunctionBeginUser;
  if (additive->n == additive->capacity) {
    double *more;
    size_t held = (size_t)additive->n * additive->total;

    PetscCall(PetscMalloc1(2 * held, &more));
    PetscCall(PetscArraycpy(more, additive->rows, held));
    PetscCall(PetscFree(additive->rows));
    additive->rows = more;
    additive->capacity *= 2;
    PetscCall(PetscFree(additive->coefficient));
    PetscCall(PetscMalloc1(additive->capacity, &additive->coefficient));
  }
  last = additive->rows + (size_t)additive->n * additive->total;
  for (int k = 0; k < additive->total; k++) last[k] = additive->table[k] / pivot;
  additive->n++;
  PetscFunctionReturn(0);
}

static void additive_pop(void *state, int m)
{
  ((Additive *)state)->n -= m;
}

const RgSetBackend rg_set_backend_additive = {
  "additive",     additive_applies,    additive_create, additive_destroy,
  additive_reset, additive_covariance, additive_push,   additive_pop};
