/* external: a program of the user's as objective.

   Each rank starts the program once and keeps it. A request is one line of JSON on its standard
   input, the answer one line on its standard output:

     {"id":7,"trial":"9f..","evaluation":7,"seed":3,"instance":0,"x":{"depth":4,"rate":0.1}}
     {"id":7,"value":0.83}     or     {"id":7,"error":"why not"}     (with "retry":false behind)

   An answer may have "duration", the time that the evaluation took, and further numbers, which
   are recorded: "record":{"cost":3.5}.

   The context, if there is one, is under "c". "trial", "evaluation" and "seed" are missing outside
   a trial. Integers are rounded, floor(v + 0.5), and choices are sent as words; the algorithm sees
   the coordinate before rounding. After a timeout, a wrong answer, an error or an end of the
   program, the program is restarted and the request repeated; when the retries are used up, or
   after an error with "retry":false, the trial fails. The program's name without its folder, the
   arguments, the inputs and contexts, the goal and the revision identify a trial. No answer
   depends on the optimum: it is an annotation, and changing it does not change the identity of a
   trial. */
#include "base/grow.h"
#include "extra/external/protocol.h"
#include "maths/law.h"
#include "regatta/problem.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  char *program;
  RgTexts arguments, inputs, contexts, constraints, record, law;
  int control, goal;
  double optimum;
  int revision;
  double time_limit, seconds;
  int retries;
} Options;

enum { NATURE, SIMULATOR, ANNOUNCED };
static const char *const controls[] = {"nature", "simulator", "announced", NULL};
static const RgContextControl roles[] = {
  [NATURE] = RG_CONTEXT_NATURE,
  [SIMULATOR] = RG_CONTEXT_SIMULATOR,
  [ANNOUNCED] = RG_CONTEXT_ANNOUNCED,
};

/* The first N_IDENTITY parameters identify a trial; the optimum is set to `auto` for that. */
enum { N_IDENTITY = 11, NUMBERS_MAX = 16 };

static const RgParam params[] = {
  RG_PATH("program", Options, program, NULL, "",
          "program to run: a file, relative to the study file's folder, or a name in PATH"),
  RG_PROGRAM_ARGUMENTS(Options),
  RG_TEXTS("inputs", Options, inputs, NULL, "x",
           "coordinates of the design, each 'NAME real LOWER UPPER', 'NAME integer LOWER UPPER' "
           "(both also with 'log' behind) or 'NAME choice WORD WORD ...'; with 'if "
           "CHOICE=WORD|WORD' at its end it only counts with those words of a choice before it"),
  RG_TEXTS("contexts", Options, contexts, "auto", "c",
           "coordinates of the context, written like inputs, without 'if', and drawn by 'law' "
           "(with 'log' their logarithm); auto: no context"),
  RG_CHOICE("control", Options, control, "nature", controls, "",
            "who sets the context: it is drawn after the decision, the learner chooses it, or it "
            "is drawn and announced before the decision"),
  RG_CHOICE("goal", Options, goal, "maximise", rg_problem_goals, "",
            "what is good; minimise: f is the negative of the answer"),
  RG_REAL("optimum", Options, optimum, "auto", 0, 0, "f*",
          "best answer possible, which regret counts from; auto: not known, and no regret"),
  RG_INT("revision", Options, revision, "1", 1, 1000000, "",
         "to be raised when the program's answers change: results of another revision don't count"),
  RG_ENTRY("constraints", TEXTS, Options, constraints, RgTexts, "auto", 0, 0, rg_param_later, "g",
           "names of the numbers it answers in \"constraints\"; a design is feasible where all are "
           "at most 0; auto: none"),
  RG_ENTRY("record", TEXTS, Options, record, RgTexts, "auto", 0, 0, rg_param_later, "",
           "names of further numbers it answers in \"record\", such as a cost, each recorded as "
           "'answer_NAME'; auto: none"),
  RG_ENTRY(
    "law", TEXTS, Options, law, RgTexts, "auto", 0, 0, rg_param_later, "p",
    "law of the contexts, one for all or one each, in shares of their ranges: 0 is the lower "
    "bound and 1 the upper one, and draws beyond count as these; it may change in time "
    "(regatta describe laws); auto: uniform(0, 1)"),
  RG_PROGRAM_TIME_LIMIT(Options),
  RG_INT("retries", Options, retries, "1", 0, 100, "",
         "how often a failed evaluation is repeated, with the program restarted"),
  RG_REAL("seconds", Options, seconds, "auto", 0, 1e7, "",
          "what an evaluation is expected to take, for plan and schedule; auto: plan times two "
          "evaluations if time_limit is at most 600, the schedule assumes a second"),
  {0},
};

typedef struct {
  const char **words; /* words of the command line, NULL at the end; owned, and so is the first */
  double *outcome;    /* constraints of the last evaluation; owned */
  RgChild *own;       /* program for evaluations outside a run; owned */
  RgLaw *law;         /* dim_c: as it changes in time; owned, NULL: uniform */
  int evaluation;     /* from 1, whose law holds */
} External;

/* ---- parameters ------------------------------------------------------------------------------ */

/* Make the boxes of inputs and contexts; the first mistake is appended to `mistake`. */
static PetscErrorCode make_spaces(const Options *o, RgSpace *design, RgSpace *context,
                                  RgText *mistake)
{
  RgText wrong = {0};

  PetscCall(rg_space_inputs(design, o->inputs.n, o->inputs.values, &wrong));
  if (wrong.length) PetscCall(rg_text_add(mistake, "input %s", wrong.data));
  PetscCall(rg_text_clear(&wrong));
  if (!o->contexts.n || mistake->length) return 0;
  PetscCall(rg_space_inputs(context, o->contexts.n, o->contexts.values, &wrong));
  if (wrong.length) PetscCall(rg_text_add(mistake, "context %s", wrong.data));
  else if (rg_space_is_conditional(context))
    PetscCall(rg_text_add(mistake, "contexts always count: they take no 'if'"));
  return rg_text_clear(&wrong);
}

static PetscErrorCode external_check(const RgProblemClass *class, const void *options,
                                     RgPlace place, RgDiagnostics *diagnostics)
{
  const Options *o = options;
  RgDomain domain = {0};
  RgText mistake = {0};

  PetscCall(make_spaces(o, &domain.design, &domain.context, &mistake));
  if (!o->inputs.n) PetscCall(rg_text_add(&mistake, "'inputs' is empty"));
  if (mistake.length) rg_diagnostics_add(diagnostics, place, "%s: %s", class->name, mistake.data);
  /* Laws describe drawn contexts. Each announced context has its own optimum. Under laws that
     change, each evaluation has its own optimum. */
  const bool drifts = rg_law_drifts(o->law.n, o->law.values);
  if (o->law.n && (!o->contexts.n || o->control == SIMULATOR))
    rg_diagnostics_add(diagnostics, place, "external: 'law' is that of contexts which are drawn");
  else if (o->law.n && o->law.n != 1 && o->law.n != o->contexts.n)
    rg_diagnostics_add(diagnostics, place,
                       "external: 'law' has %d laws for %d contexts, accepted are 1 or %d",
                       o->law.n, o->contexts.n, o->contexts.n);
  for (int j = 0; j < o->law.n; j++)
    PetscCall(rg_law_check("law", o->law.values[j], place, diagnostics));
  if (!isnan(o->optimum) && o->contexts.n && (o->control == ANNOUNCED || drifts))
    rg_diagnostics_add(diagnostics, place,
                       "external: 'optimum' is one number, and here every evaluation has its own");
  PetscCall(rg_program_check(o->program, true, place, diagnostics));
  rg_program_check_names("constraints", &o->constraints, NUMBERS_MAX, place, diagnostics);
  rg_program_check_names("record", &o->record, NUMBERS_MAX - o->constraints.n, place, diagnostics);
  PetscCall(rg_text_clear(&mistake));
  return rg_domain_destroy(&domain);
}

static PetscErrorCode external_identity(const RgProblemClass *class, const void *options,
                                        RgText *text)
{
  Options identifying = *(const Options *)options; /* borrows the texts of `options` */

  identifying.optimum = NAN;
  return rg_program_identity(params, N_IDENTITY, &identifying, sizeof(identifying), text);
}

static const RgTexts *external_numbers(const void *options)
{
  return &((const Options *)options)->record;
}

static PetscErrorCode external_domain(const RgProblemClass *class, const void *options,
                                      RgDomain *domain)
{
  const Options *o = options;
  RgText mistake = {0};

  PetscCall(make_spaces(o, &domain->design, &domain->context, &mistake));
  PetscCheck(!mistake.length, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "%s: %s", class->name,
             mistake.data);
  if (o->constraints.n)
    PetscCall(
      rg_domain_constrain(domain, o->constraints.n, (const char *const *)o->constraints.values));
  if (o->contexts.n) {
    const char *uniform = "uniform(0, 1)";
    domain->control = roles[o->control];
    PetscCall(rg_domain_state_laws(domain, o->law.n ? o->law.n : 1,
                                   o->law.n ? (const char *const *)o->law.values : &uniform));
  }
  return 0;
}

/* Seconds of time_limit beyond which an answer may take long; the default. */
#define LONG 600

static void external_cost(const void *options, RgProblemCost *cost)
{
  const Options *o = options;

  cost->undeclared = isnan(o->seconds);
  cost->may_be_long = o->time_limit > LONG;
  cost->evaluation = cost->undeclared ? 1 : o->seconds;
}

/* ---- life ------------------------------------------------------------------------------------ */

static PetscErrorCode external_create(RgProblem *problem, RgFailure *failure)
{
  const Options *o = problem->options;
  External *e;
  RgText program = {0};

  PetscCall(PetscNew(&e));
  problem->data = e;
  /* a file in the current folder takes precedence over PATH */
  const bool here = !strchr(o->program, '/') && access(o->program, X_OK) == 0;
  PetscCall(rg_text_add(&program, "%s%s", here ? "./" : "", o->program));
  PetscCall(PetscCalloc1(o->constraints.n, &e->outcome));
  PetscCall(PetscCalloc1(o->arguments.n + 2, &e->words));
  e->words[0] = program.data;
  for (int i = 0; i < o->arguments.n; i++) e->words[i + 1] = o->arguments.values[i];
  if (!isnan(o->optimum)) problem->optimum = o->goal ? 0 - o->optimum : o->optimum;
  e->evaluation = 1;
  if (o->law.n) {
    const int dim = problem->domain.context.dim;
    PetscCall(PetscCalloc1(dim, &e->law));
    PetscCall(rg_law_create_all(o->law.n, o->law.values, dim, e->law));
  }
  return 0;
}

static PetscErrorCode external_destroy(RgProblem *problem)
{
  External *e = problem->data;

  PetscCall(rg_child_close(&e->own, true));
  for (int j = 0; e->law && j < problem->domain.context.dim; j++)
    PetscCall(rg_law_destroy(&e->law[j]));
  return RG_FREE(&e->words[0], &e->words, &e->outcome, &e->law);
}

static PetscErrorCode external_at(RgProblem *problem, int t)
{
  ((External *)problem->data)->evaluation = t;
  return 0;
}

static PetscErrorCode external_draw_context(RgProblem *problem, RgRandom *random, double *c,
                                            int *context_index)
{
  const External *e = problem->data;
  const RgSpace *space = &problem->domain.context;
  RgDistribution law;

  *context_index = -1;
  for (int j = 0; j < space->dim; j++) {
    const double lower = space->lower[j], upper = space->upper[j];
    double u; /* a share of the range */
    if (e->law) {
      PetscCall(rg_law_at(&e->law[j], e->evaluation, &law));
      u = fmin(fmax(rg_distribution_sample(&law, random), 0), 1);
      PetscCall(rg_distribution_destroy(&law));
    } else {
      u = rg_random_uniform(random);
    }
    c[j] = space->inputs[j].log ? fmin(lower * pow(upper / lower, u), upper)
                                : lower + u * (upper - lower);
  }
  return 0;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

/* Read the numbers of an answer that came without a mistake, and write down a mistake. */
static PetscErrorCode finish(RgProblem *problem, const RgReply *reply, double *value,
                             RgText *mistake)
{
  const External *e = problem->data;
  const Options *o = problem->options;
  RgTask *task = &problem->task;
  const RgAnswer numbers = {value,       e->outcome,       &task->duration,
                            o->record.n, o->record.values, task->numbers};

  *value = task->duration = NAN;
  for (int k = 0; k < problem->domain.n_constraints; k++) e->outcome[k] = NAN;
  if (reply->object) PetscCall(rg_answer_read(reply->object, &problem->domain, &numbers, mistake));
  if (mistake->length) PetscCall(rg_protocol_record_mistake(reply, task->log, task->account));
  json_decref(reply->object);
  return 0;
}

/* Send one request, to a program that is started unless it runs. A mistake closes the program,
   except an error after which a repetition is useless. *final: such an error, or a stop. */
static PetscErrorCode ask(RgProblem *problem, const RgPoint *point, RgChild **child, double *value,
                          bool *final, RgText *mistake)
{
  External *e = problem->data;
  const Options *o = problem->options;
  RgTask *task = &problem->task;
  const RgPatience patience = {o->time_limit, RG_PROGRAM_STOP_GRACE, task->stop,
                               task->stop_closure};
  RgText line = {0};
  RgReply reply;

  if (*child && !rg_child_is(*child, e->words)) PetscCall(rg_child_close(child, true));
  if (!*child) PetscCall(rg_child_start(e->words, child, mistake));
  task->lost = !*child;
  if (!*child) return 0;
  const int64_t id = rg_child_count(*child) + 1;
  PetscCall(rg_request_write(problem, id, point, &line));
  PetscCall(rg_protocol_ask(*child, &patience, task->log, id, line.data, &reply, mistake));
  PetscCall(rg_text_clear(&line));
  PetscCall(finish(problem, &reply, value, mistake));
  task->cpu += rg_child_cpu_seconds(*child);
  if (mistake->length && !reply.final) PetscCall(rg_child_close(child, false));
  *final = reply.final || reply.abandoned;
  return 0;
}

/* Write the question of an exchange, or read its answer. */
static PetscErrorCode exchange(RgProblem *problem, const RgPoint *point, double *value,
                               RgText *mistake)
{
  const External *e = problem->data;
  const Options *o = problem->options;
  RgExchange *x = problem->task.exchange;
  RgReply reply = {
    .line = x->answer, .length = x->length, .errors = x->errors, .n_errors = x->n_errors};

  x->words = e->words;
  x->limit = o->time_limit;
  x->grace = RG_PROGRAM_STOP_GRACE;
  x->retries = o->retries;
  problem->task.lost = x->unreachable;
  if (!x->answered) return rg_request_write(problem, x->id, point, &x->line);
  if (x->answer) PetscCall(rg_protocol_read(x->id, &reply, mistake));
  else PetscCall(rg_text_add(mistake, "%s", x->mistake));
  x->final = reply.final;
  return finish(problem, &reply, value, mistake);
}

static PetscErrorCode evaluate_one(RgProblem *problem, const RgPoint *point, double *f,
                                   RgFailure *failure)
{
  External *e = problem->data;
  const Options *o = problem->options;
  RgChild **child = problem->task.child ? problem->task.child : &e->own;
  RgText mistake = {0};
  bool final = false;
  double value = NAN;

  problem->task.duration = NAN;
  for (int i = 0; problem->task.numbers && i < o->record.n; i++) problem->task.numbers[i] = NAN;
  if (problem->task.exchange) PetscCall(exchange(problem, point, &value, &mistake));
  for (int attempt = 0; !problem->task.exchange && attempt <= o->retries && !final; attempt++) {
    PetscCall(rg_text_clear(&mistake)); /* of the last attempt */
    PetscCall(ask(problem, point, child, &value, &final, &mistake));
    if (!mistake.length) break;
  }
  if (problem->task.exchange) final = problem->task.exchange->final;
  if (mistake.length)
    rg_failure_set(failure, "external: %s %s%s", e->words[0], mistake.data,
                   o->retries && !final ? " (every time it was tried)" : "");
  *f = o->goal ? 0 - value : value;
  return rg_text_clear(&mistake);
}

static PetscErrorCode external_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                        RgFailure *failure)
{
  for (int i = 0; i < m; i++) {
    f[i] = NAN;
    if (!failure->failed) PetscCall(evaluate_one(problem, &points[i], &f[i], failure));
  }
  return 0;
}

/* The constraints in the last answer. */
static PetscErrorCode external_constrain(RgProblem *problem, int m, const RgPoint *points,
                                         double *constraints, RgFailure *failure)
{
  const External *e = problem->data;

  PetscCheck(m == 1, PETSC_COMM_SELF, PETSC_ERR_SUP, "constraints of %d points", m);
  return PetscArraycpy(constraints, e->outcome, problem->domain.n_constraints);
}

const RgProblemClass rg_problem_external = {
  RG_ABOUT("external", "External program", 1,
           "what a program of the user's answers, started once per rank and asked in lines of "
           "JSON;\nreal, integer and categorical inputs",
           "the user's own"),
  RG_OPTIONS(Options, params),
  .traits = RG_PROBLEM_COSTLY | RG_PROBLEM_REPORTS,
  .source = &(const RgProblemSource){.identity = external_identity, .numbers = external_numbers},
  .cost = external_cost,
  RG_DOMAIN(external_domain, external_check),
  .create = external_create,
  .evaluate = external_evaluate,
  .constrain = external_constrain,
  .draw_context = external_draw_context,
  .at = external_at,
  .destroy = external_destroy,
};
