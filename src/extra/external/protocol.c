/* Lines of JSON between Regatta and external programs: requests and answers. */
#include "extra/external/protocol.h"
#include "base/files.h"
#include "base/inputs.h"
#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that messages quote of the text of an error. */
enum { QUOTED = 180 };

PetscErrorCode rg_protocol_write(json_t *request, RgText *line)
{
  char *text = json_dumps(request, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));

  json_decref(request);
  PetscCheck(text, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a request");
  PetscCall(rg_text_add(line, "%s", text));
  free(text);
  return 0;
}

PetscErrorCode rg_protocol_read(int64_t id, RgReply *reply, RgText *mistake)
{
  const int quoted = (int)PetscMin(reply->length, 60);
  json_error_t wrong;
  json_t *object = json_loadb(reply->line, reply->length, JSON_REJECT_DUPLICATES, &wrong);
  const json_t *error = json_object_get(object, "error"), *own = json_object_get(object, "id");

  if (!object && reply->length && reply->line[0] == '{') {
    PetscCall(rg_text_add(mistake,
                          "answered a JSON object with a mistake, %.60s (JSON has no NaN, no "
                          "infinity, and no name twice): %.*s",
                          wrong.text, quoted, reply->line));
  } else if (!json_is_object(object)) {
    PetscCall(rg_text_add(mistake, "answered something that is not a JSON object: %.*s", quoted,
                          reply->line));
  } else if (!json_is_integer(own)) {
    PetscCall(rg_text_add(mistake, "answered without the \"id\" of the request"));
  } else if (json_integer_value(own) != id) {
    PetscCall(rg_text_add(mistake, "answered request %lld, not request %lld",
                          (long long)json_integer_value(own), (long long)id));
  } else if (error) {
    const char *text = json_is_string(error) ? json_string_value(error) : "an error";
    PetscCall(rg_text_add(mistake, "reports: %.*s", (int)rg_utf8_cut(text, QUOTED), text));
    reply->final = json_is_false(json_object_get(object, "retry"));
  } else {
    reply->object = object;
    return 0;
  }
  json_decref(object);
  return 0;
}

PetscErrorCode rg_protocol_ask(RgChild *child, const RgPatience *patience, const char *log,
                               int64_t id, const char *line, RgReply *reply, RgText *mistake)
{
  RgChildOutcome outcome;

  *reply = (RgReply){0};
  PetscCall(rg_child_log(child, log));
  PetscCall(rg_child_ask(child, line, patience, &outcome, &reply->line, &reply->length, mistake));
  reply->abandoned = outcome == RG_CHILD_ABANDONED;
  if (reply->line) PetscCall(rg_protocol_read(id, reply, mistake));
  return rg_child_errors(child, &reply->errors, &reply->n_errors);
}

PetscErrorCode rg_protocol_record_mistake(const RgReply *reply, const char *log, RgText *account)
{
  json_t *answer = reply->line ? json_loadb(reply->line, reply->length, 0, NULL) : NULL;
  const char *error = json_string_value(json_object_get(answer, "error"));
  RgText text = {0};

  if (log && reply->length > QUOTED) {
    PetscCall(rg_text_add(&text, "the whole answer: %.*s\n", (int)PetscMin(reply->length, INT_MAX),
                          reply->line));
    (void)rg_file_append(log, text.data, text.length); /* results don't depend on this log */
    PetscCall(rg_text_clear(&text));
  }
  if (account) {
    PetscCall(rg_text_clear(account));
    if (error && !(reply->n_errors && strstr(reply->errors, error)))
      PetscCall(rg_text_add(account, "%s\n", error));
    else if (!error && reply->line)
      PetscCall(rg_text_add_bytes(account, reply->line, reply->length));
    if (reply->n_errors) PetscCall(rg_text_add_bytes(account, reply->errors, reply->n_errors));
  }
  json_decref(answer);
  return 0;
}

PetscErrorCode rg_protocol_request(const char *line, size_t length, json_t **request, int64_t *id,
                                   RgText *mistake)
{
  json_error_t error;
  json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);

  *request = NULL;
  *id = -1;
  if (!json_is_object(object)) {
    PetscCall(rg_text_add(mistake, "a request is a JSON object in one line%s%s", object ? "" : ": ",
                          object ? "" : error.text));
    json_decref(object);
    return 0;
  }
  const json_t *own = json_object_get(object, "id");
  if (json_is_integer(own) && json_integer_value(own) >= 0) {
    *id = json_integer_value(own);
    *request = object;
  } else {
    PetscCall(rg_text_add(mistake, "a request has a whole number as \"id\""));
    json_decref(object);
  }
  return 0;
}

/* ---- parts of messages ----------------------------------------------------------------------- */

json_t *rg_protocol_reals(int n, const double *values)
{
  json_t *list = json_array();

  for (int i = 0; i < n; i++)
    (void)json_array_append_new(list, isfinite(values[i]) ? json_real(values[i]) : json_null());
  return list;
}

PetscErrorCode rg_protocol_point(const RgSpace *space, const double *unit, json_t **list)
{
  double *native;

  PetscCall(PetscMalloc1(space->dim, &native));
  rg_space_to_native(space, unit, native);
  rg_space_seen(space, native, native);
  *list = rg_protocol_reals(space->dim, native);
  return PetscFree(native);
}

/* Describe coordinate j beyond its name and bounds: the words of a choice, a logarithmic scale,
   and the condition under which it counts. */
static json_t *input_object(const RgInput *inputs, int j)
{
  const RgInput *input = &inputs[j];
  json_t *object = json_object(), *words = json_array(), *when = json_array();

  for (int k = 0; k < input->n_words; k++)
    (void)json_array_append_new(words, json_string(input->words[k]));
  if (input->n_words) (void)json_object_set(object, "choices", words);
  if (input->log) (void)json_object_set_new(object, "log", json_true());
  if (input->parent >= 0) {
    const RgInput *parent = &inputs[input->parent];
    for (int k = 0; k < parent->n_words; k++)
      if (input->when[k]) (void)json_array_append_new(when, json_string(parent->words[k]));
    (void)json_object_set_new(object, "if", json_string(parent->name));
    (void)json_object_set(object, "is", when);
  }
  json_decref(words);
  json_decref(when);
  return object;
}

/* Describe a space: names, kinds, lower, upper, and the points of a finite space. */
static PetscErrorCode space_object(const RgSpace *space, const char *letter, json_t **object)
{
  json_t *names = json_array(), *kinds = json_array(), *points = json_array(), *point;
  json_t *inputs = json_array();

  for (int j = 0; j < space->dim; j++) {
    const RgInput *input = space->inputs ? &space->inputs[j] : NULL;
    (void)json_array_append_new(names, input ? json_string(input->name)
                                             : json_sprintf("%s%d", letter, j + 1));
    (void)json_array_append_new(kinds, json_string(rg_input_kinds[input ? input->kind : 0]));
    if (input) (void)json_array_append_new(inputs, input_object(space->inputs, j));
  }
  *object = json_object();
  rg_protocol_set(*object, "names", names);
  rg_protocol_set(*object, "kinds", kinds);
  rg_protocol_set(*object, "lower", rg_protocol_reals(space->dim, space->lower));
  rg_protocol_set(*object, "upper", rg_protocol_reals(space->dim, space->upper));
  if (space->inputs) rg_protocol_set(*object, "inputs", inputs);
  else json_decref(inputs);
  for (int i = 0; rg_space_is_finite(space) && i < space->size; i++) {
    PetscCall(rg_protocol_point(space, space->points + (size_t)i * space->dim, &point));
    (void)json_array_append_new(points, point);
  }
  if (rg_space_is_finite(space)) rg_protocol_set(*object, "points", points);
  else json_decref(points);
  return 0;
}

/* The words for who sets the context. */
static const char *const controls[] = {[RG_CONTEXT_NONE] = "none",
                                       [RG_CONTEXT_NATURE] = "nature",
                                       [RG_CONTEXT_SIMULATOR] = "learner",
                                       [RG_CONTEXT_ANNOUNCED] = "announced"};

PetscErrorCode rg_protocol_domain(const RgDomain *domain, json_t *object)
{
  json_t *space, *context, *names = json_array();

  PetscCall(space_object(&domain->design, "x", &space));
  if (rg_space_is_finite(&domain->design))
    rg_protocol_set(space, "once", json_boolean(domain->without_replacement));
  rg_protocol_set(object, "space", space);
  if (domain->context.dim) {
    PetscCall(space_object(&domain->context, "c", &context));
    rg_protocol_set(context, "control", json_string(controls[domain->control]));
    if (domain->context_prob)
      rg_protocol_set(context, "probabilities",
                      rg_protocol_reals(domain->context.size, domain->context_prob));
    rg_protocol_set(object, "context", context);
  }
  for (int k = 0; k < domain->n_constraints; k++)
    (void)json_array_append_new(names, json_string(domain->constraints[k]));
  if (domain->n_constraints) rg_protocol_set(object, "constraints", names);
  else json_decref(names);
  if (domain->measure) rg_protocol_set(object, "measure", json_string(domain->measure));
  return 0;
}

/* The native coordinate j in a message; NaN: it is none. */
static double coordinate(const RgSpace *space, int j, const json_t *value)
{
  const RgInput *input = space->inputs ? &space->inputs[j] : NULL;
  double native = json_is_number(value) ? json_number_value(value) : NAN;

  if (input && json_is_null(value) && input->parent >= 0) return rg_space_middle(space, j);
  if (!input || input->kind != RG_INPUT_CHOICE) return native;
  for (int k = 0; json_is_string(value) && k < input->n_words; k++)
    if (!strcmp(input->words[k], json_string_value(value))) native = k;
  /* the middle of the word's interval is safe from rounding */
  return native == floor(native) && native < input->n_words ? native + 0.5 : native;
}

int rg_protocol_coordinates(const RgSpace *space, const json_t *list, double *native)
{
  for (int j = 0; j < space->dim; j++) {
    native[j] = coordinate(space, j, json_array_get(list, (size_t)j));
    if (isnan(native[j])) return j + 1;
    if (rg_space_is_finite(space)) continue;
    if (native[j] < space->lower[j] || native[j] > space->upper[j]) return j + 1;
  }
  return 0;
}

void rg_protocol_record(int n, char *const *names, const json_t *answer, double *numbers)
{
  const json_t *record = json_object_get(answer, "record");

  for (int i = 0; i < n; i++) {
    const json_t *number = json_object_get(record, names[i]);
    numbers[i] = json_is_number(number) ? json_number_value(number) : NAN;
  }
}

/* ---- messages of the external problem -------------------------------------------------------- */

/* Write each coordinate that the problem sees under its name. */
static PetscErrorCode named_point(const RgSpace *space, const double *native, json_t **object)
{
  double *seen;

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
  return PetscFree(seen);
}

PetscErrorCode rg_request_write(const RgProblem *problem, int64_t id, const RgPoint *point,
                                RgText *line)
{
  const RgTask *task = &problem->task;
  const RgExchange *exchange = task->exchange;
  json_t *object = json_object(), *list;

  rg_protocol_set(object, "id", json_integer(id));
  if (task->trial) {
    rg_protocol_set(object, "trial", json_string(task->trial));
    rg_protocol_set(object, "evaluation", json_integer(task->evaluation));
    rg_protocol_set(object, "seed", json_integer((json_int_t)task->seed));
    if (exchange && exchange->worker) {
      rg_protocol_set(object, "worker", json_integer(exchange->worker));
      rg_protocol_set(object, "attempt", json_integer(exchange->attempt));
    }
  }
  rg_protocol_set(object, "instance", json_integer((json_int_t)task->instance));
  PetscCall(named_point(&problem->domain.design, point->x, &list));
  rg_protocol_set(object, "x", list);
  if (problem->domain.context.dim) {
    PetscCall(named_point(&problem->domain.context, point->c, &list));
    rg_protocol_set(object, "c", list);
  }
  return rg_protocol_write(object, line);
}

PetscErrorCode rg_answer_read(const json_t *object, const RgDomain *domain, const RgAnswer *answer,
                              RgText *mistake)
{
  const json_t *value = json_object_get(object, "value"),
               *time = json_object_get(object, "duration");
  const json_t *constraints = json_object_get(object, "constraints");

  if (!json_is_number(value)) return rg_text_add(mistake, "answered without a number as \"value\"");
  *answer->value = json_number_value(value);
  if (!isfinite(*answer->value)) return rg_text_add(mistake, "answered an infinite \"value\"");
  for (int k = 0; k < domain->n_constraints; k++) {
    const json_t *number = json_object_get(constraints, domain->constraints[k]);
    if (!json_is_number(number))
      return rg_text_add(mistake, "answered without a number as \"%s\" in \"constraints\"",
                         domain->constraints[k]);
    answer->constraints[k] = json_number_value(number);
  }
  if (time) {
    const double duration = json_is_number(time) ? json_number_value(time) : NAN;
    if (!(duration >= 0 && duration <= 1e12))
      return rg_text_add(mistake, "answered a \"duration\" that is no number in [0, 1e12]");
    *answer->duration = duration;
  }
  if (answer->numbers)
    rg_protocol_record(answer->n_record, answer->record, object, answer->numbers);
  return 0;
}

/* ---- programs -------------------------------------------------------------------------------- */

const char *rg_program_name(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}

static bool is_a_file(const char *path)
{
  struct stat found;

  return !stat(path, &found) && S_ISREG(found.st_mode);
}

/* Whether PATH has an executable of that name. */
static PetscErrorCode find_in_path(const char *name, bool *found)
{
  const char *folder = getenv("PATH");
  RgText path = {0};

  *found = false;
  if (!folder) folder = "/bin:/usr/bin"; /* the same default as execvp */
  while (!*found) {
    const size_t length = strcspn(folder, ":");
    PetscCall(rg_text_add(&path, "%.*s%s%s", (int)length, folder, length ? "/" : "./", name));
    *found = is_a_file(path.data) && access(path.data, X_OK) == 0;
    PetscCall(rg_text_clear(&path));
    if (!folder[length]) break;
    folder += length + 1;
  }
  return 0;
}

PetscErrorCode rg_program_check(const char *program, bool in_path, RgPlace place,
                                RgDiagnostics *diagnostics)
{
  const bool here = access(program, F_OK) == 0, sought = in_path && !strchr(program, '/');
  bool found = here;

  if (program[0] && !here && sought) PetscCall(find_in_path(program, &found));
  if (!program[0]) rg_diagnostics_add(diagnostics, place, "external: 'program' is empty");
  else if (!found)
    rg_diagnostics_add(diagnostics, place, "external: there is no program '%.200s'%s", program,
                       sought ? " beside the study file or in PATH" : "");
  else if (here && !is_a_file(program))
    rg_diagnostics_add(diagnostics, place, "external: '%.200s' is not a file", program);
  else if (here && access(program, X_OK))
    rg_diagnostics_add(diagnostics, place,
                       "external: '%.200s' can't be executed (chmod +x, and "
                       "for a script a first line like #!/usr/bin/env python3)",
                       program);
  return 0;
}

void rg_program_check_names(const char *parameter, const RgTexts *names, int most, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  if (names->n > most)
    rg_diagnostics_add(diagnostics, place, "external: '%s' has %d names; at most %d are accepted",
                       parameter, names->n, most);
  for (int i = 0; i < names->n; i++) {
    const char *name = names->values[i];
    if (!*name || strlen(name) > RG_PROGRAM_NAME_MAX ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name))
      rg_diagnostics_add(diagnostics, place,
                         "external: '%.60s' in '%s': a name is made of lower-case letters, "
                         "digits and '_', at most %d of them",
                         name, parameter, RG_PROGRAM_NAME_MAX);
    for (int j = 0; j < i; j++)
      if (!strcmp(name, names->values[j]))
        rg_diagnostics_add(diagnostics, place, "external: '%s' names '%.60s' twice", parameter,
                           name);
  }
}

PetscErrorCode rg_program_identity(const RgParam *params, int n, const void *options, size_t size,
                                   RgText *text)
{
  RgParam *table;
  char *copy, **program;

  PetscCall(PetscCalloc2(n + 1, &table, size, &copy));
  PetscCall(PetscArraycpy(table, params, n));
  PetscCall(PetscArraycpy(copy, (const char *)options, size));
  program = (char **)(copy + params[0].offset);
  *program += rg_program_name(*program) - *program;
  PetscCall(rg_params_canonical(table, copy, text));
  return PetscFree2(table, copy);
}
