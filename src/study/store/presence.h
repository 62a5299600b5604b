/* Whether runs work on a study directory now. A run holds a shared lock on the directory, which
   ends with the process and leaves nothing behind. Nothing waits for it and no result depends on
   it: where a file system has no locks, or another host holds them, there is no answer. */
#ifndef RG_STUDY_STORE_PRESENCE_H
#define RG_STUDY_STORE_PRESENCE_H

#include "regatta/error.h"

/* Lock a directory. Returns the descriptor that holds the lock until it is closed; -1: no lock. */
int rg_presence_begin(const char *directory);
/* Whether another run holds a lock on the directory of such a descriptor; false for -1. */
bool rg_presence_others(int fd);
/* Whether a run holds a lock on a directory. */
bool rg_presence_any(const char *directory);

#endif
