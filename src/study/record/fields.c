/* The table of fields and root attributes. */
#include "study/record/fields.h"

#include <string.h>

/* clang-format off */
const RgAxisInfo rg_axes[RG_AXES] = {
  [RG_AXIS_TRIAL]     = {"trial", 0, "trial",
                         "number of the trial within this group, in the order of the plan"},
  [RG_AXIS_ITERATION] = {"iteration", 1, "evaluation",
                         "number of the evaluation from 1; the first n_initial of a trial are its "
                         "initial design"},
  [RG_AXIS_X]         = {"dim_x", 0, "design coordinate", "coordinate of the design"},
  [RG_AXIS_C]         = {"dim_c", 0, "context coordinate", "coordinate of the context"},
  [RG_AXIS_Z]         = {"dim_z", 0, "model input",
                         "input of the model: design coordinates, then context coordinates"},
  [RG_AXIS_S]         = {"score", 0, "score",
                         "measure that scores the trials, as in `scores` of their cells"},
  [RG_AXIS_CELL]      = {"cell", 0, "cell", "number of the cell: the rows of the table `cells`"},
  [RG_AXIS_T]         = {"term", 0, "term",
                         "term of an additive kernel: in the order of its groups or `terms`"},
};

#define FIELD(member) offsetof(RgRecord, member), sizeof(((RgRecord *)NULL)->member)
const RgFieldInfo rg_fields[] = {
  {"id", RG_FIELD_CHARS, FIELD(id), false, RG_OF_ALL, true, "1", "identity of the trial",
   "XXH3-128 of the key, 32 hexadecimal digits"},
  {"key", RG_FIELD_TEXT, FIELD(key), false, RG_OF_ALL, false, "1", "key of the trial",
   "canonical text of everything the results depend on: key version, problem, instance, "
   "parameters, algorithm, parameters, revisions, budget, seeds"},
  {"cell", RG_FIELD_INT, FIELD(cell_number), false, RG_OF_ALL, false, "1", "cell",
   "row of the cell in the table `cells`"},
  {"instance", RG_FIELD_COUNT, FIELD(instance), false, RG_OF_ALL, true, "1", "instance",
   "number of the draw of a random problem"},
  {"seed", RG_FIELD_COUNT, FIELD(seed), false, RG_OF_ALL, true, "1", "seed", "seed of the trial"},
  {"status", RG_FIELD_STATUS, FIELD(status), false, RG_OF_ALL, true, "1", "status",
   "whether the trial came to its end, by its budget or by `stop`, or failed numerically"},
  {"message", RG_FIELD_CHARS, FIELD(message), false, RG_OF_ALL, false, "1", "message",
   "reason why the trial failed, or the place where it exceeded the optimum; empty otherwise"},
  {"n_iterations", RG_FIELD_INT, FIELD(n_rows), false, RG_OF_ALL, false, "1",
   "recorded evaluations",
   "entries of this trial along the axis iteration, its initial design included; NaN follows"},
  {"n_initial", RG_FIELD_INT, FIELD(n_initial), false, RG_OF_ALL, false, "1",
   "size of the initial design",
   "evaluations before the algorithm was asked for the first time"},
  {"n_dim_x", RG_FIELD_INT, FIELD(dim_x), false, RG_OF_ALL, false, "1", "design dimension",
   "coordinates of the design of this trial; NaN follows along dim_x"},
  {"n_dim_c", RG_FIELD_INT, FIELD(dim_c), false, RG_OF_ALL, false, "1", "context dimension",
   "coordinates of the context of this trial, 0 without context"},
  {"n_dim_z", RG_FIELD_INT, FIELD(dim_z), false, RG_OF_ALL, false, "1", "model inputs",
   "inputs of the model of this trial, 0 without a model"},
  {"n_scores", RG_FIELD_INT, FIELD(n_scores), false, RG_OF_SCORED, false, "1", "scores",
   "number of measures of this trial; NaN follows along score; only where a problem has `score`"},
  {"n_terms", RG_FIELD_INT, FIELD(n_terms), false, RG_OF_ADDITIVE, false, "1", "terms",
   "number of terms of the kernel of this trial; NaN follows along term; only where a kernel is "
   "additive"},
  {"optimum", RG_FIELD_REAL, FIELD(optimum), false, RG_OF_ALL, false, "y", "optimum",
   "max F of the instance; regret is measured from it, or from the best F of the trial if that is "
   "larger; NaN if it is unknown"},
  {"workers", RG_FIELD_INT, FIELD(workers), false, RG_OF_CREW, true, "1", "workers",
   "evaluations at the same time; this and the variables of the clock only where a problem has "
   "trials with several workers or a clock"},
  {"release", RG_FIELD_CHARS, FIELD(release), false, RG_OF_CREW, true, "1", "release",
   "when workers take new queries, async or sync; empty with one worker"},
  {"makespan", RG_FIELD_REAL, FIELD(makespan), false, RG_OF_CREW, false, "time", "makespan",
   "end of the last evaluation on the simulated clock; NaN without a clock"},
  {"idle_share", RG_FIELD_REAL, FIELD(idle_share), false, RG_OF_CREW, false, "1", "idle share",
   "share of the workers' time up to the makespan that they were idle; NaN without a clock"},
  {"in_flight", RG_FIELD_INT, FIELD(in_flight), false, RG_OF_CREW, false, "1",
   "evaluations in flight",
   "evaluations that were asked for and did not end within the time limit"},
  {"lost", RG_FIELD_INT, FIELD(lost), false, RG_OF_CREW, false, "1", "lost evaluations",
   "how often an evaluation was lost because its worker died"},
  {"checksum", RG_FIELD_CHARS, FIELD(checksum), false, RG_OF_ALL, false, "1",
   "checksum of the trial",
   "XXH3-128 over id, key, status, message, shape, optimum and all columns but those of timing"},
  {"failures", RG_FIELD_TEXT, FIELD(failures), true, RG_OF_FAILING, false, "1",
   "failed evaluations",
   "a line `EVALUATION: text` for each failed evaluation, with up to 255 bytes of its text; only "
   "where a problem has failed evaluations"},
  {"failure_texts", RG_FIELD_TEXT, FIELD(failure_texts), true, RG_OF_TELLING, false, "1",
   "full texts of failed evaluations",
   "a line `EVALUATION: JSON` for each failed evaluation with more text than its line in "
   "`failures`: the text of its error and the standard error of its program, at most 64 KiB each, "
   "as a JSON string, or the number of an earlier evaluation with the same text; beyond 1 MiB per "
   "trial only the log of the run has them"},
  {"timeline", RG_FIELD_TEXT, FIELD(timeline), true, RG_OF_REAL, false, "1", "timeline",
   "a line `NUMBER KIND SUBMISSION ATTEMPT WORKER MICROSECOND DETAIL` for each event on the real "
   "clock: begin and gap (between two runs) with microseconds since 1970 and of the gap, start, "
   "end (with the time of the answer) and lost; it replays the trial"},
  {"gap", RG_FIELD_REAL, FIELD(gap), true, RG_OF_REAL, false, "s", "gap",
   "time between the runs of a trial that was resumed; the clock stood still"},
  {"host", RG_FIELD_CHARS, FIELD(provenance.host), true, RG_OF_ALL, false, "1", "host",
   "host on which the trial ran"},
  {"rank", RG_FIELD_INT, FIELD(provenance.rank), true, RG_OF_ALL, false, "1", "rank",
   "MPI rank that ran it"},
  {"ranks", RG_FIELD_INT, FIELD(provenance.ranks), true, RG_OF_ALL, false, "1", "ranks",
   "MPI ranks of that run"},
  {"generation", RG_FIELD_INT, FIELD(provenance.generation), true, RG_OF_REPEATED, false, "1",
   "generation",
   "0 for the first run of a trial; a record that was made or rescored again has a larger number "
   "than the record that it replaced; only where some trial has one above 0"},
  {"started", RG_FIELD_REAL, FIELD(provenance.started), true, RG_OF_ALL, false,
   "seconds since 1970-01-01 00:00:00", "start of the trial", "Coordinated Universal Time"},
  {"wall", RG_FIELD_REAL, FIELD(provenance.wall), true, RG_OF_ALL, false, "s",
   "wall time of the trial",
   "seconds from its start to its record"},
  {"cpu", RG_FIELD_REAL, FIELD(provenance.cpu), true, RG_OF_ALL, false, "s",
   "CPU time of the trial",
   "CPU seconds of the process that ran it, and of the programs that it asked"},
  {"peak_memory", RG_FIELD_REAL, FIELD(provenance.peak_memory), true, RG_OF_ALL, false, "byte",
   "peak memory",
   "largest resident set of the process up to the end of the trial"},
  {"fingerprint", RG_FIELD_COUNT, FIELD(provenance.fingerprint), true, RG_OF_ALL, false, "1",
   "numeric fingerprint", "trials of equal fingerprint have the same bits"},
  {"machine", RG_FIELD_TEXT, FIELD(provenance.machine), true, RG_OF_ALL, false, "1", "machine",
   "BLAS core, threads and CPU model"},
  {"software", RG_FIELD_TEXT, FIELD(provenance.software), true, RG_OF_ALL, false, "1", "software",
   "versions of regatta, its libraries and its compiler"},
};
const int rg_field_count = sizeof(rg_fields) / sizeof(rg_fields[0]);
#undef FIELD

#define CELL(member) offsetof(RgCellData, member), sizeof(((RgCellData *)NULL)->member)
#define CELL_TEXT(name, member, label, long_name, description)                                     \
  {name, RG_FIELD_TEXT, CELL(member), false, RG_OF_ALL, label, "1", long_name, description}
#define CELL_INT(name, member, long_name, description)                                             \
  {name, RG_FIELD_INT, CELL(member), false, RG_OF_ALL, false, "1", long_name, description}
const RgFieldInfo rg_cell_fields[] = {
  {"id", RG_FIELD_CHARS, CELL(id), false, RG_OF_ALL, false, "1", "identity of the cell",
   "XXH3-128 of problem, algorithm and all their settings"},
  CELL_TEXT("problem", problem_label, true, "problem", "label of the problem in the study file"),
  CELL_TEXT("algorithm", algorithm_label, true, "algorithm",
            "label of the algorithm in the study file, swept settings appended"),
  CELL_TEXT("method", method, false, "method", "the same without swept settings"),
  CELL_TEXT("problem_name", problem, false, "name of the problem",
            "as `regatta list problems` prints it"),
  CELL_TEXT("algorithm_name", algorithm, false, "name of the algorithm",
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
  CELL_TEXT("goal", goal, false, "goal",
            "minimise: the user's values are the negative of y, f, objective and optimum"),
  CELL_TEXT("regret_units", regret_units, false, "units of regret",
            "y: those of the problem's f"),
  {"dynamic", RG_FIELD_LOGICAL, CELL(dynamic), false, RG_OF_ALL, false, "1", "dynamic regret",
   "whether regret is against the best design of the moment: the law of the contexts changes, or "
   "they are announced"},
  CELL_TEXT("stops", stops, false, "what stops a trial",
            "what may end it before its budget, separated by blanks: regret and seconds (`stop`), "
            "time (the clock of the workers)"),
  CELL_TEXT("law", law, false, "law of the contexts",
            "in coordinates of the unit cube, one for all or one for each, separated by '; '"),
  CELL_TEXT("measure", measure, false, "measure",
            "by which F summarises f over contexts; empty without one"),
  CELL_TEXT("scores", scores, false, "measures of the scores",
            "NAME=measure, separated by '; ', in the order of the axis score; empty without "
            "`score`"),
  CELL_TEXT("inputs", inputs, false, "inputs",
            "meanings of the coordinates of the design, as in the study file, separated by '; '; "
            "empty without names"),
  CELL_TEXT("contexts", contexts, false, "contexts",
            "meanings of the coordinates of the context, in the same form"),
  CELL_TEXT("swept", swept, false, "swept settings",
            "name=value pairs of the sweep axes of this cell as typed, separated by ', '; empty "
            "without a sweep; each is a variable of its own too"),
};
const int rg_cell_field_count = sizeof(rg_cell_fields) / sizeof(rg_cell_fields[0]);
#undef CELL
#undef CELL_TEXT
#undef CELL_INT

/* name, description, text, provenance */
const RgAttributeInfo rg_attributes[RG_ATTRIBUTE_COUNT] = {
  [RG_ATTRIBUTE_CONVENTIONS]    = {"Conventions", "metadata conventions followed", true, false},
  [RG_ATTRIBUTE_TITLE]          = {"title", "title of the study", true, false},
  [RG_ATTRIBUTE_HISTORY]        = {"history",
                                   "a line for each writing: its time, and the program",
                                   true, true},
  [RG_ATTRIBUTE_SOURCE]         = {"source", "program that made the file", true, true},
  [RG_ATTRIBUTE_REFERENCES]     = {"references", "paper the study belongs to", true, false},
  [RG_ATTRIBUTE_SCHEMA_VERSION] = {"schema_version", "version of this format", false, false},
  [RG_ATTRIBUTE_STUDY_NAME]     = {"study_name", "name of the study", true, false},
  [RG_ATTRIBUTE_STUDY_SEED]     = {"study_seed", "seed of the study (two's complement)", false,
                                   false},
  [RG_ATTRIBUTE_STUDY]          = {"study", "full text of the study file", true, false},
  [RG_ATTRIBUTE_COMPLETE]       = {"complete",
                                   "1: every trial of the study is in this file; 0: a shard, or "
                                   "joined from parts", false, false},
  [RG_ATTRIBUTE_N_TRIALS]       = {"n_trials",
                                   "trials in the file, without those of `earlier`", false,
                                   false},
  [RG_ATTRIBUTE_N_PLANNED]      = {"n_planned", "trials that the study plans; 0 if that is not "
                                                "known", false, false},
  [RG_ATTRIBUTE_N_FAILED]       = {"n_failed", "failed trials among these", false, false},
  [RG_ATTRIBUTE_CHECKSUM]       = {"checksum",
                                   "checksum of the trials in n_trials; it depends on neither "
                                   "their order nor ranks, hosts or time", true, false},
  [RG_ATTRIBUTE_CHECKSUM_COLUMNS] = {"checksum_columns",
                                     "names of the columns in the checksum of a trial, in its "
                                     "order; columns of the algorithm follow", true, false},
  [RG_ATTRIBUTE_ARCHIVE_OF]       = {"archive_of",
                                     "of an archive only: checksum of the full results", true,
                                     false},
  [RG_ATTRIBUTE_CREDIT + RG_CREDIT_AUTHORS]  = {"creator_name",
                                                "`authors` of the study file, if it names any",
                                                true, false},
  [RG_ATTRIBUTE_CREDIT + RG_CREDIT_LICENCE]  = {"license",
                                                "`licence` of the study file, if it names one",
                                                true, false},
  [RG_ATTRIBUTE_CREDIT + RG_CREDIT_DOI]      = {"id", "`doi` of the study file, if it names one",
                                                true, false},
  [RG_ATTRIBUTE_CREDIT + RG_CREDIT_KEYWORDS] = {"keywords",
                                                "`keywords` of the study file, if it names any",
                                                true, false},
};
/* clang-format on */

int rg_field_find(const char *name)
{
  for (int f = 0; f < rg_field_count; f++)
    if (!strcmp(rg_fields[f].name, name)) return f;
  return -1;
}

bool rg_field_is_reserved(const char *name)
{
  for (int f = 0; f < rg_cell_field_count; f++)
    if (rg_cell_fields[f].coordinate && !strcmp(rg_cell_fields[f].name, name)) return true;
  for (int a = 0; a < RG_AXIS_COUNT; a++)
    if (!strcmp(rg_axes[a].name, name)) return true;
  return rg_field_find(name) >= 0 || !strcmp(name, RG_GROUP_TIMING) ||
         !strcmp(name, RG_GROUP_PROVENANCE);
}
