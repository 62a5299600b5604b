/* dataset: a table of measurements as a finite design.

   The distinct input rows of a CSV file are the candidates, in lexicographic order; the objective
   is the column chosen, averaged over rows of equal inputs and negated if it is to be minimised.
   Inputs are scaled to the unit cube by their extremes in the file or by bounds given. By default a
   candidate is queried once only. What identifies a trial are the numbers, not the file's name.
   The file is read at every use: O(rows log rows). */
#include "problem/pool.h"

typedef struct {
  char *path, *objective;
  RgTexts inputs;
  int goal, duplicates;
  RgReals lower, upper;
  bool repeats;
} Options;

static const char *const goals[] = {"maximise", "minimise", NULL};
static const char *const duplicates[] = {"mean", "first", "error", NULL};

static const RgParam params[] = {
  {.name = "path",
   .type = RG_PARAM_PATH,
   .offset = offsetof(Options, path),
   .doc = "CSV file with a header line; a relative path counts from the study file's folder, the "
          "working directory, or the folder REGATTA_DATA"},
  {.name = "inputs",
   .type = RG_PARAM_TEXTS,
   .offset = offsetof(Options, inputs),
   .fallback = "auto",
   .symbol = "x",
   .doc = "input columns, by header or number from 1; auto: all but the objective"},
  {.name = "objective",
   .type = RG_PARAM_TEXT,
   .offset = offsetof(Options, objective),
   .fallback = "auto",
   .symbol = "f",
   .doc = "objective column, by header or number from 1; auto: the last one"},
  {.name = "goal",
   .type = RG_PARAM_CHOICE,
   .offset = offsetof(Options, goal),
   .fallback = "maximise",
   .choices = goals,
   .doc = "what is good; minimise: f is the negative of the column"},
  {.name = "duplicates",
   .type = RG_PARAM_CHOICE,
   .offset = offsetof(Options, duplicates),
   .fallback = "mean",
   .choices = duplicates,
   .doc = "value of rows with equal inputs: their mean, the first of them, or refuse the file"},
  {.name = "lower",
   .type = RG_PARAM_REALS,
   .offset = offsetof(Options, lower),
   .fallback = "auto",
   .doc = "value scaled to 0, one or one per input; auto: the column's smallest"},
  {.name = "upper",
   .type = RG_PARAM_REALS,
   .offset = offsetof(Options, upper),
   .fallback = "auto",
   .doc = "value scaled to 1, one or one per input; auto: the column's largest"},
  {.name = "repeats",
   .type = RG_PARAM_BOOL,
   .offset = offsetof(Options, repeats),
   .fallback = "false",
   .doc = "whether a candidate may be queried more than once"},
  {0},
};

static RgPoolSource source(const void *options)
{
  const Options *o = options;

  return (RgPoolSource){.path = o->path,
                        .inputs = &o->inputs,
                        .objective = o->objective,
                        .minimised = o->goal == 1,
                        .duplicates = (RgDuplicates)o->duplicates,
                        .lower = &o->lower,
                        .upper = &o->upper,
                        .repeats = o->repeats};
}

RG_POOL_FAMILY(dataset, "dataset", source)

const RgProblemClass rg_problem_dataset = {
  .name = "dataset",
  .title = "Data set",
  .summary = "the value measured at each distinct input row of a CSV file; a pool of candidates,\n"
             "each queried once unless repeats are allowed",
  .reference = "the user's own; pools of measurements as in Liang et al. 2021, npj Computational "
               "Materials 7, 188",
  .revision = 1,
  .params = params,
  .options_size = sizeof(Options),
  RG_POOL_METHODS(dataset),
};
