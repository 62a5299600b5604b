/* Requests to an external optimiser, and its answers (docs/protocol.md). */
#include <math.h>
#include <string.h>

#include "extra/external/optimiser.h"
#include "base/text.h"

int rg_external_width(const RgExternalAnswer *answer)
{
  return answer->domain->design.dim + answer->domain->context.dim + answer->n_record;
}

/* ---- requests: members that can't be made are found out when the line is --------------------- */

/* Add the true outcome of an evaluation, if it failed or the domain has constraints. */
static void add_outcome(const RgDomain *domain, const RgHistory *history, int row, json_t *object)
{
  const int n = domain->n_constraints;
  const bool failed = isnan(history->observed[row]);
  json_t *constraints;

  if (failed) rg_protocol_set(object, "failed", json_true());
  if (failed || n) rg_protocol_set(object, "feasible", json_boolean(history->feasible[row]));
  if (failed || !n) return;
  constraints = json_object();
  for (int k = 0; k < n; k++)
    rg_protocol_set(constraints, domain->constraints[k],
                    json_real(history->constraints[(size_t)row * n + k]));
  rg_protocol_set(object, "observed", json_real(history->observed[row]));
  rg_protocol_set(object, "constraints", constraints);
}

/* Write evaluation number `row` into an object. */
static PetscErrorCode add_evaluation(const RgDomain *domain, const RgHistory *history, int row,
                                     json_t *object)
{
  json_t *point;

  PetscFunctionBeginUser;
  PetscCall(rg_protocol_point(&domain->design, history->x + (size_t)row * history->dim, &point));
  rg_protocol_set(object, "x", point);
  if (history->index[row] >= 0) rg_protocol_set(object, "index", json_integer(history->index[row]));
  if (domain->context.dim) {
    PetscCall(
      rg_protocol_point(&domain->context, history->c + (size_t)row * history->context_dim, &point));
    rg_protocol_set(object, "c", point);
  }
  rg_protocol_set(object, "y", json_real(history->y[row]));
  add_outcome(domain, history, row, object);
  PetscFunctionReturn(0);
}

/* The version of the protocol that a trial needs. */
static int version(const RgSetup *setup)
{
  return setup->n_workers > 1 ? RG_PROTOCOL_SEVERAL : RG_PROTOCOL_VERSION;
}

PetscErrorCode rg_external_start(const RgSetup *setup, const RgExternalAnswer *answer,
                                 uint64_t seed, const RgHistory *history, int64_t id, RgText *line)
{
  json_t *request = json_object(), *initial = json_array(), *record = json_array();

  PetscFunctionBeginUser;
  rg_protocol_set(request, "id", json_integer(id));
  rg_protocol_set(request, "do", json_string("start"));
  rg_protocol_set(request, "protocol", json_integer(version(setup)));
  if (setup->n_workers > 1) {
    rg_protocol_set(request, "workers", json_integer(setup->n_workers));
    rg_protocol_set(request, "release", json_string(setup->batches ? "sync" : "async"));
  }
  rg_protocol_set(request, "seed", json_integer((json_int_t)seed));
  rg_protocol_set(request, "budget", json_integer(setup->n_iterations));
  PetscCall(rg_protocol_domain(setup->domain, request));
  if (!isnan(setup->noise_variance)) {
    rg_protocol_set(request, "noise_variance", json_real(setup->noise_variance));
    rg_protocol_set(request, "noise_law", json_string("normal"));
  }
  for (int row = 0; history && row < history->n_initial; row++) {
    json_t *evaluation = json_object();
    PetscCall(add_evaluation(setup->domain, history, row, evaluation));
    (void)json_array_append_new(initial, evaluation);
  }
  rg_protocol_set(request, "initial", initial);
  for (int i = 0; i < answer->n_record; i++)
    (void)json_array_append_new(record, json_string(answer->record[i]));
  rg_protocol_set(request, "record", record);
  if (setup->keeper && !setup->keeper->log)
    rg_protocol_set(request, "rehearsal", json_true()); /* nothing of it is kept */
  PetscCall(rg_protocol_write(request, line));
  PetscFunctionReturn(0);
}

static json_t *request_object(const char *what, int t, int64_t id)
{
  json_t *request = json_object();

  rg_protocol_set(request, "id", json_integer(id));
  rg_protocol_set(request, "do", json_string(what));
  rg_protocol_set(request, "t", json_integer(t));
  return request;
}

/* List the points in flight. */
static PetscErrorCode add_pending(const RgDomain *domain, const RgPending *pending, json_t *request)
{
  json_t *list = json_array(), *point;

  PetscFunctionBeginUser;
  for (int i = 0; i < pending->n; i++) {
    json_t *object = json_object();
    rg_protocol_set(object, "submission", json_integer(pending->submission[i]));
    PetscCall(
      rg_protocol_point(&domain->design, pending->x + (size_t)i * domain->design.dim, &point));
    rg_protocol_set(object, "x", point);
    if (pending->index[i] >= 0) rg_protocol_set(object, "index", json_integer(pending->index[i]));
    if (pending->c) {
      PetscCall(
        rg_protocol_point(&domain->context, pending->c + (size_t)i * domain->context.dim, &point));
      rg_protocol_set(object, "c", point);
    }
    (void)json_array_append_new(list, object);
  }
  rg_protocol_set(request, "pending", list);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_external_ask(const RgSetup *setup, int t, const RgHistory *history,
                               const RgQuery *query, int64_t id, RgText *line)
{
  json_t *request = request_object("ask", t, id), *point;

  PetscFunctionBeginUser;
  if (setup->domain->control == RG_CONTEXT_ANNOUNCED) {
    PetscCall(rg_protocol_point(&setup->domain->context, query->c, &point));
    rg_protocol_set(request, "c", point);
    if (query->context_index >= 0)
      rg_protocol_set(request, "c_index", json_integer(query->context_index));
  }
  if (setup->n_workers > 1) {
    rg_protocol_set(request, "submission", json_integer(history->n_initial + t));
    rg_protocol_set(request, "now", json_real(history->pending.now));
    PetscCall(add_pending(setup->domain, &history->pending, request));
  }
  PetscCall(rg_protocol_write(request, line));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_external_tell(const RgSetup *setup, const RgHistory *history, int64_t id,
                                RgText *line)
{
  const int row = history->n - 1;
  const RgMoment *moment = &history->moments[row];
  const int submission = setup->n_workers > 1 ? moment->submission : row + 1;
  json_t *request = request_object("tell", submission - history->n_initial, id);

  PetscFunctionBeginUser;
  if (setup->n_workers > 1) {
    rg_protocol_set(request, "submission", json_integer(submission));
    if (!isnan(moment->finished)) {
      rg_protocol_set(request, "dispatched", json_real(moment->dispatched));
      rg_protocol_set(request, "finished", json_real(moment->finished));
    }
  }
  PetscCall(add_evaluation(setup->domain, history, row, request));
  PetscCall(rg_protocol_write(request, line));
  PetscFunctionReturn(0);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Append a word of a list; separators in the word become '_'. */
static PetscErrorCode add_word(const char *word, RgText *text)
{
  enum { LONGEST = 40 };

  PetscFunctionBeginUser;
  for (int i = 0; word[i] && i < LONGEST; i++) {
    const bool apart = strchr(";, ", word[i]) || (unsigned char)word[i] < ' ' || word[i] == 127;
    PetscCall(rg_text_add_bytes(text, apart ? "_" : word + i, 1));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode read_versions(const json_t *versions, RgText *text, RgText *mistake)
{
  enum { MOST = 20 };
  const char *name;
  json_t *version;
  int n = 0;

  PetscFunctionBeginUser;
  if (versions && !json_is_object(versions))
    PetscCall(rg_text_add(mistake, "answered 'start' with \"versions\" that is not an object"));
  json_object_foreach((json_t *)(uintptr_t)versions, name, version)
  {
    if (!json_is_string(version)) {
      PetscCall(rg_text_add(mistake,
                            "answered 'start' with a version of '%.40s' that is not a text", name));
      break;
    }
    if (n++ == MOST) break;
    PetscCall(rg_text_add(text, n == 1 ? "; reported " : ", "));
    PetscCall(add_word(name, text));
    PetscCall(rg_text_add(text, " "));
    PetscCall(add_word(json_string_value(version), text));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_external_greeting(const RgSetup *setup, const json_t *object, RgText *versions,
                                    RgText *mistake)
{
  const json_t *protocol = json_object_get(object, "protocol");
  const json_int_t spoken = json_is_integer(protocol) ? json_integer_value(protocol) : 0;

  const bool announced = setup->domain->control == RG_CONTEXT_ANNOUNCED;

  PetscFunctionBeginUser;
  if (spoken == version(setup) && announced && !json_is_true(json_object_get(object, "announced")))
    PetscCall(rg_text_add(mistake,
                          "takes no context that is announced before the decision: its answer to "
                          "'start' has no \"announced\": true"));
  else if (spoken == version(setup))
    PetscCall(read_versions(json_object_get(object, "versions"), versions, mistake));
  else if (spoken == RG_PROTOCOL_VERSION)
    PetscCall(rg_text_add(mistake,
                          "speaks protocol 1, which is for one worker: 'workers: %d' needs "
                          "protocol %d",
                          setup->n_workers, RG_PROTOCOL_SEVERAL));
  else
    PetscCall(rg_text_add(mistake, "answered 'start' without \"protocol\": %d, the one spoken here",
                          version(setup)));
  PetscFunctionReturn(0);
}

static double seconds_of(const json_t *fit, const char *name)
{
  const json_t *number = json_object_get(fit, name);

  return json_is_number(number) ? json_number_value(number) : NAN;
}

PetscErrorCode rg_external_fit(const json_t *object, double *wall, double *cpu, RgText *mistake)
{
  const json_t *fit = json_object_get(object, "fit");

  PetscFunctionBeginUser;
  *wall = fit ? seconds_of(fit, "wall") : 0;
  *cpu = fit ? seconds_of(fit, "cpu") : 0;
  if (!(*wall >= 0 && *cpu >= 0))
    PetscCall(rg_text_add(mistake, "answered a \"fit\" without seconds \"wall\" and \"cpu\""));
  PetscFunctionReturn(0);
}

/* Check that inputs that count are not null. */
static PetscErrorCode check_nulls(const RgSpace *space, const char *name, const json_t *list,
                                  const double *native, RgText *mistake)
{
  double *seen;

  PetscFunctionBeginUser;
  if (mistake->length || !rg_space_is_conditional(space)) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(space->dim, &seen));
  rg_space_seen(space, native, seen);
  for (int j = 0; j < space->dim && !mistake->length; j++)
    if (json_is_null(json_array_get(list, (size_t)j)) && !isnan(seen[j]))
      PetscCall(rg_text_add(mistake, "answered a \"%s\" without '%.40s', which counts there", name,
                            space->inputs[j].name));
  PetscCall(PetscFree(seen));
  PetscFunctionReturn(0);
}

/* Read dim numbers under `name` within the bounds. */
static PetscErrorCode read_coordinates(const RgSpace *space, const char *name, const json_t *list,
                                       double *native, RgText *mistake)
{
  PetscFunctionBeginUser;
  if (!json_is_array(list) || (int)json_array_size(list) != space->dim) {
    PetscCall(
      rg_text_add(mistake, "answered without a list of %d numbers as \"%s\"", space->dim, name));
    PetscFunctionReturn(0);
  }
  for (int j = 0; j < space->dim && !mistake->length; j++) {
    const json_t *number = json_array_get(list, (size_t)j);
    native[j] = rg_protocol_coordinate(space, j, number);
    if (!isfinite(native[j]))
      PetscCall(
        rg_text_add(mistake, "answered a \"%s\" whose entry %d is not a number", name, j + 1));
    else if (!rg_space_is_finite(space) &&
             !(native[j] >= space->lower[j] && native[j] <= space->upper[j]))
      PetscCall(rg_text_add(mistake,
                            "answered \"%s\" outside the domain: number %d is %.17g, not in "
                            "[%g, %g]",
                            name, j + 1, native[j], space->lower[j], space->upper[j]));
  }
  PetscCall(check_nulls(space, name, list, native, mistake));
  PetscFunctionReturn(0);
}

/* Read a point of a space under `name`; of a finite space also by its number under `index_name`. */
static PetscErrorCode read_point(const RgSpace *space, const char *name, const char *index_name,
                                 const json_t *object, double *native, RgText *mistake)
{
  const json_t *number = json_object_get(object, index_name);
  int index;

  PetscFunctionBeginUser;
  if (rg_space_is_finite(space) && number) {
    const json_int_t given = json_is_integer(number) ? json_integer_value(number) : -1;
    if (given < 0 || given >= space->size) {
      PetscCall(rg_text_add(mistake, "answered \"%s\" that is not a whole number from 0 to %d",
                            index_name, space->size - 1));
      PetscFunctionReturn(0);
    }
    index = (int)given;
  } else {
    PetscCall(read_coordinates(space, name, json_object_get(object, name), native, mistake));
    if (mistake->length || !rg_space_is_finite(space)) PetscFunctionReturn(0);
    index = rg_protocol_find(space, native);
    if (index < 0) {
      PetscCall(rg_text_add(mistake,
                            "answered \"%s\" that is not one of the %d points of the domain", name,
                            space->size));
      PetscFunctionReturn(0);
    }
  }
  rg_space_to_native(space, space->points + (size_t)index * space->dim, native);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_external_check_once(const RgDomain *domain, const RgHistory *history,
                                      const double *numbers, RgText *mistake)
{
  const RgPending *pending = &history->pending;

  PetscFunctionBeginUser;
  if (!domain->without_replacement || mistake->length) PetscFunctionReturn(0);
  const int index = rg_protocol_find(&domain->design, numbers);
  for (int row = 0; row < history->n && !mistake->length; row++)
    if (history->index[row] == index)
      PetscCall(rg_text_add(mistake,
                            "answered point %d again, which was evaluation %d; each may be "
                            "queried once",
                            index, history->moments[row].submission));
  for (int i = 0; i < pending->n && !mistake->length; i++)
    if (pending->index[i] == index)
      PetscCall(rg_text_add(mistake,
                            "answered point %d again, which is in flight as evaluation %d; each "
                            "may be queried once",
                            index, pending->submission[i]));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_ask(const RgExternalAnswer *answer, const json_t *object,
                               double *numbers, RgText *mistake)
{
  const RgDomain *domain = answer->domain;

  PetscFunctionBeginUser;
  PetscCall(read_point(&domain->design, "x", "index", object, numbers, mistake));
  numbers += domain->design.dim;
  if (domain->control == RG_CONTEXT_SIMULATOR && !mistake->length)
    PetscCall(read_point(&domain->context, "c", "c_index", object, numbers, mistake));
  numbers += domain->context.dim;
  rg_protocol_record(answer->n_record, answer->record, object, numbers);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_external_read(const RgExternalAnswer *answer, bool asked, const json_t *object,
                                double *numbers, RgText *mistake)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < rg_external_width(answer); i++) numbers[i] = NAN;
  if (asked) PetscCall(read_ask(answer, object, numbers, mistake));
  else if (json_object_get(object, "recommendation") ||
           json_object_get(object, "recommendation_index"))
    PetscCall(read_point(&answer->domain->design, "recommendation", "recommendation_index", object,
                         numbers, mistake));
  PetscFunctionReturn(0);
}
