/* What external problems and external algorithms have in common: a request is one line of JSON with
   an "id", its answer one JSON object in one line with the same "id" (docs/protocol.md). */
#ifndef RG_EXTRA_EXTERNAL_PROTOCOL_H
#define RG_EXTRA_EXTERNAL_PROTOCOL_H

#include <jansson.h>

#include "regatta/domain.h"

#define RG_PROTOCOL_VERSION 1

/* Append `request` as one line of JSON, without its end. The request is released. */
PetscErrorCode rg_protocol_write(json_t *request, RgText *line);

/* Read the answer to request `id`: *answer, to be released (json_decref), or NULL and what is wrong
   with it, or the error that it reports, appended to `mistake`. */
PetscErrorCode rg_protocol_read(const char *line, size_t length, int64_t id, json_t **answer,
                                RgText *mistake);

/* The other way round: the object in a line that was received, to be released, or NULL and what is
   wrong with it appended to `mistake`. *id: that of the request, -1 where it has none. */
PetscErrorCode rg_protocol_request(const char *line, size_t length, json_t **request, int64_t *id,
                                   RgText *mistake);

/* ---- parts of messages; a member that can't be made is found out when the line is written ---- */

/* Set a member; `value` is released. */
static inline void rg_protocol_set(json_t *object, const char *name, json_t *value)
{
  (void)json_object_set_new(object, name, value);
}
json_t *rg_protocol_reals(int n, const double *values); /* those that are not finite as null */
/* A point in unit coordinates as a list of native ones. */
PetscErrorCode rg_protocol_point(const RgSpace *space, const double *unit, json_t **list);
/* Set "space", "context", "constraints" and "measure" of a domain, those that it has. */
PetscErrorCode rg_protocol_domain(const RgDomain *domain, json_t *object);

/* The native coordinate j that a message has: a number, a word of a choice or its number, null for
   an input that may not count. NaN: none of these. */
double rg_protocol_coordinate(const RgSpace *space, int j, const json_t *value);
/* The point of a finite space with these native coordinates, -1: there is none (or a box). */
int rg_protocol_find(const RgSpace *space, const double *native);

#endif
