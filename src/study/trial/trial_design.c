/* The initial design of a trial. */
#include "study/trial/trial_design.h"

#include <math.h>

#include "maths/design.h"

/* Find the free point of a finite set that is nearest to a point of the box design. */
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

/* Choose n free points of a finite set. */
static PetscErrorCode set_design(const RgSpace *space, int kind, RgRandom *random, int n_given,
                                 int n, unsigned char *taken, int *indices)
{
  PetscFunctionBeginUser;
  if (kind == RG_INITIAL_UNIFORM) { /* enough draws to leave n free points */
    const int drawn = PetscMin(n + n_given, space->size);
    int *subset, count = 0;
    PetscCall(PetscMalloc1(PetscMax(drawn, 1), &subset));
    PetscCall(rg_random_subset(random, space->size, drawn, subset));
    for (int i = 0; i < drawn && count < n; i++)
      if (!taken[subset[i]]) indices[count++] = subset[i];
    PetscCall(PetscFree(subset));
  } else {
    double *points;
    PetscCall(PetscMalloc1((size_t)PetscMax(n, 1) * space->dim, &points));
    PetscCall(box_design(kind, random, n, space->dim, points));
    for (int i = 0; i < n; i++)
      nearest_free_point(space, points + (size_t)i * space->dim, taken, &indices[i]);
    PetscCall(PetscFree(points));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_trial_design(const RgStream *stream, const RgSpace *space, int kind,
                               const RgGiven *given, int n, double *points, int *indices)
{
  RgRandom random = rg_stream_at(stream, 0);
  const int first = PetscMin(given->n, n);
  const size_t dim = (size_t)space->dim;
  unsigned char *taken;

  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++) indices[i] = i < first ? given->index[i] : -1;
  PetscCall(PetscArraycpy(points, given->x, (size_t)first * dim));
  if (!rg_space_is_finite(space)) {
    PetscCall(box_design(kind, &random, n - first, space->dim, points + (size_t)first * dim));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscCalloc1(space->size, &taken));
  for (int i = 0; i < first; i++) taken[indices[i]] = 1;
  PetscCall(set_design(space, kind, &random, first, n - first, taken, indices + first));
  PetscCall(PetscFree(taken));
  for (int i = 0; i < n; i++)
    PetscCall(
      PetscArraycpy(points + (size_t)i * dim, space->points + (size_t)indices[i] * dim, dim));
  PetscFunctionReturn(0);
}
