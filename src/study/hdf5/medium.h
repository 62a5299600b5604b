/* What an HDF5 file of ours stands on: bytes in memory or a file descriptor. HDF5 reaches both
   through one driver of its virtual file layer and never learns that a disk failed: it might report
   success for truncated data, or crash. The first error is kept here for the caller to act on. */
#ifndef RG_STUDY_HDF5_MEDIUM_H
#define RG_STUDY_HDF5_MEDIUM_H

#include "study/hdf5/h5.h"

typedef struct {
  int fd;               /* file descriptor, borrowed; -1: memory */
  unsigned char *bytes; /* memory: the file; owned when capacity > 0, else borrowed and read only */
  size_t capacity;      /* memory: bytes allocated */
  uint64_t length;      /* bytes of the file */
  int error;            /* errno of the first read, write or allocation that failed; 0 */
  hid_t driver;         /* registered with HDF5 while a file is open on the medium */
} RgMedium;

/* Memory to write into, empty. */
RgMedium rg_medium_memory(void);
/* `length` bytes to read, borrowed. */
RgMedium rg_medium_bytes(const void *bytes, size_t length);
/* A file descriptor with `length` bytes to read; 0: to write into. Nothing is truncated, locked or
   synchronised; space reserved beyond the end stays reserved. */
RgMedium rg_medium_descriptor(int fd, uint64_t length);
/* Free owned memory. */
PetscErrorCode rg_medium_clear(RgMedium *medium);

/* Write behind HDF5's back, into space that it has given to a dataset and writes nothing to itself.
   False: no memory; what a descriptor refuses is in `error`. */
bool rg_medium_write(RgMedium *medium, uint64_t offset, size_t size, const void *from);

/* An HDF5 file on the medium (borrowed, must outlive the file): empty, in the earliest format and
   without object times; or, with create false, to read. Negative when HDF5 can't. Turns HDF5's own
   error messages off. */
hid_t rg_medium_open(RgMedium *medium, bool create);
/* Close a file and everything in it; afterwards `length` is the length of the file. False: HDF5
   could not finish it. */
bool rg_medium_close(RgMedium *medium, hid_t file);

#endif
