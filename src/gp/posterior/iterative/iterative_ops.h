/* The posterior without a matrix as a back end; iterative.h has the mathematics. Internal to gp/.
 */
#ifndef RG_GP_POSTERIOR_ITERATIVE_ITERATIVE_OPS_H
#define RG_GP_POSTERIOR_ITERATIVE_ITERATIVE_OPS_H

#include "gp/posterior/iterative/iterative.h"
#include "gp/posterior/posterior_ops.h"
#include "gp/team/team.h"

/* State that the leader keeps. */
struct RgIterativeState {
  RgSolverOptions options;
  void *state;             /* state of the work, where there is no team */
  const RgSpace *points;   /* borrowed: points of a finite domain; NULL: a box */
  double *mean, *variance; /* mean and variance of all points; NULL on a box */
  int iterations;          /* report of the last solve for the mean */
  double residual;
  bool unfinished; /* whether any other solve failed to converge */
  double *kept; /* 2 size: mean and variance before pending points; NULL: nothing was ever kept */
  int iterations_kept;
  double residual_kept;
};

/* State that the back end keeps in addition to the data. points: a finite set to predict at;
   NULL: none. */
PetscErrorCode rg_iterative_state_create(const RgSpace *points, const RgSolverOptions *options,
                                         struct RgIterativeState **state);

PetscErrorCode rg_iterative_work(MPI_Comm comm, const RgTeamTask *task, void **state);

/* false in a build without this back end. */
bool rg_iterative_present(void);
extern const RgPosteriorOps rg_iterative_ops;

#endif
