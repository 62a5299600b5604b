/* The origin of finished trials, from the software and the fingerprint in their records. */
#include "study/run/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "study/record/software.h"
#include "study/file/registry.h"

/* A fingerprint in a record is the machine's, plus the number of additional ranks in the team. */
enum { TEAM_MAX = 1 << 20 };

static bool same(RgPart a, RgPart b)
{
  return a.length == b.length && !memcmp(a.at, b.at, (size_t)a.length);
}

/* Builds are equal if their sources are; of an old build only version and commit are known. */
static bool same_build(const RgSoftware *a, const RgSoftware *b)
{
  if (a->source.at && b->source.at) return same(a->source, b->source);
  return same(a->build, b->build);
}

static void count(const RgSoftware *software, RgOrigin origin, RgOriginCounts *counts)
{
  counts->n[origin]++;
  if (origin == RG_ORIGIN_BUILD && !counts->build[0])
    snprintf(counts->build, sizeof(counts->build), "%.*s", software->build.length,
             software->build.at);
}

int rg_origin_others(const RgOriginCounts *counts)
{
  int n = 0;

  for (int i = RG_ORIGIN_SAME + 1; i < RG_ORIGIN_COUNT; i++) n += counts->n[i];
  return n;
}

PetscErrorCode rg_origin_describe(const RgOriginCounts *counts, RgText *text)
{
  static const char *const words[] = {[RG_ORIGIN_BUILD] = "by another build",
                                      [RG_ORIGIN_PLUGIN] = "with another plug-in",
                                      [RG_ORIGIN_PROGRAM] = "by another version of their program",
                                      [RG_ORIGIN_FINGERPRINT] =
                                        "under another numeric fingerprint"};
  const int others = rg_origin_others(counts);
  bool first = true;

  if (!others) return 0;
  PetscCall(rg_text_add(text, "%d of %d finished trials were made ", others,
                        others + counts->n[RG_ORIGIN_SAME]));
  for (int i = RG_ORIGIN_SAME + 1; i < RG_ORIGIN_COUNT; i++) {
    if (!counts->n[i]) continue;
    if (!first) PetscCall(rg_text_add(text, ", "));
    if (counts->n[i] < others) PetscCall(rg_text_add(text, "%d ", counts->n[i]));
    PetscCall(rg_text_add(text, "%s", words[i]));
    if (i == RG_ORIGIN_BUILD && counts->build[0])
      PetscCall(rg_text_add(text, " (%s)", counts->build));
    first = false;
  }
  return rg_text_add(text, "; regatta run with -recompute runs them again");
}

/* ---- against this program -------------------------------------------------------------------- */

PetscErrorCode rg_origin_compare(const RgOriginReference *reference, const RgRecord *record,
                                 int cell, int team, RgOriginCounts *counts, RgOrigin *origin)
{
  const RgRegistry *registry = reference->study->registry;
  const RgCell *of = &reference->study->cells[cell];
  const RgSoftware made = rg_software_parts(record->provenance.software);
  const RgSoftware own = rg_software_parts(reference->software);
  RgText plugins = {0};

  const uint64_t beyond =
    record->provenance.fingerprint - rg_registry_fingerprint(registry, of, reference->machine);
  PetscCall(rg_registry_describe(registry, of, &plugins));
  const RgSoftware needed = rg_software_parts(plugins.data);
  *origin = RG_ORIGIN_SAME;
  if (!same_build(&made, &own)) *origin = RG_ORIGIN_BUILD;
  else if (!same(made.plugins, needed.plugins)) *origin = RG_ORIGIN_PLUGIN;
  else if (!same(made.program, needed.program)) *origin = RG_ORIGIN_PROGRAM;
  else if (beyond && (team ? beyond != (uint64_t)(team - 1) : beyond >= TEAM_MAX))
    *origin = RG_ORIGIN_FINGERPRINT;
  count(&made, *origin, counts);
  return rg_text_clear(&plugins);
}

/* ---- within a file --------------------------------------------------------------------------- */

typedef struct RgOriginEntry {
  uint64_t cell, plugins, program; /* hashes; `plugins` covers the program too */
  uint64_t group;                  /* one of them: trials of a group are compared */
  uint64_t fingerprint;
  int generation;
  double started;
  RgOrigin origin;
} Entry;

static uint64_t hash_of(RgPart part)
{
  uint64_t hash[2];

  rg_hash128(part.at, (size_t)part.length, hash);
  return hash[0];
}

PetscErrorCode rg_origins_add(RgOrigins *origins, const RgRecord *record)
{
  const RgSoftware made = rg_software_parts(record->provenance.software);

  if (!origins->software) PetscCall(rg_software_describe(&origins->software));
  const RgSoftware own = rg_software_parts(origins->software);
  const int outside = made.plugins.length + made.program.length; /* the program is behind them */
  PetscCall(RG_GROW(origins->n, origins->entries));
  Entry *entry = &origins->entries[origins->n++];
  *entry = (Entry){.cell = hash_of((RgPart){record->cell->id, RG_ID_LENGTH}),
                   .plugins = hash_of((RgPart){made.plugins.at, outside}),
                   .program = hash_of(made.program),
                   .fingerprint = record->provenance.fingerprint,
                   .generation = record->provenance.generation,
                   .started = record->provenance.started};
  if (!same_build(&made, &own)) {
    entry->origin = RG_ORIGIN_BUILD;
    count(&made, RG_ORIGIN_BUILD, &origins->counts);
  }
  return 0;
}

/* Order by group, the latest trial of each first. */
static int compare_entries(const void *left, const void *right)
{
  const Entry *a = left, *b = right;

  if (a->group != b->group) return a->group > b->group ? 1 : -1;
  if (a->generation != b->generation) return a->generation > b->generation ? -1 : 1;
  return (a->started < b->started) - (a->started > b->started);
}

PetscErrorCode rg_origins_compute(RgOrigins *origins)
{
  const Entry *last = origins->entries;

  if (!origins->n) return 0;
  /* Trials of one cell should have the same plug-ins and teams of the same size. */
  for (int i = 0; i < origins->n; i++) origins->entries[i].group = origins->entries[i].cell;
  qsort(origins->entries, (size_t)origins->n, sizeof(Entry), compare_entries);
  for (int i = 0; i < origins->n; i++) {
    Entry *entry = &origins->entries[i];
    if (entry->group != last->group) last = entry;
    if (entry->origin != RG_ORIGIN_SAME) continue;
    if (entry->program != last->program) entry->origin = RG_ORIGIN_PROGRAM;
    else if (entry->plugins != last->plugins) entry->origin = RG_ORIGIN_PLUGIN;
    else if (entry->fingerprint != last->fingerprint) entry->origin = RG_ORIGIN_FINGERPRINT;
  }
  /* Cells with the same plug-ins, or with none, should have run on the same machine; the teams may
     differ. */
  for (int i = 0; i < origins->n; i++) origins->entries[i].group = origins->entries[i].plugins;
  qsort(origins->entries, (size_t)origins->n, sizeof(Entry), compare_entries);
  last = origins->entries;
  for (int i = 0; i < origins->n; i++) {
    Entry *entry = &origins->entries[i];
    if (entry->group != last->group) last = entry;
    const uint64_t beyond = entry->fingerprint - last->fingerprint;
    if (entry->origin == RG_ORIGIN_SAME && beyond >= TEAM_MAX && -beyond >= TEAM_MAX)
      entry->origin = RG_ORIGIN_FINGERPRINT;
  }
  for (int i = 0; i < RG_ORIGIN_COUNT; i++) origins->counts.n[i] = 0;
  for (int i = 0; i < origins->n; i++) origins->counts.n[origins->entries[i].origin]++;
  return 0;
}

PetscErrorCode rg_origins_clear(RgOrigins *origins)
{
  return RG_FREE(&origins->entries, &origins->software);
}
