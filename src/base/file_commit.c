/* The crash-safe commit of a whole file. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files.h"

/* Write, fsync, close; *step names the step that failed. */
static int fill(int fd, const void *bytes, size_t length, const char **step)
{
  int error, closing;

  *step = "write";
  error = rg_file_write(fd, bytes, length);
  if (!error) {
    *step = "sync";
    error = rg_file_sync(fd);
  }
  closing = rg_file_close(fd);
  if (error || !closing) return error;
  *step = "close";
  return closing;
}

PetscErrorCode rg_file_commit(const char *directory, const char *name, const void *bytes,
                              size_t length, int *error, char message[512])
{
  char temporary[PETSC_MAX_PATH_LEN], path[PETSC_MAX_PATH_LEN];
  const char *step = "create";
  int fd;

  PetscFunctionBeginUser;
  message[0] = '\0';
  *error = 0;
  snprintf(path, sizeof(path), "%s/%s", directory, name);
  fd = rg_file_create_temporary(directory, temporary, sizeof(temporary), error);
  if (fd >= 0) *error = fill(fd, bytes, length, &step);
  if (fd >= 0 && !*error && rename(temporary, path)) {
    *error = errno;
    step = "rename";
  }
  if (*error && fd >= 0) (void)unlink(temporary);
  if (!*error) {
    *error =
      rg_directory_sync(directory); /* the name is there, but it may not survive a power loss */
    step = "sync the directory of";
  }
  if (*error) rg_file_complain(message, path, step, *error, directory, length);
  PetscFunctionReturn(0);
}
