#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/files.h"
#include "study/store/layout.h"

PetscErrorCode rg_history_line(const char *earlier, const char *what, char **history)
{
  const char *epoch = getenv("SOURCE_DATE_EPOCH");
  time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
  struct tm date;
  char stamp[64] = "unknown time";
  RgText text = {0};

  PetscFunctionBeginUser;
  if (gmtime_r(&now, &date)) strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", &date);
  if (earlier && earlier[0]) PetscCall(rg_text_add(&text, "%s\n", earlier));
  PetscCall(rg_text_add(&text, "%s regatta %s: %s", stamp, RG_VERSION, what));
  PetscCall(PetscStrallocpy(text.data, history));
  PetscCall(rg_text_clear(&text));
  PetscFunctionReturn(0);
}

static const char changed_meanwhile[] = "another run changed the results file meanwhile";

/* A results file that fits in memory goes the way of every shard. */
static PetscErrorCode write_in_memory(RgLayout *layout, RgContainerInfo *info, const char *parent,
                                      const char *name, RgCommitGuard before, const void *closure,
                                      RgStoreStatus *status, char message[512])
{
  RgMedium medium = rg_medium_memory(), written;
  uint64_t hash[2];
  int error = 0;

  PetscFunctionBeginUser;
  PetscCall(rg_layout_fill(layout, info, &medium, status, message));
  if (*status == RG_STORE_OK) {
    written = rg_medium_bytes(medium.bytes, medium.length);
    PetscCall(rg_layout_verify(layout, &written, status, message));
  }
  if (*status == RG_STORE_OK && before && !before(closure)) {
    *status = RG_STORE_INCOMPLETE;
    snprintf(message, 512, "%s", changed_meanwhile);
  }
  if (*status == RG_STORE_OK) {
    rg_hash128(medium.bytes, medium.length, hash);
    PetscCall(PetscRealloc(medium.length + RG_TRAILER_LENGTH, &medium.bytes));
    rg_trailer_write(medium.length, hash, medium.bytes + medium.length);
    PetscCall(rg_file_commit(parent, name, medium.bytes, medium.length + RG_TRAILER_LENGTH, &error,
                             message));
    *status = rg_store_status_of(error);
  }
  PetscCall(rg_medium_clear(&medium));
  PetscFunctionReturn(0);
}

/* Reserve the space before HDF5 writes a byte. File systems that can't reserve are believed. */
static int reserve(int fd, uint64_t bytes)
{
  int error;

  do error = posix_fallocate(fd, 0, (off_t)bytes);
  while (error == EINTR);
  return error == EOPNOTSUPP || error == EINVAL || error == ENOSYS ? 0 : error;
}

/* Cut what was reserved too much, make the data durable, and forget the cached pages so that the
   verification reads from the disk where it can. */
static int settle(int fd, uint64_t length)
{
  int error;

  if (ftruncate(fd, (off_t)length)) return errno;
  error = rg_file_sync(fd);
  if (!error) (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  return error;
}

static PetscErrorCode add_trailer(int fd, uint64_t length, int *error)
{
  unsigned char trailer[RG_TRAILER_LENGTH];
  uint64_t hash[2];

  PetscFunctionBeginUser;
  PetscCall(rg_hash_descriptor(fd, length, hash, error));
  if (*error) PetscFunctionReturn(0);
  rg_trailer_write(length, hash, trailer);
  if (lseek(fd, (off_t)length, SEEK_SET) < 0) *error = errno;
  if (!*error) *error = rg_file_write(fd, trailer, sizeof(trailer));
  if (!*error) *error = rg_file_sync(fd);
  PetscFunctionReturn(0);
}

/* Fill, settle, verify, seal; *error: errno of a step of the system's. */
static PetscErrorCode fill_descriptor(RgLayout *layout, RgContainerInfo *info, int fd, int *error,
                                      RgStoreStatus *status, char message[512])
{
  RgMedium medium = rg_medium_descriptor(fd, 0), written;

  PetscFunctionBeginUser;
  PetscCall(rg_layout_fill(layout, info, &medium, status, message));
  *error = medium.error; /* HDF5 was told that all is well */
  if (*status == RG_STORE_OK && !*error) *error = settle(fd, medium.length);
  if (*status != RG_STORE_OK || *error) PetscFunctionReturn(0);
  written = rg_medium_descriptor(fd, medium.length);
  PetscCall(rg_layout_verify(layout, &written, status, message));
  if (*status == RG_STORE_OK) PetscCall(add_trailer(fd, medium.length, error));
  PetscFunctionReturn(0);
}

static PetscErrorCode write_on_disk(RgLayout *layout, RgContainerInfo *info, const char *output,
                                    const char *parent, RgCommitGuard before, const void *closure,
                                    RgStoreStatus *status, char message[512])
{
  char temporary[PETSC_MAX_PATH_LEN];
  uint64_t needed = rg_layout_bytes(layout, info);
  int fd, error = 0, closing;

  PetscFunctionBeginUser;
  fd = rg_file_create_temporary(parent, temporary, sizeof(temporary), &error);
  if (fd >= 0) {
    error = reserve(fd, needed);
    if (!error) PetscCall(fill_descriptor(layout, info, fd, &error, status, message));
    closing = rg_file_close(fd);
    if (!error) error = closing;
    if (!error && *status == RG_STORE_OK && before && !before(closure)) {
      *status = RG_STORE_INCOMPLETE;
      snprintf(message, 512, "%s", changed_meanwhile);
    }
    if (!error && *status == RG_STORE_OK && rename(temporary, output)) error = errno;
    if (error || *status != RG_STORE_OK) (void)unlink(temporary);
    if (!error && *status == RG_STORE_OK) error = rg_directory_sync(parent);
  }
  if (error) {
    *status = rg_store_status_of(error);
    rg_file_complain(message, output, "write", error, parent, needed);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_layout_write(RgLayout *layout, RgContainerInfo *info, const char *output,
                               size_t image_bytes, RgCommitGuard before, const void *closure,
                               RgStoreStatus *status, char message[512])
{
  char *directory, *parent;
  const char *name;

  PetscFunctionBeginUser;
  PetscCall(rg_store_paths(output, &directory, &parent, &name));
  if (rg_layout_bytes(layout, info) <= image_bytes)
    PetscCall(write_in_memory(layout, info, parent, name, before, closure, status, message));
  else PetscCall(write_on_disk(layout, info, output, parent, before, closure, status, message));
  PetscCall(PetscFree(directory));
  PetscCall(PetscFree(parent));
  PetscFunctionReturn(0);
}
