/* A problem that answers requests in lines of JSON: its domain, its values, its optimum. */
#include "extra/external/problem_server.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/inputs.h"
#include "extra/external/protocol.h"
#include "regret/optimum.h"

/* Read a number of a request; `fallback` if it is missing. */
static PetscErrorCode read_count(const json_t *object, const char *name, json_int_t fallback,
                                 json_int_t most, json_int_t *count, RgText *mistake)
{
  const json_t *number = json_object_get(object, name);

  *count = number ? (json_is_integer(number) ? json_integer_value(number) : -1) : fallback;
  if (*count < 0 || *count > most)
    PetscCall(
      rg_text_add(mistake, "\"%s\" is not a whole number from 0 to %lld", name, (long long)most));
  return 0;
}

/* ---- start: the problem ---------------------------------------------------------------------- */

static PetscErrorCode answer_start(RgProblemServer *server, const json_t *request, json_t *reply,
                                   RgText *mistake)
{
  const RgProblem *problem = server->problem;
  const json_t *version = json_object_get(request, "protocol");

  if (!json_is_integer(version) || json_integer_value(version) != RG_PROTOCOL_VERSION)
    return rg_text_add(mistake, "\"protocol\" must be %d", RG_PROTOCOL_VERSION);
  rg_protocol_set(reply, "protocol", json_integer(RG_PROTOCOL_VERSION));
  rg_protocol_set(reply, "problem", json_string(problem->class->name));
  rg_protocol_set(reply, "title", json_string(problem->class->title));
  rg_protocol_set(reply, "instance", json_integer((json_int_t)problem->instance));
  rg_protocol_set(reply, "random", json_boolean(problem->class->traits & RG_PROBLEM_RANDOM));
  rg_protocol_set(reply, "gradient", json_boolean(problem->class->gradient != NULL));
  rg_protocol_set(reply, "constraints", json_array());
  return rg_protocol_domain(&problem->domain, reply);
}

/* ---- evaluate -------------------------------------------------------------------------------- */

/* The points of a request. */
typedef struct {
  int m;
  double *x, *c;   /* m x dim, native units; owned */
  RgPoint *points; /* m; owned */
  bool has_c;
} Batch;

/* Read point i of a list into `native`; *index is its number in a finite space. */
static PetscErrorCode read_point(const RgSpace *space, const char *name, const json_t *list, int i,
                                 double *native, int *index, RgText *mistake)
{
  const json_t *point = json_array_get(list, (size_t)i);

  *index = -1;
  if (!json_is_array(point) || (int)json_array_size(point) != space->dim)
    return rg_text_add(mistake, "point %d of \"%s\" is not a list of %d number%s", i + 1, name,
                       space->dim, space->dim == 1 ? "" : "s");
  const int wrong = rg_protocol_coordinates(space, point, native), j = wrong - 1;
  if (wrong && isnan(native[j]))
    return rg_text_add(mistake, "point %d of \"%s\": entry %d is not a number", i + 1, name, wrong);
  if (wrong)
    return rg_text_add(mistake, "point %d of \"%s\": number %d is %.17g, not in [%.15g, %.15g]",
                       i + 1, name, wrong, native[j], space->lower[j], space->upper[j]);
  if (!rg_space_is_finite(space)) return 0;
  *index = rg_space_find(space, native);
  if (*index < 0)
    PetscCall(rg_text_add(mistake, "point %d of \"%s\" is not one of the %d points of the domain",
                          i + 1, name, space->size));
  else rg_space_to_native(space, space->points + (size_t)*index * space->dim, native);
  return 0;
}

static PetscErrorCode read_batch(const RgDomain *domain, const json_t *request, Batch *batch,
                                 RgText *mistake)
{
  const json_t *x = json_object_get(request, "x"), *c = json_object_get(request, "c");
  const int dim = domain->design.dim, dim_c = domain->context.dim;

  if (!json_is_array(x) || !json_array_size(x))
    return rg_text_add(mistake, "\"x\" is not a list of points");
  if (c && !dim_c) return rg_text_add(mistake, "the problem has no context, \"c\" is not accepted");
  if (c && (!json_is_array(c) || json_array_size(c) != json_array_size(x)))
    return rg_text_add(mistake, "\"c\" is not a list of as many points as \"x\" has");
  const int m = (int)json_array_size(x);
  *batch = (Batch){.m = m, .has_c = c != NULL};
  PetscCall(PetscMalloc3((size_t)m * dim, &batch->x, (size_t)m * PetscMax(dim_c, 1), &batch->c, m,
                         &batch->points));
  for (int i = 0; i < m && !mistake->length; i++) {
    RgPoint *point = &batch->points[i];
    double *own = batch->x + (size_t)i * dim, *context = batch->c + (size_t)i * dim_c;
    *point = (RgPoint){.x = own, .context_index = -1};
    PetscCall(read_point(&domain->design, "x", x, i, own, &point->index, mistake));
    if (!c || mistake->length) continue;
    PetscCall(read_point(&domain->context, "c", c, i, context, &point->context_index, mistake));
    point->c = context;
  }
  return 0;
}

static RgRandom random_at(const RgProblemServer *server, const char *name, json_int_t seed,
                          json_int_t row)
{
  const RgProblem *problem = server->problem;
  const RgStream stream =
    rg_stream(server->seed, problem->class->name, problem->instance, name, (uint64_t)seed);

  return rg_stream_at(&stream, (uint64_t)row);
}

/* Add observations: f plus the noise of evaluations number "first", ... of the trial with that
   seed. */
static PetscErrorCode add_noise(const RgProblemServer *server, const json_t *noise, int m,
                                const double *f, json_t *reply, RgText *mistake)
{
  const json_t *given = json_object_get(noise, "variance");
  const double variance = json_is_number(given) ? json_number_value(given) : NAN;
  json_int_t seed, first;
  double *y;

  PetscCall(read_count(noise, "seed", 0, INT64_MAX, &seed, mistake));
  PetscCall(read_count(noise, "first", 0, INT64_MAX / 2, &first, mistake));
  if (!(variance >= 0 && isfinite(variance)))
    PetscCall(rg_text_add(mistake, "\"variance\" of the noise is not a number >= 0"));
  if (mistake->length) return 0;
  PetscCall(PetscMalloc1(m, &y));
  for (int i = 0; i < m; i++) {
    RgRandom random = random_at(server, "noise", seed, first + i);
    y[i] = variance > 0 ? f[i] + sqrt(variance) * rg_random_normal(&random) : f[i];
  }
  rg_protocol_set(reply, "y", rg_protocol_reals(m, y));
  return PetscFree(y);
}

static PetscErrorCode add_gradients(RgProblem *problem, const Batch *batch, json_t *reply,
                                    RgText *mistake)
{
  const int dim = problem->domain.design.dim;
  json_t *list;
  double *gradient;

  if (!problem->class->gradient)
    return rg_text_add(mistake, "%s has no gradient", problem->class->name);
  list = json_array();
  PetscCall(PetscMalloc1(dim, &gradient));
  for (int i = 0; i < batch->m; i++) {
    PetscCall(problem->class->gradient(problem, &batch->points[i], gradient));
    (void)json_array_append_new(list, rg_protocol_reals(dim, gradient));
  }
  rg_protocol_set(reply, "gradient", list);
  return PetscFree(gradient);
}

/* Add the outcome constraints at every point, one list per constraint under its name. */
static PetscErrorCode add_constraints(RgProblem *problem, const Batch *batch, json_t *reply,
                                      RgFailure *failure)
{
  const int n = problem->domain.n_constraints, m = batch->m;
  json_t *object = json_object();
  double *values, *one;

  PetscCall(PetscMalloc2((size_t)n * m, &values, n, &one));
  for (int i = 0; i < m && !failure->failed; i++) {
    PetscCall(rg_problem_constrain(problem, &batch->points[i], one, failure));
    for (int k = 0; k < n; k++) values[(size_t)k * m + i] = one[k];
  }
  for (int k = 0; k < n && !failure->failed; k++)
    rg_protocol_set(object, problem->domain.constraints[k],
                    rg_protocol_reals(m, values + (size_t)k * m));
  rg_protocol_set(reply, "constraints", object);
  return PetscFree2(values, one);
}

static PetscErrorCode answer_evaluate(RgProblemServer *server, const json_t *request, json_t *reply,
                                      RgText *mistake)
{
  RgProblem *problem = server->problem;
  const RgDomain *domain = &problem->domain;
  const json_t *noise = json_object_get(request, "noise");
  const bool objective = json_is_true(json_object_get(request, "objective"));
  Batch batch = {0};
  RgFailure failure = {0};
  double *f;

  PetscCall(read_batch(domain, request, &batch, mistake));
  if (!mistake->length && domain->context.dim && !batch.has_c && !objective)
    PetscCall(rg_text_add(mistake, "f needs a context for every point, \"c\" (the objective F "
                                   "needs none: \"objective\": true)"));
  PetscCall(PetscMalloc1(batch.m, &f));
  if (!mistake->length && (batch.has_c || !domain->context.dim)) {
    PetscCall(rg_problem_evaluate(problem, batch.m, batch.points, f, &failure));
    if (!failure.failed) rg_protocol_set(reply, "f", rg_protocol_reals(batch.m, f));
    if (!failure.failed && noise) PetscCall(add_noise(server, noise, batch.m, f, reply, mistake));
    if (!failure.failed && json_is_true(json_object_get(request, "gradient")))
      PetscCall(add_gradients(problem, &batch, reply, mistake));
  }
  if (!mistake->length && !failure.failed && domain->n_constraints &&
      (!(problem->class->traits & RG_PROBLEM_COSTLY) || batch.m == 1))
    PetscCall(add_constraints(problem, &batch, reply, &failure));
  if (!mistake->length && !failure.failed && objective) {
    PetscCall(rg_problem_objective(problem, batch.m, batch.points, f, &failure));
    if (!failure.failed) rg_protocol_set(reply, "F", rg_protocol_reals(batch.m, f));
  }
  if (failure.failed) PetscCall(rg_text_add(mistake, "%s", failure.message));
  PetscCall(PetscFree(f));
  return PetscFree3(batch.x, batch.c, batch.points);
}

/* ---- optimum, contexts ----------------------------------------------------------------------- */

static PetscErrorCode answer_optimum(RgProblemServer *server, const json_t *request, json_t *reply,
                                     RgText *mistake)
{
  RgProblem *problem = server->problem;
  const int dim = problem->domain.design.dim;
  RgFailure failure = {0};
  json_t *optimisers = json_array();

  if (!server->searched) {
    if (!server->optimiser) PetscCall(PetscMalloc1(dim, &server->optimiser));
    PetscCall(rg_regret_optimum_at(problem, &server->optimum, server->optimiser, &failure));
    server->searched = !failure.failed;
  }
  if (failure.failed) {
    PetscCall(rg_text_add(mistake, "%s", failure.message));
  } else {
    rg_protocol_set(reply, "optimum",
                    isnan(server->optimum) ? json_null() : json_real(server->optimum));
    for (int i = 0; i < problem->n_optimisers; i++)
      (void)json_array_append_new(optimisers,
                                  rg_protocol_reals(dim, problem->optimisers + (size_t)i * dim));
    if (!problem->n_optimisers && !isnan(server->optimiser[0]))
      (void)json_array_append_new(optimisers, rg_protocol_reals(dim, server->optimiser));
  }
  rg_protocol_set(reply, "optimisers", optimisers);
  return 0;
}

/* Answer with contexts number "first", ... of the trial with that seed. */
static PetscErrorCode answer_contexts(RgProblemServer *server, const json_t *request, json_t *reply,
                                      RgText *mistake)
{
  RgProblem *problem = server->problem;
  const int dim = problem->domain.context.dim;
  json_int_t n, seed, first;
  json_t *list;
  double *c;
  int index;

  PetscCall(read_count(request, "n", 1, 1000000, &n, mistake));
  PetscCall(read_count(request, "seed", 0, INT64_MAX, &seed, mistake));
  PetscCall(read_count(request, "first", 0, INT64_MAX / 2, &first, mistake));
  if (!mistake->length && (!dim || !problem->class->draw_context))
    PetscCall(rg_text_add(mistake,
                          dim ? "contexts of %s are chosen, not drawn" : "%s has no context",
                          problem->class->name));
  if (mistake->length) return 0;
  list = json_array();
  PetscCall(PetscMalloc1(dim, &c));
  for (json_int_t i = 0; i < n; i++) {
    RgRandom random = random_at(server, "context", seed, first + i);
    PetscCall(rg_problem_at(problem, (int)PetscMin(first + i, INT_MAX - 1) + 1));
    PetscCall(problem->class->draw_context(problem, &random, c, &index));
    (void)json_array_append_new(list, rg_protocol_reals(dim, c));
  }
  PetscCall(rg_problem_at(problem, 1));
  PetscCall(PetscFree(c));
  rg_protocol_set(reply, "c", list);
  return 0;
}

/* ---- in order -------------------------------------------------------------------------------- */

PetscErrorCode rg_problem_server_answer(RgProblemServer *server, const char *line, size_t length,
                                        RgText *answer)
{
  static const struct {
    const char *word;
    PetscErrorCode (*answer)(RgProblemServer *, const json_t *, json_t *, RgText *);
  } table[] = {{"start", answer_start},
               {"evaluate", answer_evaluate},
               {"optimum", answer_optimum},
               {"contexts", answer_contexts},
               {NULL, NULL}};
  json_t *request, *reply = json_object();
  RgText mistake = {0};
  int64_t id;
  int i = 0;

  PetscCall(rg_protocol_request(line, length, &request, &id, &mistake));
  rg_protocol_set(reply, "id", id < 0 ? json_null() : json_integer(id));
  const char *word = json_string_value(json_object_get(request, "do"));
  while (table[i].word && !(word && !strcmp(word, table[i].word))) i++;
  if (table[i].word) PetscCall(table[i].answer(server, request, reply, &mistake));
  else if (request)
    PetscCall(rg_text_add(&mistake, "\"do\" must be start, evaluate, optimum or contexts"));
  if (mistake.length) {
    json_decref(reply);
    reply = json_object();
    rg_protocol_set(reply, "id", id < 0 ? json_null() : json_integer(id));
    json_t *why = json_string(mistake.data);
    rg_protocol_set(reply, "error", why ? why : json_string("a request that is not UTF-8"));
  }
  json_decref(request);
  PetscCall(rg_text_clear(&mistake));
  return rg_protocol_write(reply, answer);
}

PetscErrorCode rg_problem_server_clear(RgProblemServer *server)
{
  return PetscFree(server->optimiser);
}
