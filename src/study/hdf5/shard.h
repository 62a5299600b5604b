/* Shards: immutable, complete HDF5 files of one or more finished trials, with a trailer behind the
   end of HDF5's part by which a reader can check the bytes before HDF5 touches them. */
#ifndef RG_STUDY_HDF5_SHARD_H
#define RG_STUDY_HDF5_SHARD_H

#include "base/text.h"
#include "study/hdf5/container.h"

/* Trailer: 8 bytes magic; length of what precedes, low and high half of its XXH3-128 as 64-bit
   numbers, least significant byte first. */
#define RG_TRAILER_MAGIC "RGTRAIL\n"
enum { RG_TRAILER_LENGTH = 32 };
void rg_trailer_write(uint64_t length, const uint64_t hash[2], unsigned char *trailer);
/* False: the bytes are no trailer. */
bool rg_trailer_read(const unsigned char *trailer, uint64_t *length, uint64_t hash[2]);

/* n records as a container in memory, without trailer: to be freed with rg_medium_clear. The image
   was opened again and every record in it has the checksum of the record it was made from. */
PetscErrorCode rg_container_image(int n, const RgRecord *const *records,
                                  const RgContainerInfo *info, RgMedium *medium, RgFault *fault);

/* A shard of n records: image and trailer in `bytes` (PetscFree), its name `<level>-<XXH3-128>.h5`.
   The records get their checksum. */
#define RG_SHARD_NAME_MAX 64
PetscErrorCode rg_shard_build(const RgStudy *study, int level, int n, RgRecord *const *records,
                              unsigned char **bytes, size_t *length, char name[RG_SHARD_NAME_MAX],
                              RgFault *fault);
/* Level of a shard from its name, -1 if it is not the name of a shard. */
int rg_shard_level(const char *name);

/* Open a shard: it is read into memory, and HDF5 sees it only if the trailer is right. A fault is
   VANISHED, DAMAGED, NEWER, or ERROR when the system does not let us read it now. */
PetscErrorCode rg_shard_open(const char *path, RgContainer *container, RgFault *fault);
/* Open a results file in place. A trailer, where there is one, must have the right length; with
   `verify` its hash is compared. *trailed: it has a trailer (other programs that wrote to the file
   may have cut it off). A trailer of which only a part is there is damage, as is an HDF5 part that
   is too short. */
PetscErrorCode rg_shard_open_results(const char *path, bool verify, RgContainer *container,
                                     bool *trailed, RgFault *fault);
/* XXH3-128 of the first `length` bytes of a file. *error: errno, or EIO when it is shorter. */
PetscErrorCode rg_hash_descriptor(int fd, uint64_t length, uint64_t hash[2], int *error);

#endif
