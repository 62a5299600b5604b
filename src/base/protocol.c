/* Lines of JSON that external programs are asked in and answer with. */
#include "base/protocol.h"

#include <stdlib.h>

PetscErrorCode rg_protocol_write(json_t *request, RgText *line)
{
  char *text = json_dumps(request, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));

  PetscFunctionBeginUser;
  json_decref(request);
  PetscCheck(text, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a request");
  PetscCall(rg_text_add(line, "%s", text));
  free(text);
  PetscFunctionReturn(0);
}

/* The id of the request, and no error. */
static PetscErrorCode check_object(const json_t *object, int64_t id, RgText *mistake)
{
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
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_protocol_read(const char *line, size_t length, int64_t id, json_t **answer,
                                RgText *mistake)
{
  const size_t before = mistake->length;
  json_error_t error;
  json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);

  PetscFunctionBeginUser;
  *answer = NULL;
  if (json_is_object(object)) PetscCall(check_object(object, id, mistake));
  else
    PetscCall(rg_text_add(mistake, "answered something that is no JSON object: %.*s",
                          (int)PetscMin(length, 60), line));
  if (mistake->length == before) *answer = object;
  else json_decref(object);
  PetscFunctionReturn(0);
}
