/* The driver below HDF5: bytes in memory or a file descriptor; the first error is kept. */
#include "study/hdf5/medium.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

/* An open file; HDF5 requires its own part first. */
typedef struct {
  H5FD_t public;
  RgMedium *medium;
} MediumFile;

PetscErrorCode rg_medium_clear(RgMedium *medium)
{
  if (medium->capacity) PetscCall(PetscFree(medium->bytes));
  *medium = rg_medium_memory(NULL, 0);
  return 0;
}

static void keep_error(RgMedium *medium, int error)
{
  if (!medium->error) medium->error = error ? error : EIO;
}

/* Make room for `need` bytes; false, with the error kept: no memory. */
static bool memory_grow(RgMedium *medium, size_t need)
{
  size_t capacity = medium->capacity ? medium->capacity : 64 * 1024;

  if (need <= medium->capacity) return true;
  while (capacity < need) capacity += capacity / 2;
  if (PetscRealloc(capacity, &medium->bytes)) {
    if (!medium->bytes) medium->capacity = medium->length = 0;
    keep_error(medium, ENOMEM);
    return false;
  }
  medium->capacity = capacity;
  return true;
}

/* HDF5 does not learn of an error of a descriptor. */
bool rg_medium_write(RgMedium *medium, uint64_t offset, size_t size, const void *from)
{
  const uint64_t end = offset + size;
  const char *at = from;

  if (medium->fd < 0) {
    if (medium->bytes && !medium->capacity) return false; /* borrowed memory is read only */
    if (!memory_grow(medium, (size_t)end)) return false;
    if (offset > medium->length) /* fill a hole with zeros */
      memset(medium->bytes + medium->length, 0, (size_t)(offset - medium->length));
    memcpy(medium->bytes + offset, from, size);
  }
  while (medium->fd >= 0 && size && !medium->error) {
    ssize_t n = pwrite(medium->fd, at, size < 1u << 30 ? size : 1u << 30, (off_t)offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      keep_error(medium, n < 0 ? errno : ENOSPC);
      return true;
    }
    offset += (uint64_t)n;
    at += n;
    size -= (size_t)n;
  }
  if (!medium->error && end > medium->length) medium->length = end;
  return true;
}

size_t rg_medium_pread(RgMedium *medium, uint64_t offset, size_t size, void *to)
{
  size_t done = 0;

  while (done < size) {
    const size_t step = PetscMin(size - done, (size_t)1 << 30);
    const ssize_t n = pread(medium->fd, (char *)to + done, step, (off_t)(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) keep_error(medium, errno);
    if (n <= 0) break;
    done += (size_t)n;
  }
  return done;
}

bool rg_medium_read(RgMedium *medium, uint64_t offset, size_t size, void *to)
{
  char *at = to;

  if (medium->fd < 0) {
    const uint64_t known = offset < medium->length ? PetscMin(medium->length - offset, size) : 0;
    if (known) memcpy(to, medium->bytes + offset, (size_t)known);
    memset(at + known, 0, size - (size_t)known);
    return true;
  }
  const size_t n = rg_medium_pread(medium, offset, size, to);
  memset(at + n, 0, size - n); /* beyond the end of the file */
  return !medium->error;
}

static H5FD_t *medium_open(const char *name, unsigned flags, hid_t access, haddr_t maximum)
{
  RgMedium *const *medium = H5Pget_driver_info(access);
  MediumFile *file;

  if (!medium || PetscCalloc1(1, &file)) return NULL;
  file->medium = *medium;
  file->medium->end = 0;
  return &file->public;
}

static herr_t medium_close(H5FD_t *base)
{
  return PetscFree(base) ? -1 : 0;
}

static int medium_compare(const H5FD_t *a, const H5FD_t *b)
{
  uintptr_t left = (uintptr_t)((const MediumFile *)a)->medium;
  uintptr_t right = (uintptr_t)((const MediumFile *)b)->medium;

  return (left > right) - (left < right);
}

static herr_t medium_query(const H5FD_t *base, unsigned long *flags)
{
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

static haddr_t medium_get_eoa(const H5FD_t *base, H5FD_mem_t type)
{
  return ((const MediumFile *)base)->medium->end;
}

static herr_t medium_set_eoa(H5FD_t *base, H5FD_mem_t type, haddr_t address)
{
  ((MediumFile *)base)->medium->end = address;
  return 0;
}

static haddr_t medium_get_eof(const H5FD_t *base, H5FD_mem_t type)
{
  return (haddr_t)((const MediumFile *)base)->medium->length;
}

static herr_t medium_read(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, void *to)
{
  return rg_medium_read(((MediumFile *)base)->medium, address, size, to) ? 0 : -1;
}

static herr_t medium_write(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t size, const void *from)
{
  return rg_medium_write(((MediumFile *)base)->medium, address, size, from) ? 0 : -1;
}

/* Extend or cut the file to the end of the addresses; parts never written are zero. */
static herr_t medium_truncate(H5FD_t *base, hid_t transfer, hbool_t closing)
{
  RgMedium *medium = ((MediumFile *)base)->medium;

  if (medium->fd < 0 && medium->end > medium->length) {
    if (!memory_grow(medium, (size_t)medium->end)) return -1;
    memset(medium->bytes + medium->length, 0, (size_t)(medium->end - medium->length));
  }
  medium->length = medium->end;
  return 0;
}

static const H5FD_class_t medium_class = {
#if H5_VERSION_GE(1, 13, 0)
  .version = H5FD_CLASS_VERSION,
  .value = (H5FD_class_value_t)511, /* a number from the unregistered range */
#endif
  .name = "regatta",
  .maxaddr = (haddr_t)INT64_MAX,
  .fc_degree = H5F_CLOSE_STRONG,
  .fapl_size = sizeof(RgMedium *),
  .open = medium_open,
  .close = medium_close,
  .cmp = medium_compare,
  .query = medium_query,
  .get_eoa = medium_get_eoa,
  .set_eoa = medium_set_eoa,
  .get_eof = medium_get_eof,
  .read = medium_read,
  .write = medium_write,
  .truncate = medium_truncate,
  .fl_map = H5FD_FLMAP_DICHOTOMY,
};

static void (*tell_no_memory)(void); /* NULL: nobody wants to know */

/* Called by HDF5 in place of printing an error. Its codes do not tell a lack of memory from other
   failures, so that the C library's word counts. */
static herr_t note_error(hid_t stack, void *closure)
{
  if (errno == ENOMEM && tell_no_memory) tell_no_memory();
  return 0;
}

hid_t rg_medium_open(RgMedium *medium, bool create)
{
  hid_t file = -1;

  errno = 0; /* of now: see note_error */
  H5Eset_auto2(H5E_DEFAULT, note_error, NULL);
  H5PLset_loading_state(0); /* no file makes HDF5 load a library */
  medium->driver = H5FDregister(&medium_class);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const hid_t creation = create ? H5Pcreate(H5P_FILE_CREATE) : H5P_DEFAULT;
  const bool ready = medium->driver >= 0 && access >= 0 && creation >= 0 &&
                     H5Pset_driver(access, medium->driver, &medium) >= 0;
  if (ready && create) {
    H5Pset_obj_track_times(creation, false);
    file = H5Fcreate("regatta", H5F_ACC_TRUNC, creation, access);
  } else if (ready) {
    file = H5Fopen("regatta", H5F_ACC_RDONLY, access);
  }
  RG_H5_CLOSE(creation, access);
  if (file < 0 && medium->driver >= 0) H5FDunregister(medium->driver);
  return file;
}

/* HDF5 still uses the driver after the file has released it, so the driver is unregistered last. */
bool rg_medium_close(RgMedium *medium, hid_t file)
{
  bool closed = H5Fclose(file) >= 0;

  H5FDunregister(medium->driver);
  return closed;
}

void rg_medium_note_failure(void)
{
  (void)note_error(H5E_DEFAULT, NULL);
}

bool rg_medium_start(void (*no_memory)(void))
{
  (void)H5dont_atexit();
  tell_no_memory = no_memory;
  errno = 0;
  return H5open() >= 0 && H5Eset_auto2(H5E_DEFAULT, note_error, NULL) >= 0;
}
