/* Work arrays that grow on demand; growth loses their contents. */
#ifndef RG_BASE_ROOM_H
#define RG_BASE_ROOM_H

#include "regatta/error.h"

/* Make sure that *array, owned by the caller (NULL at first, PetscFree at the end), has room for
   `size` numbers. If *room is less, a new array of `wanted` >= size numbers replaces it. */
PetscErrorCode rg_room(size_t size, size_t wanted, size_t *room, double **array);

#endif
