/* Keys of a study file outside the parameters tables, and messages about unknown keys. */
#include <string.h>

#include "base/text.h"
#include "study/file/draft.h"

const RgStudyKey rg_study_keys[] = {
  {"study", "name of the study: lower-case letters, digits, '_' and '-'; required", RG_JOIN_EQUAL},
  {"title", "one line for people", RG_JOIN_FIRST},
  {"reference", "the paper or report the study belongs to", RG_JOIN_FIRST},
  {"description", "free text", RG_JOIN_FIRST},
  {"authors", "who made the study: a text or a list", RG_JOIN_FIRST},
  {"licence", "of the results, as its name or address", RG_JOIN_FIRST},
  {"doi", "by which the results are cited", RG_JOIN_FIRST},
  {"keywords", "a text or a list", RG_JOIN_FIRST},
  {"seed", "seed of the whole study, a whole number; default " RG_STUDY_SEED_TEXT, RG_JOIN_EQUAL},
  {"seeds",
   "trial seeds: their number n (seeds 0 to n-1), a list, or {first: a, count: n}; default 1",
   RG_JOIN_SEEDS},
  {"instances",
   "draws of each random problem, crossed with the seeds, or `paired`: every seed has its own "
   "draw, of the same number; default 1",
   RG_JOIN_EQUAL},
  {"replicate",
   "cells with more trials than the others: a list of maps with 'seeds' or 'instances', how many "
   "they have, and which they are: 'problem', 'algorithm' (labels), 'swept' (as `regatta plan` "
   "shows them); the seeds continue after the largest one",
   RG_JOIN_EQUAL},
  {"common",
   "settings of every problem and algorithm: run settings, workers and clock, 'crew', "
   "'thinking', 'surrogate', 'maximiser', 'pending'",
   RG_JOIN_EQUAL},
  {"problems", "list of problems: a name, or a map with 'name'; required", RG_JOIN_LIST},
  {"algorithms", "list of algorithms: a name, or a map with 'name'; required", RG_JOIN_LIST},
  {"sweep",
   "list of axes: maps from the path of a setting, or of a block, to a list of values "
   "(whole numbers also as ranges, `1..5`; of a block maps of its settings); axes are "
   "crossed, paths within one axis go together",
   RG_JOIN_AXES},
  {0}};

const char *const rg_credit_keys[RG_CREDITS + 1] = {[RG_CREDIT_AUTHORS] = "authors",
                                                    [RG_CREDIT_LICENCE] = "licence",
                                                    [RG_CREDIT_DOI] = "doi",
                                                    [RG_CREDIT_KEYWORDS] = "keywords"};

const RgStudyKey rg_entry_keys[] = {
  {"name", "which problem or algorithm; required (regatta list problems|algorithms)",
   RG_JOIN_EQUAL},
  {"label", "how figures and results call it, unique in its list; default: the name",
   RG_JOIN_EQUAL},
  {0}};

const char *const rg_block_names[RG_BLOCK_COUNT] = {[RG_BLOCK_SURROGATE] = "surrogate",
                                                    [RG_BLOCK_MAXIMISER] = "maximiser",
                                                    [RG_BLOCK_CREW] = "crew",
                                                    [RG_BLOCK_THINKING] = "thinking",
                                                    [RG_BLOCK_PENDING] = "pending"};

bool rg_block_is_short(RgBlock block)
{
  return block == RG_BLOCK_THINKING || block == RG_BLOCK_PENDING;
}

bool rg_algorithm_reads(const RgAlgorithmClass *algorithm, RgBlock block)
{
  if (block == RG_BLOCK_SURROGATE) return algorithm->reads & RG_READS_SURROGATE;
  if (block == RG_BLOCK_MAXIMISER) return algorithm->reads & RG_READS_MAXIMISER;
  if (block == RG_BLOCK_PENDING) return algorithm->model && !(algorithm->traits & RG_OWN_PENDING);
  return true;
}

bool rg_algorithm_reads_param(const RgAlgorithmClass *algorithm, RgBlock block,
                              const RgParam *param)
{
  if (block == RG_BLOCK_RUN && !strcmp(param->name, "noise_known"))
    return !(algorithm->traits & RG_BLIND);
  return rg_algorithm_reads(algorithm, block);
}

const RgParam *rg_entry_table(const RgEntry *entry, RgBlock block)
{
  const bool every = entry->layer != RG_LAYER_ALGORITHM;

  switch (block) {
  case RG_BLOCK_RUN: return every ? rg_run_params : NULL;
  case RG_BLOCK_WORKERS: return every ? rg_workers_params : NULL;
  case RG_BLOCK_CREW: return every ? rg_crew_params : NULL;
  case RG_BLOCK_THINKING: return every ? rg_thinking_params : NULL;
  case RG_BLOCK_PROBLEM: return entry->problem ? entry->problem->params : NULL;
  case RG_BLOCK_ALGORITHM: return entry->algorithm ? entry->algorithm->params : NULL;
  case RG_BLOCK_SURROGATE:
  case RG_BLOCK_MAXIMISER:
  case RG_BLOCK_PENDING:
    if (entry->algorithm && !rg_algorithm_reads(entry->algorithm, block)) return NULL;
    return block == RG_BLOCK_SURROGATE   ? rg_surrogate_params
           : block == RG_BLOCK_MAXIMISER ? rg_maximiser_params
                                         : rg_pending_params;
  case RG_BLOCK_COUNT: break;
  }
  return NULL;
}

const RgEntry *rg_draft_entry(const RgDraft *draft, const RgSweepKey *key)
{
  if (key->layer == RG_LAYER_COMMON) return &draft->common;
  return key->layer == RG_LAYER_PROBLEM ? &draft->problems[key->entry]
                                        : &draft->algorithms[key->entry];
}

bool rg_draft_sets(const RgDraft *draft, const RgEntry *entry, RgBlock block, const RgParam *param)
{
  for (int i = 0; i < entry->n_settings; i++)
    if (entry->settings[i].block == block && entry->settings[i].param == param) return true;
  for (int a = 0; a < draft->n_axes; a++)
    for (int k = 0; k < draft->axes[a].n_keys; k++) {
      const RgSweepKey *key = &draft->axes[a].keys[k];
      if (key->param == param && key->block == block && rg_draft_entry(draft, key) == entry)
        return true;
    }
  return false;
}

/* The first parameter of a block that has no default and is not set; NULL if all are set. */
static const RgParam *missing_param(const RgDraft *draft, const RgEntry *entry, RgBlock block)
{
  const RgParam *p = rg_entry_table(entry, block);
  for (; p && p->name; p++)
    if (!p->fallback && !rg_draft_sets(draft, entry, block, p) &&
        !rg_draft_sets(draft, &draft->common, block, p))
      return p;
  return NULL;
}

void rg_draft_required(RgDraft *draft)
{
  const RgParam *p;
  bool run_reported = false;

  for (int i = 0; i < draft->n_problems; i++) {
    const RgEntry *entry = &draft->problems[i];
    if (!entry->problem) continue;
    if ((p = missing_param(draft, entry, RG_BLOCK_PROBLEM)))
      rg_diagnostics_add(draft->diagnostics, entry->place, "problem '%s' needs '%s' (%s)",
                         entry->label, p->name, p->doc);
    if (run_reported || !(p = missing_param(draft, entry, RG_BLOCK_RUN))) continue;
    rg_diagnostics_add(draft->diagnostics, entry->place,
                       "'%s' (%s) is set neither for problem '%s' nor in 'common'", p->name, p->doc,
                       entry->label);
    run_reported = true;
  }
  for (int i = 0; i < draft->n_algorithms; i++) {
    const RgEntry *entry = &draft->algorithms[i];
    if (entry->algorithm && (p = missing_param(draft, entry, RG_BLOCK_ALGORITHM)))
      rg_diagnostics_add(draft->diagnostics, entry->place, "algorithm '%s' needs '%s' (%s)",
                         entry->label, p->name, p->doc);
  }
}

PetscErrorCode rg_draft_unknown(RgDraft *draft, RgPlace place, const char *what, const char *word,
                                const char *where, const char *const *names)
{
  RgText known = {0};
  const char *nearest = rg_text_nearest(word, names);

  PetscFunctionBeginUser;
  if (strchr(word, ')') && !strchr(word, '(')) { /* the second half of `law: normal(0, 1)` */
    rg_diagnostics_add(
      draft->diagnostics, place,
      "unknown %s '%.60s'%s: within { }, a text with a comma needs quotes, such as "
      "\"normal(0, 1)\"",
      what, word, where);
    PetscFunctionReturn(0);
  }
  if (nearest) {
    rg_diagnostics_add(draft->diagnostics, place, "unknown %s '%.60s'%s, did you mean '%s'?", what,
                       word, where, nearest);
    PetscFunctionReturn(0);
  }
  for (int i = 0; names[i]; i++) PetscCall(rg_text_add(&known, "%s%s", i ? ", " : "", names[i]));
  rg_diagnostics_add(draft->diagnostics, place, "unknown %s '%.60s'%s; known: %s", what, word,
                     where, known.length ? known.data : "none");
  PetscCall(rg_text_clear(&known));
  PetscFunctionReturn(0);
}
