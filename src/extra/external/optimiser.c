/* external: an optimiser that is a program of the user's.

   Every trial restarts the program, so that trials don't influence each other. Requests are
   lines of JSON (docs/protocol.md): `start` with everything that a method may know, then `ask` and
   `tell`, in turn with one worker, in the order of the simulated clock with several. Each answer
   is stored before it is used. A program that must be started again (after a kill, or because it
   gave a wrong answer) repeats all exchanges. If an answer then differs, the stored answer counts,
   and the row says so (`asked_otherwise`): the program is not reproducible.
   The program's name, the arguments, the recorded names and `revision` identify a trial. A hash of
   the program and of `files` is stored with it, and trials of other versions are reported.
   Needs nothing. Cost per iteration: the program's. Revision 1. */
#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/inputs.h"
#include "base/text.h"
#include "extra/external/protocol.h"
#include "regatta/algorithm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The parts of an answer, in native units, NaN where missing: the design (to `tell`: the
   recommended design), the context if the learner chooses it, and the named numbers. */
typedef struct {
  const RgDomain *domain;
  int n_record;
  char *const *record; /* names of the numbers; borrowed */
} Answer;

/* Number of values in an answer: design, context, named numbers. */
static int external_width(const Answer *answer)
{
  return answer->domain->design.dim + answer->domain->context.dim + answer->n_record;
}

/* ---- requests: members that can't be made are found out when the line is --------------------- */

/* Set the design of an evaluation, its number in a finite domain (else -1), and its context (NULL:
   none). */
static PetscErrorCode set_point(const RgDomain *domain, const double *x, int index, const double *c,
                                json_t *object)
{
  json_t *point;

  PetscCall(rg_protocol_point(&domain->design, x, &point));
  rg_protocol_set(object, "x", point);
  if (index >= 0) rg_protocol_set(object, "index", json_integer(index));
  if (!c) return 0;
  PetscCall(rg_protocol_point(&domain->context, c, &point));
  rg_protocol_set(object, "c", point);
  return 0;
}

/* Set evaluation number `row`, with its true outcome if it failed or the domain has constraints. */
static PetscErrorCode set_evaluation(const RgDomain *domain, const RgHistory *history, int row,
                                     json_t *object)
{
  const int n = domain->n_constraints;
  const bool failed = isnan(history->observed[row]);
  const double *c = domain->context.dim ? history->c + (size_t)row * history->context_dim : NULL;

  PetscCall(
    set_point(domain, history->x + (size_t)row * history->dim, history->index[row], c, object));
  rg_protocol_set(object, "y", json_real(history->y[row]));
  if (failed) rg_protocol_set(object, "failed", json_true());
  if (failed || n) rg_protocol_set(object, "feasible", json_boolean(history->feasible[row]));
  if (failed || !n) return 0;
  json_t *constraints = json_object();
  for (int k = 0; k < n; k++)
    rg_protocol_set(constraints, domain->constraints[k],
                    json_real(history->constraints[(size_t)row * n + k]));
  rg_protocol_set(object, "observed", json_real(history->observed[row]));
  rg_protocol_set(object, "constraints", constraints);
  return 0;
}

/* The version of the protocol that a trial needs. */
static int version(const RgSetup *setup)
{
  return setup->n_workers > 1 ? RG_PROTOCOL_SEVERAL : RG_PROTOCOL_VERSION;
}

/* Append a request as one line of JSON without the line end. answer: the numbers that are recorded.
   history: NULL before a trial. */
static PetscErrorCode external_start(const RgSetup *setup, const Answer *answer, uint64_t seed,
                                     const RgHistory *history, int64_t id, RgText *line)
{
  json_t *request = json_object(), *initial = json_array(), *record = json_array();

  rg_protocol_set(request, "id", json_integer(id));
  rg_protocol_set(request, "do", json_string("start"));
  rg_protocol_set(request, "protocol", json_integer(version(setup)));
  if (setup->n_workers > 1) {
    rg_protocol_set(request, "workers", json_integer(setup->n_workers));
    rg_protocol_set(request, "release", json_string(setup->batches ? "sync" : "async"));
  }
  rg_protocol_set(request, "seed", json_integer((json_int_t)seed));
  rg_protocol_set(request, "budget", json_integer(setup->n_iterations));
  PetscCall(rg_protocol_domain(setup->domain, request));
  if (!isnan(setup->noise_variance)) {
    rg_protocol_set(request, "noise_variance", json_real(setup->noise_variance));
    rg_protocol_set(request, "noise_law", json_string("normal"));
  }
  for (int row = 0; history && row < history->n_initial; row++) {
    json_t *evaluation = json_object();
    PetscCall(set_evaluation(setup->domain, history, row, evaluation));
    (void)json_array_append_new(initial, evaluation);
  }
  rg_protocol_set(request, "initial", initial);
  for (int i = 0; i < answer->n_record; i++)
    (void)json_array_append_new(record, json_string(answer->record[i]));
  rg_protocol_set(request, "record", record);
  if (setup->keeper && !setup->keeper->log)
    rg_protocol_set(request, "rehearsal", json_true()); /* nothing of it is kept */
  return rg_protocol_write(request, line);
}

static json_t *request_object(const char *what, int t, int64_t id)
{
  json_t *request = json_object();

  rg_protocol_set(request, "id", json_integer(id));
  rg_protocol_set(request, "do", json_string(what));
  rg_protocol_set(request, "t", json_integer(t));
  return request;
}

/* `ask` query t, with the points in flight and the announced context, if `query` has one; or `tell`
   the newest evaluation of the history. */
static PetscErrorCode external_ask_line(const RgSetup *setup, int t, const RgHistory *history,
                                        const RgQuery *query, int64_t id, RgText *line)
{
  const RgDomain *domain = setup->domain;
  const RgPending *pending = &history->pending;
  json_t *request = request_object("ask", t, id), *point;

  if (domain->control == RG_CONTEXT_ANNOUNCED) {
    PetscCall(rg_protocol_point(&domain->context, query->c, &point));
    rg_protocol_set(request, "c", point);
    if (query->context_index >= 0)
      rg_protocol_set(request, "c_index", json_integer(query->context_index));
  }
  if (setup->n_workers > 1) {
    json_t *list = json_array();
    rg_protocol_set(request, "submission", json_integer(history->n_initial + t));
    rg_protocol_set(request, "now", json_real(pending->now));
    for (int i = 0; i < pending->n; i++) {
      json_t *object = json_object();
      rg_protocol_set(object, "submission", json_integer(pending->submission[i]));
      PetscCall(set_point(domain, pending->x + (size_t)i * domain->design.dim, pending->index[i],
                          pending->c ? pending->c + (size_t)i * domain->context.dim : NULL,
                          object));
      (void)json_array_append_new(list, object);
    }
    rg_protocol_set(request, "pending", list);
  }
  return rg_protocol_write(request, line);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Append a word of a list; separators in the word become '_'. */
static PetscErrorCode add_word(const char *word, RgText *text)
{
  enum { LONGEST = 40 };

  for (int i = 0; word[i] && i < LONGEST; i++) {
    const bool apart = strchr(";, ", word[i]) || (unsigned char)word[i] < ' ' || word[i] == 127;
    PetscCall(rg_text_add_bytes(text, apart ? "_" : word + i, 1));
  }
  return 0;
}

static PetscErrorCode read_versions(const json_t *versions, RgText *text, RgText *mistake)
{
  enum { MOST = 20 };
  const char *name;
  json_t *version;
  int n = 0;

  if (versions && !json_is_object(versions))
    PetscCall(rg_text_add(mistake, "answered 'start' with \"versions\" that is not an object"));
  json_object_foreach((json_t *)(uintptr_t)versions, name, version)
  {
    if (!json_is_string(version)) {
      PetscCall(rg_text_add(mistake,
                            "answered 'start' with a version of '%.40s' that is not a text", name));
      break;
    }
    if (n++ == MOST) break;
    PetscCall(rg_text_add(text, n == 1 ? "; reported " : ", "));
    PetscCall(add_word(name, text));
    PetscCall(rg_text_add(text, " "));
    PetscCall(add_word(json_string_value(version), text));
  }
  return 0;
}

/* Read an answer. The answer to `start`: append the reported versions to `versions` (`; reported
   NAME VERSION, ...`); it is a mistake not to take the announced contexts that the domain has. The
   answer to `ask` or `tell`: read its numbers (external_width). A mistake in the answer is
   appended to `mistake`. */
static PetscErrorCode external_greeting(const RgSetup *setup, const json_t *object,
                                        RgText *versions, RgText *mistake)
{
  const json_t *protocol = json_object_get(object, "protocol");
  const json_int_t spoken = json_is_integer(protocol) ? json_integer_value(protocol) : 0;

  const bool announced = setup->domain->control == RG_CONTEXT_ANNOUNCED;

  if (spoken == version(setup) && announced && !json_is_true(json_object_get(object, "announced")))
    PetscCall(rg_text_add(mistake,
                          "takes no context that is announced before the decision: its answer to "
                          "'start' has no \"announced\": true"));
  else if (spoken == version(setup))
    PetscCall(read_versions(json_object_get(object, "versions"), versions, mistake));
  else if (spoken == RG_PROTOCOL_VERSION)
    PetscCall(rg_text_add(mistake,
                          "speaks protocol 1, which is for one worker: 'workers: %d' needs "
                          "protocol %d",
                          setup->n_workers, RG_PROTOCOL_SEVERAL));
  else
    PetscCall(rg_text_add(mistake, "answered 'start' without \"protocol\": %d, the one spoken here",
                          version(setup)));
  return 0;
}

/* Read dim numbers under `name` within the bounds; inputs that count are not null. */
static PetscErrorCode read_coordinates(const RgSpace *space, const char *name, const json_t *list,
                                       double *native, RgText *mistake)
{
  double *seen;

  if (!json_is_array(list) || (int)json_array_size(list) != space->dim)
    return rg_text_add(mistake, "answered without a list of %d numbers as \"%s\"", space->dim,
                       name);
  const int wrong = rg_protocol_coordinates(space, list, native), j = wrong - 1;
  if (wrong && isnan(native[j]))
    return rg_text_add(mistake, "answered a \"%s\" whose entry %d is not a number", name, wrong);
  if (wrong)
    return rg_text_add(mistake,
                       "answered \"%s\" outside the domain: number %d is %.17g, not in [%g, %g]",
                       name, wrong, native[j], space->lower[j], space->upper[j]);
  if (!rg_space_is_conditional(space)) return 0;
  PetscCall(PetscMalloc1(space->dim, &seen));
  rg_space_seen(space, native, seen);
  for (int i = 0; i < space->dim && !mistake->length; i++)
    if (json_is_null(json_array_get(list, (size_t)i)) && !isnan(seen[i]))
      PetscCall(rg_text_add(mistake, "answered a \"%s\" without '%.40s', which counts there", name,
                            space->inputs[i].name));
  return PetscFree(seen);
}

/* Read a point of a space under `name`; of a finite space also by its number under `index_name`. */
static PetscErrorCode read_point(const RgSpace *space, const char *name, const char *index_name,
                                 const json_t *object, double *native, RgText *mistake)
{
  const json_t *number = json_object_get(object, index_name);
  int index;

  if (rg_space_is_finite(space) && number) {
    const json_int_t given = json_is_integer(number) ? json_integer_value(number) : -1;
    if (given < 0 || given >= space->size)
      return rg_text_add(mistake, "answered \"%s\" that is not a whole number from 0 to %d",
                         index_name, space->size - 1);
    index = (int)given;
  } else {
    PetscCall(read_coordinates(space, name, json_object_get(object, name), native, mistake));
    if (mistake->length || !rg_space_is_finite(space)) return 0;
    index = rg_space_find(space, native);
    if (index < 0)
      return rg_text_add(mistake, "answered \"%s\" that is not one of the %d points of the domain",
                         name, space->size);
  }
  rg_space_to_native(space, space->points + (size_t)index * space->dim, native);
  return 0;
}

/* Check that a new query repeats none of the history, and none in flight, where each point may be
   queried once. */
static PetscErrorCode external_check_once(const RgDomain *domain, const RgHistory *history,
                                          const double *numbers, RgText *mistake)
{
  const RgPending *pending = &history->pending;

  if (!domain->without_replacement || mistake->length) return 0;
  const int index = rg_space_find(&domain->design, numbers);
  for (int row = 0; row < history->n && !mistake->length; row++)
    if (history->index[row] == index)
      PetscCall(rg_text_add(mistake,
                            "answered point %d again, which was evaluation %d; each may be "
                            "queried once",
                            index, history->timings[row].submission));
  for (int i = 0; i < pending->n && !mistake->length; i++)
    if (pending->index[i] == index)
      PetscCall(rg_text_add(mistake,
                            "answered point %d again, which is in flight as evaluation %d; each "
                            "may be queried once",
                            index, pending->submission[i]));
  return 0;
}

static PetscErrorCode external_read(const Answer *answer, bool asked, const json_t *object,
                                    double *numbers, RgText *mistake)
{
  const RgDomain *domain = answer->domain;

  for (int i = 0; i < external_width(answer); i++) numbers[i] = NAN;
  if (!asked) {
    if (!json_object_get(object, "recommendation") &&
        !json_object_get(object, "recommendation_index"))
      return 0;
    return read_point(&domain->design, "recommendation", "recommendation_index", object, numbers,
                      mistake);
  }
  PetscCall(read_point(&domain->design, "x", "index", object, numbers, mistake));
  numbers += domain->design.dim;
  if (domain->control == RG_CONTEXT_SIMULATOR && !mistake->length)
    PetscCall(read_point(&domain->context, "c", "c_index", object, numbers, mistake));
  rg_protocol_record(answer->n_record, answer->record, object, numbers + domain->context.dim);
  return 0;
}

typedef struct {
  char *program;
  RgTexts arguments, record, files;
  int revision;
  double time_limit;
  int retries;
} Options;

enum { N_IDENTITY = 5, NAMED_MAX = 80, RECORD_MAX = 15, WORD = 64 };

static const RgParam params[] = {
  RG_PATH("program", Options, program, NULL, "",
          "program to run: an executable file, relative to the study file's folder"),
  RG_PROGRAM_ARGUMENTS(Options),
  RG_TEXTS(
    "record", Options, record, "auto", "",
    "names of the numbers it gives with its queries, each recorded as 'program_NAME'; auto: none"),
  RG_TEXTS(
    "files", Options, files, "auto", "",
    "files that belong to the program, relative to its folder: trials of another version are "
    "reported; auto: none"),
  RG_INT("revision", Options, revision, "1", 1, 1000000, "",
         "raise it when the program behaves differently although no file has changed"),
  RG_PROGRAM_TIME_LIMIT(Options),
  RG_INT("retries", Options, retries, "1", 0, 100, "",
         "how often a wrong answer is requested again, with the program restarted"),
  {0},
};

/* A request after `start`. */
typedef struct {
  char *line; /* owned */
  bool asked; /* `ask`, else `tell` */
} Exchange;

typedef struct {
  RgChild *child;
  int done; /* number of exchanges that the child has completed */
  int n_exchanges;
  Exchange *exchanges; /* all of the trial so far, numbered from 1; owned */
  Answer answer;
  double *numbers;         /* numbers of the newest answer; owned */
  RgRecordColumn *columns; /* owned, and so are the names */
  char (*names)[WORD];
  bool final;      /* the last error says that a repetition would end in the same way */
  bool otherwise;  /* since the last record, an answer differed from the stored one */
  RgText versions; /* versions that the program reports */
  /* CPU seconds of fits that the program reported but the CPU clock has not shown yet. */
  double fit;
} External;

/* ---- parameters ------------------------------------------------------------------------------ */

/* The path of file i of `files`. */
static PetscErrorCode file_path(const Options *o, int i, RgText *path)
{
  const int folder = (int)(rg_program_name(o->program) - o->program);

  if (o->files.values[i][0] != '/') PetscCall(rg_text_add(path, "%.*s", folder, o->program));
  return rg_text_add(path, "%s", o->files.values[i]);
}

static PetscErrorCode external_check(const void *options, const RgDomain *domain, RgPlace place,
                                     RgDiagnostics *diagnostics)
{
  const Options *o = options;

  PetscCall(rg_program_check(o->program, false, place, diagnostics));
  for (int i = 0; i < o->files.n; i++) {
    RgText path = {0};
    PetscCall(file_path(o, i, &path));
    if (access(path.data, R_OK))
      rg_diagnostics_add(diagnostics, place, "external: there is no file '%.200s'", path.data);
    PetscCall(rg_text_clear(&path));
  }
  rg_program_check_names("record", &o->record, RECORD_MAX, place, diagnostics);
  return 0;
}

static PetscErrorCode external_identity(const void *options, RgText *text)
{
  return rg_program_identity(params, N_IDENTITY, options, sizeof(Options), text);
}

/* One hash of the program and its files. */
static PetscErrorCode external_version(const void *options, RgText *text)
{
  const Options *o = options;
  RgText bytes = {0};
  uint64_t hash[2];
  char hex[33];

  for (int i = -1; i < o->files.n; i++) {
    char file[33] = "unreadable";
    RgText path = {0}, mistake = {0};
    if (i >= 0) PetscCall(file_path(o, i, &path));
    PetscCall(rg_file_hash(i < 0 ? o->program : path.data, file, &mistake));
    PetscCall(rg_text_add(&bytes, "%s", file));
    PetscCall(rg_text_clear(&mistake));
    PetscCall(rg_text_clear(&path));
  }
  rg_hash128(bytes.data, bytes.length, hash);
  rg_hash_hex(hash, hex);
  PetscCall(rg_text_clear(&bytes));
  return rg_text_add(text, "; program %.*s %s", NAMED_MAX, rg_program_name(o->program), hex);
}

/* ---- life ------------------------------------------------------------------------------------ */

static PetscErrorCode external_create(RgAlgorithm *algorithm)
{
  const Options *o = algorithm->options;
  External *s = algorithm->state;
  const int n = o->record.n;

  s->answer = (Answer){algorithm->setup.domain, n, o->record.values};
  PetscCall(PetscMalloc1(external_width(&s->answer), &s->numbers));
  PetscCall(PetscCalloc1(n + 2, &s->columns));
  PetscCall(PetscCalloc1(n + 1, &s->names));
  s->columns[0] = algorithm->class->columns[0];
  for (int i = 0; i < n; i++) {
    snprintf(s->names[i], sizeof(s->names[i]), "program_%.*s", RG_PROGRAM_NAME_MAX,
             o->record.values[i]);
    s->columns[i + 1] = (RgRecordColumn){s->names[i], "what the program calls so, its own unit"};
  }
  algorithm->columns = s->columns;
  return 0;
}

static PetscErrorCode external_destroy(RgAlgorithm *algorithm)
{
  External *s = algorithm->state;

  PetscCall(rg_child_close(&s->child, true));
  for (int k = 0; k < s->n_exchanges; k++) PetscCall(PetscFree(s->exchanges[k].line));
  PetscCall(RG_FREE(&s->numbers, &s->columns, &s->names, &s->exchanges));
  return rg_text_clear(&s->versions);
}

/* ---- the conversation ------------------------------------------------------------------------ */

/* Account the seconds of an exchange as acquisition, except reported fits: these count as fit,
   up to the measured time. A rest that the CPU clock has not shown yet is accounted in the next
   exchange. */
static PetscErrorCode book(RgAlgorithm *algorithm, const json_t *object, double wall,
                           RgText *mistake)
{
  RgClock *clock = algorithm->setup.clock;
  External *s = algorithm->state;
  const double cpu = rg_child_cpu_seconds(s->child);
  const json_t *fit = json_object_get(object, "fit");
  double wall_fit = 0, cpu_fit = 0;

  algorithm->cpu += cpu;
  algorithm->memory = fmax(algorithm->memory, rg_child_peak_memory(s->child));
  if (fit) {
    const json_t *seconds[] = {json_object_get(fit, "wall"), json_object_get(fit, "cpu")};
    wall_fit = json_is_number(seconds[0]) ? json_number_value(seconds[0]) : NAN;
    cpu_fit = json_is_number(seconds[1]) ? json_number_value(seconds[1]) : NAN;
    if (!(wall_fit >= 0 && cpu_fit >= 0))
      PetscCall(rg_text_add(mistake, "answered a \"fit\" without seconds \"wall\" and \"cpu\""));
  }
  if (!clock || mistake->length) return 0;
  s->fit += cpu_fit;
  cpu_fit = fmin(s->fit, cpu);
  s->fit -= cpu_fit;
  wall_fit = fmin(wall_fit, wall);
  clock->cpu[RG_STAGE_FIT] += cpu_fit;
  clock->cpu[RG_STAGE_ACQUIRE] += cpu - cpu_fit;
  clock->wall[RG_STAGE_FIT] += wall_fit;
  /* The running stage is acquisition and counts everything. */
  clock->wall[RG_STAGE_ACQUIRE] -= wall_fit;
  return 0;
}

/* Send a request and receive the answer as an object, which the caller releases; NULL on a
   mistake. */
static PetscErrorCode talk(RgAlgorithm *algorithm, const char *line, int64_t id, json_t **object,
                           RgText *mistake)
{
  const Options *o = algorithm->options;
  const RgKeeper none = {0}, *keeper = algorithm->setup.keeper ? algorithm->setup.keeper : &none;
  External *s = algorithm->state;
  const RgPatience patience = {o->time_limit, RG_PROGRAM_STOP_GRACE, keeper->stop, keeper->closure};
  const double start = rg_wall_seconds();
  RgReply reply;

  PetscCall(rg_protocol_ask(s->child, &patience, keeper->log, id, line, &reply, mistake));
  const double wall = rg_wall_seconds() - start;
  s->final = reply.final;
  if (mistake->length) PetscCall(rg_protocol_record_mistake(&reply, keeper->log, keeper->account));
  PetscCall(book(algorithm, reply.object, wall, mistake));
  *object = mistake->length ? NULL : reply.object;
  if (mistake->length) json_decref(reply.object);
  return 0;
}

/* Start the program, and the trial with it; on a mistake s->child stays NULL. */
static PetscErrorCode begin(RgAlgorithm *algorithm, const RgHistory *history, RgText *mistake)
{
  const Options *o = algorithm->options;
  External *s = algorithm->state;
  RgRandom random = rg_algorithm_stream_at(algorithm, "seed", 0);
  RgText line = {0}, program = {0};
  const char **words;
  json_t *object;

  s->done = 0;
  PetscCall(rg_text_add(&program, "%s%s", strchr(o->program, '/') ? "" : "./", o->program));
  PetscCall(PetscCalloc1(o->arguments.n + 2, &words));
  words[0] = program.data;
  for (int i = 0; i < o->arguments.n; i++) words[i + 1] = o->arguments.values[i];
  PetscCall(rg_child_start(words, &s->child, mistake));
  PetscCall(PetscFree(words));
  PetscCall(rg_text_clear(&program));
  if (!s->child) return 0;
  PetscCall(external_start(&algorithm->setup, &s->answer, rg_random_word(&random) >> 33, history, 1,
                           &line));
  PetscCall(talk(algorithm, line.data, 1, &object, mistake));
  PetscCall(rg_text_clear(&s->versions));
  if (object) PetscCall(external_greeting(&algorithm->setup, object, &s->versions, mistake));
  algorithm->versions = s->versions.data;
  json_decref(object);
  return rg_text_clear(&line);
}

/* Use the stored answer of an exchange if there is one; else store the new answer. */
static PetscErrorCode store_answer(RgAlgorithm *algorithm, int exchange, RgText *mistake)
{
  const RgKeeper *keeper = algorithm->setup.keeper;
  External *s = algorithm->state;
  const int n = external_width(&s->answer);
  double *known;
  bool found, kept = true;

  PetscCall(PetscMalloc1(n, &known));
  PetscCall(keeper->find(keeper->closure, exchange, n, known, &found));
  if (found) {
    for (int i = 0; i < n; i++) {
      const bool same = isnan(known[i]) ? isnan(s->numbers[i]) : known[i] == s->numbers[i];
      if (!same) s->otherwise = true;
      s->numbers[i] = known[i];
    }
  } else {
    PetscCall(keeper->keep(keeper->closure, exchange, n, s->numbers, &kept));
    if (!kept) PetscCall(rg_text_add(mistake, "gave an answer that could not be kept"));
  }
  return PetscFree(known);
}

/* Bring the program to the newest exchange, whose answer is checked against the history; after a
   restart it first repeats all earlier ones. */
static PetscErrorCode advance(RgAlgorithm *algorithm, const RgHistory *history, RgText *mistake)
{
  External *s = algorithm->state;
  json_t *object;

  if (!s->child) PetscCall(begin(algorithm, history, mistake));
  while (s->done < s->n_exchanges && !mistake->length) {
    const Exchange *exchange = &s->exchanges[s->done++];
    PetscCall(talk(algorithm, exchange->line, s->done + 1, &object, mistake));
    if (object) PetscCall(external_read(&s->answer, exchange->asked, object, s->numbers, mistake));
    json_decref(object);
    if (exchange->asked && s->done == s->n_exchanges)
      PetscCall(external_check_once(s->answer.domain, history, s->numbers, mistake));
    if (!mistake->length) PetscCall(store_answer(algorithm, s->done, mistake));
  }
  if (mistake->length) PetscCall(rg_child_close(&s->child, false));
  return 0;
}

/* Ask for a query, number t, or tell (query = NULL), with retries as the study allows. */
static PetscErrorCode converse(RgAlgorithm *algorithm, int t, const RgHistory *history,
                               const RgQuery *query, RgFailure *failure)
{
  const Options *o = algorithm->options;
  const RgKeeper *keeper = algorithm->setup.keeper;
  External *s = algorithm->state;
  RgText line = {0}, mistake = {0};
  bool stopped = false;

  PetscCheck(keeper, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "nobody keeps the program's answers");
  PetscCall(RG_GROW(s->n_exchanges, s->exchanges));
  const int64_t id = s->n_exchanges + 2; /* behind `start` and the exchanges so far */
  if (query) PetscCall(external_ask_line(&algorithm->setup, t, history, query, id, &line));
  else {
    const int row = history->n - 1;
    const RgTiming *timing = &history->timings[row];
    const int submission = algorithm->setup.n_workers > 1 ? timing->submission : row + 1;
    json_t *request = request_object("tell", submission - history->n_initial, id);
    if (algorithm->setup.n_workers > 1) {
      rg_protocol_set(request, "submission", json_integer(submission));
      if (!isnan(timing->finished)) {
        rg_protocol_set(request, "dispatched", json_real(timing->dispatched));
        rg_protocol_set(request, "finished", json_real(timing->finished));
      }
    }
    PetscCall(set_evaluation(algorithm->setup.domain, history, row, request));
    PetscCall(rg_protocol_write(request, &line));
  }
  s->exchanges[s->n_exchanges++] = (Exchange){line.data, query != NULL};
  for (int attempt = 0; attempt <= o->retries && !stopped && !s->final; attempt++) {
    PetscCall(rg_text_clear(&mistake));
    PetscCall(advance(algorithm, history, &mistake));
    if (!mistake.length) break;
    stopped = keeper->stop && keeper->stop(keeper->closure);
  }
  if (mistake.length)
    rg_failure_set(failure, "external: %.80s %s%s", rg_program_name(o->program), mistake.data,
                   o->retries && !stopped && !s->final ? " (every time it was tried)" : "");
  return rg_text_clear(&mistake);
}

/* ---- ask, tell, recommend -------------------------------------------------------------------- */

/* Convert native coordinates to a point of a space. */
static int convert_point(const RgSpace *space, const double *native, double *unit)
{
  const int index = rg_space_find(space, native);

  if (index >= 0) {
    memcpy(unit, space->points + (size_t)index * space->dim, (size_t)space->dim * sizeof(double));
    return index;
  }
  rg_space_to_unit(space, native, unit);
  for (int j = 0; j < space->dim; j++) unit[j] = fmin(fmax(unit[j], 0), 1);
  return -1;
}

static void mark(External *s, RgQuery *query)
{
  if (s->otherwise && query->extra) query->extra[0] = 1;
  s->otherwise = false;
}

static PetscErrorCode external_ask(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                   RgQuery *query, RgFailure *failure)
{
  External *s = algorithm->state;
  const RgDomain *domain = s->answer.domain;
  const double *numbers = s->numbers;

  PetscCall(converse(algorithm, t, history, query, failure));
  if (failure->failed) return 0;
  query->index = convert_point(&domain->design, numbers, query->x);
  numbers += domain->design.dim;
  if (domain->control == RG_CONTEXT_SIMULATOR)
    query->context_index = convert_point(&domain->context, numbers, query->c);
  numbers += domain->context.dim;
  for (int i = 0; query->extra && i < s->answer.n_record; i++) query->extra[i + 1] = numbers[i];
  mark(s, query);
  return 0;
}

/* Tell the program the newest evaluation. Recommend what it answers, else the query itself. */
static PetscErrorCode external_recommend(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                         RgQuery *recommendation, RgFailure *failure)
{
  External *s = algorithm->state;
  const RgSpace *design = &s->answer.domain->design;
  const int last = history->n - 1;

  if (t > 0) PetscCall(converse(algorithm, 0, history, NULL, failure));
  if (failure->failed || last < 0) return 0;
  mark(s, recommendation);
  if (t > 0 && !isnan(s->numbers[0])) {
    recommendation->index = convert_point(design, s->numbers, recommendation->x);
  } else {
    recommendation->index = history->index[last];
    PetscCall(
      PetscArraycpy(recommendation->x, history->x + (size_t)last * design->dim, design->dim));
  }
  return 0;
}

static const RgRecordColumn columns[] = {
  {RG_OTHERWISE_COLUMN, "1 where the program, asked again, answered otherwise: not reproducible"},
  {0}};

const RgAlgorithmClass rg_algorithm_external = {
  RG_ABOUT("external", "External optimiser", 1,
           "what a program of the user's asks for, started once per trial and talked to in lines "
           "of JSON",
           "the user's own; docs/protocol.md"),
  RG_OPTIONS(Options, params),
  RG_STATE(External, external_create, external_destroy),
  .check = external_check,
  .outside = &(const RgOutside){.identity = external_identity, .version = external_version},
  .traits = RG_CONSTRAINED,
  RG_ASK(external_ask, columns),
  .recommend = external_recommend,
};
