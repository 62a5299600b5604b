/* Small steps of writing and reading HDF5. What fails is a value: a writer sets `failure`, a reader
   of a file that may be damaged gets false. */
#ifndef RG_STUDY_HDF5_H5_H
#define RG_STUDY_HDF5_H5_H

#include "base/fault.h"

/* The interface of HDF5 1.10, which newer versions still offer. */
#define H5_USE_110_API
#include <hdf5.h>

/* Variable-length UTF-8, the only kind of text that every reader takes (fixed-length text makes
   netCDF4 crash). To be closed with H5Tclose. */
hid_t rg_h5_text_type(void);

/* A text or an integer as attribute `name`. */
void rg_h5_write_text(hid_t object, const char *name, const char *text, RgFault *fault);
void rg_h5_write_integer(hid_t object, const char *name, int64_t value, RgFault *fault);
/* An array of small unsigned integers, for flag_values. */
void rg_h5_write_bytes(hid_t object, const char *name, int n, const unsigned char *values,
                       RgFault *fault);

/* *text: owned by the caller, "" when the attribute does not exist or is not text (then *found is
   false; found may be NULL). */
PetscErrorCode rg_h5_read_text(hid_t object, const char *name, char **text, bool *found);
bool rg_h5_read_integer(hid_t object, const char *name, int64_t *value);

/* A group, without object times. Negative: failure set. */
hid_t rg_h5_create_group(hid_t parent, const char *name, RgFault *fault);
/* A dataset of `rank` (at most 3) dimensions. contiguous: space is taken at once and nothing is
   written, so that every element must be; otherwise, for doubles, no space is taken before
   something is written, and NaN is read. Negative: failure set. */
hid_t rg_h5_create_dataset(hid_t parent, const char *name, hid_t type, int rank,
                           const hsize_t *size, bool contiguous, RgFault *fault);
/* How values pass to and from a dataset; to be closed with H5Pclose. With H5P_DEFAULT, HDF5 clears
   two MiB before it reads or writes any text, with this 64 KiB. Negative: no memory. */
hid_t rg_h5_transfer(void);
/* Every element of a dataset, of `type` in memory; false: HDF5 can't. */
bool rg_h5_write(hid_t dataset, hid_t type, const void *values);
/* The three texts that every variable has. */
void rg_h5_describe(hid_t dataset, const char *units, const char *long_name,
                    const char *description, RgFault *fault);
/* Whether space was taken: something may be stored. */
bool rg_h5_has_data(hid_t dataset);
/* Extent along dimension 0; -1: not a one-dimensional dataset. */
long rg_h5_length(hid_t dataset);

#endif
