/* The protocol of external problems and external optimisers: a request is one line of JSON with
   an "id"; the answer is one JSON object on one line with the same "id" (docs/protocol.md). */
#ifndef RG_EXTRA_EXTERNAL_PROTOCOL_H
#define RG_EXTRA_EXTERNAL_PROTOCOL_H

#include "base/child.h"
#include "regatta/domain.h"
#include "regatta/params.h"
#include "regatta/problem.h"

#include <jansson.h>

#define RG_PROTOCOL_VERSION 1
#define RG_PROTOCOL_SEVERAL 2 /* version for optimisers with several workers */

/* Append `request` as one line of JSON without the line end, and release it. */
PetscErrorCode rg_protocol_write(json_t *request, RgText *line);

/* The answer to a request. All texts are borrowed: from the child until its next request. */
typedef struct {
  const char *line; /* `length` bytes; NULL: no answer came */
  size_t length;
  const char *errors; /* what the program wrote on standard error meanwhile, `n_errors` bytes */
  size_t n_errors;
  json_t *object; /* NULL on a mistake, or an error in the answer; released by the caller */
  bool final;     /* the answer is an error that says: a repetition would end in the same way */
  bool abandoned; /* a stop ended the wait */
} RgReply;

/* Send request `id` and read its answer. log: file that gets the program's standard error; NULL: it
   is passed on. `mistake` has the message of what goes wrong. */
PetscErrorCode rg_protocol_ask(RgChild *child, const RgPatience *patience, const char *log,
                               int64_t id, const char *line, RgReply *reply, RgText *mistake);

/* Read the object and `final` from the line of an answer to request `id`, in the same way. */
PetscErrorCode rg_protocol_read(int64_t id, RgReply *reply, RgText *mistake);

/* Write down an answer with a mistake: a long one to the log; the error in it (if it has none, the
   answer) and the standard error to the account. */
PetscErrorCode rg_protocol_record_mistake(const RgReply *reply, const char *log, RgText *account);

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

/* Read `dim` native coordinates from a list of as many: numbers, words of a choice or their
   numbers, or null for inputs that may not count. Returns the number, from 1, of the first one that
   is none of these (it becomes NaN) or is outside the bounds, or 0 if all fit. */
int rg_protocol_coordinates(const RgSpace *space, const json_t *list, double *native);
/* Read the numbers with these names in the member "record" of an answer; NaN where one is missing
   or is no number, for such a number is no reason to lose an evaluation. */
void rg_protocol_record(int n, char *const *names, const json_t *answer, double *numbers);

/* ---- messages of the external problem ---- */

/* Append request `id` for a point as one line of JSON without the line end. problem: its domain and
   its task. */
PetscErrorCode rg_request_write(const RgProblem *problem, int64_t id, const RgPoint *point,
                                RgText *line);

/* The numbers of an answer. The pointers are borrowed. */
typedef struct {
  double *value, *constraints; /* one value; domain.n_constraints values */
  double *duration;            /* NaN: the answer does not say it */
  int n_record;                /* further numbers with these names */
  char *const *record;
  double *numbers; /* n_record; NaN where one is missing; NULL: they are not wanted */
} RgAnswer;

/* Read the numbers of an answer. A mistake is appended to `mistake`. */
PetscErrorCode rg_answer_read(const json_t *object, const RgDomain *domain, const RgAnswer *answer,
                              RgText *mistake);

/* ---- programs ---- */

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
