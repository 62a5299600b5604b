/* The study files of a folder, for tests that go through all of them. */
#ifndef RG_TESTS_UNIT_STUDY_STUDY_FILES_H
#define RG_TESTS_UNIT_STUDY_STUDY_FILES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "study/plan/plan.h"

#include "test_main.h"

typedef void (*StudyFileTest)(const char *path, const char *text, size_t length);

static int is_yaml(const struct dirent *entry)
{
  const size_t length = strlen(entry->d_name);
  return length > 5 && !strcmp(entry->d_name + length - 5, ".yaml");
}

/* Calls `test` for every *.yaml of `folder`, in alphabetical order; returns their number. */
static int for_each_study(const char *folder, StudyFileTest test)
{
  struct dirent **entries;
  int n = scandir(folder, &entries, is_yaml, alphasort);

  assert_true(n >= 0);
  for (int i = 0; i < n; i++) {
    char path[1024], *text;
    size_t length;
    RgDiagnostics diagnostics = {0};
    snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
    RG_OK(rg_study_read_file(path, &text, &length, &diagnostics));
    assert_int_equal(diagnostics.n, 0);
    test(path, text, length);
    RG_OK(PetscFree(text));
    free(entries[i]);
  }
  free(entries);
  return n;
}

/* The number after `key` in the comments of a study file, -1 if the file does not have it. */
static inline int number_after(const char *text, const char *key)
{
  const char *found = strstr(text, key);
  return found ? atoi(found + strlen(key)) : -1;
}

#endif
