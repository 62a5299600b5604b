#include "study/hdf5/shard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/hash.h"
#include "study/hdf5/probe.h"

/* Errors of the medium mean damage (the file goes to bad/, its trials run again); errors of the
   process or of permissions mean that the file may be good. */
static RgSourceState state_of(int error)
{
  if (error == ENOENT) return RG_SOURCE_VANISHED;
  return error == EIO || error == EISDIR ? RG_SOURCE_DAMAGED : RG_SOURCE_ERROR;
}

static int open_to_read(const char *path, uint64_t *length, int *error)
{
  struct stat status;
  int fd;

  do fd = open(path, O_RDONLY | O_CLOEXEC);
  while (fd < 0 && errno == EINTR);
  if (fd >= 0 && !fstat(fd, &status)) {
    *length = (uint64_t)status.st_size;
    *error = S_ISREG(status.st_mode) ? 0 : EISDIR;
    return fd;
  }
  *error = errno;
  if (fd >= 0) close(fd);
  return -1;
}

/* All of [offset, offset + size), or an errno; EIO when the file ends early. */
static int read_at(int fd, uint64_t offset, size_t size, unsigned char *to)
{
  while (size) {
    ssize_t n = pread(fd, to, size < 1u << 30 ? size : 1u << 30, (off_t)offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    offset += (uint64_t)n;
    to += n;
    size -= (size_t)n;
  }
  return 0;
}

/* The whole file; a failing medium gets a second chance. */
static PetscErrorCode load(const char *path, unsigned char **bytes, uint64_t *length, int *error)
{
  PetscFunctionBeginUser;
  *bytes = NULL;
  for (int attempt = 0; attempt < 2; attempt++) {
    int fd = open_to_read(path, length, error);
    if (!*error) {
      PetscCall(PetscMalloc1(*length + 1, bytes));
      *error = read_at(fd, 0, *length, *bytes);
      if (*error) PetscCall(PetscFree(*bytes));
    }
    if (fd >= 0) close(fd);
    if (*error != EIO) break;
  }
  PetscFunctionReturn(0);
}

static bool trailer_fits(const unsigned char *bytes, uint64_t length)
{
  uint64_t known, hash[2], found[2];

  if (length < RG_TRAILER_LENGTH) return false;
  length -= RG_TRAILER_LENGTH;
  if (!rg_trailer_read(bytes + length, &known, hash) || known != length) return false;
  rg_hash128(bytes, length, found);
  return hash[0] == found[0] && hash[1] == found[1];
}

static void judge(const char *path, const RgContainer *container, const RgFailure *failure,
                  RgSourceState *state, char message[512])
{
  if (failure->failed) {
    *state = container->medium.error ? RG_SOURCE_ERROR : RG_SOURCE_DAMAGED;
    snprintf(message, 512, "%s: %s", path, failure->message);
  } else if (container->schema_version > RG_SCHEMA_VERSION) {
    *state = RG_SOURCE_NEWER;
    snprintf(message, 512,
             "%s was written by a newer regatta (schema %lld); this one reads up to schema %d",
             path, (long long)container->schema_version, RG_SCHEMA_VERSION);
  }
}

PetscErrorCode rg_shard_open(const char *path, RgContainer *container, RgSourceState *state,
                             char message[512])
{
  RgFailure failure = {0};
  RgMedium medium;
  unsigned char *bytes;
  uint64_t length = 0;
  int error;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(container, sizeof(*container)));
  container->fd = -1;
  *state = RG_SOURCE_OK;
  PetscCall(load(path, &bytes, &length, &error));
  if (error) {
    *state = state_of(error);
    snprintf(message, 512, "cannot read %s: %s", path, strerror(error));
    PetscFunctionReturn(0);
  }
  if (!trailer_fits(bytes, length)) {
    *state = RG_SOURCE_DAMAGED;
    snprintf(message, 512, "%s is damaged: %s", path,
             length ? "its checksum does not fit" : "it is empty");
    PetscCall(PetscFree(bytes));
    PetscFunctionReturn(0);
  }
  medium = rg_medium_bytes(bytes, length);
  PetscCall(rg_container_open(&medium, container, &failure));
  container->loaded = bytes;
  judge(path, container, &failure, state, message);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_hash_descriptor(int fd, uint64_t length, uint64_t hash[2], int *error)
{
  enum { BLOCK = 1 << 20 };
  XXH3_state_t *state = XXH3_createState();
  unsigned char *block;
  XXH128_hash_t digest;

  PetscFunctionBeginUser;
  PetscCheck(state, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a hash");
  PetscCall(PetscMalloc1(BLOCK, &block));
  *error = 0;
  XXH3_128bits_reset(state);
  for (uint64_t offset = 0; offset < length && !*error; offset += BLOCK) {
    size_t size = length - offset < BLOCK ? (size_t)(length - offset) : BLOCK;
    *error = read_at(fd, offset, size, block);
    XXH3_128bits_update(state, block, size);
  }
  digest = XXH3_128bits_digest(state);
  hash[0] = digest.low64;
  hash[1] = digest.high64;
  XXH3_freeState(state);
  PetscCall(PetscFree(block));
  PetscFunctionReturn(0);
}

/* Whether bytes are missing behind or in HDF5's part: its superblock (version 0, as we write it)
   says where that part ends. Other programs that write to the file drop the trailer as a whole. */
static bool is_cut(int fd, uint64_t length)
{
  static const unsigned char signature[9] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 0};
  enum { SIZE_OF_OFFSETS = 13, END_OF_FILE = 40, SUPERBLOCK = 48 };
  unsigned char head[SUPERBLOCK];
  uint64_t end = 0;

  if (length < SUPERBLOCK || read_at(fd, 0, SUPERBLOCK, head)) return false;
  if (memcmp(head, signature, sizeof(signature)) || head[SIZE_OF_OFFSETS] != 8) return false;
  for (int i = 7; i >= 0; i--) end = end << 8 | head[END_OF_FILE + i];
  return length < end || (length > end && length - end <= RG_TRAILER_LENGTH);
}

/* *error: errno of reading; *fits: there is no trailer or it is right. */
static PetscErrorCode check_trailer(int fd, uint64_t length, bool verify, bool *trailed, bool *fits,
                                    int *error)
{
  unsigned char trailer[RG_TRAILER_LENGTH];
  uint64_t known, hash[2], found[2];

  PetscFunctionBeginUser;
  *trailed = false;
  *fits = true;
  *error = 0;
  if (length < RG_TRAILER_LENGTH) PetscFunctionReturn(0);
  *error = read_at(fd, length - RG_TRAILER_LENGTH, RG_TRAILER_LENGTH, trailer);
  if (*error) PetscFunctionReturn(0);
  if (!rg_trailer_read(trailer, &known, hash)) {
    *fits = !is_cut(fd, length);
    PetscFunctionReturn(0);
  }
  *trailed = true;
  *fits = known == length - RG_TRAILER_LENGTH;
  if (!*fits || !verify) PetscFunctionReturn(0);
  PetscCall(rg_hash_descriptor(fd, known, found, error));
  *fits = hash[0] == found[0] && hash[1] == found[1];
  PetscFunctionReturn(0);
}

PetscErrorCode rg_results_open(const char *path, bool verify, RgContainer *container, bool *trailed,
                               RgSourceState *state, char message[512])
{
  RgFailure failure = {0};
  RgMedium medium;
  uint64_t length = 0;
  bool fits = true, survives = true;
  int error, fd;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(container, sizeof(*container)));
  container->fd = -1;
  *trailed = false;
  *state = RG_SOURCE_OK;
  fd = open_to_read(path, &length, &error);
  if (!error) PetscCall(check_trailer(fd, length, verify, trailed, &fits, &error));
  if (error || !fits) {
    *state = error == ENOENT             ? RG_SOURCE_VANISHED
             : error == EISDIR || !error ? RG_SOURCE_DAMAGED
                                         : RG_SOURCE_ERROR;
    if (error) snprintf(message, 512, "cannot read %s: %s", path, strerror(error));
    if (!error)
      snprintf(message, 512, "%s is damaged: %s", path,
               *trailed ? "its checksum does not fit" : "its last bytes are missing");
    if (fd >= 0) close(fd);
    PetscFunctionReturn(0);
  }
  medium = rg_medium_descriptor(fd, length);
  if (!*trailed) PetscCall(rg_probe_survives(&medium, &survives));
  if (!survives) {
    *state = RG_SOURCE_DAMAGED;
    snprintf(message, 512, "%s is damaged: HDF5 can't read it", path);
    close(fd);
    PetscFunctionReturn(0);
  }
  PetscCall(rg_container_open(&medium, container, &failure));
  container->fd = fd;
  judge(path, container, &failure, state, message);
  PetscFunctionReturn(0);
}
