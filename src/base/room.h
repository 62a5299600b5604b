/* Work arrays that grow with what they are asked for and keep no contents. */
#ifndef RG_BASE_ROOM_H
#define RG_BASE_ROOM_H

#include "regatta/error.h"

/* Make sure that *array, owned by the caller (NULL at first, PetscFree at the end), has room for
   `size` numbers; where it has not (*room), it is replaced by one of `wanted` >= size. */
PetscErrorCode rg_room(size_t size, size_t wanted, size_t *room, double **array);

#endif
