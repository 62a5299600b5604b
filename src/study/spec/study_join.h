/* The study that two parts of it make: halves by seeds, problems, algorithms or sweeps. */
#ifndef RG_STUDY_SPEC_STUDY_JOIN_H
#define RG_STUDY_SPEC_STUDY_JOIN_H

#include "base/text.h"

/* Where two studies are not parts of one: a key, and what it is in each. */
typedef struct {
  char key[192];
  char first[64], second[64];
} RgStudyDifference;

/* Join the texts of two study files. *joined: the text that names all seeds, problems, algorithms
   and sweep axes of both (owned by the caller), or NULL when the first one does already, or when
   one of them is no YAML map. *same: they are parts of one study; else `difference` says where they
   are not: any key but the lists above and the words for people. O(length^2) at most. */
PetscErrorCode rg_study_join(const char *first, const char *second, char **joined, bool *same,
                             RgStudyDifference *difference);

#endif
