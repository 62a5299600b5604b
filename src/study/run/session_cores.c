/* While rank 0 reads or packs finished trials the other ranks wait: helpers of it use the cores of
   those on its host. */
#include <assert.h>
#include <sched.h>
#include <string.h>

#include "study/run/session.h"

/* More of them only wait for rank 0, which takes their answers. */
enum { MOST_HELPERS = 16 };

PetscErrorCode rg_session_learn_cores(RgSession *session)
{
  PetscFunctionBeginUser;
#ifdef CPU_SETSIZE
  cpu_set_t set;
  static_assert(sizeof(set) == sizeof(session->cores[0]), "as Linux has them");
  if (!sched_getaffinity(0, sizeof(set), &set)) memcpy(session->cores[0], &set, sizeof(set));
#endif
  PetscCallMPI(MPI_Allreduce(session->cores[0], session->cores[1], RG_CORE_WORDS, MPI_UINT64_T,
                             MPI_BOR, session->here));
  PetscFunctionReturn(0);
}

int rg_session_helpers(const RgSession *session)
{
  int cores = 0;

  for (int i = 0; i < RG_CORE_WORDS; i++)
    for (uint64_t word = session->cores[1][i]; word; word &= word - 1) cores++;
  return PetscMin(cores, PetscMin(session->ranks_here, MOST_HELPERS));
}

void rg_session_borrow_cores(const RgSession *session, bool borrow)
{
#ifdef CPU_SETSIZE
  cpu_set_t set;

  memcpy(&set, session->cores[borrow], sizeof(set));
  if (CPU_COUNT(&set)) (void)sched_setaffinity(0, sizeof(set), &set);
#endif
}
