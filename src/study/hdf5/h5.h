/* Helper functions to write and read HDF5. Failures are values: writers set a fault; readers of
   possibly damaged files return false. */
#ifndef RG_STUDY_HDF5_H5_H
#define RG_STUDY_HDF5_H5_H

#include "base/fault.h"

/* The interface of HDF5 1.10, which newer versions still offer. */
#define H5_USE_110_API
#include <hdf5.h>

/* Close handles of any kind but files, in this order. Those that are not positive are none. */
#define RG_H5_CLOSE(...)                                                                           \
  rg_h5_close((int)(sizeof((hid_t[]){__VA_ARGS__}) / sizeof(hid_t)), (hid_t[]){__VA_ARGS__})
void rg_h5_close(int n, const hid_t *handles);

/* Variable-length UTF-8, the only kind of text that every reader supports (fixed-length text
   makes netCDF4 crash). The caller closes it. */
hid_t rg_h5_text_type(void);

/* Write a text or an integer as attribute `name`. */
void rg_h5_write_text(hid_t object, const char *name, const char *text, RgFault *fault);
void rg_h5_write_integer(hid_t object, const char *name, int64_t value, RgFault *fault);
/* Write an array of n values of a type in memory; n 0: one value, no array. */
void rg_h5_write_attribute(hid_t object, const char *name, hid_t stored, hid_t memory, int n,
                           const void *values, RgFault *fault);

/* Read a text. *text: owned by the caller, "" if the attribute does not exist or is not text
   (then *found is false; found may be NULL). */
PetscErrorCode rg_h5_read_text(hid_t object, const char *name, char **text, bool *found);
bool rg_h5_read_integer(hid_t object, const char *name, int64_t *value);

/* Open a dataset or a group of a file that may come from anywhere. It must stand in the group
   itself: no link is followed. The data of a dataset must be in this file, behind no filters but
   deflate, shuffle and fletcher32, which every HDF5 has; otherwise the fault says so. Negative,
   without a fault: it is not there, or HDF5 can't open it. */
hid_t rg_h5_open_dataset(hid_t parent, const char *name, RgFault *fault);
hid_t rg_h5_open_group(hid_t parent, const char *name, RgFault *fault);

/* The names of the objects of one type in a group of a file that may come from anywhere, in order;
   the caller frees them with rg_names_free (base/files.h) in any case. A link to another place is a
   fault, and so is an object that HDF5 can't open, since it may have had data. */
PetscErrorCode rg_h5_list(hid_t group, H5O_type_t type, int *n, char ***names, RgFault *fault);

/* Length of the file of an object. */
uint64_t rg_h5_file_bytes(hid_t object);
/* Whether so many bytes at once are far more than the file can mean: few compressed bytes of a
   file, or none, could fill the memory. What Regatta reads at once is smaller. */
bool rg_h5_is_huge(hid_t object, double bytes);

/* Create a group without object times. Negative: fault is set. */
hid_t rg_h5_create_group(hid_t parent, const char *name, RgFault *fault);
/* How the values of a dataset are stored. */
typedef enum {
  RG_STORED_WHOLE,  /* space is allocated at once and not initialised: write every element */
  RG_STORED_CHUNKS, /* doubles in chunks behind shuffle and deflate; unwritten ones read as NaN */
  RG_STORED_STEPS,  /* the same without shuffle, which doubles the bytes where values repeat */
  RG_STORED_NOWHERE /* doubles that are all NaN: nothing is written */
} RgStorage;

/* Create a dataset of `rank` (at most 3) dimensions. Negative: fault is set. */
hid_t rg_h5_create_dataset(hid_t parent, const char *name, hid_t type, int rank,
                           const hsize_t *size, RgStorage storage, RgFault *fault);
/* Create a dataset of n equal elements. It takes no space: the value, of type `memory`, is its fill
   value. */
hid_t rg_h5_create_constant(hid_t parent, const char *name, hid_t type, hsize_t n, hid_t memory,
                            const void *value, RgFault *fault);
/* The chunks of a dataset of doubles: up to 128 KiB, of whole trials (the first dimension), or of
   evaluations of one trial. */
void rg_h5_chunk(int rank, const hsize_t *size, hsize_t chunk[3]);
/* Transfer properties with a buffer of 64 KiB; the caller closes them. With H5P_DEFAULT, HDF5
   clears 2 MiB before it reads or writes any text. Negative: no memory. */
hid_t rg_h5_transfer(void);
/* Read or write all elements of a dataset, of `type` in memory; false if HDF5 fails. */
bool rg_h5_write(hid_t dataset, hid_t type, const void *values);
/* Write the three texts that every variable has. */
void rg_h5_describe(hid_t dataset, const char *units, const char *long_name,
                    const char *description, RgFault *fault);
/* Length of an axis, a dataset of one dimension; 0: it is not there, or no axis. */
int rg_h5_axis_length(hid_t parent, const char *name, RgFault *fault);

#endif
