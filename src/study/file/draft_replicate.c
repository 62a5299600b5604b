/* `replicate`: cells with more trials than the others. */
#include <string.h>

#include "study/file/draft.h"

enum { CELL_PROBLEM, CELL_ALGORITHM, CELL_SWEPT, CELL_WORDS };
static const char *const replicate_names[] = {"problem", "algorithm", "swept",
                                              "seeds",   "instances", NULL};

static const char *word_of(const RgCell *cell, int which)
{
  return which == CELL_PROBLEM     ? cell->problem_label
         : which == CELL_ALGORITHM ? cell->algorithm_label
                                   : cell->swept;
}

/* Whether the cell has the word; true for NULL. */
static bool has_word(const RgCell *cell, int which, const RgYamlNode *word)
{
  return !word || (word->text && !strcmp(word->text, word_of(cell, which)));
}

/* Report words that no cell has. */
static PetscErrorCode check_words(RgDraft *draft, const RgYamlNode *const words[CELL_WORDS],
                                  const RgStudy *study)
{
  const char **known;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(study->n_cells + 1, &known));
  for (int k = 0; k < CELL_WORDS; k++) {
    bool found = false;
    int n = 0;
    for (int c = 0; c < study->n_cells; c++) {
      found = found || has_word(&study->cells[c], k, words[k]);
      if (!n || strcmp(known[n - 1], word_of(&study->cells[c], k)))
        known[n++] = word_of(&study->cells[c], k);
    }
    known[n] = NULL;
    if (!found)
      PetscCall(rg_draft_unknown(draft, rg_draft_place(draft, words[k]), replicate_names[k],
                                 words[k]->text ? words[k]->text : "", " in 'replicate'", known));
  }
  PetscCall(PetscFree(known));
  PetscFunctionReturn(0);
}

/* Raise the number of trials of the cells with these words. */
static void raise_cells(RgDraft *draft, const RgYamlNode *map,
                        const RgYamlNode *const words[CELL_WORDS], int n_seeds, int n_instances,
                        RgStudy *study)
{
  int found = 0;

  for (int c = 0; c < study->n_cells; c++) {
    RgCell *cell = &study->cells[c];
    bool mine = true;
    for (int k = 0; k < CELL_WORDS; k++) mine = mine && has_word(cell, k, words[k]);
    if (!mine) continue;
    cell->n_seeds = PetscMax(cell->n_seeds, n_seeds);
    cell->n_instances = PetscMax(cell->n_instances, n_instances);
    found++;
  }
  if (!found)
    rg_diagnostics_add(draft->diagnostics, rg_draft_place(draft, map),
                       "'replicate' names a cell that the study has not: this problem, algorithm "
                       "and swept settings don't meet");
}

/* Parse an entry of `replicate`. */
static PetscErrorCode replicate_cells(RgDraft *draft, const RgYamlNode *map, RgStudy *study)
{
  const RgYamlNode *words[CELL_WORDS], *seeds = rg_yaml_value(map, "seeds"),
                                       *instances = rg_yaml_value(map, "instances");
  uint64_t n_seeds = 0, n_instances = 0;
  const int before = draft->diagnostics->n;

  PetscFunctionBeginUser;
  for (int i = 0; i < map->n; i++)
    if (!rg_draft_is_among(map->entries[i].key, replicate_names))
      PetscCall(rg_draft_unknown(
        draft, (RgPlace){draft->path, map->entries[i].line, map->entries[i].column}, "key",
        map->entries[i].key, " in 'replicate'", replicate_names));
  for (int k = 0; k < CELL_WORDS; k++) words[k] = rg_yaml_value(map, replicate_names[k]);
  if (!seeds && (!instances || study->paired))
    rg_diagnostics_add(draft->diagnostics, rg_draft_place(draft, map),
                       "'replicate' needs 'seeds'%s",
                       study->paired ? " where instances are paired" : " or 'instances'");
  if (seeds)
    rg_draft_whole(draft, "'seeds'", seeds, (uint64_t)study->n_seeds, RG_MAX_TRIALS, &n_seeds);
  if (instances)
    rg_draft_whole(draft, "'instances'", instances, (uint64_t)study->n_instances, RG_MAX_TRIALS,
                   &n_instances);
  PetscCall(check_words(draft, words, study));
  if (draft->diagnostics->n == before)
    raise_cells(draft, map, words, (int)n_seeds, (int)n_instances, study);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_draft_replicate(RgDraft *draft, const RgYamlNode *list, RgStudy *study)
{
  uint64_t last = 0, *seeds;
  int most = study->n_seeds;
  char got[64];

  PetscFunctionBeginUser;
  for (int c = 0; c < study->n_cells; c++) {
    study->cells[c].n_seeds = study->n_seeds;
    study->cells[c].n_instances = study->n_instances;
  }
  if (!list) PetscFunctionReturn(0);
  if (list->kind != RG_YAML_LIST)
    rg_diagnostics_add(draft->diagnostics, rg_draft_place(draft, list),
                       "'replicate' must be a list of maps, got %s", rg_yaml_describe(list, got));
  for (int i = 0; i < (list->kind == RG_YAML_LIST ? list->n : 0); i++) {
    if (list->items[i]->kind == RG_YAML_MAP)
      PetscCall(replicate_cells(draft, list->items[i], study));
    else
      rg_diagnostics_add(draft->diagnostics, rg_draft_place(draft, list->items[i]),
                         "an entry of 'replicate' must be a map, got %s",
                         rg_yaml_describe(list->items[i], got));
  }
  for (int c = 0; c < study->n_cells; c++) most = PetscMax(most, study->cells[c].n_seeds);
  for (int i = 0; i < study->n_seeds; i++) last = PetscMax(last, study->seeds[i]);
  if (last > RG_MAX_SEED - (uint64_t)most)
    rg_diagnostics_add(draft->diagnostics, rg_draft_place(draft, list),
                       "'replicate' has no seeds left after %llu", (unsigned long long)last);
  PetscCall(PetscMalloc1(most, &seeds));
  for (int i = 0; i < most; i++)
    seeds[i] = i < study->n_seeds ? study->seeds[i] : last + 1 + (uint64_t)(i - study->n_seeds);
  PetscCall(PetscFree(study->seeds));
  study->seeds = seeds;
  PetscFunctionReturn(0);
}
