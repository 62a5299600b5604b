/* The protocol of external problems and external optimisers: a request is one line of JSON with
   an "id"; the answer is one JSON object on one line with the same "id" (docs/protocol.md). */
#ifndef RG_EXTRA_EXTERNAL_PROTOCOL_H
#define RG_EXTRA_EXTERNAL_PROTOCOL_H

#include <jansson.h>

#include "regatta/domain.h"

#define RG_PROTOCOL_VERSION 1
#define RG_PROTOCOL_SEVERAL 2 /* version for optimisers with several workers */

/* Append `request` as one line of JSON without the line end, and release it. */
PetscErrorCode rg_protocol_write(json_t *request, RgText *line);

/* Read the answer to request `id`. *answer is released by the caller (json_decref). On a
   mistake, or an error in the answer, it is NULL and `mistake` has the message. *final: the answer
   is an error, and the program says that a repetition would end in the same way. */
PetscErrorCode rg_protocol_read(const char *line, size_t length, int64_t id, json_t **answer,
                                bool *final, RgText *mistake);
/* Append an answer with a mistake to a log, if it is longer than what messages quote of it. path
   NULL: there is no log. */
PetscErrorCode rg_protocol_log(const char *path, const char *line, size_t length);

/* The full text of what went wrong: the error in an answer (NULL: no error), or the answer if
   it has no error, and what the program wrote on standard error. account NULL: it is not wanted. */
PetscErrorCode rg_protocol_account(const char *line, size_t length, const char *errors,
                                   size_t n_errors, RgText *account);

/* Read a received request. *request is released by the caller; on a mistake it is NULL and
   `mistake` has the message. *id: the id of the request, -1 if it has none. */
PetscErrorCode rg_protocol_request(const char *line, size_t length, json_t **request, int64_t *id,
                                   RgText *mistake);

/* ---- parts of messages; a member that can't be made is found out when the line is written ---- */

/* Set a member; takes over `value`. */
static inline void rg_protocol_set(json_t *object, const char *name, json_t *value)
{
  (void)json_object_set_new(object, name, value);
}
json_t *rg_protocol_reals(int n, const double *values); /* values that are not finite become null */
/* Convert a point in unit coordinates to a list of native coordinates. */
PetscErrorCode rg_protocol_point(const RgSpace *space, const double *unit, json_t **list);
/* Set those of "space", "context", "constraints" and "measure" that the domain has. */
PetscErrorCode rg_protocol_domain(const RgDomain *domain, json_t *object);

/* Read the native coordinate j from a message: a number, a word of a choice or its number, or
   null for an input that may not count. NaN for anything else. */
double rg_protocol_coordinate(const RgSpace *space, int j, const json_t *value);
/* The point of a finite space with these native coordinates; -1 if it has no such point, or is a
   box. */
int rg_protocol_find(const RgSpace *space, const double *native);
/* Read the numbers with these names in the member "record" of an answer; NaN where one is missing
   or is no number, for such a number is no reason to lose an evaluation. */
void rg_protocol_record(int n, char *const *names, const json_t *answer, double *numbers);

#endif
