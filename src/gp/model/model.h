/* The surrogate of a GP-based algorithm: kernel, standardisation, hyperparameter policy, and the
   posterior for the domain (growing Cholesky factor on a box, rank-one updates on a finite set). */
#ifndef RG_GP_MODEL_MODEL_H
#define RG_GP_MODEL_MODEL_H

#include "regatta/domain.h"
#include "regatta/model.h"
#include "regatta/stream.h"
#include "gp/model/options.h"
#include "gp/model/transform.h"
#include "gp/posterior/posterior.h"

typedef struct RgClock RgClock;
typedef struct RgTeam RgTeam;

/* Report of a model's last update, for the record. */
typedef struct {
  bool refitted; /* hyperparameters were fitted */
  int fit_evaluations;
  double log_likelihood; /* of the standardised data, without priors; NaN unless refitted */
  double jitter;         /* 0 unless it was needed */
  int iterations;        /* iterations of conjugate gradients for the mean; 0: dense */
  double residual;       /* residual at their end */
  int fit_data;          /* number of data in the fit; 0 unless refitted */
} RgModelReport;

typedef struct RgModel {
  const RgDomain *domain;            /* borrowed */
  const RgSurrogateOptions *options; /* borrowed */
  RgKernel kernel;                   /* current hyperparameters, over (x, c) */
  double noise_variance;             /* in model units */
  double mean;                       /* constant prior mean, model units */
  RgTransform transform;             /* T, fitted to the outputs at every refit */
  double shift, scale;               /* y_model = (T(y) - shift) / scale */
  RgPosterior posterior;             /* on the set of the model's inputs where they are finite */
  RgModelReport report;
  struct RgModelState *state; /* private */
} RgModel;

/* `noise_variance`: known observation noise in native units, NaN when unknown. `use_context`: the
   model's inputs are (x, c), else x. `capacity`: expected number of evaluations. `stream`: for fit
   starts. Model borrows domain, options, clock (NULL: time is not accounted). */
PetscErrorCode rg_model_create(const RgDomain *domain, const RgSurrogateOptions *options,
                               bool use_context, double noise_variance, int capacity,
                               const RgStream *stream, RgClock *clock, RgModel *model);
/* The same with a team that takes over the posterior on a box and the fit once they are large
   enough. Call it on the leader, while the other ranks serve. */
typedef struct {
  RgTeam *team;                    /* borrowed, may be NULL */
  RgClock *clock;                  /* likewise */
  const RgPendingOptions *pending; /* likewise; NULL: points in flight are ignored */
  bool on_box; /* predict anywhere in the unit cube, also where the inputs are a finite set */
} RgModelHost;
PetscErrorCode rg_model_create_on(RgModelHost host, const RgDomain *domain,
                                  const RgSurrogateOptions *options, bool use_context,
                                  double noise_variance, int capacity, const RgStream *stream,
                                  RgModel *model);

/* An output in model units. */
static inline double rg_model_units(const RgModel *model, double y)
{
  return (rg_transform_value(&model->transform, y) - model->shift) / model->scale;
}
/* The deviation sd at a mean, both in model units, in native units: half the width of the central
   interval of one deviation, whose ends are those in model units, mapped back exactly. */
double rg_model_native_sd(const RgModel *model, double mean, double sd);

/* Whether the inputs are (x, c). false: x alone, and contexts act as noise. */
bool rg_model_uses_context(const RgModel *model);

/* Free all owned memory. A zeroed object is fine. */
PetscErrorCode rg_model_destroy(RgModel *model);

#endif
