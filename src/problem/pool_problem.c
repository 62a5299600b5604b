/* Pools as problems: the methods of RgProblemClass. */
#include "problem/pool.h"

#include <string.h>

#include "base/hash.h"

PetscErrorCode rg_pool_source_check(const char *name, const RgPoolSource *source, RgPlace place,
                                    RgDiagnostics *diagnostics)
{
  RgPool pool;
  RgText mistake = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_pool_read(source, &pool, &mistake));
  if (mistake.length) rg_diagnostics_add(diagnostics, place, "%s: %s", name, mistake.data);
  PetscCall(rg_text_clear(&mistake));
  PetscCall(rg_pool_destroy(&pool));
  PetscFunctionReturn(0);
}

/* A pool that was checked before. */
static PetscErrorCode read_again(const RgPoolSource *source, RgPool *pool)
{
  RgText mistake = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_pool_read(source, pool, &mistake));
  PetscCheck(!mistake.length, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s", mistake.data);
  PetscFunctionReturn(0);
}

static PetscErrorCode domain_of(const RgPoolSource *source, const RgPool *pool, RgDomain *domain)
{
  PetscFunctionBeginUser;
  PetscCall(
    rg_space_set(&domain->design, pool->dim, pool->size, pool->points, pool->lower, pool->upper));
  domain->without_replacement = !source->repeats;
  PetscFunctionReturn(0);
}

/* The hash of the numbers, independent of the place of the file and of its notation. */
static PetscErrorCode add_identity(const RgPoolSource *source, const RgPool *pool, RgText *text)
{
  const size_t dim = (size_t)pool->dim, size = (size_t)pool->size;
  RgText bytes = {0};
  uint64_t hash[2];
  char hex[33];

  PetscFunctionBeginUser;
  PetscCall(rg_text_add_bytes(&bytes, (const char *)pool->points, dim * size * sizeof(double)));
  PetscCall(rg_text_add_bytes(&bytes, (const char *)pool->value, size * sizeof(double)));
  PetscCall(rg_text_add_bytes(&bytes, (const char *)pool->lower, dim * sizeof(double)));
  PetscCall(rg_text_add_bytes(&bytes, (const char *)pool->upper, dim * sizeof(double)));
  rg_hash128(bytes.data, bytes.length, hash);
  rg_hash_hex(hash, hex);
  PetscCall(rg_text_add(text, "dim=%d,size=%d,repeats=%s,data=%s", pool->dim, pool->size,
                        source->repeats ? "true" : "false", hex));
  PetscCall(rg_text_clear(&bytes));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_pool_source_identity(const RgPoolSource *source, RgText *text)
{
  RgPool pool;

  PetscFunctionBeginUser;
  PetscCall(read_again(source, &pool));
  PetscCall(add_identity(source, &pool, text));
  PetscCall(rg_pool_destroy(&pool));
  PetscFunctionReturn(0);
}

/* ---- problems that are a pool ---------------------------------------------------------------- */

static RgPoolSource source_of(const RgProblemClass *class, const void *options)
{
  return ((const RgPoolFamily *)class->family)->source(options);
}

PetscErrorCode rg_pool_check(const RgProblemClass *class, const void *options, RgPlace place,
                             RgDiagnostics *diagnostics)
{
  const RgPoolSource source = source_of(class, options);

  return rg_pool_source_check(class->name, &source, place, diagnostics);
}

PetscErrorCode rg_pool_domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  const RgPoolSource source = source_of(class, options);
  RgPool pool;

  PetscFunctionBeginUser;
  PetscCall(read_again(&source, &pool));
  PetscCall(domain_of(&source, &pool, domain));
  PetscCall(rg_pool_destroy(&pool));
  PetscFunctionReturn(0);
}

static PetscErrorCode identity(const RgProblemClass *class, const void *options, RgText *text)
{
  const RgPoolSource source = source_of(class, options);

  return rg_pool_source_identity(&source, text);
}

static PetscErrorCode identify(const RgProblem *problem, RgText *text)
{
  const RgPoolSource source = source_of(problem->class, problem->options);

  return add_identity(&source, problem->data, text);
}

/* All candidates with the largest value. */
static PetscErrorCode find_optimum(const RgPool *pool, RgProblem *problem)
{
  const size_t dim = (size_t)pool->dim;

  PetscFunctionBeginUser;
  problem->optimum = pool->value[0];
  for (int i = 1; i < pool->size; i++)
    problem->optimum = PetscMax(problem->optimum, pool->value[i]);
  PetscCall(PetscMalloc1((size_t)pool->size * dim, &problem->optimisers));
  for (int i = 0; i < pool->size; i++) {
    if (pool->value[i] != problem->optimum) continue;
    PetscCall(PetscArraycpy(problem->optimisers + (size_t)problem->n_optimisers * dim,
                            pool->points + (size_t)i * dim, dim));
    problem->n_optimisers++;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode load(RgProblem *problem, RgFailure *failure)
{
  const RgPoolSource source = source_of(problem->class, problem->options);
  RgPool *pool;
  RgText mistake = {0};

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&pool));
  problem->data = pool;
  PetscCall(rg_pool_read(&source, pool, &mistake));
  if (mistake.length) rg_failure_set(failure, "%s: %s", problem->class->name, mistake.data);
  else PetscCall(domain_of(&source, pool, &problem->domain));
  PetscCall(rg_text_clear(&mistake));
  PetscFunctionReturn(0);
}

/* Read a column as the objective of a pool with the same candidates. */
static PetscErrorCode column(const RgProblemClass *class, const void *options, const char *name,
                             double **values, RgText *mistake)
{
  const RgPoolSource source = source_of(class, options);
  RgPoolSource other = source;
  RgPool pool = {0}, again = {0};

  PetscFunctionBeginUser;
  *values = NULL;
  other.objective = name;
  other.minimised = false;
  PetscCall(rg_pool_read(&source, &pool, mistake));
  if (!mistake->length) PetscCall(rg_pool_read(&other, &again, mistake));
  const size_t n = (size_t)pool.size * (size_t)pool.dim;
  if (!mistake->length &&
      (pool.size != again.size || memcmp(pool.points, again.points, n * sizeof(double))))
    PetscCall(rg_text_add(mistake,
                          "column '%.60s' of %s is an input of the design, because 'inputs' does "
                          "not name the inputs",
                          name, source.path));
  if (!mistake->length) {
    PetscCall(PetscMalloc1(again.size, values));
    PetscCall(PetscArraycpy(*values, again.value, again.size));
  }
  PetscCall(rg_pool_destroy(&pool));
  PetscCall(rg_pool_destroy(&again));
  PetscFunctionReturn(0);
}

const RgProblemSource rg_pool_files = {
  .identity = identity, .identify = identify, .load = load, .column = column};

PetscErrorCode rg_pool_create(RgProblem *problem, RgFailure *failure)
{
  (void)failure;
  return find_optimum(problem->data, problem);
}

PetscErrorCode rg_pool_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                RgFailure *failure)
{
  const RgPool *pool = problem->data;

  PetscFunctionBeginUser;
  (void)failure;
  for (int i = 0; i < m; i++) f[i] = pool->value[points[i].index];
  PetscFunctionReturn(0);
}

PetscErrorCode rg_pool_problem_destroy(RgProblem *problem)
{
  return rg_pool_destroy(problem->data);
}
