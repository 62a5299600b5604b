/* Lines of JSON for external problems: requests and answers. */
#include <math.h>

#include "extra/external/protocol.h"
#include "extra/external/problem.h"

/* A failed json_* call shows when the line is written, so no separate check is needed. */
static PetscErrorCode coordinates(const RgSpace *space, const double *native, json_t **object)
{
  double *seen;

  PetscFunctionBeginUser;
  *object = json_object();
  PetscCall(PetscMalloc1(space->dim, &seen));
  rg_space_seen(space, native, seen);
  for (int j = 0; j < space->dim; j++) {
    const RgInput *input = &space->inputs[j];
    json_t *value;
    if (isnan(seen[j])) value = json_null();
    else if (input->kind == RG_INPUT_REAL) value = json_real(seen[j]);
    else if (input->kind == RG_INPUT_INTEGER) value = json_integer((json_int_t)seen[j]);
    else value = json_string(input->words[(int)seen[j]]);
    rg_protocol_set(*object, input->name, value);
  }
  PetscCall(PetscFree(seen));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_request_write(const RgRequest *request, RgText *line)
{
  json_t *object = json_object(), *point;

  PetscFunctionBeginUser;
  rg_protocol_set(object, "id", json_integer(request->id));
  if (request->trial) {
    rg_protocol_set(object, "trial", json_string(request->trial));
    rg_protocol_set(object, "evaluation", json_integer(request->evaluation));
    rg_protocol_set(object, "seed", json_integer((json_int_t)request->seed));
    if (request->worker) rg_protocol_set(object, "worker", json_integer(request->worker));
    if (request->worker) rg_protocol_set(object, "attempt", json_integer(request->attempt));
  }
  rg_protocol_set(object, "instance", json_integer((json_int_t)request->instance));
  PetscCall(coordinates(request->inputs, request->x, &point));
  rg_protocol_set(object, "x", point);
  if (request->contexts->dim) {
    PetscCall(coordinates(request->contexts, request->c, &point));
    rg_protocol_set(object, "c", point);
  }
  PetscCall(rg_protocol_write(object, line));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_constraints(const RgDomain *domain, const json_t *object,
                                       double *constraints, RgText *mistake)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < domain->n_constraints && !mistake->length; k++) {
    const json_t *number = json_object_get(object, domain->constraints[k]);
    if (json_is_number(number)) constraints[k] = json_number_value(number);
    else
      PetscCall(rg_text_add(mistake, "answered without a number as \"%s\" in \"constraints\"",
                            domain->constraints[k]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode read_duration(const json_t *object, double *duration, RgText *mistake)
{
  const json_t *number = json_object_get(object, "duration");

  PetscFunctionBeginUser;
  if (!number) PetscFunctionReturn(0);
  *duration = json_is_number(number) ? json_number_value(number) : NAN;
  if (!(*duration >= 0 && *duration <= 1e12)) {
    *duration = NAN;
    PetscCall(rg_text_add(mistake, "answered a \"duration\" that is no number in [0, 1e12]"));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_answer_read(const char *line, size_t length, int64_t id, const RgDomain *domain,
                              const RgAnswer *answer, bool *final, RgText *mistake)
{
  json_t *object;

  PetscFunctionBeginUser;
  *answer->value = *answer->duration = NAN;
  for (int k = 0; k < domain->n_constraints; k++) answer->constraints[k] = NAN;
  PetscCall(rg_protocol_read(line, length, id, &object, final, mistake));
  if (!object) PetscFunctionReturn(0);
  const json_t *number = json_object_get(object, "value");
  if (!json_is_number(number)) {
    PetscCall(rg_text_add(mistake, "answered without a number as \"value\""));
  } else {
    *answer->value = json_number_value(number);
    if (!isfinite(*answer->value))
      PetscCall(rg_text_add(mistake, "answered an infinite \"value\""));
  }
  if (!mistake->length)
    PetscCall(read_constraints(domain, json_object_get(object, "constraints"), answer->constraints,
                               mistake));
  if (!mistake->length) PetscCall(read_duration(object, answer->duration, mistake));
  if (!mistake->length && answer->numbers)
    rg_protocol_record(answer->n_record, answer->record, object, answer->numbers);
  json_decref(object);
  PetscFunctionReturn(0);
}
