/* Reading whole files, with mistakes in words. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

/* Read up to `room` bytes. Returns the number read, or -1 with errno. */
static ssize_t read_all(int file, char *bytes, size_t room)
{
  size_t n = 0;

  while (n < room) {
    ssize_t got = read(file, bytes + n, room - n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (!got) break;
    n += (size_t)got;
  }
  return (ssize_t)n;
}

/* Size of the regular file `file`; -1 and a mistake for other files. */
static PetscErrorCode file_size(int file, size_t limit, ssize_t *size, RgText *mistake)
{
  struct stat info;

  PetscFunctionBeginUser;
  *size = -1;
  if (file < 0 || fstat(file, &info))
    PetscCall(rg_text_add(mistake, "can't be opened: %s", strerror(errno)));
  else if (!S_ISREG(info.st_mode))
    PetscCall(rg_text_add(mistake, "is %s, not a file of text",
                          S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe"));
  else if ((size_t)info.st_size > limit)
    PetscCall(rg_text_add(mistake, "has %lld bytes, at most %zu are accepted",
                          (long long)info.st_size, limit));
  else *size = (ssize_t)info.st_size;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_file_read(const char *path, size_t limit, char **text, size_t *length,
                            RgText *mistake)
{
  return rg_file_read_open(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), limit, text, length,
                           mistake);
}

PetscErrorCode rg_file_read_open(int file, size_t limit, char **text, size_t *length,
                                 RgText *mistake)
{
  ssize_t size, got;

  PetscFunctionBeginUser;
  *text = NULL;
  *length = 0;
  PetscCall(file_size(file, limit, &size, mistake));
  if (size >= 0) {
    PetscCall(PetscCalloc1((size_t)size + 1, text));
    got = read_all(file, *text, (size_t)size);
    if (got < 0) {
      PetscCall(rg_text_add(mistake, "can't be read: %s", strerror(errno)));
      PetscCall(PetscFree(*text));
    } else {
      *length = (size_t)got;
      (*text)[got] = '\0';
    }
  }
  if (file >= 0) close(file);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_file_hash(const char *path, char hex[33], RgText *mistake)
{
  char *bytes;
  size_t length;
  uint64_t hash[2];

  PetscFunctionBeginUser;
  PetscCall(rg_file_read(path, 1u << 30, &bytes, &length, mistake));
  if (bytes) {
    rg_hash128(bytes, length, hash);
    rg_hash_hex(hash, hex);
  }
  PetscCall(PetscFree(bytes));
  PetscFunctionReturn(0);
}

const char *rg_data_folder(void)
{
  const char *folder = getenv("REGATTA_DATA");

  return folder && *folder ? folder : NULL;
}

PetscErrorCode rg_data_find(const char *path, RgText *found)
{
  const char *folder = rg_data_folder(), *last = strrchr(path, '/');
  const char *places[] = {path, last ? last + 1 : path};

  PetscFunctionBeginUser;
  if (access(path, F_OK) == 0) {
    PetscCall(rg_text_add(found, "%s", path));
    PetscFunctionReturn(0);
  }
  if (!folder || !*path || *path == '/') PetscFunctionReturn(0);
  for (int i = 0; i < 2; i++) {
    PetscCall(rg_text_add(found, "%s/%s", folder, places[i]));
    if (access(found->data, F_OK) == 0) PetscFunctionReturn(0);
    PetscCall(rg_text_clear(found));
  }
  PetscFunctionReturn(0);
}
