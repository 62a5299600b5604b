/* The `surrogate:` block of study files: its table, its checks, and the kernel and fit that it
   describes. */
#include "base/text.h"
#include "gp/kernel/family.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/model/surrogate.h"
#include "gp/model/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Inputs of one term, numbered from 0, into `inputs` (dim). Returns their number, or -1 with a
   reason. */
static int read_term(const char *text, int dim, int *inputs, const char **mistake)
{
  int n = 0;

  for (const char *at = text + strspn(text, " ,"); *at; at += strspn(at, " ,")) {
    char *end;
    const long input = strtol(at, &end, 10);

    *mistake = "inputs are numbers, such as \"1 2 3\"";
    if (end == at || !strchr(" ,", *end)) return -1;
    *mistake = "an input is not one of the model's";
    if (input < 1 || input > dim) return -1;
    *mistake = "an input stands twice in it";
    for (int k = 0; k < n; k++)
      if (inputs[k] == input - 1) return -1;
    inputs[n++] = (int)input - 1;
    at = end;
  }
  *mistake = "it is empty";
  return n > 0 ? n : -1;
}

/* The part of rg_surrogate_check for options with `terms`. */
static PetscErrorCode surrogate_check_terms(const RgSurrogateOptions *o, int dim, RgPlace place,
                                            RgDiagnostics *diagnostics)
{
  const char *mistake;
  int *inputs;

  if (o->structure != RG_STRUCTURE_ADDITIVE || o->ard || o->groups.n)
    rg_diagnostics_add(diagnostics, place,
                       "'terms' needs 'structure: additive', 'ard: false' and no 'groups'");
  PetscCall(PetscMalloc1(dim, &inputs));
  for (int t = 0; t < o->terms.n; t++) {
    if (read_term(o->terms.values[t], dim, inputs, &mistake) < 0)
      rg_diagnostics_add(diagnostics, place, "'terms': \"%.40s\": %s (1 to %d, x then c)",
                         o->terms.values[t], mistake, dim);
  }
  PetscCall(PetscFree(inputs));
  if (o->length_scale.n > 1 && o->length_scale.n != o->terms.n)
    rg_diagnostics_add(diagnostics, place, "'length_scale' has %d values for %d terms",
                       o->length_scale.n, o->terms.n);
  if (o->term_variance.n && o->term_variance.n != o->terms.n)
    rg_diagnostics_add(diagnostics, place, "'term_variance' has %d values for %d terms",
                       o->term_variance.n, o->terms.n);
  return 0;
}

/* ---- table --------------------------------------------------------------------------------- */

static const char *const structure_names[] = {"whole", "product", "additive", "shift", NULL};
static const char *const mean_names[] = {"auto", "zero", "constant", "quadratic", NULL};
static const char *const unit_names[] = {"native", "model", NULL};
static const char *const deviation_names[] = {"population", "sample", NULL};
static const char *const policy_names[] = {"fixed", "ml", "map", NULL};
static const char *const warm_names[] = {"false", "true", "auto", NULL};
static const char *const multistart_names[] = {"adaptive", "always", NULL};
static const char *const prior_names[] = {"none",        "default",      "botorch2023",
                                          "botorch2024", "hvarfner2024", NULL};

static const char *const transform_names[] = {"none", "yeo_johnson", "copula", NULL};
static const char *const warping_names[] = {"none", "kumaraswamy", NULL};
static const char *const solver_names[] = {"auto", "dense", "iterative", NULL};

const RgParam rg_surrogate_params[] = {
  RG_GROUP("Model"),
  RG_CHOICE("kernel", RgSurrogateOptions, kernel, "matern52", rg_kernel_family_names, "k",
            "covariance function"),
  RG_ENTRY("shape", REAL, RgSurrogateOptions, shape, double, "auto", RG_POSITIVE, 1e6,
           rg_param_later, "",
           "parameter of the covariance function, where it has one: alpha of rational_quadratic, "
           "period of periodic; not fitted; auto: its default (regatta describe NAME)"),
  RG_ENTRY(
    "kernels", TEXTS, RgSurrogateOptions, kernels, RgTexts, "auto", 0, 0, rg_param_later, "",
    "covariance function of each group, such as [periodic, matern52]; auto: `kernel` for all"),
  RG_BOOL("ard", RgSurrogateOptions, ard, "true",
          "one length scale per input instead of one per factor"),
  RG_CHOICE("structure", RgSurrogateOptions, structure, "whole", structure_names, "",
            "one factor over all inputs, or product or sum of factors over groups of inputs, or "
            "one of the sums x_j + c_j of design and context in unit coordinates"),
  RG_REALS("groups", RgSurrogateOptions, groups, "auto", 0, 0, "",
           "group of each input, x then c; auto: every input is a group"),
  RG_TEXTS(
    "terms", RgSurrogateOptions, terms, "auto", "",
    "additive: inputs of each term, from 1, x then c, such as [\"1 2\", \"2 3\"]; auto: by groups"),
  RG_REALS("term_variance", RgSurrogateOptions, term_variance, "auto", RG_POSITIVE, 1e12, "",
           "signal variance of each of the terms; auto: equal shares of variance"),
  RG_REALS("length_scale", RgSurrogateOptions, length_scale, "auto", RG_POSITIVE, 1e6, "l",
           "in the unit cube: fixed value or start of the fit; one, or per input (ard), group or "
           "term; auto: 0.3, with prior: hvarfner2024 its mode"),
  RG_ENTRY("length_scale_factor", REAL, RgSurrogateOptions, length_scale_factor, double, "auto",
           RG_POSITIVE, 1e3, rg_param_later, "c",
           "length scales are, or the fit starts at, c sqrt(d) for d inputs, and their upper bound "
           "is times sqrt(d/20) beyond 20; the first step of a fit changes none by more than a "
           "tenth; with fit: ml, c = 1 is the robust start of "
           "arXiv:2402.02746 and c = 0.1 that of MSR (arXiv:2502.09198); auto: as length_scale "
           "says"),
  RG_REAL("variance", RgSurrogateOptions, variance, "1", RG_POSITIVE, 1e12, "sigma_f^2",
          "signal variance k(x,x), model units: fixed value or start of the fit"),
  RG_GROUP("Noise"),
  RG_REAL("noise_variance", RgSurrogateOptions, noise_variance, "auto", 0, 1e300, "sigma^2",
          "noise variance of the model; auto: the study's where known, else learned (fit: fixed: "
          "1e-6 of the signal variance); with kernel: spherical_linear always learned"),
  RG_CHOICE("noise_units", RgSurrogateOptions, noise_units, "native", unit_names, "",
            "units of a noise variance that is given or known: of the problem, or standardised"),
  RG_REAL("noise_floor", RgSurrogateOptions, noise_floor, "1e-8", 0, 1e300, "",
          "least noise variance in model units where it is not learned"),
  RG_BOOL("fit_noise", RgSurrogateOptions, fit_noise, "false",
          "learn the noise variance also where it is known"),
  RG_GONE("noise_start", "auto"),
  RG_REAL("noise_lower", RgSurrogateOptions, noise_lower, "1e-6", RG_POSITIVE, 0.999999, "",
          "lower bound of a learned noise variance, model units; the upper bound is 1"),
  RG_GONE("noise_upper", "1"),
  RG_GROUP("Transform"),
  RG_BOOL("standardise", RgSurrogateOptions, standardise, "true",
          "shift and scale outputs to mean 0 and deviation 1 at every refit"),
  RG_CHOICE("deviation", RgSurrogateOptions, deviation, "population", deviation_names, "",
            "divisor of the variance that standardises: n or n - 1"),
  RG_GROUP("Model"),
  RG_CHOICE("mean", RgSurrogateOptions, mean, "auto", mean_names, "",
            "prior mean, model units; constant: generalised least squares at every refit; "
            "quadratic: that, and a random quadratic function of the inputs; the variances of its "
            "linear and its quadratic part at the corners of the box are fitted in [0.001, 1e4], "
            "with a lognormal(2, 2) prior under fit: map; for boxes without contexts and methods "
            "that draw no paths, on one rank; auto: constant, but zero under fit: fixed"),
  RG_GROUP("Fit"),
  RG_CHOICE("fit", RgSurrogateOptions, fit, "map", policy_names, "",
            "hyperparameters: fixed, maximum marginal likelihood, or maximum a posteriori"),
  RG_ENTRY(
    "refit_every", INT, RgSurrogateOptions, refit_every, int, "1", 1, 1e9, rg_param_or_auto, "",
    "queries between refits; the first is before the first query; auto: 1 for up to 100 data, then "
    "when they have grown by a twentieth since, or by a hundredth and are unlikely as predicted"),
  RG_INT("fit_starts", RgSurrogateOptions, fit_starts, "2", 0, 1e4, "",
         "log-uniform starts of the fit beside the first one"),
  RG_CHOICE("fit_multistart", RgSurrogateOptions, fit_multistart, "adaptive", multistart_names, "",
            "use fit_starts in every fit, or when n has grown by half or the warm start looks bad"),
  RG_CHOICE("fit_warm", RgSurrogateOptions, fit_warm, "true", warm_names, "",
            "first start of a fit: the last optimum instead of the configured values; auto: these "
            "for up to 100 data, then whenever the data have grown by a tenth since; with more "
            "than 400 data a fit takes at most 8 evaluations, and its starts take turns"),
  RG_INT("fit_iterations", RgSurrogateOptions, fit_iterations, "100", 1, 1e6, "",
         "largest number of iterations of L-BFGS-B per start"),
  RG_GONE("fit_tolerance", "0.001"),
  RG_BOOL("fit_variance", RgSurrogateOptions, fit_variance, "true", "fit the signal variance too"),
  RG_GROUP("Prior"),
  RG_REAL("length_scale_lower", RgSurrogateOptions, length_scale_lower, "0.01", RG_POSITIVE, 1e6,
          "", "lower bound of fitted length scales"),
  RG_REAL("length_scale_upper", RgSurrogateOptions, length_scale_upper, "10", RG_POSITIVE, 1e6, "",
          "upper bound of fitted length scales"),
  RG_REAL("variance_lower", RgSurrogateOptions, variance_lower, "0.01", RG_POSITIVE, 1e12, "",
          "lower bound of a fitted signal variance (of each term of an additive kernel)"),
  RG_REAL("variance_upper", RgSurrogateOptions, variance_upper, "100", RG_POSITIVE, 1e12, "",
          "upper bound of a fitted signal variance (of each term of an additive kernel)"),
  RG_CHOICE(
    "prior", RgSurrogateOptions, prior, "default", prior_names, "",
    "priors of fit: map; the BoTorch ones are of its 2023 (gamma) and 2024 (lognormal) defaults; "
    "hvarfner2024 is for many inputs d: length scales lognormal(sqrt(2) + log(d)/2, sqrt(3)), "
    "their bounds times sqrt(d/20) beyond 20 (Hvarfner, Hellsten, Nardi 2024, ICML)"),
  RG_GROUP("Solver"),
  RG_ENTRY("solver", CHOICE, RgSurrogateOptions, solver, int, "auto", RG_LATER, 0, solver_names, "",
           "dense: factor the kernel matrix; iterative: conjugate gradients, no matrix; auto: "
           "dense unless a rank's share of the matrix has more than 2^31 entries"),
  RG_ENTRY("solver_tolerance", REAL, RgSurrogateOptions, solver_tolerance, double, "auto", 1e-14,
           0.1, rg_param_later, "",
           "iterative: residual of a solve relative to its right-hand side; auto: 1e-6"),
  RG_ENTRY("solver_rank", INT, RgSurrogateOptions, solver_rank, int, "auto", 0, 1e6, rg_param_later,
           "", "iterative: rank of the preconditioner and of the variance; auto: 400"),
  RG_ENTRY("solver_iterations", INT, RgSurrogateOptions, solver_iterations, int, "auto", 1, 1e9,
           rg_param_later, "",
           "iterative: a solve that takes more of them fails the trial; auto: 1000"),
  RG_ENTRY("fit_data", INT, RgSurrogateOptions, fit_data, int, "auto", 2, 1e9, rg_param_later, "",
           "iterative: hyperparameters are fitted to at most this number of data, drawn once for "
           "all fits; auto: 2000"),
  RG_GROUP("Transform"),
  RG_ENTRY(
    "transform", CHOICE, RgSurrogateOptions, transform, int, "none", RG_LATER, 0, transform_names,
    "T",
    "monotone transformation of outputs, fitted at every refit: the Yeo-Johnson power of "
    "the standardised outputs, or the normal scores of their ranks; incumbent, acquisition "
    "and hyperparameters are those of T(f), posterior_sd is half the width of the interval "
    "mean +- deviation mapped back, beyond the outermost outputs along a line; not with contexts"),
  RG_ENTRY("input_warping", CHOICE, RgSurrogateOptions, input_warping, int, "none", RG_LATER, 0,
           warping_names, "",
           "inputs enter the kernel through 1 - (1 - x^a)^b, a and b fitted in [0.1, 10] with a "
           "lognormal(0.25, 0.5) prior, whose mode is 1, under fit: map; boxes without contexts"),
  RG_GROUP("Search"),
  RG_ENTRY("restart_after", INT, RgSurrogateOptions, restart_after, int, "auto", 1, 1e9,
           rg_param_later, "N",
           "the method starts again, with a new Sobol design and without the earlier data, after N "
           "queries in a row that neither promised nor brought an improvement of 1e-4 times the "
           "height of the best output above the mean (the promise is the expected improvement); "
           "boxes without contexts; auto: never"),
  {0},
};

/* ---- groups -------------------------------------------------------------------------------- */

/* group (dim): groups numbered by first appearance. Returns the number of groups. */
static int number_groups(const RgSurrogateOptions *o, int dim, int *group)
{
  int n = 0;
  for (int j = 0; j < dim; j++) {
    group[j] = n;
    for (int i = 0; i < j && o->groups.n && group[j] == n; i++)
      if (o->groups.values[i] == o->groups.values[j]) group[j] = group[i];
    if (group[j] == n) n++;
  }
  return n;
}

/* Whether the kernel is a product or sum over groups. */
static bool has_groups(const RgSurrogateOptions *o)
{
  return o->structure == RG_STRUCTURE_PRODUCT || o->structure == RG_STRUCTURE_ADDITIVE;
}

static RgKernelFamily family_of(const RgSurrogateOptions *o, int g)
{
  return (RgKernelFamily)(g < o->kernels.n ? rg_kernel_find_family(o->kernels.values[g])
                                           : o->kernel);
}

const RgKernelClass *rg_surrogate_without_spectrum(const RgSurrogateOptions *o)
{
  for (int g = 0; g < PetscMax(o->kernels.n, 1); g++)
    if (!rg_kernel_classes[family_of(o, g)]->spectrum) return rg_kernel_classes[family_of(o, g)];
  return NULL;
}

bool rg_surrogate_is_linear(const RgSurrogateOptions *o)
{
  return !rg_kernel_classes[o->kernel]->columns;
}

/* `kernels` and `shape`, n_groups groups. */
static void check_families(const RgSurrogateOptions *o, int n_groups, RgPlace place,
                           RgDiagnostics *diagnostics)
{
  bool known = true, shaped = false;

  if (o->kernels.n && (!has_groups(o) || o->terms.n || o->kernels.n != n_groups))
    rg_diagnostics_add(
      diagnostics, place,
      "'kernels' has %d names, for %d groups of 'structure: product' or 'additive'", o->kernels.n,
      has_groups(o) && !o->terms.n ? n_groups : 0);
  for (int g = 0; g < o->kernels.n; g++) {
    if (rg_kernel_find_family(o->kernels.values[g]) >= 0) continue;
    const char *nearest = rg_text_nearest(o->kernels.values[g], rg_kernel_family_names);
    known = false;
    rg_diagnostics_add(diagnostics, place, "'kernels': no kernel is called '%.40s'%s%s%s",
                       o->kernels.values[g], nearest ? ", did you mean '" : "",
                       nearest ? nearest : "", nearest ? "'?" : "");
  }
  for (int g = 0; known && g < PetscMax(o->kernels.n, 1); g++)
    shaped = shaped || rg_kernel_classes[family_of(o, g)]->symbol;
  if (known && !shaped && !isnan(o->shape))
    rg_diagnostics_add(diagnostics, place, "'shape': the kernel '%s' has no parameter",
                       rg_kernel_family_names[family_of(o, 0)]);
}

static void check_solver(const RgSurrogateOptions *o, RgPlace place, RgDiagnostics *diagnostics)
{
  if (o->solver != RG_SOLVER_ITERATIVE) return;
  if (!rg_solver_has_iterative())
    rg_diagnostics_add(diagnostics, place,
                       "'solver: iterative' is not in this build (REGATTA_ITERATIVE=OFF); "
                       "accepted: auto, dense");
  if (o->noise_floor <= 0)
    rg_diagnostics_add(diagnostics, place,
                       "'solver: iterative' needs noise: a 'noise_floor' above 0");
}

/* `kernel: spherical_linear` and `length_scale_factor`; dim: the model's inputs. */
static void check_many(const RgSurrogateOptions *o, int dim, RgPlace place,
                       RgDiagnostics *diagnostics)
{
  const RgFitOptions fit = rg_surrogate_fit_options(o, dim, false);
  const double start = o->length_scale_factor * sqrt(dim);

  bool linear = rg_surrogate_is_linear(o);
  for (int g = 0; g < o->kernels.n; g++) {
    const int family = rg_kernel_find_family(o->kernels.values[g]);
    linear = linear || (family >= 0 && !rg_kernel_classes[family]->columns);
  }
  if (linear && o->structure != RG_STRUCTURE_WHOLE)
    rg_diagnostics_add(diagnostics, place,
                       "the kernel '%s' takes all inputs together: 'structure' must be 'whole'",
                       rg_kernel_family_names[RG_KERNEL_SPHERICAL_LINEAR]);
  if (!(start > 0)) return;
  if (o->length_scale.n)
    rg_diagnostics_add(diagnostics, place,
                       "'length_scale' and 'length_scale_factor' both say where length scales "
                       "start: one of them may be given");
  if (o->fit != RG_FIT_FIXED && (start < fit.length_scale_lower || start > fit.length_scale_upper))
    rg_diagnostics_add(diagnostics, place,
                       "'length_scale_factor' (%g) starts %d inputs at %g, outside the bounds %g "
                       "and %g of fitted length scales; accepted: %g to %g",
                       o->length_scale_factor, dim, start, fit.length_scale_lower,
                       fit.length_scale_upper, fit.length_scale_lower / sqrt(dim),
                       fit.length_scale_upper / sqrt(dim));
}

static void check_mean(const RgSurrogateOptions *o, RgPlace place, RgDiagnostics *diagnostics)
{
  if (o->mean != RG_MEAN_QUADRATIC) return;
  if (o->fit == RG_FIT_FIXED)
    rg_diagnostics_add(diagnostics, place,
                       "'mean: quadratic' is fitted: 'fit' may be 'map' or 'ml', not 'fixed'");
  if (o->input_warping)
    rg_diagnostics_add(diagnostics, place,
                       "'mean: quadratic' is a function of the inputs as they are, so "
                       "'input_warping' must be 'none'");
  if (o->solver == RG_SOLVER_ITERATIVE)
    rg_diagnostics_add(diagnostics, place,
                       "'mean: quadratic' needs the kernel matrix, and 'solver: iterative' has "
                       "none");
}

static void check_bounds(const RgSurrogateOptions *o, RgPlace place, RgDiagnostics *diagnostics)
{
  const struct {
    const char *name;
    double lower, upper;
  } bounds[] = {
    {"length_scale", o->length_scale_lower, o->length_scale_upper},
    {"variance", o->variance_lower, o->variance_upper},
  };

  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
    if (bounds[i].lower >= bounds[i].upper)
      rg_diagnostics_add(diagnostics, place, "'%s_lower' (%g) must be less than '%s_upper' (%g)",
                         bounds[i].name, bounds[i].lower, bounds[i].name, bounds[i].upper);
  }
}

PetscErrorCode rg_surrogate_check(const RgSurrogateOptions *o, int dim_x, int dim_c,
                                  bool use_context, RgPlace place, RgDiagnostics *diagnostics)
{
  const int seen = use_context ? dim_c : 0;
  int dim = dim_x + dim_c, *group;

  if (o->terms.n) PetscCall(surrogate_check_terms(o, dim_x + seen, place, diagnostics));
  if (seen > 0 && (o->transform || o->input_warping))
    rg_diagnostics_add(diagnostics, place,
                       "'transform' and 'input_warping' are for methods that model the design "
                       "alone; this one models the design and a context");
  if (o->term_variance.n && !o->terms.n)
    rg_diagnostics_add(diagnostics, place, "'term_variance' needs 'terms'");
  if (o->groups.n && o->groups.n != dim) {
    rg_diagnostics_add(diagnostics, place, "'groups' has %d values for %d inputs", o->groups.n,
                       dim);
    return 0;
  }
  if (o->groups.n && !has_groups(o))
    rg_diagnostics_add(diagnostics, place, "'groups' needs 'structure: product' or 'additive'");
  PetscCall(PetscMalloc1(dim, &group));
  const int n_groups = has_groups(o) ? number_groups(o, dim, group) : 1;
  PetscCall(PetscFree(group));
  check_families(o, n_groups, place, diagnostics);
  if (o->structure == RG_STRUCTURE_SHIFT && dim_x != seen)
    rg_diagnostics_add(diagnostics, place,
                       "'structure: shift' adds a context to a design of as many coordinates, got "
                       "%d and %d",
                       seen, dim_x);
  if (o->structure == RG_STRUCTURE_SHIFT) dim /= 2;
  const int expected = o->ard ? dim : n_groups, given = o->length_scale.n;
  if (given > 1 && given != expected && !o->terms.n)
    rg_diagnostics_add(diagnostics, place,
                       "'length_scale' has %d values, accepted are 1 or %d (%s)", given, expected,
                       o->ard ? "one per input" : "one per group, 'ard' is false");
  check_solver(o, place, diagnostics);
  check_mean(o, place, diagnostics);
  check_many(o, dim_x + seen, place, diagnostics);
  check_bounds(o, place, diagnostics);
  return 0;
}

/* ---- kernel -------------------------------------------------------------------------------- */

/* Lognormal prior of length scales that grow with the diagonal of the cube: mean and deviation of
   the logarithm (Hvarfner, Hellsten, Nardi 2024, Vanilla Bayesian optimization performs great in
   high dimensions, ICML). */
#define MANY_INPUTS(dim) sqrt(2.0) + 0.5 * log(dim), sqrt(3.0)

/* Default length scales. */
static double surrogate_start(const RgSurrogateOptions *o, int dim)
{
  if (o->length_scale_factor > 0) return o->length_scale_factor * sqrt(dim);
  const bool many = o->prior == RG_PRIORS_HVARFNER2024;
  return many ? rg_prior_mode(&(RgPrior){RG_PRIOR_LOGNORMAL, MANY_INPUTS(dim)}, 0) : 0.3;
}

static PetscErrorCode surrogate_terms_kernel(const RgSurrogateOptions *o, int dim, RgKernel *kernel)
{
  const int n = o->terms.n;
  const char *mistake;
  double *length_scale, *variance;
  int *count, *inputs, used = 0;

  PetscCall(PetscMalloc4(n, &length_scale, n, &variance, n, &count, (size_t)n * dim, &inputs));
  for (int t = 0; t < n; t++) {
    const RgReals *given = &o->length_scale;
    count[t] = read_term(o->terms.values[t], dim, inputs + used, &mistake);
    PetscCheck(count[t] > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "term \"%s\" of %d inputs: %s",
               o->terms.values[t], dim, mistake);
    used += count[t];
    length_scale[t] =
      given->n == 0 ? surrogate_start(o, dim) : given->values[given->n == n ? t : 0];
    variance[t] = o->term_variance.n == n ? o->term_variance.values[t] : o->variance / n;
  }
  PetscCall(rg_kernel_create_terms((RgKernelFamily)o->kernel, dim, n, count, inputs, length_scale,
                                   variance, kernel));
  return PetscFree4(length_scale, variance, count, inputs);
}

/* Length scales in the order of the kernel's factors: by group, within it by input (ard). */
static void order_length_scales(const RgSurrogateOptions *o, int dim, int n_groups,
                                const int *group, double *ordered)
{
  const RgReals *given = &o->length_scale;
  const double start = surrogate_start(o, dim);
  int k = 0;
  for (int g = 0; g < n_groups; g++) {
    if (!o->ard) {
      ordered[k++] = given->n == 0 ? start : given->values[given->n > 1 ? g : 0];
      continue;
    }
    for (int j = 0; j < dim; j++)
      if (group[j] == g) ordered[k++] = given->n == 0 ? start : given->values[given->n > 1 ? j : 0];
  }
}

static PetscErrorCode shift_kernel(const RgSurrogateOptions *o, int dim, RgKernel *kernel)
{
  const RgReals *given = &o->length_scale;
  const double start = surrogate_start(o, dim);
  double *length_scale;

  PetscCall(PetscMalloc1(dim, &length_scale));
  for (int j = 0; j < dim; j++)
    length_scale[j] = given->n == 0 ? start : given->values[j < given->n ? j : 0];
  PetscCall(rg_kernel_create_shift((RgKernelFamily)o->kernel, dim, o->ard, length_scale,
                                   o->variance, kernel));
  return PetscFree(length_scale);
}

/* One factor, or a product or sum over groups. */
static PetscErrorCode grouped_kernel(const RgSurrogateOptions *o, int dim, RgKernel *kernel)
{
  const RgKernelFamily family = (RgKernelFamily)o->kernel;
  double *length_scale, *variance;
  int *group, n_groups = 1;

  PetscCheck(o->groups.n == 0 || o->groups.n >= dim, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "%d groups for %d inputs", o->groups.n, dim);
  PetscCall(PetscCalloc3(dim, &length_scale, dim, &variance, dim, &group));
  if (has_groups(o)) n_groups = number_groups(o, dim, group);
  const bool enough = o->length_scale.n <= 1 || o->length_scale.n >= (o->ard ? dim : n_groups);
  if (!enough) PetscCall(PetscFree3(length_scale, variance, group));
  PetscCheck(enough, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "%d length scales for %d inputs in %d groups", o->length_scale.n, dim, n_groups);
  order_length_scales(o, dim, n_groups, group, length_scale);
  if (o->structure == RG_STRUCTURE_PRODUCT) {
    PetscCall(rg_kernel_create_product(family, dim, n_groups, group, o->ard, length_scale,
                                       o->variance, kernel));
  } else if (o->structure == RG_STRUCTURE_ADDITIVE) {
    for (int g = 0; g < n_groups; g++) variance[g] = o->variance / n_groups;
    PetscCall(rg_kernel_create_additive(family, dim, n_groups, group, o->ard, length_scale,
                                        variance, kernel));
  } else {
    PetscCall(rg_kernel_create(family, dim, o->ard, length_scale, o->variance, kernel));
  }
  for (int g = 0; g < PetscMin(n_groups, o->kernels.n); g++) {
    const bool product = o->structure == RG_STRUCTURE_PRODUCT;
    rg_kernel_set_family(&kernel->terms[product ? 0 : g].factors[product ? g : 0], family_of(o, g));
  }
  return PetscFree3(length_scale, variance, group);
}

PetscErrorCode rg_surrogate_kernel(const RgSurrogateOptions *o, int dim, RgKernel *kernel)
{
  if (o->terms.n) PetscCall(surrogate_terms_kernel(o, dim, kernel));
  else if (o->structure == RG_STRUCTURE_SHIFT) PetscCall(shift_kernel(o, dim, kernel));
  else PetscCall(grouped_kernel(o, dim, kernel));
  if (!isnan(o->shape)) rg_kernel_set_shape(kernel, o->shape);
  return 0;
}

PetscErrorCode rg_surrogate_tables(const RgSurrogateOptions *o, int dim, const int *levels,
                                   double *tables)
{
  RgKernel kernel;
  double pairs = 0;

  PetscCall(rg_surrogate_kernel(o, dim, &kernel));
  for (int a = 0; a < dim; a++) pairs += (double)levels[a] * levels[a];
  *tables = rg_kernel_factors_over_inputs(&kernel) ? pairs * kernel.n_terms : 0;
  return rg_kernel_destroy(&kernel);
}

/* ---- fit ----------------------------------------------------------------------------------- */

enum { FEW_INPUTS = 20 };

/* By what bounds of length scales grow with many inputs. */
static double widening(int dim)
{
  return dim > FEW_INPUTS ? sqrt((double)dim / FEW_INPUTS) : 1;
}

static void set_priors(RgPriorSet set, int dim, RgFitOptions *fit)
{
  switch (set) {
  case RG_PRIORS_NONE: break;
  case RG_PRIORS_DEFAULT:
    fit->length_scale = (RgPrior){RG_PRIOR_LOGNORMAL, log(0.5) + 0.5 * log(dim), 1.0};
    fit->variance = (RgPrior){RG_PRIOR_LOGNORMAL, 1.0, 1.0};
    fit->noise = (RgPrior){RG_PRIOR_LOGNORMAL, -6.0, 2.0};
    break;
  case RG_PRIORS_BOTORCH2023:
    fit->length_scale = (RgPrior){RG_PRIOR_GAMMA, 3.0, 6.0};
    fit->variance = (RgPrior){RG_PRIOR_GAMMA, 2.0, 0.15};
    fit->noise = (RgPrior){RG_PRIOR_GAMMA, 1.1, 0.05};
    break;
  case RG_PRIORS_BOTORCH2024:
    fit->length_scale = (RgPrior){RG_PRIOR_LOGNORMAL, MANY_INPUTS(dim)};
    fit->noise = (RgPrior){RG_PRIOR_LOGNORMAL, -4.0, 1.0};
    break;
  case RG_PRIORS_HVARFNER2024:
    set_priors(RG_PRIORS_DEFAULT, dim, fit);
    fit->length_scale = (RgPrior){RG_PRIOR_LOGNORMAL, MANY_INPUTS(dim)};
    fit->length_scale_lower *= widening(dim);
    fit->length_scale_upper *= widening(dim);
    break;
  }
}

RgFitOptions rg_surrogate_fit_options(const RgSurrogateOptions *o, int dim, bool learn_noise)
{
  RgFitOptions fit = {
    .length_scale_lower = o->length_scale_lower,
    .length_scale_upper = o->length_scale_upper,
    .variance_lower = o->variance_lower,
    .variance_upper = o->variance_upper,
    .warp_lower = 0.1,
    .warp_upper = 10,
    .learn_noise = learn_noise,
    .noise_lower = o->noise_lower,
    .noise_upper = 1,
    .trend_lower = 1e-3,
    .trend_upper = 1e4,
    .fix_variance = !o->fit_variance,
    .learn_mean =
      o->mean >= RG_MEAN_CONSTANT || (o->mean == RG_MEAN_AUTO && o->fit != RG_FIT_FIXED),
    .starts = o->fit_starts,
    .max_iterations = o->fit_iterations,
    .first_step = o->length_scale_factor > 0 ? 0.1 : 0,
    .tolerance = 1e-3, /* of the log density, per iteration */
  };
  const bool many = o->fit == RG_FIT_MAP && o->prior == RG_PRIORS_HVARFNER2024;
  if (o->length_scale_factor > 0 && !many) fit.length_scale_upper *= widening(dim);
  if (o->fit == RG_FIT_MAP) set_priors((RgPriorSet)o->prior, dim, &fit);
  if (o->fit == RG_FIT_MAP) fit.warp = (RgPrior){RG_PRIOR_LOGNORMAL, 0.25, 0.5};
  if (o->fit == RG_FIT_MAP) fit.trend = (RgPrior){RG_PRIOR_LOGNORMAL, 2.0, 2.0};
  return fit;
}

/* ---- solver -------------------------------------------------------------------------------- */

bool rg_surrogate_is_iterative(const RgSurrogateOptions *o, double n, int ranks)
{
  if (o->mean == RG_MEAN_QUADRATIC) return false;
  return rg_solver_is_iterative((RgSolver)o->solver, n, ranks);
}

RgSolverOptions rg_surrogate_solver(const RgSurrogateOptions *o)
{
  return (RgSolverOptions){
    .tolerance = isnan(o->solver_tolerance) ? 1e-6 : o->solver_tolerance,
    .rank = o->solver_rank < 0 ? 400 : o->solver_rank,
    .max_iterations = o->solver_iterations < 0 ? 1000 : o->solver_iterations,
  };
}

int rg_surrogate_fit_data(const RgSurrogateOptions *o)
{
  return o->fit_data < 0 ? 2000 : o->fit_data;
}
