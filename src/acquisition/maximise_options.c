/* The `maximiser:` block of study files: its table. */
#include "regatta/acquire.h"

static const char *const selections[] = {"best", "boltzmann", NULL};
static const char *const local_searches[] = {"batched", "lbfgsb", "adam", NULL};

#define FIELD(field) offsetof(RgMaximiserOptions, field)

const RgParam rg_maximiser_params[] = {
  {"raw_samples", RG_PARAM_INT, FIELD(raw_samples), "1024", 1, 1e7, NULL, "",
   "scrambled Sobol points of the unit cube evaluated in one batch, fresh at every iteration"},
  {"restarts", RG_PARAM_INT, FIELD(restarts), "50", 1, 1e5, NULL, "",
   "starts of the local search, drawn from the raw points by `selection`"},
  {"incumbents", RG_PARAM_INT, FIELD(incumbents), "5", 0, 1e5, NULL, "",
   "best observed inputs added to the raw points"},
  {"perturbations", RG_PARAM_INT, FIELD(perturbations), "20", 0, 1e5, NULL, "",
   "Gaussian perturbations of the best observed input added to the raw points"},
  {"perturbation", RG_PARAM_REAL, FIELD(perturbation), "0.05", RG_POSITIVE, 1.0, NULL, "",
   "largest deviation of the perturbations, unit cube; the others fall geometrically to a 25th"},
  {"selection", RG_PARAM_CHOICE, FIELD(selection), "best", 0, 0, selections, "",
   "starts are the best raw points, or drawn with weights exp(temperature * (a - mean a)/sd a)"},
  {"temperature", RG_PARAM_REAL, FIELD(temperature), "1", 0.0, 1e3, NULL, "",
   "of the boltzmann selection; 0 draws uniformly"},
  {"max_iterations", RG_PARAM_INT, FIELD(max_iterations), "200", 0, 1e6, NULL, "",
   "of the local search, per start; 0 keeps the best raw point"},
  {"tolerance", RG_PARAM_REAL, FIELD(tolerance), "1e-9", 1e-15, 1.0, NULL, "",
   "a start stops when the improvement it expects is below tolerance * max(1, |a|)"},
  {"local_search", RG_PARAM_CHOICE, FIELD(local_search), "batched", 0, 0, local_searches, "",
   "projected quasi-Newton of all starts in lockstep with merging, one L-BFGS-B per start, or Adam "
   "on "
   "their sum, whose ends alone compete (as released with wdrbo)"},
  {0}};
