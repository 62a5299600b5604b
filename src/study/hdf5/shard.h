/* Shards: immutable, complete HDF5 files of one or more finished trials. A trailer after HDF5's
   part lets a reader check the bytes before HDF5 reads them. */
#ifndef RG_STUDY_HDF5_SHARD_H
#define RG_STUDY_HDF5_SHARD_H

#include "base/files.h"
#include "study/hdf5/container.h"

/* Trailer: 8 bytes magic; length of the preceding bytes, low and high half of their XXH3-128 as
   64-bit numbers, least significant byte first. */
#define RG_TRAILER_MAGIC "RGTRAIL\n"
enum { RG_TRAILER_LENGTH = 32 };
void rg_trailer_write(uint64_t length, const uint64_t hash[2], unsigned char *trailer);
/* False if the bytes are not a trailer. */
bool rg_trailer_read(const unsigned char *trailer, uint64_t *length, uint64_t hash[2]);

/* Build a container of n records in memory, without trailer; the caller frees it with
   rg_medium_clear. The function opens the image again and compares the checksum of every record.
   The records receive the numbers of their cells. */
PetscErrorCode rg_container_image(int n, RgRecord *const *records, const RgContainerInfo *info,
                                  RgMedium *medium, RgFault *fault);

/* Build a shard of n records: image and trailer in `bytes` (PetscFree), its name
   `<level>-<XXH3-128>.h5`. The records receive their checksums. */
#define RG_SHARD_NAME_MAX 64
PetscErrorCode rg_shard_build(const RgStudy *study, int level, int n, RgRecord *const *records,
                              unsigned char **bytes, size_t *length, char name[RG_SHARD_NAME_MAX],
                              RgFault *fault);
/* Level in a shard's name; -1 if the name is not a shard's. */
int rg_shard_level(const char *name);

/* Open a shard of a study directory, in which no link is followed: it is read into memory, and HDF5
   reads it only if the trailer is correct. fault: VANISHED, DAMAGED, NEWER, or ERROR if the system
   does not let us read the file now. */
PetscErrorCode rg_shard_open(const char *path, RgInside inside, RgContainer *container,
                             RgFault *fault);
/* Open a results file in place. A trailer must have the correct length, and with `verify` the
   correct hash. *trailed: it has a trailer (other programs that wrote to the file may have
   dropped it). A partial trailer is damage, as is an HDF5 part that is too short. */
PetscErrorCode rg_shard_open_results(const char *path, bool verify, RgContainer *container,
                                     bool *trailed, RgFault *fault);
/* XXH3-128 of the first `length` bytes of a file. *error: errno, or EIO if the file is shorter. */
PetscErrorCode rg_hash_descriptor(int fd, uint64_t length, uint64_t hash[2], int *error);

#endif
