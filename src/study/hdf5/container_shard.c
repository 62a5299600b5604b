/* Shards are built, sealed with a trailer and opened. Results files are opened in place. */
#include "study/hdf5/container.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/hash.h"

static uint64_t get_word(const unsigned char *from)
{
  uint64_t word = 0;

  for (int i = 0; i < 8; i++) word |= (uint64_t)from[i] << (8 * i);
  return word;
}

void rg_trailer_write(uint64_t length, const uint64_t hash[2], unsigned char *trailer)
{
  memcpy(trailer, RG_TRAILER_MAGIC, 8);
  rg_put_word(length, trailer + 8);
  rg_put_word(hash[0], trailer + 16);
  rg_put_word(hash[1], trailer + 24);
}

bool rg_trailer_read(const unsigned char *trailer, uint64_t *length, uint64_t hash[2])
{
  if (memcmp(trailer, RG_TRAILER_MAGIC, 8)) return false;
  *length = get_word(trailer + 8);
  hash[0] = get_word(trailer + 16);
  hash[1] = get_word(trailer + 24);
  return true;
}

/* Read all of [offset, offset + size). False: the medium keeps the error, EIO if it ends early. */
static bool read_all(RgMedium *medium, uint64_t offset, size_t size, void *to)
{
  if (medium->fd < 0) memcpy(to, medium->bytes + offset, size);
  else if (rg_medium_pread(medium, offset, size, to) < size && !medium->error) medium->error = EIO;
  return !medium->error;
}

/* XXH3-128 of the first `length` bytes of a medium, unless it has an error. */
static PetscErrorCode hash_medium(RgMedium *medium, uint64_t length, uint64_t hash[2])
{
  enum { BLOCK = 1 << 20 };
  unsigned char *block;

  if (medium->fd < 0) {
    rg_hash128(medium->bytes, length, hash);
    return 0;
  }
  XXH3_state_t *state = XXH3_createState();
  PetscCheck(state, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for a hash");
  PetscCall(PetscMalloc1(BLOCK, &block));
  XXH3_128bits_reset(state);
  for (uint64_t offset = 0; offset < length; offset += BLOCK) {
    const size_t size = (size_t)PetscMin(length - offset, BLOCK);
    if (!read_all(medium, offset, size, block)) break;
    XXH3_128bits_update(state, block, size);
  }
  const XXH128_hash_t digest = XXH3_128bits_digest(state);
  hash[0] = digest.low64;
  hash[1] = digest.high64;
  XXH3_freeState(state);
  return PetscFree(block);
}

PetscErrorCode rg_medium_seal(RgMedium *medium, char hex[33])
{
  unsigned char trailer[RG_TRAILER_LENGTH];
  uint64_t hash[2];

  PetscCall(hash_medium(medium, medium->length, hash));
  if (medium->error) return 0;
  if (medium->fd < 0) {
    medium->capacity = medium->length + RG_TRAILER_LENGTH;
    PetscCall(PetscRealloc(medium->capacity, &medium->bytes));
  }
  rg_hash_hex(hash, hex);
  rg_trailer_write(medium->length, hash, trailer);
  (void)rg_medium_write(medium, medium->length, sizeof(trailer), trailer);
  return 0;
}

/* ---- building -------------------------------------------------------------------------------- */

/* Write the group of the records that have the label of record `first`, and mark them. list: has
   room for all records. */
static PetscErrorCode write_group(RgMedium *medium, hid_t file, int n, RgRecord *const *records,
                                  int first, bool *written, const RgRecord **list, RgFault *fault)
{
  const char *label = records[first]->cell->problem_label;
  RgGroupShape shape;
  RgGroup group;
  int m = 0;

  PetscCall(rg_group_shape_create(label, false, &shape));
  for (int i = first; i < n; i++) {
    if (strcmp(records[i]->cell->problem_label, label)) continue;
    PetscCall(rg_group_shape_add(&shape, records[i]));
    list[m++] = records[i];
    written[i] = true;
  }
  PetscCall(rg_group_create(medium, file, &shape, list, &group, fault));
  for (int i = 0; i < m; i++) PetscCall(rg_group_write_columns(&group, i, list[i], fault));
  PetscCall(rg_group_close(&group));
  return rg_group_shape_destroy(&shape);
}

static PetscErrorCode write_image(int n, RgRecord *const *records, const RgStoreInfo *info,
                                  RgMedium *medium, RgFault *fault)
{
  RgCellTable table = {0};
  const RgRecord **list;
  bool *written;
  const hid_t file = rg_medium_open(medium, true);

  if (file < 0) {
    rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't create a file in memory");
    return 0;
  }
  PetscCall(PetscCalloc2(n, &written, n, &list));
  rg_container_write_info(file, info, fault);
  for (int i = 0; i < n; i++)
    PetscCall(rg_cell_table_add(&table, records[i]->cell, &records[i]->cell_number));
  PetscCall(rg_cell_table_write(file, &table, fault));
  PetscCall(rg_cell_table_clear(&table));
  for (int i = 0; i < n; i++)
    if (!written[i]) PetscCall(write_group(medium, file, n, records, i, written, list, fault));
  PetscCall(PetscFree2(written, list));
  if (!rg_medium_close(medium, file) || medium->error)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't finish a file in memory");
  return 0;
}

/* *last: the previous match. The next match is near, because a file keeps the order of the list
   within a label. */
static bool is_among(int n, RgRecord *const *records, const RgRecord *record, int *last)
{
  for (int k = 1; k <= n; k++) {
    const int i = (*last + k) % n;
    if (strcmp(records[i]->id, record->id) || strcmp(records[i]->checksum, record->checksum))
      continue;
    *last = i;
    return true;
  }
  return false;
}

static PetscErrorCode check_image(int n, RgRecord *const *records, const RgMedium *medium,
                                  RgFault *fault)
{
  const RgMedium bytes = rg_medium_memory(medium->bytes, medium->length);
  RgCursor cursor = {.reader = RG_READ_TRIALS};
  int seen = 0, last = n - 1;

  if (fault->code) return 0;
  PetscCall(rg_container_open(&bytes, &cursor.container, fault));
  while (rg_cursor_next(&cursor, fault)) {
    PetscCall(rg_cursor_read(&cursor, fault));
    if (!fault->code && is_among(n, records, cursor.record, &last)) seen++;
    else
      rg_fault_set(fault, RG_FAULT_DAMAGED, "trial %s changed on its way into the file",
                   cursor.record->id);
  }
  PetscCall(rg_cursor_close(&cursor));
  if (seen != n)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "%d of %d trials arrived in the file", seen, n);
  return 0;
}

PetscErrorCode rg_container_image(int n, RgRecord *const *records, const RgStoreInfo *info,
                                  RgMedium *medium, RgFault *fault)
{
  *medium = rg_medium_memory(NULL, 0);
  PetscCall(write_image(n, records, info, medium, fault));
  return check_image(n, records, medium, fault);
}

PetscErrorCode rg_shard_build(const RgStudy *study, int level, int n, RgRecord *const *records,
                              unsigned char **bytes, size_t *length, char name[RG_SHARD_NAME_MAX],
                              RgFault *fault)
{
  RgStoreInfo info;
  RgChecksum all = {0};
  RgMedium medium;
  char hex[33];

  PetscCall(rg_store_info_create(study, &info));
  info.n_trials = n;
  for (int i = 0; i < n; i++) {
    uint64_t checksum[2];
    PetscCall(rg_record_checksum(records[i], checksum));
    rg_hash_hex(checksum, records[i]->checksum);
    rg_checksum_add(&all, checksum);
    info.n_failed += records[i]->status == RG_STATUS_FAILED;
  }
  rg_checksum_hex(&all, info.checksum);
  PetscCall(rg_container_image(n, records, &info, &medium, fault));
  PetscCall(rg_store_info_clear(&info));
  *bytes = NULL;
  if (fault->code) return rg_medium_clear(&medium);
  PetscCall(rg_medium_seal(&medium, hex));
  *bytes = medium.bytes;
  *length = medium.length;
  snprintf(name, RG_SHARD_NAME_MAX, "%d-%s.h5", level, hex);
  return 0;
}

int rg_shard_level(const char *name)
{
  char *end;
  long level;

  if (name[0] < '0' || name[0] > '9') return -1;
  level = strtol(name, &end, 10);
  if (level < 0 || level > 1000 || *end != '-') return -1;
  if (strspn(end + 1, "0123456789abcdef") != 32 || strcmp(end + 33, ".h5")) return -1;
  return (int)level;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Errors of the medium mean damage: the file goes to bad/ and its trials run again. After errors
   of the process or of permissions the file may still be good. */
static RgFaultCode code_of(int error)
{
  if (error == ENOENT || error == ENOTDIR) return RG_FAULT_VANISHED;
  if (error == EACCES || error == EPERM) return RG_FAULT_FOREIGN;
  return error == EIO || error == EISDIR || error == ESPIPE || error == ELOOP ? RG_FAULT_DAMAGED
                                                                              : RG_FAULT_ERROR;
}

static const char *describe(int error)
{
  if (error == ELOOP) return "it is a symbolic link, not a file";
  return error == ESPIPE ? "it is a pipe or a device, not a file" : strerror(error);
}

/* The attributes of an open file, from the server of a network file system where it has one: what
   this host has cached may be old. */
static int read_status(int fd, struct stat *status)
{
#ifdef AT_STATX_FORCE_SYNC
  struct statx now;

  if (fstat(fd, status)) return -1;
  if (!statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &now) &&
      now.stx_mask & STATX_SIZE)
    status->st_size = (off_t)now.stx_size;
  return 0;
#else
  return fstat(fd, status);
#endif
}

/* Open a file as a medium to read, which keeps an error. */
static RgMedium open_to_read(const char *path, RgInside inside)
{
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK; /* a pipe without a writer must not block */
  struct stat status;
  int fd;

  do fd = inside == RG_ANYWHERE ? open(path, flags) : rg_inside_open(path, inside, flags);
  while (fd < 0 && errno == EINTR);
  const int error = fd < 0 || read_status(fd, &status) ? errno
                    : S_ISREG(status.st_mode)          ? 0
                    : S_ISDIR(status.st_mode)          ? EISDIR
                                                       : ESPIPE;
  if (error && fd >= 0) close(fd);
  RgMedium medium = rg_medium_descriptor(error ? -1 : fd, error ? 0 : (uint64_t)status.st_size);
  medium.error = error;
  return medium;
}

/* Read a whole file into bytes that the caller frees; after an error of the medium, try once
   more. */
static PetscErrorCode load(const char *path, RgInside inside, RgMedium *medium)
{
  for (int attempt = 0; attempt < 2; attempt++) {
    RgMedium file = open_to_read(path, inside);
    unsigned char *bytes = NULL;
    if (!file.error) {
      PetscCall(PetscMalloc1(file.length + 1, &bytes));
      if (!read_all(&file, 0, file.length, bytes)) PetscCall(PetscFree(bytes));
      close(file.fd);
    }
    *medium = rg_medium_memory(bytes, bytes ? file.length : 0);
    medium->error = file.error;
    if (file.error != EIO) break;
  }
  return 0;
}

/* Open what a medium has, which the container owns from now on, and name the file in the fault. */
static PetscErrorCode open_container(const char *path, const RgMedium *medium,
                                     RgContainer *container, RgFault *fault)
{
  PetscCall(rg_container_open(medium, container, fault));
  container->owned = true;
  if (fault->code) rg_fault_restate(fault, fault->code, path);
  else if (container->schema_version > RG_SCHEMA_VERSION)
    rg_fault_set(fault, RG_FAULT_NEWER,
                 "%s was written by a newer regatta (schema %lld); this one reads up to schema %d",
                 path, (long long)container->schema_version, RG_SCHEMA_VERSION);
  return 0;
}

/* Whether bytes are missing after or inside HDF5's part. The superblock (version 0, as we write
   it) gives the end of that part. Other programs that write to the file drop the whole trailer. */
static bool is_cut(RgMedium *medium)
{
  static const unsigned char signature[9] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 0};
  enum { SIZE_OF_OFFSETS = 13, END_OF_FILE = 40, SUPERBLOCK = 48 };
  const uint64_t length = medium->length;
  unsigned char head[SUPERBLOCK];

  if (length < SUPERBLOCK || !read_all(medium, 0, SUPERBLOCK, head)) return false;
  if (memcmp(head, signature, sizeof(signature)) || head[SIZE_OF_OFFSETS] != 8) return false;
  const uint64_t end = get_word(head + END_OF_FILE);
  return length < end || (length > end && length - end <= RG_TRAILER_LENGTH);
}

/* *fits: the trailer is correct or missing; with `verify` its hash is checked. */
static PetscErrorCode check_trailer(RgMedium *medium, bool verify, bool *trailed, bool *fits)
{
  unsigned char trailer[RG_TRAILER_LENGTH];
  const uint64_t end = medium->length - RG_TRAILER_LENGTH;
  uint64_t known, hash[2], found[2];

  *trailed = false;
  *fits = true;
  if (medium->length < RG_TRAILER_LENGTH || !read_all(medium, end, RG_TRAILER_LENGTH, trailer))
    return 0;
  *trailed = rg_trailer_read(trailer, &known, hash);
  *fits = *trailed ? known == end : !is_cut(medium);
  if (!*trailed || !*fits || !verify) return 0;
  PetscCall(hash_medium(medium, known, found));
  *fits = hash[0] == found[0] && hash[1] == found[1];
  return 0;
}

PetscErrorCode rg_shard_open(const char *path, RgInside inside, RgContainer *container,
                             RgFault *fault)
{
  RgMedium medium;
  bool trailed, fits;

  *container = (RgContainer){0};
  PetscCall(load(path, inside, &medium));
  if (medium.error) {
    rg_fault_set(fault, code_of(medium.error), "cannot read %s: %s", path, describe(medium.error));
    return 0;
  }
  PetscCall(check_trailer(&medium, true, &trailed, &fits));
  if (trailed && fits) return open_container(path, &medium, container, fault);
  rg_fault_set(fault, RG_FAULT_DAMAGED, "%s is damaged: %s", path,
               medium.length ? "its checksum does not fit" : "it is empty");
  return PetscFree(medium.bytes);
}

PetscErrorCode rg_shard_open_results(const char *path, bool verify, RgContainer *container,
                                     bool *trailed, RgFault *fault)
{
  const double longest_pause = 1; /* seconds between two looks at a file that ends early */
  RgMedium medium;
  bool fits = true;

  *container = (RgContainer){0};
  for (double pause = 0.1;; pause *= 2) {
    *trailed = false;
    medium = open_to_read(path, RG_ANYWHERE);
    if (!medium.error) PetscCall(check_trailer(&medium, verify, trailed, &fits));
    if (medium.error || fits || *trailed || pause > longest_pause) break;
    close(medium.fd);
    PetscCall(PetscSleep(pause)); /* this host may have an old size in a cache */
  }
  const int error = medium.error;
  if (!error && fits) return open_container(path, &medium, container, fault);
  if (medium.fd >= 0) close(medium.fd);
  if (error)
    rg_fault_set(fault, error == EIO ? RG_FAULT_ERROR : code_of(error), "cannot read %s: %s", path,
                 describe(error));
  else
    rg_fault_set(fault, RG_FAULT_DAMAGED, "%s is damaged: %s", path,
                 *trailed ? "its checksum does not fit"
                          : "its last bytes are missing (or this host has an old size of it in a "
                            "cache; on a network file system try again in a minute)");
  return 0;
}
