/* The ranks of a team that hold the programs of a trial on the real clock, one each: the leader
   sends a question to the rank of a worker, which passes it on to its program, and the answer
   back. Between two calls of rg_holder_look a rank may work for the leader in other ways. */
#ifndef RG_STUDY_RUN_HOLDERS_H
#define RG_STUDY_RUN_HOLDERS_H

#include "study/trial/trial.h"

/* On a leader: the programs of its team; worker w is the rank w after the leader in `comm`, which
   is borrowed and has no other use. */
PetscErrorCode rg_held_programs(MPI_Comm comm, RgPrograms *programs);
PetscErrorCode rg_held_programs_end(RgPrograms *programs);

typedef struct RgHolder RgHolder;

/* On another rank: create a holder, which serves any leader. log: file for the standard error of
   its program; borrowed. */
PetscErrorCode rg_holder_create(MPI_Comm comm, const char *log, RgHolder **holder);
/* Take a question, or send an answer, if there is one; call it often. NULL is fine. */
PetscErrorCode rg_holder_look(RgHolder *holder);
/* End its program; NULL is fine. */
PetscErrorCode rg_holder_destroy(RgHolder **holder);

#endif
