/* Reading results trial by trial, from a results file or the folder of a running study. */
#ifndef RG_REGATTA_RESULTS_H
#define RG_REGATTA_RESULTS_H

#include "regatta/study.h"

/* ---- what is recorded per evaluation ---- */

/* The list of columns: the trial loop fills them, the writers store them, and
   docs/results-format.md is generated from the list.
   COLUMN(symbol, dataset name, width, result, units, long name, description)
   width: 1, or RG_WIDTH_X / RG_WIDTH_C / RG_WIDTH_Z / RG_WIDTH_S / RG_WIDTH_T for one value per
   coordinate of the design / coordinate of the context / input of the model / measure that scores
   the trial / term of an additive kernel.
   result: 1 for results proper (same bits everywhere, in checksums), 0 for timing. Units: "y"
   means the units of the problem's f, "1" dimensionless. Missing values are NaN. */
enum { RG_WIDTH_X = -1, RG_WIDTH_C = -2, RG_WIDTH_Z = -3, RG_WIDTH_S = -4, RG_WIDTH_T = -5 };

#define RG_COLUMN_LIST(COLUMN)                                                                     \
  COLUMN(X, "x", RG_WIDTH_X, 1, "native", "design", "queried design, native units")                \
  COLUMN(C, "c", RG_WIDTH_C, 1, "native", "context", "context of the evaluation as observed")      \
  COLUMN(Y, "y", 1, 1, "y", "observation", "observed value, including noise")                      \
  COLUMN(F, "f", 1, 1, "y", "noise-free value",                                                    \
         "f(x, c) without noise; of a program the given value where a value is known")             \
  COLUMN(OBJECTIVE, "objective", 1, 1, "y", "objective",                                           \
         "F at the queried design; NaN where the evaluation failed or a constraint is violated")   \
  COLUMN(RECOMMENDATION, "recommendation", RG_WIDTH_X, 1, "native", "recommended design",          \
         "design recommended after this evaluation, for methods that recommend")                   \
  COLUMN(INSTANTANEOUS_REGRET, "instantaneous_regret", 1, 1, "y", "instantaneous regret",          \
         "F(x*) - F(x_t); for methods that recommend, x_t is the recommendation")                  \
  COLUMN(SIMPLE_REGRET, "simple_regret", 1, 1, "y", "simple regret",                               \
         "F(x*) - max F over the evaluations so far, including the initial design")                \
  COLUMN(CUMULATIVE_REGRET, "cumulative_regret", 1, 1, "y", "cumulative regret",                   \
         "sum of the instantaneous regret; NaN in the initial design unless it counts")            \
  COLUMN(POSTERIOR_SD, "posterior_sd", 1, 1, "y", "posterior deviation at the query",              \
         "deviation of f at x_t before it was evaluated")                                          \
  COLUMN(INFORMATION_GAIN, "information_gain", 1, 1, "1", "realised information gain",             \
         "running sum of log(1 + sd^2/noise variance)/2 over the queries")                         \
  COLUMN(LENGTH_SCALE, "length_scale", RG_WIDTH_Z, 1, "1", "length scales",                        \
         "length scales of the model at the query, unit-cube units")                               \
  COLUMN(SIGNAL_VARIANCE, "signal_variance", 1, 1, "1", "signal variance",                         \
         "prior variance of the model at the query, model units")                                  \
  COLUMN(MODEL_NOISE, "model_noise", 1, 1, "1", "noise variance of the model",                     \
         "noise variance at the query, model units")                                               \
  COLUMN(                                                                                          \
    LOG_LIKELIHOOD, "log_likelihood", 1, 1, "1", "log marginal likelihood",                        \
    "value for the data at the fitted hyperparameters, without priors; only where a fit was made") \
  COLUMN(JITTER, "jitter", 1, 1, "1", "jitter",                                                    \
         "number added to the diagonal of the kernel matrix")                                      \
  COLUMN(SCORE_RECOMMENDED, "score_recommended", RG_WIDTH_S, 1, "1",                               \
         "recommended design by score",                                                            \
         "number (from 0) of the design that each measure recommends after this evaluation")       \
  COLUMN(SCORE_INSTANTANEOUS_REGRET, "score_instantaneous_regret", RG_WIDTH_S, 1, "y",             \
         "instantaneous regret by score",                                                          \
         "instantaneous_regret by each measure, for its recommendation")                           \
  COLUMN(SCORE_SIMPLE_REGRET, "score_simple_regret", RG_WIDTH_S, 1, "y", "simple regret by score", \
         "simple_regret by each measure")                                                          \
  COLUMN(SCORE_CUMULATIVE_REGRET, "score_cumulative_regret", RG_WIDTH_S, 1, "y",                   \
         "cumulative regret by score", "cumulative_regret by each measure")                        \
  COLUMN(WALL_FIT, "wall_fit", 1, 0, "s", "wall time of the model update", "seconds")              \
  COLUMN(WALL_ACQUIRE, "wall_acquire", 1, 0, "s", "wall time of the acquisition", "seconds")       \
  COLUMN(WALL_EVALUATE, "wall_evaluate", 1, 0, "s", "wall time of the evaluation", "seconds")      \
  COLUMN(CPU_FIT, "cpu_fit", 1, 0, "s", "CPU time of the model update", "seconds")                 \
  COLUMN(CPU_ACQUIRE, "cpu_acquire", 1, 0, "s", "CPU time of the acquisition", "seconds")          \
  COLUMN(CPU_EVALUATE, "cpu_evaluate", 1, 0, "s", "CPU time of the evaluation", "seconds")         \
  COLUMN(                                                                                          \
    FILL_DISTANCE, "fill_distance", 1, 1, "1", "fill distance",                                    \
    "largest distance of a point of the unit cube to the queries so far, unit-cube units; for "    \
    "problems of filling space")                                                                   \
  COLUMN(OBJECTIVE_ERROR, "objective_error", 1, 1, "y", "error of the objective",                  \
         "largest estimated error of F over the trial's queries; only where F has no formula")     \
  COLUMN(SOLVER_ITERATIONS, "solver_iterations", 1, 1, "1", "iterations of the solver",            \
         "iterations of conjugate gradients for the posterior mean; only without a matrix")        \
  COLUMN(SOLVER_RESIDUAL, "solver_residual", 1, 1, "1", "residual of the solver",                  \
         "residual after these iterations, relative to the right-hand side")                       \
  COLUMN(FIT_DATA, "fit_data", 1, 1, "1", "data of the fit",                                       \
         "number of data in the fit of the hyperparameters and in log_likelihood; only where the " \
         "posterior has no matrix and a fit was made")                                             \
  COLUMN(TERM_VARIANCE, "term_variance", RG_WIDTH_T, 1, "1", "variances of the terms",             \
         "prior variance of each term of an additive kernel at the query, model units")            \
  COLUMN(TERM_LENGTH_SCALE, "term_length_scale", RG_WIDTH_T, 1, "1", "length scales of the terms", \
         "length scale of each term of an additive kernel whose inputs share one")                 \
  COLUMN(WARP_A, "warp_a", RG_WIDTH_Z, 1, "1", "first exponents of the warping",                   \
         "a of 1 - (1 - x^a)^b of each input at the query, x within [1e-6, 1 - 1e-6]; only with "  \
         "`input_warping`")                                                                        \
  COLUMN(WARP_B, "warp_b", RG_WIDTH_Z, 1, "1", "second exponents of the warping",                  \
         "b of each input; only with `input_warping`")                                             \
  COLUMN(TREND_LINEAR, "trend_linear", 1, 1, "1", "variance of the linear trend",                  \
         "v_1 of v_1 s + v_2 s^2, s = (2x - 1)'(2z - 1)/dim in the unit cube, which is added to "  \
         "the kernel; only with `mean: quadratic`")                                                \
  COLUMN(TREND_QUADRATIC, "trend_quadratic", 1, 1, "1", "variance of the quadratic trend",         \
         "v_2 of the same")                                                                        \
  COLUMN(SPHERE_SCALE, "sphere_scale", 1, 1, "1", "scale of the projection to a sphere",           \
         "a of regatta describe spherical_linear at the query; only with that kernel")             \
  COLUMN(SPHERE_SHARE, "sphere_share", 1, 1, "1", "share of the linear function", "b of the same") \
  COLUMN(OUTPUT_POWER, "output_power", 1, 1, "1", "exponent of the outputs",                       \
         "lambda of the Yeo-Johnson power of the outputs at the query; only with `transform: "     \
         "yeo_johnson`")                                                                           \
  COLUMN(FIT_FROM, "fit_from", 1, 1, "1", "first evaluation of the fit",                           \
         "submission of the first evaluation that the fit knows; only where a fit was made after " \
         "a restart, which forgets those before it")                                               \
  COLUMN(PROGRAM_MEMORY, "program_memory", 1, 0, "B", "memory of the program",                     \
         "peak resident set so far of the program that is the method")                             \
  COLUMN(SUBMISSION, "submission", 1, 1, "1", "submission",                                        \
         "number of the evaluation in the order of asking, from 1; this and the columns below "    \
         "where there are several workers or a clock")                                             \
  COLUMN(WORKER, "worker", 1, 1, "1", "worker",                                                    \
         "number of the worker that evaluated it, from 1; NaN where the value was known at the "   \
         "start")                                                                                  \
  COLUMN(ATTEMPTS, "attempts", 1, 1, "1", "attempts",                                              \
         "how often it was started, because workers died")                                         \
  COLUMN(N_PENDING, "n_pending", 1, 1, "1", "pending evaluations",                                 \
         "evaluations that were asked for and not told when the query was chosen")                 \
  COLUMN(DISPATCHED, "dispatched", 1, 1, "time", "start of the evaluation",                        \
         "of its last attempt, on the simulated clock; units of time are those of `duration`")     \
  COLUMN(FINISHED, "finished", 1, 1, "time", "end of the evaluation", "on the simulated clock")    \
  COLUMN(TOLD, "told", 1, 1, "time", "time of telling",                                            \
         "when the method was told the value, on the simulated clock")                             \
  COLUMN(DURATION, "duration", 1, 1, "time", "duration", "from `dispatched` to `finished`")        \
  COLUMN(IDLE, "idle", 1, 1, "time", "idle time",                                                  \
         "time that all workers together had been idle when the method was told the value")        \
  COLUMN(WALL_DISPATCHED, "wall_dispatched", 1, 0, "s", "start of the evaluation",                 \
         "of its last attempt, on the real clock, from the start of the trial and without gaps")   \
  COLUMN(WALL_FINISHED, "wall_finished", 1, 0, "s", "end of the evaluation",                       \
         "when its answer was there, on the real clock")                                           \
  COLUMN(WALL_TOLD, "wall_told", 1, 0, "s", "time of telling",                                     \
         "when the method was told the value, on the real clock")

#define RG_COLUMN_ENUM(symbol, name, width, result, units, long_name, description)                 \
  RG_COLUMN_##symbol,
enum { RG_COLUMN_LIST(RG_COLUMN_ENUM) RG_COLUMN_COUNT };
#undef RG_COLUMN_ENUM

/* One column as data; `extra` columns of algorithms have width 1 and result 1. */
typedef struct {
  const char *name;
  int width;
  bool result;
  const char *units, *long_name, *description;
} RgColumnInfo;

RG_API extern const RgColumnInfo rg_columns[RG_COLUMN_COUNT];

/* ---- what the trials of a cell have in common: a row of the table `cells` ---- */

/* One cell: problem, algorithm and all their settings. Records share it. All texts are owned; none
   is NULL. */
typedef struct {
  int references;                        /* records and tables that share it */
  char id[RG_ID_LENGTH + 1];             /* XXH3-128 of its canonical text */
  char *problem_label, *algorithm_label; /* names in figures; they may change */
  char *method;                          /* the algorithm's label without swept settings */
  char *problem, *algorithm;             /* registry names */
  int problem_revision, algorithm_revision;
  /* Its place in the study: the number of the cell, from 0, -1: the study does not plan it; the
     numbers of its entries in the lists `problems` and `algorithms`, from 1, 0: not known. */
  int order, problem_number, algorithm_number;
  int seeds, instances; /* planned: instances are crossed with the seeds; 0: not known */
  int initial_points, iterations;
  char *goal;         /* minimise: f is the negative of the user's values */
  char *regret_units; /* "y": those of f */
  int dynamic;        /* regret is against the best design of the moment */
  char *stops;        /* what ends a trial before its budget: "regret seconds time" */
  char *law;          /* laws of the contexts, separated by "; " */
  char *measure;      /* measure by which F summarises f over contexts */
  char *scores;       /* "NAME=measure; ...": further measures that score the trials */
  char *inputs;       /* descriptions of named coordinates of the design, separated by "; " */
  char *contexts;     /* and of the context */
  char *swept;        /* "name=value, ..." of the sweep axes, as typed */
  int n_swept;        /* the sweep axes as data; owned */
  RgSwept *axes;
  /* Every setting, one after the other: the digit of its RgSweptKind with its name
     (`surrogate.kernel`), and its value, each ending with NUL. Empty: not known. */
  RgText settings;
} RgCellData;

/* Count a further user of the cell; returns it. NULL is fine. */
RG_API RgCellData *rg_cell_data_share(RgCellData *cell);
/* Give up a use and set *cell to NULL; the last user frees it. NULL is fine. */
RG_API PetscErrorCode rg_cell_data_release(RgCellData **cell);
/* The value of a setting (`run.noise_variance`), borrowed; NULL: the cell has no such setting. */
RG_API const char *rg_cell_data_setting(const RgCellData *cell, const char *name);

/* ---- the record of a trial: what is committed to a shard and packed into the results file ---- */

typedef enum { RG_STATUS_MISSING, RG_STATUS_COMPLETE, RG_STATUS_FAILED } RgStatus;

#define RG_EXTRA_MAX 40
#define RG_NAME_MAX 64
#define RG_DOC_MAX 128

/* Where and when a trial ran: provenance, never part of a checksum. */
typedef struct {
  char host[RG_NAME_MAX];
  int rank, ranks;
  int team; /* number of ranks if the bits depend on it, else 1; not stored */
  /* Which run of the trial made the record, from 0: the larger one replaces the smaller one. */
  int generation;
  double started;       /* Unix time, seconds */
  double wall, cpu;     /* seconds of the whole trial */
  double peak_memory;   /* bytes, peak resident set of the process at the end */
  uint64_t fingerprint; /* numeric fingerprint of the machine */
  char *machine;        /* BLAS core, threads, CPU model; owned, NULL: unknown */
  char *software;       /* versions; owned; NULL: the store fills in the versions of this process */
} RgProvenance;

typedef struct {
  char id[RG_ID_LENGTH + 1];
  char *key;        /* owned, like every char * below */
  RgCellData *cell; /* shared; NULL: not read */
  int cell_number;  /* row of the cell in the table of its file */
  uint64_t instance, seed;
  RgStatus status;
  /* A line `EVALUATION: text` for each failed evaluation; NULL or "": all succeeded. */
  char *failures;
  /* A line `EVALUATION: JSON` for each text that `failures` shortens; NULL or "": no such text. */
  char *failure_texts;
  char checksum[RG_ID_LENGTH + 1]; /* stored beside the record; "" until the record is stored */
  /* Read from a results file; the study no longer plans this trial. */
  bool earlier;
  /* Evaluations recorded (a failed trial has fewer than planned). */
  int n_rows;
  int n_initial;
  int dim_x, dim_c, dim_z;
  /* Number of measures that score the trial; 0: only the objective. */
  int n_scores;
  int n_terms;     /* terms of an additive kernel; 0: the kernel has one term */
  double optimum;  /* F(x*) of the instance; NaN: unknown */
  int workers;     /* evaluations at the same time */
  char release[8]; /* async, sync; "" with one worker */
  /* End of the last evaluation on the simulated clock; NaN: no clock. */
  double makespan;
  double idle_share; /* idle share of the workers' time up to then; NaN: no clock */
  /* Evaluations that the time limit cut off; evaluations whose worker died. */
  int in_flight, lost;
  /* Events on the real clock, a line for each; NULL or "": the clock was not real. */
  char *timeline;
  double gap; /* seconds between the runs of a trial on the real clock */
  RgProvenance provenance;
  char message[256]; /* reason of a failure, else "" */
  /* The data, behind all fields. */
  double *column[RG_COLUMN_COUNT]; /* n_rows x width, owned; NULL: all NaN */
  int n_extra;
  char (*extra_name)[RG_NAME_MAX]; /* n_extra dataset names, owned */
  char (*extra_doc)[RG_DOC_MAX];   /* n_extra meanings with unit, owned */
  double *extra[RG_EXTRA_MAX];     /* n_rows each, owned; NULL: all NaN */
  bool logged; /* until the trial is committed, a log beside the shards holds its evaluations */
} RgRecord;

/* Free and zero. A zeroed record may be destroyed. */
RG_API PetscErrorCode rg_record_destroy(RgRecord *record);
/* Doubles per row of standard column `column` in this record. */
RG_API int rg_record_width(const RgRecord *record, int column);

/* ---- reading ---- */

typedef struct RgResults RgResults;

/* Open a results file, or the folder of a running or stopped study (also by the path of its
   future results file). For a file that is foreign, damaged or of a newer schema `fault` is set
   and *results is NULL. Nothing on disk changes. The caller closes the results. */
RG_API PetscErrorCode rg_results_open(const char *path, RgResults **results, RgFault *fault);
/* Read the next trial with all its columns, each trial once, in no particular order. record:
   zeroed before, destroyed by rg_record_destroy after. False at the end. Damaged records are
   skipped; rg_results_damaged counts them. One trial is in memory at a time. Errors are kept for
   rg_results_close. */
RG_API bool rg_results_next(RgResults *results, RgRecord *record);
RG_API int rg_results_damaged(const RgResults *results);
/* Close the results and set *results to NULL; NULL is fine. */
RG_API PetscErrorCode rg_results_close(RgResults **results);

#endif
