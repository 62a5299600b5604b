/* Lines of JSON that external programs are asked in and answer with. */
#include <math.h>

#include "base/protocol.h"
#include "problem/external.h"

/* Members that can't be made are found out when the line is: a check for each would say no more. */
static json_t *coordinates(int n, const RgInput *inputs, const double *v)
{
  json_t *object = json_object();

  for (int j = 0; j < n; j++) {
    const RgInput *input = &inputs[j];
    json_t *value;
    if (input->kind == RG_INPUT_REAL) value = json_real(v[j]);
    else if (input->kind == RG_INPUT_INTEGER)
      value = json_integer((json_int_t)rg_input_integer(input, v[j]));
    else value = json_string(input->words[rg_input_word(input, v[j])]);
    (void)json_object_set_new(object, input->name, value);
  }
  return object;
}

PetscErrorCode rg_request_write(const RgRequest *request, RgText *line)
{
  json_t *object = json_object();

  PetscFunctionBeginUser;
  (void)json_object_set_new(object, "id", json_integer(request->id));
  if (request->trial) {
    (void)json_object_set_new(object, "trial", json_string(request->trial));
    (void)json_object_set_new(object, "evaluation", json_integer(request->evaluation));
    (void)json_object_set_new(object, "seed", json_integer((json_int_t)request->seed));
  }
  (void)json_object_set_new(object, "instance", json_integer((json_int_t)request->instance));
  (void)json_object_set_new(object, "x", coordinates(request->n_x, request->inputs, request->x));
  if (request->n_c)
    (void)json_object_set_new(object, "c",
                              coordinates(request->n_c, request->contexts, request->c));
  PetscCall(rg_protocol_write(object, line));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_answer_read(const char *line, size_t length, int64_t id, double *value,
                              RgText *mistake)
{
  json_t *object;

  PetscFunctionBeginUser;
  *value = NAN;
  PetscCall(rg_protocol_read(line, length, id, &object, mistake));
  if (!object) PetscFunctionReturn(0);
  const json_t *number = json_object_get(object, "value");
  if (!json_is_number(number)) {
    PetscCall(rg_text_add(mistake, "answered without a number as \"value\""));
  } else {
    *value = json_number_value(number);
    if (!isfinite(*value)) PetscCall(rg_text_add(mistake, "answered an infinite \"value\""));
  }
  json_decref(object);
  PetscFunctionReturn(0);
}
