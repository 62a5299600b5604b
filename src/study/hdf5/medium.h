/* The storage below an HDF5 file: bytes in memory or a file descriptor. HDF5 accesses both
   through one driver of its virtual file layer. The driver hides errors of the disk from HDF5,
   which might report success for truncated data, or crash. It keeps the first error for the
   caller. */
#ifndef RG_STUDY_HDF5_MEDIUM_H
#define RG_STUDY_HDF5_MEDIUM_H

#include "study/hdf5/h5.h"

typedef struct {
  int fd; /* file descriptor, borrowed; -1: in memory */
  /* In memory: contents of the file; owned if capacity > 0, else borrowed and read only. */
  unsigned char *bytes;
  size_t capacity; /* in memory: allocated bytes */
  uint64_t length; /* length of the file */
  uint64_t end;    /* of what HDF5 has allocated */
  /* Place beyond the end where the values of the next large column may wait until they are
     compressed; 0: columns are written as they are. */
  uint64_t raw;
  int error;    /* errno of the first read, write or allocation that failed, or 0 */
  hid_t driver; /* registered with HDF5 while a file on the medium is open */
} RgMedium;

/* Memory: `length` borrowed bytes to read, or, with NULL and 0, none yet, to write into. */
static inline RgMedium rg_medium_memory(const void *bytes, size_t length)
{
  return (RgMedium){.fd = -1, .bytes = (unsigned char *)(uintptr_t)bytes, .length = length};
}
/* A file descriptor with `length` bytes to read, or, with 0, to write into. The file is not
   truncated, locked or synchronised; reserved space beyond the end stays. */
static inline RgMedium rg_medium_descriptor(int fd, uint64_t length)
{
  return (RgMedium){.fd = fd, .length = length};
}
/* Free owned memory. */
PetscErrorCode rg_medium_clear(RgMedium *medium);

/* Write directly into a dataset's space that HDF5 has allocated but does not write itself.
   False: no memory; errors of a descriptor are in `error`. */
bool rg_medium_write(RgMedium *medium, uint64_t offset, size_t size, const void *from);
/* Read from a descriptor. Returns how many bytes there were; `error` says why they are fewer. */
size_t rg_medium_pread(RgMedium *medium, uint64_t offset, size_t size, void *to);
/* Read; zeros beyond the end. False: an error of the descriptor, which `error` has. */
bool rg_medium_read(RgMedium *medium, uint64_t offset, size_t size, void *to);

/* Create or open an HDF5 file on the medium (borrowed, must outlive the file). create: an empty
   file in the earliest format, without object times; otherwise the file is read. Negative if
   HDF5 fails. Turns HDF5's own error messages off. */
hid_t rg_medium_open(RgMedium *medium, bool create);
/* Close a file and all its objects; then `length` is the length of the file. False: HDF5 could
   not complete it. */
bool rg_medium_close(RgMedium *medium, hid_t file);

/* Start HDF5 for a program, in its main(); false: there is no memory for it. At exit the library
   leaves files that an error has left open as they are: it would write to them, through a medium
   whose memory is gone. no_memory is called, and should not return, where a call of HDF5 fails
   because an allocation failed: HDF5 may have broken its own data then, and a file that it can't
   read is not damaged. */
bool rg_medium_start(void (*no_memory)(void));
/* After a failed call of HDF5's high-level library, which reports no errors: call no_memory if an
   allocation failed. */
void rg_medium_note_failure(void);

#endif
