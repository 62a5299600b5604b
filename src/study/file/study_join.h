/* The join of two parts of a study, split by seeds, problems, algorithms or sweeps. */
#ifndef RG_STUDY_FILE_STUDY_JOIN_H
#define RG_STUDY_FILE_STUDY_JOIN_H

#include "base/text.h"

/* The reason why two studies are not parts of one: a key, and its value in each. */
typedef struct {
  char key[192];
  char first[64], second[64];
} RgStudyDifference;

/* Join the texts of two study files. *joined: a text with all seeds, problems, algorithms and
   sweep axes of both (owned by the caller), or NULL if the first text has them all, or one is
   not a YAML map. *same: they are parts of one study; else `difference` names a key that
   differs, other than the lists above and texts for people. O(length^2) at most. */
PetscErrorCode rg_study_join(const char *first, const char *second, char **joined, bool *same,
                             RgStudyDifference *difference);

#endif
