/* Shards and results files as HDF5: root attributes, groups, and a cursor over their trials. */
#include "study/hdf5/container.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/hash.h"
#include "study/hdf5/group.h"

PetscErrorCode rg_store_info_create(const RgStudy *study, RgStoreInfo *info)
{
  const char *title = study->title && study->title[0] ? study->title : study->name;

  *info = (RgStoreInfo){.schema_version = RG_SCHEMA_VERSION, .seed = study->seed};
  PetscCall(PetscStrallocpy(title, &info->title));
  PetscCall(PetscStrallocpy(study->reference, &info->references));
  PetscCall(PetscStrallocpy(study->name, &info->name));
  PetscCall(PetscStrallocpy(study->text, &info->study));
  for (int i = 0; i < RG_CREDITS; i++)
    PetscCall(PetscStrallocpy(study->credit[i], &info->credit[i]));
  for (int c = 0; c < study->n_cells; c++)
    info->n_planned += study->cells[c].n_seeds * rg_study_instances(study, &study->cells[c]);
  return 0;
}

void rg_container_write_info(hid_t file, const RgStoreInfo *info, RgFault *fault)
{
  for (int a = 0; a < rg_attribute_count; a++) {
    const RgAttributeInfo *attribute = &rg_attributes[a];
    const char *at = (const char *)info + attribute->offset, *text = attribute->constant;
    if (attribute->type == RG_FIELD_INT) {
      rg_h5_write_integer(file, attribute->name, *(const int *)at, fault);
    } else if (attribute->type == RG_FIELD_COUNT) {
      rg_h5_write_integer(file, attribute->name, (int64_t) * (const uint64_t *)at, fault);
    } else {
      if (!text) text = attribute->type == RG_FIELD_TEXT ? *(char *const *)at : at;
      if (!attribute->optional || (text && text[0]))
        rg_h5_write_text(file, attribute->name, text ? text : "", fault);
    }
  }
}

PetscErrorCode rg_container_read_info(const RgContainer *container, RgStoreInfo *info)
{
  for (int a = 0; a < rg_attribute_count; a++) {
    const RgAttributeInfo *attribute = &rg_attributes[a];
    char *at = (char *)info + attribute->offset, *text;
    int64_t value = 0;
    if (attribute->constant) continue;
    if (attribute->type == RG_FIELD_INT || attribute->type == RG_FIELD_COUNT) {
      (void)rg_h5_read_integer(container->file, attribute->name, &value);
      if (attribute->type == RG_FIELD_INT) *(int *)at = (int)value;
      else *(uint64_t *)at = (uint64_t)value;
      continue;
    }
    PetscCall(rg_h5_read_text(container->file, attribute->name, &text, NULL));
    if (attribute->type == RG_FIELD_TEXT) {
      PetscCall(PetscFree(*(char **)at));
      *(char **)at = text;
      continue;
    }
    PetscCall(PetscStrncpy(at, text, attribute->size));
    PetscCall(PetscFree(text));
  }
  if (!info->directory) return 0;
  info->checksum[0] = info->archive_of[0] = '\0'; /* of the shard */
  info->complete = 0;
  return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Find the groups with a problem label in the root or in `earlier`. Foreign objects are left alone,
   but a dataset that must not be read is refused. */
static PetscErrorCode find_groups(RgContainer *container, hid_t parent, bool earlier,
                                  RgFault *fault)
{
  char **names;
  int n;

  PetscCall(rg_h5_list(parent, H5O_TYPE_DATASET, &n, &names, fault));
  for (int i = 0; i < n; i++) RG_H5_CLOSE(rg_h5_open_dataset(parent, names[i], fault));
  PetscCall(rg_names_free(n, &names));
  PetscCall(rg_h5_list(parent, H5O_TYPE_GROUP, &n, &names, fault));
  for (int i = 0; i < n && !fault->code; i++) {
    const hid_t handle = H5Gopen2(parent, names[i], H5P_DEFAULT);
    const htri_t labelled = handle < 0 ? -1 : H5Aexists(handle, "problem_label");
    RG_H5_CLOSE(handle);
    if (labelled < 0) /* it may have been a group */
      rg_fault_set(fault, RG_FAULT_DAMAGED, "damaged: HDF5 can't open '%s'", names[i]);
    if (labelled <= 0) continue;
    PetscCall(RG_GROW(container->n, container->groups));
    container->groups[container->n++] = (RgGroupPlace){names[i], earlier};
    names[i] = NULL;
  }
  return rg_names_free(n, &names);
}

void rg_container_check(const RgContainer *container, RgFault *fault)
{
  const int error = container->medium.error;

  if (!error) return;
  *fault = (RgFault){0};
  rg_fault_set(fault, RG_FAULT_ERROR, "%s", strerror(error));
  fault->error = error;
}

PetscErrorCode rg_container_open(const RgMedium *medium, RgContainer *container, RgFault *fault)
{
  *container = (RgContainer){.medium = *medium};
  container->file = rg_medium_open(&container->medium, false);
  if (container->file < 0)
    rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't read it: damaged, or no results file");
  else if (!rg_h5_read_integer(container->file, "schema_version", &container->schema_version))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "it was not written by regatta");
  else if (container->schema_version < RG_SCHEMA_OLDEST)
    rg_fault_set(fault, RG_FAULT_FOREIGN,
                 "it has schema %lld, of a version before the first release; this regatta reads "
                 "schemas %d to %d",
                 (long long)container->schema_version, RG_SCHEMA_OLDEST, RG_SCHEMA_VERSION);
  const bool known = !fault->code && container->schema_version <= RG_SCHEMA_VERSION;
  if (known) PetscCall(find_groups(container, container->file, false, fault));
  if (known && H5Lexists(container->file, RG_GROUP_EARLIER, H5P_DEFAULT) > 0) {
    container->earlier = rg_h5_open_group(container->file, RG_GROUP_EARLIER, fault);
    if (container->earlier < 0)
      rg_fault_set(fault, RG_FAULT_DAMAGED, "HDF5 can't open '%s'", RG_GROUP_EARLIER);
    PetscCall(find_groups(container, container->earlier, true, fault));
  }
  rg_container_check(container, fault);
  return 0;
}

PetscErrorCode rg_container_open_group(const RgContainer *container, int i, RgGroup *group,
                                       RgFault *fault)
{
  const RgGroupPlace *place = &container->groups[i];

  return rg_group_open(place->earlier ? container->earlier : container->file, place->name,
                       place->earlier, group, fault);
}

PetscErrorCode rg_container_close(RgContainer *container)
{
  PetscCall(rg_cell_reader_close(&container->cells));
  if (container->file > 0) (void)rg_medium_close(&container->medium, container->file);
  if (container->owned && container->medium.fd >= 0) close(container->medium.fd); /* only read */
  if (container->owned && container->medium.fd < 0) PetscCall(PetscFree(container->medium.bytes));
  for (int i = 0; i < container->n; i++) PetscCall(PetscFree(container->groups[i].name));
  PetscCall(PetscFree(container->groups));
  *container = (RgContainer){0};
  return 0;
}

/* ---- cursor ---------------------------------------------------------------------------------- */

enum { CURSOR_BLOCK = 2048 };

/* Open the next group, and make room to read ahead in it. */
static PetscErrorCode open_next_group(RgCursor *cursor, RgFault *fault)
{
  if (cursor->n_groups) PetscCall(rg_group_close(&cursor->group));
  PetscCall(rg_container_open_group(&cursor->container, cursor->n_groups++, &cursor->group, fault));
  cursor->position = 0;
  cursor->n = fault->code ? 0 : cursor->group.shape->extent[RG_AXIS_TRIAL];
  const int room = PetscMin(CURSOR_BLOCK, cursor->n);
  if (room <= cursor->n_block) return 0;
  PetscCall(PetscFree(cursor->block));
  PetscCall(PetscCalloc1(room, &cursor->block));
  cursor->n_block = room;
  return 0;
}

/* Read the fields of the next trials, and give them their cells. */
static PetscErrorCode read_block(RgCursor *cursor, RgFault *fault)
{
  const bool old = cursor->container.schema_version < 3;
  const int n = PetscMin(CURSOR_BLOCK, cursor->n - cursor->position);
  const bool all = cursor->reader == RG_READ_ALL;

  PetscCall(rg_group_read_fields(&cursor->group, cursor->position, n, cursor->reader, old,
                                 cursor->block, fault));
  if (!all && cursor->reader != RG_READ_HEADS) return 0;
  if (old) return rg_schema2_cells(&cursor->group, cursor->position, n, cursor->block, fault);
  for (int i = 0; i < n; i++)
    PetscCall(rg_cell_reader_read(&cursor->container.cells, cursor->container.file,
                                  cursor->block[i].cell_number, all, &cursor->block[i].cell,
                                  fault));
  return 0;
}

static PetscErrorCode advance(RgCursor *cursor, RgFault *fault)
{
  if (cursor->record) {
    PetscCall(rg_record_destroy(cursor->record));
    cursor->position++;
    cursor->ordinal++;
    cursor->record = NULL;
  }
  while (!fault->code && cursor->position == cursor->n && cursor->n_groups < cursor->container.n)
    PetscCall(open_next_group(cursor, fault));
  const bool more = cursor->position < cursor->n;
  const int at = cursor->position % CURSOR_BLOCK;
  if (!fault->code && more && at == 0 && cursor->reader != RG_READ_NOTHING)
    PetscCall(read_block(cursor, fault));
  if (!fault->code && more) cursor->record = &cursor->block[at];
  else rg_container_check(&cursor->container, fault);
  return 0;
}

bool rg_cursor_next(RgCursor *cursor, RgFault *fault)
{
  if (fault->code && !cursor->record) return false;
  if (!cursor->broken) cursor->broken = advance(cursor, fault);
  return !cursor->broken && cursor->record;
}

PetscErrorCode rg_cursor_rewind(RgCursor *cursor, RgReader reader)
{
  if (cursor->n_groups) PetscCall(rg_group_close(&cursor->group));
  for (int i = 0; i < cursor->n_block; i++) PetscCall(rg_record_destroy(&cursor->block[i]));
  cursor->record = NULL;
  cursor->position = cursor->ordinal = cursor->n = cursor->n_groups = 0;
  cursor->reader = reader;
  return 0;
}

PetscErrorCode rg_cursor_close(RgCursor *cursor)
{
  PetscCall(rg_cursor_rewind(cursor, cursor->reader));
  PetscCall(PetscFree(cursor->block));
  PetscCall(rg_container_close(&cursor->container));
  return cursor->broken;
}

PetscErrorCode rg_cursor_read(RgCursor *cursor, RgFault *fault)
{
  uint64_t checksum[2];
  char hex[RG_ID_LENGTH + 1];

  PetscCall(rg_group_read_columns(&cursor->group, cursor->position, cursor->record, fault));
  if (fault->code) return 0;
  PetscCall(rg_record_checksum(cursor->record, checksum));
  rg_hash_hex(checksum, hex);
  if (strcmp(hex, cursor->record->checksum))
    rg_fault_set(fault, RG_FAULT_DAMAGED, "trial %s does not have the checksum stored beside it",
                 cursor->record->id);
  return 0;
}
