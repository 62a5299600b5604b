/* Whole trials, as a study runs them. */
#include "bench.h"

#include <string.h>

#include "bench_trial.h"

typedef struct {
  RgStudy study;
  RgPlan plan;
} Trials;

static const char head[] = "study: bench\nseeds: 1\ncommon:\n  noise_variance: 1.0e-4\n";

#define BOX6 "  iterations: 100\n  initial_points: 8\nproblems: [sphere]\nalgorithms: "

#define CONTEXTS                                                                                   \
  "  iterations: 90\n  initial_points: 10\n"                                                       \
  "  surrogate: {kernel: gaussian, ard: true, fit: map, refit_every: 1}\n"                         \
  "  maximiser: {raw_samples: 1024, restarts: 50}\n"                                               \
  "problems: [ackley_context]\nalgorithms: "

#define LONG                                                                                       \
  "  iterations: 340\n  initial_points: 10\n  surrogate: {preset: botorch2023}\n"                  \
  "  maximiser: {raw_samples: 1024, restarts: 50, selection: boltzmann, incumbents: 0, "           \
  "perturbations: 0}\n"                                                                            \
  "problems: [ackley_context]\nalgorithms: "

static const struct {
  const char *name, *text;
} cases[] = {
  {"GP-UCB trial, 3-D box, 100 evaluations, refit at each",
   "  iterations: 90\n  initial_points: 10\n"
   "  surrogate: {kernel: matern52, ard: true, fit: map, refit_every: 1}\n"
   "  maximiser: {raw_samples: 1024, restarts: 50}\n"
   "problems: [hartmann3]\nalgorithms: [gp_ucb]\n"},
  {"GP-UCB trial, 3-D box, 100 evaluations, fixed kernel",
   "  iterations: 90\n  initial_points: 10\n"
   "  surrogate: {kernel: matern52, ard: true, fit: fixed}\n"
   "  maximiser: {raw_samples: 1024, restarts: 50}\n"
   "problems: [hartmann3]\nalgorithms: [gp_ucb]\n"},
  {"EI trial, 6-D box, 100 evaluations, refit at each",
   "  iterations: 90\n  initial_points: 10\nproblems: [hartmann6]\nalgorithms: [ei]\n"},
  {"GP-UCB trial, 6-D box, 100 evaluations, refit at each", BOX6 "[gp_ucb]\n"},
  {"MES trial, the same", BOX6 "[mes]\n"},
  {"JES trial, the same", BOX6 "[jes]\n"},
  {"IRGP-UCB trial, 1000-point grid, 200 iterations",
   "  iterations: 200\n  initial_points: 8\n"
   "  surrogate: {kernel: gaussian, ard: false, length_scale: 0.1, fit: fixed, standardise: "
   "false}\n"
   "problems: [gp_path]\nalgorithms: [irgp_ucb]\n"},
  {"EI trial, 1000-point grid, 200 iterations",
   "  iterations: 200\n  initial_points: 8\n"
   "  surrogate: {kernel: gaussian, ard: false, length_scale: 0.1, fit: fixed, standardise: "
   "false}\n"
   "problems: [gp_path]\nalgorithms: [ei]\n"},
  {"ERBO trial, Ackley 2+1, 100 evaluations, refit at each", CONTEXTS "[erbo]\n"},
  {"WDRBO trial, the same", CONTEXTS "[wdrbo]\n"},
  {"SBO-KDE trial, the same, M = 1024", CONTEXTS "[{name: sbo_kde, samples: 1024}]\n"},
  {"SBO-KDE trial, the same, by quadrature",
   CONTEXTS "[{name: sbo_kde, expectation: quadrature}]\n"},
  {"StableOpt trial, the same, M = 1024", CONTEXTS "[stable_opt]\n"},
  {"DRBO-KDE trial, the same, M = 1024", CONTEXTS "[{name: drbo_kde, samples: 1024}]\n"},
  {"DRBO-MMD trial, the same, |C| = 100", CONTEXTS "[{name: drbo_mmd, contexts: 100}]\n"},
  {"GP-UCB trial, Ackley 2+1, 350 evaluations, Matern-5/2",
   LONG "[{name: gp_ucb, beta: fixed, value: 2.25}]\n"},
  {"ERBO trial, the same", LONG "[erbo]\n"},
  {"WDRBO trial, the same", LONG "[wdrbo]\n"},
  {"SBO-KDE trial, the same", LONG "[sbo_kde]\n"},
  {"StableOpt trial, the same", LONG "[stable_opt]\n"},
  {"DRBO-KDE trial, the same", LONG "[drbo_kde]\n"},
};

static PetscErrorCode run_first(void *closure)
{
  Trials *t = closure;

  return bench_first_trial(&t->study, &t->plan);
}

PetscErrorCode rg_bench_trials(RgBench *bench)
{
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    Trials t = {0};
    RgDiagnostics diagnostics = {0};
    char text[1024];
    double seconds;
    snprintf(text, sizeof(text), "%s%s", head, cases[i].text);
    PetscCall(rg_study_parse(NULL, cases[i].name, text, strlen(text), &t.study, &diagnostics));
    PetscCheck(diagnostics.n == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", cases[i].name,
               diagnostics.list[0].message);
    PetscCall(rg_plan_fill(&t.study, &t.plan));
    PetscCall(rg_bench_time(run_first, &t, &seconds));
    PetscCall(rg_bench_report(bench, cases[i].name, seconds, 0, 0, 0));
    PetscCall(rg_plan_clear(&t.plan));
    PetscCall(rg_study_destroy(&t.study));
  }
  return 0;
}
