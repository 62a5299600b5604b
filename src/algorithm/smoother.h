/* Steps shared by the methods of kernel regression: BOKE, BOKE+, KR-UCB, density-based exploration.
 */
#ifndef RG_ALGORITHM_SMOOTHER_H
#define RG_ALGORITHM_SMOOTHER_H

#include "acquisition/regression_search.h"
#include "regatta/algorithm.h"

/* Choices of RgSmootherOptions.bandwidth_scale and .outputs. */
enum { RG_BANDWIDTH_OF_CUBE, RG_BANDWIDTH_OF_POINTS };
enum { RG_OUTPUTS_STANDARDISED, RG_OUTPUTS_NATIVE, RG_OUTPUTS_FIXED };

/* Kernel, bandwidth and units of the outputs; the first member of the options of such a method. */
typedef struct {
  int smoothing; /* RgSmoothing */
  int bandwidth; /* RgBandwidthRule */
  double bandwidth_constant;
  int bandwidth_scale;
  int outputs;
  double output_mean, output_deviation;
} RgSmootherOptions;

extern const char *const rg_bandwidth_scale_names[], *const rg_output_names[];

/* Lines of a parameters table for kernel and bandwidth, and for the outputs. They are about the
   member `smoother` of `Options`. */
#define RG_SMOOTHER_PARAMS(Options)                                                                \
  RG_CHOICE(                                                                                       \
    "smoothing", Options, smoother.smoothing, "gaussian", rg_smoothing_names, "Psi",               \
    "smoothing kernel of z = distance/h_t: exp(-z^2/2); those that are 0 for z > 1: 1 - z^2, 1, "  \
    "1 - z, (1 - z^2)^2, (1 - z^2)^3, (1 - z^3)^3, cos(pi z/2); exp(-z); exp(-z) with "            \
    "z = sum_k |z_k|"),                                                                            \
    RG_CHOICE("bandwidth", Options, smoother.bandwidth, "scott", rg_bandwidth_names, "h_t",        \
              "rule of the bandwidth for t points in d dimensions: c t^(-1/(d+4)), c (t "          \
              "(d+2)/4)^(-1/(d+4)), c t^(-1/d), c, or by cross-validation near the first"),        \
    RG_REAL("bandwidth_constant", Options, smoother.bandwidth_constant, "auto", RG_POSITIVE, 1e6,  \
            "c_h", "c, unit cube; auto: 0.1 d^(3/4), or 1 with bandwidth_scale: std"),             \
    RG_CHOICE("bandwidth_scale", Options, smoother.bandwidth_scale, "cube",                        \
              rg_bandwidth_scale_names, "",                                                        \
              "std: c is multiplied by the root mean square over coordinates of the standard "     \
              "deviation of the points (where that is 0: cube)")

#define RG_OUTPUT_PARAMS(Options)                                                                  \
  RG_CHOICE("outputs", Options, smoother.outputs, "standardised", rg_output_names, "",             \
            "units of the observations: standardised with all there are before every query, "      \
            "native, or fixed by output_mean and output_deviation"),                               \
    RG_REAL("output_mean", Options, smoother.output_mean, "0", -1e300, 1e300, "",                  \
            "subtracted from the observations (outputs: fixed)"),                                  \
    RG_REAL("output_deviation", Options, smoother.output_deviation, "1", RG_POSITIVE, 1e300, "",   \
            "the observations are divided by it (outputs: fixed)")

/* Data that are taken in before every query; the state of such a method. */
typedef struct {
  RgRegression regression;
  double h, shift, deviation; /* bandwidth and scale of the present query */
} RgSmoother;

/* The create and destroy functions of a class whose state starts with its RgSmoother. */
PetscErrorCode rg_smoother_create(RgAlgorithm *algorithm);
PetscErrorCode rg_smoother_destroy(RgAlgorithm *algorithm);

/* Takes in the history: bandwidth h_t and units of the outputs for t = history->n points. Counts
   its time as RG_STAGE_FIT. Sets the failure if there are no data, or an output is not finite. */
PetscErrorCode rg_smoother_update(RgAlgorithm *algorithm, const RgHistory *history,
                                  RgFailure *failure);

/* Record columns of these methods. The method decides in which of them it writes. */
enum {
  RG_SMOOTHER_BANDWIDTH,
  RG_SMOOTHER_LOG_WEIGHT,
  RG_SMOOTHER_VALUES,
  RG_SMOOTHER_CONFIDENCE,
  RG_SMOOTHER_ACQUISITION,
  RG_SMOOTHER_CHOICE
};
/* Lines of a table for the first three columns. */
// clang-format off
#define RG_SMOOTHER_COLUMNS                                                                        \
  [RG_SMOOTHER_BANDWIDTH] = {"bandwidth", "bandwidth of the smoothing kernel, unit-cube units"},   \
  [RG_SMOOTHER_LOG_WEIGHT] = {                                                                     \
    "log_weight", "log of the sum W_t of kernel weights at the query before it was made"},         \
  [RG_SMOOTHER_VALUES] = {"acquisition_values", "acquisition values computed for this query"}
// clang-format on

/* Maximises `goal` (width: sqrt(beta)), with randomness from the sub-stream "maximiser" at t.
   Sets the first three columns of the query, and *value. */
PetscErrorCode rg_smoother_acquire(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                   RgRegressionGoal goal, double width, RgQuery *query,
                                   double *value, RgFailure *failure);

/* Sets the first three columns of a query that was found in another way, with the number of
   acquisition values that this took. */
PetscErrorCode rg_smoother_record(RgSmoother *smoother, double evaluations, RgQuery *query);

#endif
