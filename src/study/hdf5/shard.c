#include "study/hdf5/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static void put_word(unsigned char *to, uint64_t word)
{
  for (int i = 0; i < 8; i++) to[i] = (unsigned char)(word >> (8 * i) & 255u);
}

static uint64_t get_word(const unsigned char *from)
{
  uint64_t word = 0;

  for (int i = 0; i < 8; i++) word |= (uint64_t)from[i] << (8 * i);
  return word;
}

void rg_trailer_write(uint64_t length, const uint64_t hash[2], unsigned char *trailer)
{
  memcpy(trailer, RG_TRAILER_MAGIC, 8);
  put_word(trailer + 8, length);
  put_word(trailer + 16, hash[0]);
  put_word(trailer + 24, hash[1]);
}

bool rg_trailer_read(const unsigned char *trailer, uint64_t *length, uint64_t hash[2])
{
  if (memcmp(trailer, RG_TRAILER_MAGIC, 8)) return false;
  *length = get_word(trailer + 8);
  hash[0] = get_word(trailer + 16);
  hash[1] = get_word(trailer + 24);
  return true;
}

/* ---- building -------------------------------------------------------------------------------- */

/* Records of one problem label, in the order given. */
typedef struct {
  RgGroupShape shape;
  int n;
  const RgRecord **records; /* owned; room for all */
} Share;

static PetscErrorCode share_out(int n, const RgRecord *const *records, int *n_shares, Share *shares)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++) {
    const char *label = records[i]->problem_label;
    int s = 0;
    while (s < *n_shares && strcmp(shares[s].shape.label, label)) s++;
    if (s == *n_shares) {
      PetscCall(rg_group_shape_create(label, false, &shares[s].shape));
      PetscCall(PetscMalloc1(n, &shares[s].records));
      shares[s].n = 0;
      ++*n_shares;
    }
    PetscCall(rg_group_shape_add(&shares[s].shape, records[i]));
    shares[s].records[shares[s].n++] = records[i];
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode write_share(hid_t file, Share *share, RgFailure *failure)
{
  RgGroup group;

  PetscFunctionBeginUser;
  PetscCall(rg_group_create(file, &share->shape, &group, failure));
  PetscCall(rg_group_write_fields(&group, share->records, failure));
  for (int i = 0; i < share->n; i++)
    PetscCall(rg_group_write_columns(&group, i, share->records[i], failure));
  PetscCall(rg_group_close(&group));
  PetscFunctionReturn(0);
}

static PetscErrorCode write_image(int n, const RgRecord *const *records,
                                  const RgContainerInfo *info, RgMedium *medium, RgFailure *failure)
{
  Share *shares;
  int n_shares = 0;
  hid_t file;

  PetscFunctionBeginUser;
  file = rg_medium_open(medium, true);
  if (file < 0) {
    rg_failure_set(failure, "HDF5 can't create a file in memory");
    PetscFunctionReturn(0);
  }
  PetscCall(PetscCalloc1(n, &shares));
  PetscCall(share_out(n, records, &n_shares, shares));
  rg_container_write_info(file, info, failure);
  for (int s = 0; s < n_shares; s++) {
    PetscCall(write_share(file, &shares[s], failure));
    PetscCall(rg_group_shape_destroy(&shares[s].shape));
    PetscCall(PetscFree(shares[s].records));
  }
  PetscCall(PetscFree(shares));
  if (!rg_medium_close(medium, file) || medium->error)
    rg_failure_set(failure, "HDF5 can't finish a file in memory");
  PetscFunctionReturn(0);
}

/* Ids and checksums that must be found again. */
typedef struct {
  int n, seen;
  const RgRecord *const *records;
} Expected;

static PetscErrorCode check_trial(void *closure, RgGroup *group, int ordinal, int position,
                                  RgRecord *record, RgFailure *failure)
{
  Expected *expected = closure;

  PetscFunctionBeginUser;
  (void)ordinal;
  PetscCall(rg_group_read_verified(group, position, record, failure));
  for (int i = 0; i < expected->n && !failure->failed; i++)
    if (!strcmp(expected->records[i]->id, record->id) &&
        !strcmp(expected->records[i]->checksum, record->checksum)) {
      expected->seen++;
      PetscFunctionReturn(0);
    }
  rg_failure_set(failure, "trial %s changed on its way into the file", record->id);
  PetscFunctionReturn(0);
}

static PetscErrorCode check_image(int n, const RgRecord *const *records, const RgMedium *medium,
                                  RgFailure *failure)
{
  RgMedium bytes = rg_medium_bytes(medium->bytes, medium->length);
  RgContainer container;
  Expected expected = {n, 0, records};

  PetscFunctionBeginUser;
  if (failure->failed) PetscFunctionReturn(0);
  PetscCall(rg_container_open(&bytes, &container, failure));
  if (!failure->failed) PetscCall(rg_container_walk(&container, check_trial, &expected, failure));
  PetscCall(rg_container_close(&container));
  if (expected.seen != n)
    rg_failure_set(failure, "%d of %d trials arrived in the file", expected.seen, n);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_container_image(int n, const RgRecord *const *records,
                                  const RgContainerInfo *info, RgMedium *medium, RgFailure *failure)
{
  PetscFunctionBeginUser;
  *medium = rg_medium_memory();
  PetscCall(write_image(n, records, info, medium, failure));
  PetscCall(check_image(n, records, medium, failure));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_checksums(int n, RgRecord *const *records, RgContainerInfo *info)
{
  RgChecksum all = {0};
  uint64_t checksum[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++) {
    PetscCall(rg_record_checksum(records[i], checksum));
    rg_hash_hex(checksum, records[i]->checksum);
    rg_checksum_add(&all, checksum);
    info->n_failed += records[i]->status == RG_STATUS_FAILED;
  }
  info->n_trials = n;
  rg_checksum_hex(&all, info->checksum);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_shard_build(const RgStudy *study, int level, int n, RgRecord *const *records,
                              unsigned char **bytes, size_t *length, char name[RG_SHARD_NAME_MAX],
                              RgFailure *failure)
{
  RgContainerInfo info = rg_container_info(study);
  RgMedium medium;
  uint64_t hash[2];
  char hex[33];

  PetscFunctionBeginUser;
  *bytes = NULL;
  PetscCall(set_checksums(n, records, &info));
  PetscCall(rg_container_image(n, (const RgRecord *const *)records, &info, &medium, failure));
  if (failure->failed) {
    PetscCall(rg_medium_clear(&medium));
    PetscFunctionReturn(0);
  }
  *length = medium.length + RG_TRAILER_LENGTH;
  rg_hash128(medium.bytes, medium.length, hash);
  PetscCall(PetscRealloc(*length, &medium.bytes));
  rg_trailer_write(medium.length, hash, medium.bytes + medium.length);
  *bytes = medium.bytes;
  rg_hash_hex(hash, hex);
  snprintf(name, RG_SHARD_NAME_MAX, "%d-%s.h5", level, hex);
  PetscFunctionReturn(0);
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
