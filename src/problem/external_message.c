/* Lines of JSON that external programs are asked in and answer with. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
  char *text;

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
  text = json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
  json_decref(object);
  PetscCheck(text, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a request");
  PetscCall(rg_text_add(line, "%s", text));
  free(text);
  PetscFunctionReturn(0);
}

/* Either a number under "value" or a text under "error". */
static PetscErrorCode read_object(const json_t *object, int64_t id, double *value, RgText *mistake)
{
  const json_t *number = json_object_get(object, "value");
  const json_t *error = json_object_get(object, "error"), *own = json_object_get(object, "id");

  PetscFunctionBeginUser;
  if (!own || !json_is_integer(own)) {
    PetscCall(rg_text_add(mistake, "answered without the \"id\" of the request"));
  } else if (json_integer_value(own) != id) {
    PetscCall(rg_text_add(mistake, "answered request %lld, not request %lld",
                          (long long)json_integer_value(own), (long long)id));
  } else if (error) {
    PetscCall(rg_text_add(mistake, "reports: %.180s",
                          json_is_string(error) ? json_string_value(error) : "an error"));
  } else if (!json_is_number(number)) {
    PetscCall(rg_text_add(mistake, "answered without a number as \"value\""));
  } else {
    *value = json_number_value(number);
    if (!isfinite(*value)) PetscCall(rg_text_add(mistake, "answered an infinite \"value\""));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_answer_read(const char *line, size_t length, int64_t id, double *value,
                              RgText *mistake)
{
  json_error_t error;
  json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);

  PetscFunctionBeginUser;
  *value = NAN;
  if (json_is_object(object)) PetscCall(read_object(object, id, value, mistake));
  else
    PetscCall(rg_text_add(mistake, "answered something that is no JSON object: %.*s",
                          (int)PetscMin(length, 60), line));
  json_decref(object);
  PetscFunctionReturn(0);
}
