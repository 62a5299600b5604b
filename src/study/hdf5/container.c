#include "study/hdf5/container.h"

#include <string.h>
#include <unistd.h>

#include "base/hash.h"

RgContainerInfo rg_container_info(const RgStudy *study)
{
  RgContainerInfo info = {.title = study->title && study->title[0] ? study->title : study->name,
                          .references = study->reference,
                          .study_name = study->name,
                          .study = study->text,
                          .study_seed = study->seed};

  return info;
}

void rg_container_write_info(hid_t file, const RgContainerInfo *info, RgFailure *failure)
{
  const struct {
    int attribute;
    const char *text;
    int64_t value;
  } values[] = {
    {RG_ATTRIBUTE_CONVENTIONS, "CF-1.10", 0},
    {RG_ATTRIBUTE_TITLE, info->title, 0},
    {RG_ATTRIBUTE_HISTORY, info->history, 0},
    {RG_ATTRIBUTE_SOURCE, "regatta " RG_VERSION, 0},
    {RG_ATTRIBUTE_REFERENCES, info->references, 0},
    {RG_ATTRIBUTE_SCHEMA_VERSION, NULL, RG_SCHEMA_VERSION},
    {RG_ATTRIBUTE_STUDY_NAME, info->study_name, 0},
    {RG_ATTRIBUTE_STUDY_SEED, NULL, (int64_t)info->study_seed},
    {RG_ATTRIBUTE_STUDY, info->study, 0},
    {RG_ATTRIBUTE_COMPLETE, NULL, info->complete},
    {RG_ATTRIBUTE_N_TRIALS, NULL, info->n_trials},
    {RG_ATTRIBUTE_N_FAILED, NULL, info->n_failed},
    {RG_ATTRIBUTE_CHECKSUM, info->checksum, 0},
  };

  for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
    const RgAttributeInfo *attribute = &rg_attributes[values[i].attribute];
    if (attribute->text)
      rg_h5_write_text(file, attribute->name, values[i].text ? values[i].text : "", failure);
    else rg_h5_write_integer(file, attribute->name, values[i].value, failure);
  }
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct {
  RgContainer *container;
  bool earlier;
  PetscErrorCode error;
} GroupSearch;

static PetscErrorCode add_group(RgContainer *container, const char *name, bool earlier)
{
  PetscFunctionBeginUser;
  if (container->n == container->capacity) {
    container->capacity = 2 * container->capacity + 8;
    PetscCall(
      PetscRealloc((size_t)container->capacity * sizeof(*container->groups), &container->groups));
  }
  PetscCall(PetscStrallocpy(name, &container->groups[container->n].name));
  container->groups[container->n++].earlier = earlier;
  PetscFunctionReturn(0);
}

/* A group is a group with a problem label; what else somebody may have put there is left alone. */
static herr_t find_group(hid_t parent, const char *name, const H5L_info_t *link, void *closure)
{
  GroupSearch *search = closure;
  hid_t handle;
  bool group;

  (void)link;
  handle = H5Gopen2(parent, name, H5P_DEFAULT);
  if (handle < 0) return 0; /* no group */
  group = H5Aexists(handle, "problem_label") > 0;
  H5Gclose(handle);
  if (!group) return 0;
  search->error = add_group(search->container, name, search->earlier);
  return search->error ? -1 : 0;
}

static PetscErrorCode find_groups(RgContainer *container, RgFailure *failure)
{
  GroupSearch search = {container, false, 0};

  PetscFunctionBeginUser;
  if (H5Literate(container->file, H5_INDEX_NAME, H5_ITER_INC, NULL, find_group, &search) < 0)
    rg_failure_set(failure, "HDF5 can't list its groups");
  if (!failure->failed && H5Lexists(container->file, RG_GROUP_EARLIER, H5P_DEFAULT) > 0) {
    container->earlier = H5Gopen2(container->file, RG_GROUP_EARLIER, H5P_DEFAULT);
    search.earlier = true;
    if (container->earlier < 0 ||
        H5Literate(container->earlier, H5_INDEX_NAME, H5_ITER_INC, NULL, find_group, &search) < 0)
      rg_failure_set(failure, "HDF5 can't list the groups of '%s'", RG_GROUP_EARLIER);
  }
  PetscCall(search.error);
  PetscFunctionReturn(0);
}

void rg_container_check(const RgContainer *container, RgFailure *failure)
{
  if (container->medium.error) rg_failure_set(failure, "%s", strerror(container->medium.error));
}

PetscErrorCode rg_container_open(const RgMedium *medium, RgContainer *container, RgFailure *failure)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(container, sizeof(*container)));
  container->fd = -1;
  container->earlier = -1;
  container->medium = *medium;
  container->file = rg_medium_open(&container->medium, false);
  if (container->file < 0) {
    rg_container_check(container, failure);
    rg_failure_set(failure, "HDF5 can't read it");
    PetscFunctionReturn(0);
  }
  if (!rg_h5_read_integer(container->file, rg_attributes[RG_ATTRIBUTE_SCHEMA_VERSION].name,
                          &container->schema_version)) {
    rg_container_check(container, failure);
    rg_failure_set(failure, "it was not written by regatta");
    PetscFunctionReturn(0);
  }
  if (container->schema_version <= RG_SCHEMA_VERSION) PetscCall(find_groups(container, failure));
  rg_container_check(container, failure);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_container_open_group(const RgContainer *container, int i, RgGroup *group,
                                       RgFailure *failure)
{
  const RgGroupPlace *place = &container->groups[i];

  PetscFunctionBeginUser;
  PetscCall(rg_group_open(place->earlier ? container->earlier : container->file, place->name,
                          place->earlier, group, failure));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_container_close(RgContainer *container)
{
  PetscFunctionBeginUser;
  if (container->file > 0) (void)rg_medium_close(&container->medium, container->file);
  if (container->fd >= 0) close(container->fd); /* was only read from, as was the file */
  for (int i = 0; i < container->n; i++) PetscCall(PetscFree(container->groups[i].name));
  PetscCall(PetscFree(container->groups));
  PetscCall(PetscFree(container->loaded));
  container->file = -1;
  container->fd = -1;
  container->n = 0;
  PetscFunctionReturn(0);
}

enum { WALK_BLOCK = 256 };

static PetscErrorCode walk_block(RgGroup *group, int first, int n, int ordinal, RgRecord *block,
                                 RgTrialVisitor visit, void *closure, RgFailure *failure)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(block, (size_t)n * sizeof(*block)));
  PetscCall(rg_group_read_fields(group, first, n, block, failure));
  for (int i = 0; i < n; i++) {
    if (!failure->failed)
      PetscCall(visit(closure, group, ordinal + i, first + i, &block[i], failure));
    PetscCall(rg_record_destroy(&block[i]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_container_walk(const RgContainer *container, RgTrialVisitor visit, void *closure,
                                 RgFailure *failure)
{
  RgRecord *block;
  RgGroup group;
  int ordinal = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(WALK_BLOCK, &block));
  for (int s = 0; s < container->n && !failure->failed; s++) {
    PetscCall(rg_container_open_group(container, s, &group, failure));
    for (int i = 0; !failure->failed && i < group.shape->n; i += WALK_BLOCK) {
      int n = PetscMin(WALK_BLOCK, group.shape->n - i);
      PetscCall(walk_block(&group, i, n, ordinal, block, visit, closure, failure));
      ordinal += n;
    }
    PetscCall(rg_group_close(&group));
  }
  rg_container_check(container, failure);
  PetscCall(PetscFree(block));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_group_read_verified(RgGroup *group, int position, RgRecord *record,
                                      RgFailure *failure)
{
  uint64_t checksum[2];
  char hex[RG_ID_LENGTH + 1];

  PetscFunctionBeginUser;
  PetscCall(rg_group_read_columns(group, position, record, failure));
  if (failure->failed) PetscFunctionReturn(0);
  PetscCall(rg_record_checksum(record, checksum));
  rg_hash_hex(checksum, hex);
  if (strcmp(hex, record->checksum))
    rg_failure_set(failure, "trial %s does not have the checksum stored beside it", record->id);
  PetscFunctionReturn(0);
}
