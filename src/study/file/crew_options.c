/* The parameters tables of parallel evaluation, and their checks. */
#include "study/file/crew_options.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/text.h"
#include "regatta/problem.h"
#include "study/file/draft.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Parse a law that gives no negative number, up to the end of the law. */
static PetscErrorCode parse_law(RgExpression *parser, RgDistribution *law)
{
  const char *start = (rg_expression_next(parser), parser->at);

  PetscCall(rg_distribution_read(parser, law));
  if (rg_expression_failed(parser)) return 0;
  if (rg_distribution_cdf(law, -DBL_MIN) <= 0) return 0; /* smaller numbers count as 0 */
  return rg_expression_mistake(
    parser, start, "a time is not negative, and this law has negative values: clip it at 0");
}

PetscErrorCode rg_times_read(const char *text, RgDistribution *law, RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};

  PetscCall(parse_law(&parser, law));
  return rg_expression_expect_end(&parser, "law");
}

static PetscErrorCode read_law(const char *text, const RgSpace *design, RgDuration *duration,
                               RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};

  PetscCall(parse_law(&parser, &duration->law));
  if (rg_expression_accept(&parser, '*'))
    PetscCall(rg_arithmetic_parse_inputs(&parser, design, &duration->formula));
  else if (!rg_expression_failed(&parser) && rg_distribution_cdf(&duration->law, RG_TIME_MAX) <= 0)
    PetscCall(rg_expression_mistake(&parser, text,
                                    "a time is at most 1e12, and this law has longer ones only"));
  return rg_expression_expect_end(&parser, duration->formula.n ? "formula" : "law");
}

/* Copy the text from `start` to `end` without blanks around it. */
static PetscErrorCode copy_trimmed(const char *start, const char *end, char **copy)
{
  RgText text = {0};

  while (start < end && *start == ' ') start++;
  while (start < end && end[-1] == ' ') end--;
  PetscCall(rg_text_add_bytes(&text, start, (size_t)(end - start)));
  PetscCall(PetscStrallocpy(text.data ? text.data : "", copy));
  return rg_text_clear(&text);
}

/* Read the words after `recorded`, and find the file. */
static PetscErrorCode read_recorded(const char *words, RgPlace place, RgDuration *duration,
                                    RgText *mistake)
{
  static const RgParam path[] = {RG_PATH("recorded", RgDuration, name, NULL, "", "a results file"),
                                 {0}};
  const char *of = strstr(words, " of "), *end = words + strlen(words);

  PetscCall(copy_trimmed(words, of ? of : end, &duration->name));
  if (of) PetscCall(copy_trimmed(of + strlen(" of "), end, &duration->label));
  if (!*duration->name || (of && !*duration->label))
    PetscCall(rg_text_add(mistake, "accepted: recorded FILE, recorded FILE of LABEL"));
  else PetscCall(rg_params_resolve(path, duration, place));
  return 0;
}

static const char *const words[] = {[RG_DURATION_COLUMN] = "column",
                                    [RG_DURATION_REPORTED] = "reported",
                                    [RG_DURATION_RECORDED] = "recorded"};

RgDurationKind rg_duration_kind(const char *text)
{
  const size_t n = text ? strcspn(text, " ") : 0;

  for (size_t kind = 0; kind < sizeof(words) / sizeof(*words); kind++)
    if (words[kind] && strlen(words[kind]) == n && !strncmp(text, words[kind], n))
      return (RgDurationKind)kind;
  return text ? RG_DURATION_LAW : RG_DURATION_NONE;
}

PetscErrorCode rg_duration_read(const char *text, const RgSpace *design, RgPlace place,
                                RgDuration *duration, RgText *mistake)
{
  RgText own = {0};

  *duration = (RgDuration){.kind = rg_duration_kind(text)};
  const char *rest = words[duration->kind] ? text + strlen(words[duration->kind]) : "";
  switch (duration->kind) {
  case RG_DURATION_NONE: break;
  case RG_DURATION_LAW: PetscCall(read_law(text, design, duration, &own)); break;
  case RG_DURATION_COLUMN:
    PetscCall(copy_trimmed(rest, rest + strlen(rest), &duration->name));
    if (!*duration->name) PetscCall(rg_text_add(&own, "accepted: column NAME"));
    break;
  case RG_DURATION_REPORTED:
    if (*rest) PetscCall(rg_text_add(&own, "nothing expected after 'reported'"));
    break;
  case RG_DURATION_RECORDED: PetscCall(read_recorded(rest, place, duration, &own)); break;
  }
  if (own.length) {
    PetscCall(rg_text_add(mistake, "%s", own.data));
    PetscCall(rg_duration_clear(duration));
  }
  return rg_text_clear(&own);
}

PetscErrorCode rg_duration_clear(RgDuration *duration)
{
  PetscCall(rg_distribution_destroy(&duration->law));
  PetscCall(rg_arithmetic_clear(&duration->formula));
  return RG_FREE(&duration->name, &duration->label);
}

double rg_duration_at(const RgDuration *duration, double u, const double *seen)
{
  const double time = rg_distribution_quantile(&duration->law, u);

  return duration->formula.n ? time * rg_arithmetic_value(&duration->formula, seen) : time;
}

/* Part of the identity of trials with batches and thinking. 2: the queries of a batch are pending
   until they are told. */
#define BATCHES_REVISION 2

static const char *const clocks[] = {"simulated", "real", NULL};
static const char *const releases[] = {"async", "sync", NULL};
static const char *const starts[] = {"ask", "design", NULL};
static const char *const initial_times[] = {"free", "counted", "overlapped", NULL};
static const char *const losses[] = {"resubmit", "fail", NULL};

const RgParam rg_workers_params[] = {
  RG_INT("workers", RgCrewSettings, workers, "1", 1, 10000, "W",
         "evaluations that run at the same time; 1: a query begins when the last one is told"),
  RG_CHOICE(
    "release", RgCrewSettings, release, "async", releases, "",
    "when a worker takes a new query: as soon as it is idle, or when all queries of the last "
    "batch are told"),
  RG_TEXT("duration", RgCrewSettings, duration, "auto", "",
          "how long an evaluation takes, in any unit: a law of times (regatta describe laws), or "
          "LAW * (FORMULA of the inputs); 'column NAME' of a data set; 'reported' by an external "
          "program; 'recorded FILE' or 'recorded FILE of LABEL', as in a results file; auto: there "
          "is no clock"),
  RG_ENTRY("clock", CHOICE, RgCrewSettings, clock, int, "simulated", RG_LATER, 0, clocks, "",
           "simulated: the clock goes by 'duration'; real: 'workers' copies of an external program "
           "run at the same time, and what happened is recorded, so that it can be replayed"),
  RG_CHOICE("start", RgCrewSettings, start, "ask", starts, "",
            "the first query of each worker: asked at the start, or drawn with the initial design"),
  RG_CHOICE("initial_time", RgCrewSettings, initial_time, "free", initial_times, "",
            "free: the initial design is known at the start of the clock; counted: it runs on the "
            "workers before the first query; overlapped: the same, but with release: async queries "
            "begin when the last of it has started"),
  RG_REAL(
    "time", RgCrewSettings, time, "auto", RG_POSITIVE, RG_TIME_MAX, "T",
    "no evaluation begins at or after this time, and one that ends later does not count; auto: "
    "no limit beside 'iterations'"),
  {0},
};

const RgParam rg_crew_params[] = {
  RG_TEXT(
    "death", RgCrewSettings, death, "auto", "",
    "law of the time until a worker dies, from its start or return; auto: workers do not die"),
  RG_TEXT("repair", RgCrewSettings, repair, "auto", "",
          "law of the time until a dead worker returns; auto: it does not return"),
  RG_CHOICE(
    "lost", RgCrewSettings, lost, "resubmit", losses, "",
    "what becomes of an evaluation whose worker dies: it runs again on another worker, or it "
    "fails (on_failure); after a kill of a run on the real clock it runs again in any case"),
  RG_REAL(
    "time_limit", RgCrewSettings, time_limit, "auto", RG_POSITIVE, RG_TIME_MAX, "",
    "an evaluation that takes longer ends after this time as failed (on_failure); auto: no limit"),
  {0},
};

const RgParam rg_thinking_params[] = {
  RG_REAL("a", RgCrewSettings, think_a, "0", 0, RG_TIME_MAX, "a",
          "time that the method takes for a query, a + b n^p with n evaluations told; queries are "
          "chosen one at a time"),
  RG_REAL("b", RgCrewSettings, think_b, "0", 0, RG_TIME_MAX, "b", "factor of the growing part"),
  RG_REAL("p", RgCrewSettings, think_p, "3", 0, 10, "p", "power of the growing part"),
  {0},
};

bool rg_crew_has_clock(const RgCrewSettings *crew)
{
  return crew->duration || crew->clock == RG_CLOCK_REAL;
}

bool rg_crew_counts(const RgCrewSettings *crew)
{
  return crew->workers > 1 || rg_crew_has_clock(crew);
}

bool rg_crew_needs_several(const RgParam *param)
{
  return param->choices == releases || param->choices == starts;
}

/* Initial designs that run on one worker are reported before the first query. */
bool rg_crew_same_alone(const RgParam *param, const char *a, const char *b)
{
  const char *free = initial_times[RG_INITIAL_FREE];

  return param->choices == initial_times && strcmp(a, free) && strcmp(b, free);
}

bool rg_crew_thinks(const RgCrewSettings *crew)
{
  return crew->think_a > 0 || crew->think_b > 0;
}

/* Settings that say nothing without others are left out. A hash replaces the name of a file of
   durations. */
PetscErrorCode rg_crew_identity(const RgCrewSettings *settings, RgText *text)
{
  RgCrewSettings crew = *settings;
  char data[48];

  if (!rg_crew_counts(settings)) return 0;
  if (crew.workers == 1) crew.release = crew.start = 0;
  if (crew.workers == 1 && crew.initial_time) crew.initial_time = RG_INITIAL_COUNTED;
  if (crew.times[0]) {
    snprintf(data, sizeof(data), "data %s", crew.times);
    crew.duration = data;
  }
  PetscCall(rg_params_identity("workers", rg_workers_params, &crew, text));
  if (crew.death || !isnan(crew.time_limit))
    PetscCall(rg_params_identity("crew", rg_crew_params, &crew, text));
  if (rg_crew_thinks(&crew))
    PetscCall(rg_params_identity("thinking", rg_thinking_params, &crew, text));
  if (rg_crew_thinks(&crew) && crew.release)
    PetscCall(rg_text_add(text, ";batches=%d", BATCHES_REVISION));
  return 0;
}

/* ---- checks ---------------------------------------------------------------------------------- */

PetscErrorCode rg_crew_column(const RgProblemClass *class, const void *options, int n,
                              const char *name, double **times, RgText *mistake)
{
  *times = NULL;
  if (!class->source || !class->source->column)
    PetscCall(rg_text_add(mistake, "'%s' is no table of measurements", class->name));
  else PetscCall(class->source->column(class, options, name, times, mistake));
  for (int i = 0; i < n && *times && !mistake->length; i++)
    if (!((*times)[i] >= 0 && (*times)[i] <= RG_TIME_MAX))
      PetscCall(
        rg_text_add(mistake, "design %d takes %.15g, and a time is in [0, 1e12]", i, (*times)[i]));
  if (mistake->length) PetscCall(PetscFree(*times));
  return 0;
}

/* Check durations that are data, and hash them. */
static PetscErrorCode check_data(const RgProblemClass *class, const void *options,
                                 const RgSpace *design, const RgDuration *duration, char times[33],
                                 RgText *mistake)
{
  uint64_t hash[2];
  double *values;

  times[0] = '\0';
  if (duration->kind == RG_DURATION_REPORTED && !(class->traits & RG_PROBLEM_REPORTS))
    PetscCall(rg_text_add(mistake, "'%s' reports no durations; 'external' does", class->name));
  if (duration->kind == RG_DURATION_COLUMN) {
    PetscCall(rg_crew_column(class, options, design->size, duration->name, &values, mistake));
    if (!values) return 0;
    rg_hash128(values, (size_t)design->size * sizeof(double), hash);
    rg_hash_hex(hash, times);
    PetscCall(PetscFree(values));
  }
  if (duration->kind == RG_DURATION_RECORDED) {
    /* Hash a recorded file, with the label that chooses its trials. */
    char bytes[33] = "";
    RgText text = {0};
    PetscCall(rg_file_hash(duration->name, bytes, &text));
    if (text.length) {
      PetscCall(rg_text_add(mistake, "%s %s", duration->name, text.data));
    } else {
      PetscCall(rg_text_add(&text, "%s %s", bytes, duration->label ? duration->label : ""));
      rg_hash128(text.data, text.length, hash);
      rg_hash_hex(hash, times);
    }
    PetscCall(rg_text_clear(&text));
  }
  return 0;
}

/* Settings that a real clock has no use for. */
static void check_real(const RgProblemClass *class, const RgCrewSettings *crew, RgPlace place,
                       int ranks, RgDiagnostics *found)
{
  const struct {
    bool given;
    const char *key, *why;
  } wrong[] = {
    {crew->duration, "duration", "evaluations take the time that they take"},
    {rg_crew_thinks(crew), "thinking", "a query takes the time that it takes"},
    {!isnan(crew->time), "time", "'regatta run -walltime' ends a run, which can be resumed"},
    {crew->death, "crew: {death: ...}", "a program dies when it dies, and is started again"},
    {!isnan(crew->time_limit), "crew: {time_limit: ...}",
     "the problem's own 'time_limit' ends an evaluation"},
  };

  if (crew->clock != RG_CLOCK_REAL) return;
  if (!(class->traits & RG_PROBLEM_REPORTS))
    rg_diagnostics_add(
      found, place,
      "'clock: real' is for programs, the problem 'external'; '%s' is computed here "
      "and takes a simulated clock",
      class->name);
  if (ranks > 1 && crew->workers != ranks - 1)
    rg_diagnostics_add(found, place,
                       "'clock: real' with 'ranks_per_trial: %d' takes 'workers: %d', one for each "
                       "rank but the first; with 'ranks_per_trial: 1' any number",
                       ranks, ranks - 1);
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
    if (wrong[i].given)
      rg_diagnostics_add(found, place, "'clock: real' takes no '%s': %s", wrong[i].key,
                         wrong[i].why);
}

PetscErrorCode rg_crew_check(const RgProblemClass *class, const void *options,
                             const RgSpace *design, RgPlace place, int ranks, RgCrewSettings *crew,
                             RgDiagnostics *found)
{
  RgDuration duration;
  RgText mistake = {0};
  PetscCall(rg_duration_read(crew->duration, design, place, &duration, &mistake));
  if (!mistake.length)
    PetscCall(check_data(class, options, design, &duration, crew->times, &mistake));
  if (mistake.length)
    rg_diagnostics_add(found, place, "'duration' is \"%s\": %s", crew->duration, mistake.data);
  PetscCall(rg_text_clear(&mistake));
  PetscCall(rg_duration_clear(&duration));
  /* Settings of a clock that is not there. */
  const struct {
    bool given;
    const char *key;
  } needs[] = {{!isnan(crew->time), "time"},
               {crew->initial_time, "initial_time"},
               {crew->death || crew->repair, "crew"},
               {!isnan(crew->time_limit), "crew: {time_limit: ...}"},
               {rg_crew_thinks(crew), "thinking"}};
  for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
    if (needs[i].given && !rg_crew_has_clock(crew))
      rg_diagnostics_add(found, place, "'%s' needs 'duration': without it there is no clock",
                         needs[i].key);
  if (crew->workers > 1 && !crew->release && !rg_crew_has_clock(crew))
    rg_diagnostics_add(found, place,
                       "%d workers with 'release: async' need 'duration', which decides when each "
                       "is idle ('release: sync' does not)",
                       crew->workers);
  check_real(class, crew, place, ranks, found);
  for (int k = 0; k < 2; k++) {
    const char *text = k ? crew->repair : crew->death;
    RgDistribution law = {0};
    if (!text) continue;
    PetscCall(rg_times_read(text, &law, &mistake));
    if (mistake.length)
      rg_diagnostics_add(found, place, "'%s' is \"%s\": %s", k ? "repair" : "death", text,
                         mistake.data);
    PetscCall(rg_text_clear(&mistake));
    PetscCall(rg_distribution_destroy(&law));
  }
  if (crew->repair && !crew->death)
    rg_diagnostics_add(found, place, "'repair' needs 'death': no worker dies without it");
  return 0;
}
