/* What external problems and external algorithms have in common: a request is one line of JSON with
   an "id", its answer one JSON object in one line with the same "id" (docs/protocol.md). */
#ifndef RG_BASE_PROTOCOL_H
#define RG_BASE_PROTOCOL_H

#include <jansson.h>

#include "regatta/error.h"

#define RG_PROTOCOL_VERSION 1

/* Append `request` as one line of JSON, without its end. The request is released. */
PetscErrorCode rg_protocol_write(json_t *request, RgText *line);

/* Read the answer to request `id`: *answer, to be released (json_decref), or NULL and what is wrong
   with it, or the error that it reports, appended to `mistake`. */
PetscErrorCode rg_protocol_read(const char *line, size_t length, int64_t id, json_t **answer,
                                RgText *mistake);

#endif
