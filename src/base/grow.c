/* Work arrays that grow on demand; growth loses their contents. */
#include "base/grow.h"

PetscErrorCode rg_room(size_t size, size_t wanted, size_t *room, double **array)
{
  if (size <= *room) return 0;
  PetscCall(PetscFree(*array));
  *room = 0;
  PetscCall(PetscMalloc1(wanted, array));
  *room = wanted;
  return 0;
}
