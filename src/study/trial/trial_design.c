/* The initial design of a trial. */
#include "study/trial/trial_design.h"

#include <math.h>

#include "maths/design.h"

/* A box design on a finite set: the nearest point not taken yet. */
static void nearest_free_point(const RgSpace *space, const double *u, unsigned char *taken,
                               int *index)
{
  double best = INFINITY;

  for (int i = 0; i < space->size; i++) {
    double distance = 0;
    for (int j = 0; j < space->dim; j++) {
      double difference = space->points[(size_t)i * space->dim + j] - u[j];
      distance += difference * difference;
    }
    if (taken[i] || distance >= best) continue;
    best = distance;
    *index = i;
  }
  taken[*index] = 1;
}

static PetscErrorCode box_design(int kind, RgRandom *random, int n, int dim, double *points)
{
  PetscFunctionBeginUser;
  switch (kind) {
  case RG_INITIAL_SOBOL: PetscCall(rg_design_sobol(random, n, dim, points)); break;
  case RG_INITIAL_LATIN_HYPERCUBE:
    PetscCall(rg_design_latin_hypercube(random, n, dim, points));
    break;
  default: PetscCall(rg_design_uniform(random, n, dim, points)); break;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_trial_design(const RgStream *stream, const RgSpace *space, int kind, int n,
                               double *points, int *indices)
{
  RgRandom random = rg_stream_at(stream, 0);

  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++) indices[i] = -1;
  if (!rg_space_is_finite(space)) {
    PetscCall(box_design(kind, &random, n, space->dim, points));
    PetscFunctionReturn(0);
  }
  if (kind == RG_INITIAL_UNIFORM) {
    PetscCall(rg_random_subset(&random, space->size, n, indices));
  } else {
    unsigned char *taken;
    PetscCall(PetscCalloc1(space->size, &taken));
    PetscCall(box_design(kind, &random, n, space->dim, points));
    for (int i = 0; i < n; i++)
      nearest_free_point(space, points + (size_t)i * space->dim, taken, &indices[i]);
    PetscCall(PetscFree(taken));
  }
  for (int i = 0; i < n; i++)
    PetscCall(PetscArraycpy(points + (size_t)i * space->dim,
                            space->points + (size_t)indices[i] * space->dim, space->dim));
  PetscFunctionReturn(0);
}
