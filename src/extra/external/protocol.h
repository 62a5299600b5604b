/* The protocol of external problems and external optimisers: a request is one line of JSON with
   an "id"; the answer is one JSON object on one line with the same "id" (docs/protocol.md). */
#ifndef RG_EXTRA_EXTERNAL_PROTOCOL_H
#define RG_EXTRA_EXTERNAL_PROTOCOL_H

#include "regatta/domain.h"
#include "regatta/params.h"

#include <jansson.h>

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
/* Read the numbers with these names in the member "record" of an answer; NaN where one is missing
   or is no number, for such a number is no reason to lose an evaluation. */
void rg_protocol_record(int n, char *const *names, const json_t *answer, double *numbers);

/* Entries of a parameters table. */
#define RG_PROGRAM_ARGUMENTS(Options)                                                              \
  RG_TEXTS("arguments", Options, arguments, "auto", "",                                            \
           "its arguments, as they are (no shell); auto: none")
#define RG_PROGRAM_TIME_LIMIT(Options)                                                             \
  RG_REAL("time_limit", Options, time_limit, "600", RG_POSITIVE, 1e7, "",                          \
          "seconds for an answer; the first one includes the program's start")

#define RG_PROGRAM_STOP_GRACE 60.0 /* seconds that an answer may still take after a stop request */

/* The last part of the path; borrowed from `path`. */
const char *rg_program_name(const char *path);

/* Check that the program exists and can be executed; otherwise a study does not begin. in_path:
   a name without '/' may also be found in PATH. */
PetscErrorCode rg_program_check(const char *program, bool in_path, RgPlace place,
                                RgDiagnostics *diagnostics);

/* Check the names of a program's numbers, in the list `parameter` of the study file: at most
   `most` different names of lower-case letters, digits and '_', at most RG_PROGRAM_NAME_MAX
   characters each. */
enum { RG_PROGRAM_NAME_MAX = 40 };
void rg_program_check_names(const char *parameter, const RgTexts *names, int most, RgPlace place,
                            RgDiagnostics *diagnostics);

/* The canonical text of the first n parameters of a table. The first is the program's path,
   which counts without its folders. */
PetscErrorCode rg_program_identity(const RgParam *params, int n, const void *options, size_t size,
                                   RgText *text);

#endif
