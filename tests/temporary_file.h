/* A file for one test. */
#ifndef RG_TESTS_TEMPORARY_FILE_H
#define RG_TESTS_TEMPORARY_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test_main.h"

typedef struct {
  char folder[32], path[64];
} TemporaryFile;

static inline void file_write(const TemporaryFile *file, const void *bytes, size_t length)
{
  FILE *out = fopen(file->path, "wb");

  assert_non_null(out);
  assert_int_equal(fwrite(bytes, 1, length, out), length);
  assert_int_equal(fclose(out), 0);
}

/* A folder of its own with the file `name` of this text. */
static inline TemporaryFile file_make(const char *name, const char *text)
{
  TemporaryFile file = {.folder = "/tmp/regatta-test-XXXXXX"};

  assert_non_null(mkdtemp(file.folder));
  snprintf(file.path, sizeof file.path, "%s/%s", file.folder, name);
  file_write(&file, text, strlen(text));
  return file;
}

static inline void file_remove(const TemporaryFile *file)
{
  unlink(file->path);
  rmdir(file->folder);
}

#endif
