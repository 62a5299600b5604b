/* The programs of trials on the real clock. */
#ifndef RG_STUDY_RUN_PROGRAMS_H
#define RG_STUDY_RUN_PROGRAMS_H

#include "study/trial/trial.h"

/* Programs that this process starts itself. They go on from one trial to the next. log: file for
   their standard error; borrowed. */
PetscErrorCode rg_programs_here(const char *log, RgPrograms *programs);
/* On a leader: programs that the ranks of its team hold, one each. The leader sends a question to
   the rank of a worker, which passes it on to its program, and the answer back. Worker w is the
   rank w after the leader in `comm`, which is borrowed and has no other use. */
PetscErrorCode rg_programs_on_team(MPI_Comm comm, RgPrograms *programs);
/* End them; programs that were not created are fine. */
PetscErrorCode rg_programs_destroy(RgPrograms *programs);

typedef struct RgHolder RgHolder;

/* On another rank: create a holder, which serves any leader. log: file for the standard error of
   its program; borrowed. */
PetscErrorCode rg_holder_create(MPI_Comm comm, const char *log, RgHolder **holder);
/* Take a question, or send an answer, if there is one; call it often. Between two calls the rank
   may work for the leader in other ways. NULL is fine. */
PetscErrorCode rg_holder_poll(RgHolder *holder);
/* End its program; NULL is fine. */
PetscErrorCode rg_holder_destroy(RgHolder **holder);

#endif
