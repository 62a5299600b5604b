/* perovskite, p3ht, agnp: three tables of experiments in materials science as pools of candidates.

   Files of Liang et al. 2021, npj Computational Materials 7, 188: raw measurements, last column the
   objective, all others inputs; rows of equal inputs are averaged. Signs are those of their
   program: instability and loss are minimised, conductivity is maximised. No noise is added: an
   observation is the stored mean. Inputs are scaled to the unit cube by their extremes (their
   program evaluates the model at unscaled candidates, a slip).

     perovskite   94 candidates, d = 3: fractions of CsPbI, FAPbI, MAPbI; F = -instability index
     p3ht        178 candidates, d = 5: % of P3HT and of four nanotubes; F = conductivity, S/cm
     agnp        164 candidates, d = 5: four flow ratios in %, total flow in uL/min; F = -loss */
#include "problem/pool.h"

#define ORIGIN                                                                                     \
  "https://github.com/PV-Lab/Benchmarking, folder datasets: save them anywhere and set "           \
  "REGATTA_DATA to that folder"

#define PARAMS(file)                                                                               \
  RG_PATH("path", RgPoolSource, path, "materials/" file, "",                                       \
          "the table; looked for in the working directory and below REGATTA_DATA"),                \
    RG_POOL_REPEATS

static const RgParam perovskite_params[] = {PARAMS("Perovskite_dataset.csv"), {0}};
static const RgParam p3ht_params[] = {PARAMS("P3HT_dataset.csv"), {0}};
static const RgParam agnp_params[] = {PARAMS("AgNP_dataset.csv"), {0}};

static const RgPoolFamily minimised = {ORIGIN, RG_GOAL_MINIMISE};
static const RgPoolFamily maximised = {ORIGIN, RG_GOAL_MAXIMISE};

const RgProblemClass rg_problem_perovskite = {
  RG_ABOUT("perovskite", "Perovskite", 1,
           "environmental stability of halide perovskites, F = -instability index; 94\n"
           "candidates, fractions of CsPbI, FAPbI and MAPbI",
           "Sun et al. 2021, Matter 4, 1305; table of Liang et al. 2021, npj Computational "
           "Materials 7, 188"),
  .family = &minimised,
  RG_POOL(perovskite_params),
};

const RgProblemClass rg_problem_p3ht = {
  RG_ABOUT("p3ht", "P3HT/CNT", 1,
           "electrical conductivity of P3HT-nanotube composites in S/cm; 178 candidates,\n"
           "contents of P3HT and of four kinds of nanotubes in %",
           "Bash et al. 2021, Advanced Functional Materials, 2102606; table of Liang et al. "
           "2021, npj Computational Materials 7, 188"),
  .family = &maximised,
  RG_POOL(p3ht_params),
};

const RgProblemClass rg_problem_agnp = {
  RG_ABOUT("agnp", "AgNP", 1,
           "absorbance spectrum of silver nanoparticles, F = -loss against the target spectrum;\n"
           "164 candidates, four flow ratios in % and the total flow in uL/min",
           "Mekki-Berrada et al. 2021, npj Computational Materials 7, 55; table of Liang et "
           "al. 2021, npj Computational Materials 7, 188"),
  .family = &minimised,
  RG_POOL(agnp_params),
};
