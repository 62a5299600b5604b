/* dataset: a table of measurements as a finite design.

   The distinct input rows of a CSV file are the candidates, in lexicographic order. The
   objective is the chosen column, averaged over rows of equal inputs and negated if it is to be
   minimised. Inputs are scaled to the unit cube by their extremes in the file or by given
   bounds. By default a candidate is queried only once. The numbers identify a trial; the file's
   name does not. The file is read at every use: O(rows log rows). */
#include "problem/pool.h"

typedef struct {
  char *path, *objective;
  RgTexts inputs;
  int header, goal, duplicates;
  RgReals lower, upper;
  bool repeats;
} Options;

static const char *const duplicates[] = {"mean", "first", "error", NULL};

static const RgParam params[] = {
  RG_PATH("path", Options, path, NULL, "",
          "CSV file with a header line; a relative path counts from the study file's folder, the "
          "working directory, or the folder REGATTA_DATA"),
  RG_POOL_COLUMNS(Options),
  RG_CHOICE("duplicates", Options, duplicates, "mean", duplicates, "",
            "value of rows with equal inputs: their mean, the first of them, or refuse the file"),
  RG_REALS("lower", Options, lower, "auto", -1e100, 1e100, "",
           "value scaled to 0, one or one per input; auto: the column's smallest"),
  RG_REALS("upper", Options, upper, "auto", -1e100, 1e100, "",
           "value scaled to 1, one or one per input; auto: the column's largest"),
  RG_POOL_REPEATS(Options),
  {0},
};

static RgPoolSource source(const void *options)
{
  const Options *o = options;

  return (RgPoolSource){.path = o->path,
                        .header = (RgCsvHeader)o->header,
                        .inputs = &o->inputs,
                        .objective = o->objective,
                        .minimised = o->goal == RG_GOAL_MINIMISE,
                        .duplicates = (RgDuplicates)o->duplicates,
                        .lower = &o->lower,
                        .upper = &o->upper,
                        .repeats = o->repeats};
}

const RgProblemClass rg_problem_dataset = {
  RG_ABOUT("dataset", "Data set", 1,
           "the value measured at each distinct input row of a CSV file; a pool of candidates,\n"
           "each queried once unless repeats are allowed",
           "the user's own; pools of measurements as in Liang et al. 2021, npj Computational "
           "Materials 7, 188"),
  RG_OPTIONS(Options, params),
  RG_POOL(source),
};
