/* A directory for one test, and small functions for files in it. */
#ifndef RG_TESTS_SCRATCH_H
#define RG_TESTS_SCRATCH_H

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "regatta/error.h"

static inline int scratch_remove_entry(const char *path, const struct stat *status, int kind,
                                       struct FTW *walk)
{
  (void)status, (void)kind, (void)walk;
  return remove(path);
}

static inline void scratch_remove(const char *path)
{
  (void)nftw(path, scratch_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Template of 64 bytes at least. */
static inline void scratch_create(char *path)
{
  const char *base = getenv("TMPDIR");

  snprintf(path, 64, "%s/regatta-test-XXXXXX", base && strlen(base) < 40 ? base : "/tmp");
  if (!mkdtemp(path)) abort();
}

/* Entries of a directory whose name contains `part` ("" for all), -1 if it does not exist. */
static inline int scratch_count(const char *directory, const char *part)
{
  DIR *stream = opendir(directory);
  struct dirent *entry;
  int n = 0;

  if (!stream) return -1;
  while ((entry = readdir(stream)))
    n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && strstr(entry->d_name, part);
  closedir(stream);
  return n;
}

/* Path of the first entry (by name) that contains `part`; empty if no entry does. */
static inline void scratch_find(const char *directory, const char *part, char path[512])
{
  struct dirent **list;
  int n = scandir(directory, &list, NULL, alphasort);

  path[0] = '\0';
  for (int i = 0; i < n; i++) {
    if (!path[0] && list[i]->d_name[0] != '.' && strstr(list[i]->d_name, part))
      snprintf(path, 512, "%s/%s", directory, list[i]->d_name);
    free(list[i]);
  }
  if (n >= 0) free(list);
}

static inline unsigned char *scratch_read(const char *path, size_t *length)
{
  FILE *file = fopen(path, "rb");
  unsigned char *bytes;

  *length = 0;
  if (!file) abort();
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  bytes = malloc(*length + 1);
  if (fread(bytes, 1, *length, file) != *length) abort();
  fclose(file);
  return bytes;
}

static inline void scratch_write(const char *path, const void *bytes, size_t length)
{
  FILE *file = fopen(path, "wb");

  if (!file || fwrite(bytes, 1, length, file) != length) abort();
  fclose(file);
}

#endif
