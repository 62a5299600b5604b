/* Plug-ins that a command line or a study's trials name. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "cli/command.h"
#include "cli/world.h"
#include "study/file/registry.h"
#include "study/store/store.h"

/* If ranks have different mistakes, for example on a local disk, the first rank with one reports
   it. */
static PetscErrorCode agree(const RgText *mistake, const RgRegistry *registry, int *exit_code)
{
  RgText plugins = {0};
  uint64_t hash[2] = {0}, least[2];
  int rank, speaker;

  PetscCallMPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  PetscCall(rg_world_find_speaker(mistake->length > 0, &speaker));
  if (rank == speaker) rg_warn("regatta: %s\n", mistake->data);
  if (speaker >= 0) *exit_code = RG_EXIT_BAD_INPUT;
  if (*exit_code) return 0;
  PetscCall(rg_registry_describe(registry, NULL, &plugins));
  rg_hash128(plugins.data, plugins.length, hash);
  PetscCall(rg_text_clear(&plugins));
  PetscCallMPI(MPI_Allreduce(hash, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD));
  int differ = hash[0] != least[0] || hash[1] != least[1];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  if (!differ) return 0;
  return rg_refuse(exit_code, "the ranks find different files under the name of a plugin");
}

PetscErrorCode rg_plugins_load(int argc, char **argv, RgRegistry **registry, int *exit_code)
{
  RgText mistake = {0};

  *registry = NULL;
  for (int i = 1; i + 1 < argc && !mistake.length; i++) {
    if (strcmp(argv[i], "-plugin")) continue;
    if (!*registry) PetscCall(rg_registry_create(registry));
    PetscCall(rg_registry_load(*registry, argv[++i], &mistake));
  }
  if (*registry) PetscCall(agree(&mistake, *registry, exit_code));
  return rg_text_clear(&mistake);
}

bool rg_plugins_item(RgPart *list, RgPart *item)
{
  const char *const end = list->at + list->length;

  if (list->length < 3) return false;
  const char *at = list->at + 2, *next = memchr(at, ';', (size_t)(end - at));
  if (!next) next = end;
  const char *blank = memchr(at, ' ', (size_t)(next - at)); /* behind `plugin` or `program` */
  item->at = blank ? blank + 1 : at;
  item->length = (int)(next - item->at);
  *list = (RgPart){next, (int)(end - next)};
  return true;
}

/* Merge the plug-ins of a trial, `FILE HASH, FILE HASH`, into those of other trials (an RgText). */
static PetscErrorCode note(void *closure, const RgRecord *record)
{
  RgPart list = rg_software_parts(record->provenance.software).plugins, item;
  RgText *plugins = closure;
  char name[512];

  while (rg_plugins_item(&list, &item)) {
    snprintf(name, sizeof(name), "%.*s", item.length, item.at);
    if (plugins->length && strstr(plugins->data, name)) continue;
    PetscCall(rg_text_add(plugins, "%s%s", plugins->length ? ", " : "", name));
  }
  return 0;
}

/* Write the line that lists the plug-ins of the trials in `path`; nothing if there are none. */
static PetscErrorCode describe(const char *path, const RgText *plugins, RgText *line)
{
  if (!plugins->length) return 0;
  return rg_text_add(line,
                     "%s: its trials were made with the plug-in %s: name that file with -plugin "
                     "(run, plan, verify)",
                     path, plugins->data);
}

PetscErrorCode rg_plugins_complain(const char *path, bool *told)
{
  RgText plugins = {0}, line = {0};
  RgFault fault = {0};
  RgStoreInfo info;

  if (told) *told = false;
  if (!path) return 0;
  PetscCall(rg_store_visit_heads(path, note, &plugins, &info, &fault));
  PetscCall(describe(path, &plugins, &line));
  if (line.length) rg_complain("%s", line.data);
  if (told) *told = line.length > 0;
  PetscCall(rg_text_clear(&line));
  PetscCall(rg_text_clear(&plugins));
  return rg_store_info_clear(&info);
}

/* ---- the summary of results ------------------------------------------------------------------ */

PetscErrorCode rg_summary_add(RgSummary *summary, const RgRecord *record)
{
  summary->n_failed += record->status == RG_STATUS_FAILED;
  summary->n_earlier += record->earlier;
  if (record->earlier) return 0;
  summary->n++;
  PetscCall(rg_origins_add(&summary->origins, record));
  return note(&summary->plugins, record);
}

PetscErrorCode rg_summary_describe(RgSummary *summary, const char *path, RgText *stale,
                                   RgText *plugins)
{
  PetscCall(rg_origins_compute(&summary->origins));
  PetscCall(rg_origin_describe(&summary->origins.counts, stale));
  return describe(path, &summary->plugins, plugins);
}

PetscErrorCode rg_summary_clear(RgSummary *summary)
{
  PetscCall(rg_origins_clear(&summary->origins));
  return rg_text_clear(&summary->plugins);
}
