/* The `maximiser:` block of study files: its table. */
#include "regatta/acquire.h"

static const char *const selections[] = {"best", "boltzmann", NULL};
static const char *const local_searches[] = {"batched", "lbfgsb", "adam", NULL};

const RgParam rg_maximiser_params[] = {
  RG_INT(
    "raw_samples", RgMaximiserOptions, raw_samples, "1024", 1, 1e7, "",
    "scrambled Sobol points of the unit cube evaluated in one batch, fresh at every iteration"),
  RG_INT("restarts", RgMaximiserOptions, restarts, "50", 1, 1e5, "",
         "starts of the local search, drawn from the raw points by `selection`"),
  RG_INT("incumbents", RgMaximiserOptions, incumbents, "5", 0, 1e5, "",
         "best observed inputs added to the raw points"),
  RG_INT("perturbations", RgMaximiserOptions, perturbations, "20", 0, 1e5, "",
         "Gaussian perturbations of the best observed input added to the raw points"),
  RG_REAL(
    "perturbation", RgMaximiserOptions, perturbation, "0.05", RG_POSITIVE, 1.0, "",
    "largest deviation of the perturbations, unit cube; the others fall geometrically to a 25th"),
  RG_CHOICE(
    "selection", RgMaximiserOptions, selection, "best", selections, "",
    "starts are the best raw points, or drawn with weights exp(temperature * (a - mean a)/sd a)"),
  RG_REAL("temperature", RgMaximiserOptions, temperature, "1", 0.0, 1e3, "",
          "of the boltzmann selection; 0 draws uniformly"),
  RG_INT("max_iterations", RgMaximiserOptions, max_iterations, "200", 0, 1e6, "",
         "of the local search, per start; 0 keeps the best raw point"),
  RG_REAL("tolerance", RgMaximiserOptions, tolerance, "1e-9", 1e-15, 1.0, "",
          "a start stops when the improvement it expects is below tolerance * max(1, |a|)"),
  RG_CHOICE("local_search", RgMaximiserOptions, local_search, "batched", local_searches, "",
            "projected quasi-Newton of all starts in lockstep with merging, one L-BFGS-B per "
            "start, or Adam on their sum, whose ends alone compete (as released with wdrbo)"),
  {0},
};
