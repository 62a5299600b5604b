/* The table of fields and root attributes. */
#include "study/record/fields.h"

#include <string.h>

#define EXTENT(member) offsetof(RgRecord, member)
const RgAxisInfo rg_axes[RG_AXES] = {
  [RG_AXIS_TRIAL] = {"trial", 0, 0, "trial",
                     "number of the trial within this group, in the order of the plan"},
  [RG_AXIS_ITERATION] = {"iteration", 1, EXTENT(n_rows), "evaluation",
                         "number of the evaluation from 1; the first n_initial of a trial are its "
                         "initial design"},
  [RG_AXIS_X] = {"dim_x", 0, EXTENT(dim_x), "design coordinate", "coordinate of the design"},
  [RG_AXIS_C] = {"dim_c", 0, EXTENT(dim_c), "context coordinate", "coordinate of the context"},
  [RG_AXIS_Z] = {"dim_z", 0, EXTENT(dim_z), "model input",
                 "input of the model: design coordinates, then context coordinates"},
  [RG_AXIS_S] = {"score", 0, EXTENT(n_scores), "score",
                 "measure that scores the trials, as in `scores` of their cells"},
  [RG_AXIS_T] = {"term", 0, EXTENT(n_terms), "term",
                 "term of an additive kernel: in the order of its groups or `terms`"},
  [RG_AXIS_CELL] = {"cell", 0, 0, "cell", "number of the cell: the rows of the table `cells`"},
};
#undef EXTENT

#define INDEX (1 << RG_READ_INDEX)
#define HEADS (1 << RG_READ_HEADS)
#define FIELD(member)                                                                              \
  .offset = offsetof(RgRecord, member), .size = sizeof(((RgRecord *)NULL)->member)
const RgFieldInfo rg_fields[] = {
  {"id", RG_FIELD_CHARS, FIELD(id), "1", "identity of the trial",
   "XXH3-128 of the key, 32 hexadecimal digits", .coordinate = true, .readers = INDEX | HEADS},
  {"key", RG_FIELD_TEXT, FIELD(key), "1", "key of the trial",
   "canonical text of everything the results depend on: key version, problem, instance, "
   "parameters, algorithm, parameters, revisions, budget, seeds"},
  {"cell", RG_FIELD_INT, FIELD(cell_number), "1", "cell", "row of the cell in the table `cells`",
   .readers = HEADS},
  {"instance", RG_FIELD_COUNT, FIELD(instance), "1", "instance",
   "number of the draw of a random problem", .coordinate = true},
  {"seed", RG_FIELD_COUNT, FIELD(seed), "1", "seed", "seed of the trial", .coordinate = true},
  {"status", RG_FIELD_STATUS, FIELD(status), "1", "status",
   "whether the trial came to its end, by its budget or by `stop`, or failed numerically",
   .coordinate = true, .readers = INDEX | HEADS},
  {"message", RG_FIELD_CHARS, FIELD(message), "1", "message",
   "reason why the trial failed, or the place where it exceeded the optimum; empty otherwise"},
  {"n_iterations", RG_FIELD_INT, FIELD(n_rows), "1", "recorded evaluations",
   "entries of this trial along the axis iteration, its initial design included; NaN follows"},
  {"n_initial", RG_FIELD_INT, FIELD(n_initial), "1", "size of the initial design",
   "evaluations before the algorithm was asked for the first time"},
  {"n_dim_x", RG_FIELD_INT, FIELD(dim_x), "1", "design dimension",
   "coordinates of the design of this trial; NaN follows along dim_x"},
  {"n_dim_c", RG_FIELD_INT, FIELD(dim_c), "1", "context dimension",
   "coordinates of the context of this trial, 0 without context"},
  {"n_dim_z", RG_FIELD_INT, FIELD(dim_z), "1", "model inputs",
   "inputs of the model of this trial, 0 without a model"},
  {"n_scores", RG_FIELD_INT, FIELD(n_scores), "1", "scores",
   "number of measures of this trial; NaN follows along score; only where a problem has `score`",
   .of = RG_OF_SCORED},
  {"n_terms", RG_FIELD_INT, FIELD(n_terms), "1", "terms",
   "number of terms of the kernel of this trial; NaN follows along term; only where a kernel is "
   "additive",
   .of = RG_OF_ADDITIVE},
  {"optimum", RG_FIELD_REAL, FIELD(optimum), "y", "optimum",
   "max F of the instance; regret is measured from it, or from the best F of the trial if that is "
   "larger; NaN if it is unknown"},
  {"workers", RG_FIELD_INT, FIELD(workers), "1", "workers",
   "evaluations at the same time; this and the variables of the clock only where a problem has "
   "trials with several workers or a clock",
   .of = RG_OF_CREW, .coordinate = true},
  {"release", RG_FIELD_CHARS, FIELD(release), "1", "release",
   "when workers take new queries, async or sync; empty with one worker", .of = RG_OF_CREW,
   .coordinate = true},
  {"makespan", RG_FIELD_REAL, FIELD(makespan), "time", "makespan",
   "end of the last evaluation on the simulated clock; NaN without a clock", .of = RG_OF_CREW},
  {"idle_share", RG_FIELD_REAL, FIELD(idle_share), "1", "idle share",
   "share of the workers' time up to the makespan that they were idle; NaN without a clock",
   .of = RG_OF_CREW},
  {"in_flight", RG_FIELD_INT, FIELD(in_flight), "1", "evaluations in flight",
   "evaluations that were asked for and did not end within the time limit", .of = RG_OF_CREW},
  {"lost", RG_FIELD_INT, FIELD(lost), "1", "lost evaluations",
   "how often an evaluation was lost because its worker died", .of = RG_OF_CREW},
  {"checksum", RG_FIELD_CHARS, FIELD(checksum), "1", "checksum of the trial",
   "XXH3-128 over id, key, status, message, shape, optimum and all columns but those of timing",
   .readers = INDEX},
  {"failures", RG_FIELD_TEXT, FIELD(failures), "1", "failed evaluations",
   "a line `EVALUATION: text` for each failed evaluation, with up to 255 bytes of its text; only "
   "where a problem has failed evaluations",
   .provenance = true, .of = RG_OF_FAILING},
  {"failure_texts", RG_FIELD_TEXT, FIELD(failure_texts), "1", "full texts of failed evaluations",
   "a line `EVALUATION: JSON` for each failed evaluation with more text than its line in "
   "`failures`: the text of its error and the standard error of its program, at most 64 KiB each, "
   "as a JSON string, or the number of an earlier evaluation with the same text; beyond 1 MiB per "
   "trial only the log of the run has them",
   .provenance = true, .of = RG_OF_TELLING},
  {"timeline", RG_FIELD_TEXT, FIELD(timeline), "1", "timeline",
   "a line `NUMBER KIND SUBMISSION ATTEMPT WORKER MICROSECOND DETAIL` for each event on the real "
   "clock: begin and gap (between two runs) with microseconds since 1970 and of the gap, start, "
   "end (with the time of the answer) and lost; it replays the trial",
   .provenance = true, .of = RG_OF_REAL},
  {"gap", RG_FIELD_REAL, FIELD(gap), "s", "gap",
   "time between the runs of a trial that was resumed; the clock stood still", .provenance = true,
   .of = RG_OF_REAL},
  {"host", RG_FIELD_CHARS, FIELD(provenance.host), "1", "host", "host on which the trial ran",
   .provenance = true},
  {"rank", RG_FIELD_INT, FIELD(provenance.rank), "1", "rank", "MPI rank that ran it",
   .provenance = true},
  {"ranks", RG_FIELD_INT, FIELD(provenance.ranks), "1", "ranks", "MPI ranks of that run",
   .provenance = true},
  {"generation", RG_FIELD_INT, FIELD(provenance.generation), "1", "generation",
   "0 for the first run of a trial; a record that was made or rescored again has a larger number "
   "than the record that it replaced; only where some trial has one above 0",
   .provenance = true, .of = RG_OF_REPEATED, .readers = INDEX | HEADS},
  {"started", RG_FIELD_REAL, FIELD(provenance.started), "seconds since 1970-01-01 00:00:00",
   "start of the trial", "Coordinated Universal Time", .provenance = true,
   .readers = INDEX | HEADS},
  {"wall", RG_FIELD_REAL, FIELD(provenance.wall), "s", "wall time of the trial",
   "seconds from its start to its record", .provenance = true, .readers = HEADS},
  {"cpu", RG_FIELD_REAL, FIELD(provenance.cpu), "s", "CPU time of the trial",
   "CPU seconds of the process that ran it, and of the programs that it asked", .provenance = true,
   .readers = HEADS},
  {"peak_memory", RG_FIELD_REAL, FIELD(provenance.peak_memory), "byte", "peak memory",
   "largest resident set of the process up to the end of the trial", .provenance = true},
  {"fingerprint", RG_FIELD_COUNT, FIELD(provenance.fingerprint), "1", "numeric fingerprint",
   "trials of equal fingerprint have the same bits", .provenance = true, .readers = HEADS},
  {"machine", RG_FIELD_TEXT, FIELD(provenance.machine), "1", "machine",
   "BLAS core, threads and CPU model", .provenance = true},
  {"software", RG_FIELD_TEXT, FIELD(provenance.software), "1", "software",
   "versions of regatta, its libraries and its compiler", .provenance = true, .readers = HEADS},
};
const int rg_field_count = sizeof(rg_fields) / sizeof(rg_fields[0]);
#undef FIELD
#undef INDEX
#undef HEADS

#define CELL(member)                                                                               \
  .offset = offsetof(RgCellData, member), .size = sizeof(((RgCellData *)NULL)->member)
#define CELL_TEXT(name, member, long_name, description)                                            \
  {                                                                                                \
    name, RG_FIELD_TEXT, CELL(member), "1", long_name, description                                 \
  }
#define CELL_INT(name, member, long_name, description)                                             \
  {                                                                                                \
    name, RG_FIELD_INT, CELL(member), "1", long_name, description                                  \
  }
const RgFieldInfo rg_cell_fields[] = {
  {"id", RG_FIELD_CHARS, CELL(id), "1", "identity of the cell",
   "XXH3-128 of problem, algorithm and all their settings"},
  {"problem", RG_FIELD_TEXT, CELL(problem_label), "1", "problem",
   "label of the problem in the study file", .coordinate = true},
  {"algorithm", RG_FIELD_TEXT, CELL(algorithm_label), "1", "algorithm",
   "label of the algorithm in the study file, swept settings appended", .coordinate = true},
  CELL_TEXT("method", method, "method", "the same without swept settings"),
  CELL_TEXT("problem_name", problem, "name of the problem", "as `regatta list problems` prints it"),
  CELL_TEXT("algorithm_name", algorithm, "name of the algorithm",
            "as `regatta list algorithms` prints it"),
  CELL_INT("problem_revision", problem_revision, "revision of the problem",
           "raised where its results change"),
  CELL_INT("algorithm_revision", algorithm_revision, "revision of the algorithm",
           "raised where its results change"),
  CELL_INT("order", order, "order in the study",
           "number of the cell in the plan, from 0; -1 for a cell that the study does not plan"),
  CELL_INT("problem_number", problem_number, "number of the problem",
           "place of its entry in the list of the study file, from 1; 0 if that is not known"),
  CELL_INT("algorithm_number", algorithm_number, "number of the algorithm", "likewise"),
  CELL_INT("planned_seeds", seeds, "planned seeds",
           "number of seeds of the cell in the study; 0 if that is not known"),
  CELL_INT("planned_instances", instances, "planned instances",
           "number of instances that are crossed with each seed"),
  CELL_INT("initial_points", initial_points, "initial points", "evaluations of the initial design"),
  CELL_INT("iterations", iterations, "budget", "queries after the initial design"),
  CELL_TEXT("goal", goal, "goal",
            "minimise: the user's values are the negative of y, f, objective and optimum"),
  CELL_TEXT("regret_units", regret_units, "units of regret", "y: those of the problem's f"),
  {"dynamic", RG_FIELD_LOGICAL, CELL(dynamic), "1", "dynamic regret",
   "whether regret is against the best design of the moment: the law of the contexts changes, or "
   "they are announced"},
  CELL_TEXT("stops", stops, "what stops a trial",
            "what may end it before its budget, separated by blanks: regret and seconds (`stop`), "
            "time (the clock of the workers)"),
  CELL_TEXT("law", law, "law of the contexts",
            "in coordinates of the unit cube, one for all or one for each, separated by '; '"),
  CELL_TEXT("measure", measure, "measure",
            "by which F summarises f over contexts; empty without one"),
  CELL_TEXT("scores", scores, "measures of the scores",
            "NAME=measure, separated by '; ', in the order of the axis score; empty without "
            "`score`"),
  CELL_TEXT("inputs", inputs, "inputs",
            "meanings of the coordinates of the design, as in the study file, separated by '; '; "
            "empty without names"),
  CELL_TEXT("contexts", contexts, "contexts",
            "meanings of the coordinates of the context, in the same form"),
  CELL_TEXT("swept", swept, "swept settings",
            "name=value pairs of the sweep axes of this cell as typed, separated by ', '; empty "
            "without a sweep; each is a variable of its own too"),
};
const int rg_cell_field_count = sizeof(rg_cell_fields) / sizeof(rg_cell_fields[0]);
#undef CELL
#undef CELL_TEXT
#undef CELL_INT

/* Every column with result 1 adds a blank and its name. */
#define NAME_0(name) ""
#define NAME_1(name) " " name
#define COLUMN_NAME(symbol, name, width, result, units, long_name, description) NAME_##result(name)
static const char checksum_columns[] = RG_COLUMN_LIST(COLUMN_NAME);

#define AT(member)                                                                                 \
  .offset = offsetof(RgStoreInfo, member), .size = sizeof(((RgStoreInfo *)NULL)->member)
#define CREDIT(name, key, number, several)                                                         \
  {                                                                                                \
    name, "`" key "` of the study file, if it names " several, RG_FIELD_TEXT, AT(credit[number]),  \
      true                                                                                         \
  }
const RgAttributeInfo rg_attributes[] = {
  {"Conventions", "metadata conventions followed", RG_FIELD_TEXT, .constant = "CF-1.10"},
  {"title", "title of the study", RG_FIELD_TEXT, AT(title)},
  {"history", "a line for each writing: its time, and the program", RG_FIELD_TEXT, AT(history)},
  {"source", "program that made the file", RG_FIELD_TEXT, .constant = "regatta " RG_VERSION},
  {"references", "paper the study belongs to", RG_FIELD_TEXT, AT(references)},
  {"schema_version", "version of this format", RG_FIELD_INT, AT(schema_version)},
  {"study_name", "name of the study", RG_FIELD_TEXT, AT(name)},
  {"study_seed", "seed of the study (two's complement)", RG_FIELD_COUNT, AT(seed)},
  {"study", "full text of the study file", RG_FIELD_TEXT, AT(study)},
  {"complete", "1: every trial of the study is in this file; 0: a shard, or joined from parts",
   RG_FIELD_INT, AT(complete)},
  {"n_trials", "trials in the file, without those of `earlier`", RG_FIELD_INT, AT(n_trials)},
  {"n_planned", "trials that the study plans; 0 if that is not known", RG_FIELD_INT, AT(n_planned)},
  {"n_failed", "failed trials among these", RG_FIELD_INT, AT(n_failed)},
  {"checksum",
   "checksum of the trials in n_trials; it depends on neither their order nor ranks, hosts or time",
   RG_FIELD_CHARS, AT(checksum)},
  {"checksum_columns",
   "names of the columns in the checksum of a trial, in its order; columns of the algorithm follow",
   RG_FIELD_TEXT, .constant = checksum_columns + 1},
  {"archive_of", "of an archive only: checksum of the full results", RG_FIELD_CHARS, AT(archive_of),
   true},
  CREDIT("creator_name", "authors", RG_CREDIT_AUTHORS, "any"),
  CREDIT("license", "licence", RG_CREDIT_LICENCE, "one"),
  CREDIT("id", "doi", RG_CREDIT_DOI, "one"),
  CREDIT("keywords", "keywords", RG_CREDIT_KEYWORDS, "any"),
};
const int rg_attribute_count = sizeof(rg_attributes) / sizeof(rg_attributes[0]);
#undef AT
#undef CREDIT

bool rg_field_is_reserved(const char *name)
{
  for (int f = 0; f < rg_cell_field_count; f++)
    if (rg_cell_fields[f].coordinate && !strcmp(rg_cell_fields[f].name, name)) return true;
  for (int a = 0; a < RG_AXIS_COUNT; a++)
    if (!strcmp(rg_axes[a].name, name)) return true;
  for (int f = 0; f < rg_field_count; f++)
    if (!strcmp(rg_fields[f].name, name)) return true;
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    if (!strcmp(rg_columns[c].name, name)) return true;
  return !strcmp(name, RG_GROUP_TIMING) || !strcmp(name, RG_GROUP_PROVENANCE);
}

PetscErrorCode rg_store_info_clear(RgStoreInfo *info)
{
  for (int a = 0; a < rg_attribute_count; a++)
    if (rg_attributes[a].type == RG_FIELD_TEXT && !rg_attributes[a].constant)
      PetscCall(PetscFree(*(char **)((char *)info + rg_attributes[a].offset)));
  return 0;
}
