/* The parameters table of a study's run settings. */
#include "study/file/study.h"

static const char *const initial_designs[] = {"uniform", "sobol", "latin_hypercube", NULL};

const RgParam rg_run_params[] = {
  RG_INT("iterations", RgTrialSettings, iterations, NULL, 1, 1000000, "T",
         "queries after the initial design"),
  RG_INT("initial_points", RgTrialSettings, initial_points, "auto", 0, 1000000, "n0",
         "size of the initial design; auto: 2^dim of the design, but no more than 4 dim and no "
         "more than a finite design has points"),
  RG_CHOICE("initial_design", RgTrialSettings, initial_design, "uniform", initial_designs, "",
            "how the initial design is drawn; the same for all algorithms of a seed"),
  RG_ENTRY("given", PATH, RgTrialSettings, given, char *, "auto", 0, 0, rg_param_later, "",
           "file of comma-separated designs that the initial design begins with, a column per "
           "coordinate by its name (x1, x2, ... without names), native units; initial_points: auto "
           "is their number then. With a further column y the designs are not evaluated: these "
           "are their values, of the program's own sign where a problem has a goal. auto: none"),
  RG_ENTRY("on_failure", TEXT, RgTrialSettings, on_failure, char *, "auto", 0, 0, rg_param_later,
           "",
           "what becomes of an evaluation that crashes, is silent too long or gives no number: the "
           "trial 'fail's, or goes on and it is told as 'penalty VALUE', as the 'worst' value so "
           "far, or as 'infeasible' (the worst to methods that don't know of such); auto: fail"),
  RG_REAL("noise_variance", RgTrialSettings, noise_variance, "0", 0, 1e300, "sigma^2",
          "variance of the Gaussian noise of the observations, native units of f squared"),
  RG_BOOL("noise_known", RgTrialSettings, noise_known, "true",
          "whether the algorithms are told the noise variance"),
  RG_BOOL("count_initial", RgTrialSettings, count_initial, "false",
          "whether the initial design enters the cumulative regret"),
  RG_ENTRY(
    "stop_regret", REAL, RgTrialSettings, stop_regret, double, "auto", 0, 1e300, rg_param_later, "",
    "a trial ends after the initial design or a query when its simple regret is at most this; "
    "also written `stop: {regret: VALUE}`; auto: it takes its whole budget"),
  RG_ENTRY("stop_seconds", REAL, RgTrialSettings, stop_seconds, double, "auto", 0, 1e9,
           rg_param_later, "s",
           "a trial ends when its evaluations by a program have taken this number of seconds; also "
           "written `stop: {seconds: VALUE}`; auto: it takes its whole budget"),
  RG_ENTRY("ranks_per_trial", INT, RgTrialSettings, ranks_per_trial, int, "1", 1, 1000000,
           rg_param_layout, "",
           "ranks that work together on one trial, for large Gaussian processes; auto: one, or a "
           "divisor of the job's ranks where the model outgrows one rank"),
  {0},
};
