/* Declarations shared by the files of the path sampler (private to acquisition/). */
#ifndef RG_ACQUISITION_PATH_SAMPLER_INTERNAL_H
#define RG_ACQUISITION_PATH_SAMPLER_INTERNAL_H

#include "acquisition/path_sampler.h"
#include "gp/path/feature_bundle.h"

struct RgPathSampler {
  const RgDomain *domain;
  RgPathOptions options;
  int kind;                 /* never auto */
  RgSetPaths *set;          /* finite designs; created by the first draw */
  int capacity;             /* expected number of evaluations */
  RgFeatureBundle features; /* paths of random features */
  double *raw;              /* boxes: raw points, and the values of all paths of a bundle at them */
  double *noise;            /* n x count: noise of the data */
  double *F;                /* finite designs: N x count */
  double *y;                /* finite designs: n outputs, model units */
  size_t noise_room, F_room, y_room, raw_room;
  int count; /* room for optima */
  int *index;
  double *x, *value;
};

PetscErrorCode rg_path_sampler_reserve(size_t size, size_t *room, double **array);
/* Fill sampler->noise (n x count): `count` draws of the noise of the n data. */
PetscErrorCode rg_path_sampler_noise(RgPathSampler *sampler, const RgPosterior *posterior,
                                     int count, RgRandom *draws);
/* Fill sampler->features.path: a path over the unit cube, with weights drawn from their
   posterior. */
PetscErrorCode rg_path_sampler_rff(RgPathSampler *sampler, const RgPosterior *posterior,
                                   RgRandom *draws, RgFailure *failure);
/* failure: fewer features than the kernel has terms. */
void rg_path_sampler_check(const RgPathSampler *sampler, const RgPosterior *posterior,
                           RgFailure *failure);
/* rg_path_sampler_draw on a box. */
PetscErrorCode rg_path_sampler_box(RgPathSampler *sampler, RgModel *model, int count,
                                   RgRandom *draws, const RgSearch *search, RgFailure *failure);

#endif
