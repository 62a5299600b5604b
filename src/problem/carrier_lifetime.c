/* carrier_lifetime, carrier_lifetime_synthetic: carrier lifetime LT on a silicon ingot, a design
   with an offset that disturbs it.

     f(x, w) = LT(x + w), x in {(22a - 4, 18b - 2) : a, b = 1..8},
     w in {(2a - 12, 2b - 10) : a = 1..11, b = 1..9}, equally probable

   x + w runs through the 88 x 72 nodes (2a + 6, 2b + 6) of a lattice, each once. The measurements
   (Kutsukake et al. 2015) are not public: the user's own file is read, a table with the columns x1,
   x2, lt; other coordinates are left out. carrier_lifetime_synthetic is a stand-in of the same
   shape: LT = clip(2.5 + 0.5 sqrt(2/512) sum of 512 cosines, 0.2, 6), their frequencies from the
   Matern-3/2 spectral density with length 25. Section 5.2 of arXiv:2504.03172.

   Unit coordinates have the same scale, 154, in x and w, so that a surrogate of x + w is one with
   `structure: shift`. */
#include "base/files.h"
#include "base/hash.h"
#include "problem/csv.h"
#include "problem/finite_context.h"

#include <math.h>

enum { NODES_1 = 88, NODES_2 = 72, NODES = NODES_1 * NODES_2, SIDE = 8, FEATURES = 512 };
enum { OFFSETS_1 = 11, OFFSETS_2 = 9 };

#define ORIGIN                                                                                     \
  "the measurements are not public; a table with a header x1,x2,lt and one row per node, for the " \
  "stand-in see carrier_lifetime_synthetic"

typedef struct {
  RgFiniteContextOptions common;
  char *path;
} Options;

static const RgParam params[] = {
  RG_FINITE_CONTEXT_PARAMS,
  RG_PATH("path", Options, path, "carrier/lifetime.csv", "",
          "the table x1,x2,lt; looked for in the working directory and below REGATTA_DATA"),
  {0},
};

static const RgParam synthetic_params[] = {RG_FINITE_CONTEXT_PARAMS, {0}};

/* ---- domain ------------------------------------------------------------------------- */

/* A product grid of n1 x n2 levels with steps of its own; native bounds 154 apart. */
static PetscErrorCode grid(RgSpace *space, int n1, double first1, double step1, int n2,
                           double first2, double step2)
{
  const int levels[2] = {n1, n2};
  const double lower[2] = {first1, first2}, upper[2] = {first1 + 154.0, first2 + 154.0};
  double axes[2 * OFFSETS_1];

  for (int i = 0; i < n1; i++) axes[i] = first1 + step1 * i;
  for (int i = 0; i < n2; i++) axes[n1 + i] = first2 + step2 * i;
  return rg_space_grid(space, 2, levels, axes, lower, upper);
}

static PetscErrorCode domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  PetscCall(grid(&domain->design, SIDE, 18.0, 22.0, SIDE, 16.0, 18.0));
  PetscCall(grid(&domain->context, OFFSETS_1, -10.0, 2.0, OFFSETS_2, -8.0, 2.0));
  return rg_finite_context_domain(options, NULL, domain);
}

/* ---- the user's table --------------------------------------------------------------- */

/* Number of the node with these coordinates; -1 if there is no such node. */
static int find_node(double x1, double x2)
{
  const double a = (x1 - 8.0) / 2.0, b = (x2 - 8.0) / 2.0;

  if (!(fabs(a - rint(a)) <= 5e-7 && fabs(b - rint(b)) <= 5e-7)) return -1;
  if (a < -0.5 || a > NODES_1 - 0.5 || b < -0.5 || b > NODES_2 - 0.5) return -1;
  return (int)rint(a) * NODES_2 + (int)rint(b);
}

static PetscErrorCode read_rows(const RgCsv *csv, const char *path, double *lifetime,
                                RgText *mistake)
{
  static const char *const names[3] = {"x1", "x2", "lt"};
  int column[3];
  double value[3];

  for (int k = 0; k < 3; k++) {
    column[k] = rg_csv_column(csv, names[k]);
    if (column[k] >= 0) continue;
    return rg_text_add(mistake, "%s has no column '%s'", path, names[k]);
  }
  for (int i = 0; i < csv->n_rows && !mistake->length; i++) {
    bool fine = true;
    int node;
    for (int k = 0; k < 2; k++) fine = fine && !rg_csv_number(csv, i, column[k], &value[k]);
    node = fine ? find_node(value[0], value[1]) : 0;
    if (node < 0) continue;
    fine = fine && !rg_csv_number(csv, i, column[2], &value[2]);
    if (!fine) PetscCall(rg_text_add(mistake, "%s:%d: a cell is not a number", path, csv->line[i]));
    else if (!isnan(lifetime[node]) && lifetime[node] != value[2])
      PetscCall(rg_text_add(mistake,
                            "%s:%d: node (%g, %g) stands there twice, with %.17g and %.17g", path,
                            csv->line[i], value[0], value[1], lifetime[node], value[2]));
    else lifetime[node] = value[2];
  }
  return 0;
}

/* Fills lifetime (NODES), or reports the mistake in the file. */
static PetscErrorCode read_table(const Options *options, double *lifetime, RgText *mistake)
{
  RgCsv csv = {0};
  RgText found = {0};
  int missing = -1;

  for (int i = 0; i < NODES; i++) lifetime[i] = NAN;
  PetscCall(rg_data_find(options->path, &found));
  if (!found.length) return rg_text_add(mistake, "there is no file %s (%s)", options->path, ORIGIN);
  PetscCall(rg_csv_read(found.data, RG_CSV_HEADER_YES, &csv, mistake));
  if (!mistake->length) PetscCall(read_rows(&csv, found.data, lifetime, mistake));
  for (int i = NODES - 1; i >= 0; i--)
    if (isnan(lifetime[i])) missing = i;
  if (!mistake->length && missing >= 0)
    PetscCall(rg_text_add(mistake, "%s has no row for the node (%d, %d)", found.data,
                          8 + 2 * (missing / NODES_2), 8 + 2 * (missing % NODES_2)));
  PetscCall(rg_csv_destroy(&csv));
  return rg_text_clear(&found);
}

static PetscErrorCode check(const RgProblemClass *class, const void *options, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  RgText mistake = {0};
  double lifetime[NODES];

  PetscCall(rg_finite_context_check(options, OFFSETS_1 * OFFSETS_2, place, diagnostics));
  if (class->source) PetscCall(read_table(options, lifetime, &mistake));
  if (mistake.length) rg_diagnostics_add(diagnostics, place, "%s: %s", class->name, mistake.data);
  return rg_text_clear(&mistake);
}

/* The hash of the numbers; the place of the file does not matter. */
static PetscErrorCode identity(const RgProblemClass *class, const void *options, RgText *text)
{
  RgText mistake = {0};
  double lifetime[NODES];
  uint64_t hash[2];
  char hex[33];

  PetscCall(read_table(options, lifetime, &mistake));
  PetscCheck(!mistake.length, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s", mistake.data);
  rg_hash128(lifetime, sizeof lifetime, hash);
  rg_hash_hex(hash, hex);
  PetscCall(rg_params_canonical(synthetic_params, options, text));
  return rg_text_add(text, ",data=%s", hex);
}

/* ---- the stand-in ------------------------------------------------------------------- */

/* SplitMix64, the generator in the definition of the stand-in. */
static double split_mix_uniform(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  z ^= z >> 31;
  return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

static void synthesise(double *lifetime)
{
  uint64_t state = 3;

  for (int i = 0; i < NODES; i++) lifetime[i] = 0.0;
  for (int k = 0; k < FEATURES; k++) {
    double z[6], stretch, phase;
    for (int j = 0; j < 6; j += 2) { /* Box-Muller */
      const double radius = sqrt(-2.0 * log(split_mix_uniform(&state)));
      const double angle = 2.0 * PETSC_PI * split_mix_uniform(&state);
      z[j] = radius * cos(angle);
      z[j + 1] = radius * sin(angle);
    }
    phase = 2.0 * PETSC_PI * split_mix_uniform(&state);
    stretch = sqrt(3.0 / (z[2] * z[2] + z[3] * z[3] + z[4] * z[4])) / 25.0;
    for (int i = 0; i < NODES; i++) {
      const int row = i / NODES_2, column = i % NODES_2;
      lifetime[i] += cos(stretch * (z[0] * (8 + 2 * row) + z[1] * (8 + 2 * column)) + phase);
    }
  }
  for (int i = 0; i < NODES; i++)
    lifetime[i] = fmin(fmax(2.5 + 0.5 * sqrt(2.0 / FEATURES) * lifetime[i], 0.2), 6.0);
}

/* ---- problem ------------------------------------------------------------------------ */

static PetscErrorCode fill(RgProblem *problem, double *f, RgFailure *failure)
{
  RgText mistake = {0};
  double lifetime[NODES];

  if (problem->class->source) PetscCall(read_table(problem->options, lifetime, &mistake));
  else synthesise(lifetime);
  if (mistake.length) rg_failure_set(failure, "carrier_lifetime: %s", mistake.data);
  for (int i = 0; i < SIDE * SIDE && !mistake.length; i++)
    for (int j = 0; j < OFFSETS_1 * OFFSETS_2; j++) { /* x + w is a node */
      const int a = OFFSETS_1 * (i / SIDE) + j / OFFSETS_2;
      const int b = OFFSETS_2 * (i % SIDE) + j % OFFSETS_2;
      *f++ = lifetime[a * NODES_2 + b];
    }
  return rg_text_clear(&mistake);
}

const RgProblemClass rg_problem_carrier_lifetime = {
  RG_ABOUT("carrier_lifetime", "Carrier lifetime", 1,
           "LT(x + w) measured on a silicon ingot, 64 designs, 99 offsets w, from the user's "
           "table;\na robustness measure over w",
           "Kutsukake et al. 2015; Inatsu 2025, arXiv:2504.03172, 5.2"),
  RG_OPTIONS(Options, params),
  .source = &(const RgProblemSource){.identity = identity},
  RG_DOMAIN(domain, check),
  .family = &(const RgFiniteFill){fill},
  RG_FINITE_CONTEXT_METHODS,
};

const RgProblemClass rg_problem_carrier_lifetime_synthetic = {
  RG_ABOUT("carrier_lifetime_synthetic",
           "Carrier lifetime (synthetic stand-in, not the measured data)", 1,
           "synthetic stand-in for carrier_lifetime, not the measured data: a random path of the "
           "same\nshape",
           "Inatsu 2025, arXiv:2504.03172, 5.2"),
  RG_OPTIONS(RgFiniteContextOptions, synthetic_params),
  RG_DOMAIN(domain, check),
  .family = &(const RgFiniteFill){fill},
  RG_FINITE_CONTEXT_METHODS,
};
