/* Shared by the files of teams. Internal to gp/. */
#ifndef RG_GP_TEAM_TEAM_INTERNAL_H
#define RG_GP_TEAM_TEAM_INTERNAL_H

#include "gp/team/distributed.h"
#include "gp/team/team.h"

typedef enum {
  RG_TEAM_DISMISS,
  RG_TEAM_CREATE,
  RG_TEAM_DESTROY,
  RG_TEAM_SET,
  RG_TEAM_APPEND,
  RG_TEAM_KEEP,
  RG_TEAM_PEND,
  RG_TEAM_RESTORE,
  RG_TEAM_OUTPUTS,
  RG_TEAM_PREDICT,
  RG_TEAM_GRADIENT,
  RG_TEAM_SOLVE,
  RG_TEAM_OBJECTIVE,
  RG_TEAM_PATH,
  RG_TEAM_TASK
} RgTeamOperation;

enum { RG_TEAM_ARRAYS = 3 };

/* The header that the leader sends before the kernel and the arrays. */
typedef struct {
  RgTeamOperation operation;
  int slot, n, code; /* code of a task */
  /* Triangles to solve with. Depending on the task, `lower` also asks for variance or gradient, and
     `upper` for a learned mean. */
  bool lower, upper;
  double noise_variance, mean;
  int kernel_ints, kernel_reals; /* 0: no kernel */
  size_t count[RG_TEAM_ARRAYS];  /* doubles in each array */
} RgTeamCommand;

/* A command with its kernel and arrays. The outputs point to the leader's result arrays. */
typedef struct {
  RgTeamCommand command;
  RgKernel kernel;
  double *array[RG_TEAM_ARRAYS];
  double *out[3];
  RgFailure *failure;
} RgTeamJob;

struct RgTeam {
  MPI_Comm comm; /* a duplicate, owned */
  int size, rank, crossover;
  int64_t jobs; /* set by the leader */
  int n_slots;
  RgDistributed **slots; /* NULL: a free slot */
  RgTeamWorker worker;   /* NULL: no worker */
  int n_states;
  void **states; /* state of the worker; NULL: free */
};

/* Number a kernel's structure and values. ints, reals NULL: only count them. */
void rg_kernel_pack(const RgKernel *kernel, int *n_ints, int *ints, int *n_reals, double *reals);
PetscErrorCode rg_kernel_unpack(const int *ints, const double *reals, RgKernel *kernel);

/* Collective on the team: do a job whose command, kernel and arrays every rank has. */
PetscErrorCode rg_team_do(RgTeam *team, RgTeamJob *job);

#endif
