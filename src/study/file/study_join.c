/* The join of two parts of a study: keys are compared, lists are united. */
#include "study/file/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "study/file/draft.h"

/* ---- compare --------------------------------------------------------------------------------- */

static bool differ(const RgYamlNode *a, const RgYamlNode *b, const char *key, RgStudyDifference *d)
{
  snprintf(d->key, sizeof(d->key), "%s", key);
  for (int side = 0; side < 2; side++) {
    const RgYamlNode *node = side ? b : a;
    char *text = side ? d->second : d->first;
    if (node) (void)rg_yaml_describe(node, text);
    else snprintf(text, sizeof(d->first), "not there");
  }
  return false;
}

static bool same_nodes(const RgYamlNode *a, const RgYamlNode *b, const char *key,
                       RgStudyDifference *d)
{
  if (!a && !b) return true;
  if (!a || !b || a->kind != b->kind) return differ(a, b, key, d);
  if (a->kind == RG_YAML_SCALAR) return !strcmp(a->text, b->text) || differ(a, b, key, d);
  if (a->kind == RG_YAML_LIST) {
    if (a->n != b->n) return differ(a, b, key, d);
    for (int i = 0; i < a->n; i++)
      if (!same_nodes(a->items[i], b->items[i], key, d)) return false;
    return true;
  }
  for (int side = 0; side < 2; side++) {
    const RgYamlNode *map = side ? b : a;
    for (int i = 0; i < map->n; i++) {
      const char *name = map->entries[i].key;
      char path[192];
      snprintf(path, sizeof(path), "%.120s.%.60s", key, name);
      if (!same_nodes(rg_yaml_value(a, name), rg_yaml_value(b, name), path, d)) return false;
    }
  }
  return true;
}

/* ---- write ----------------------------------------------------------------------------------- */

/* Write a text without quotes if that says the same, and it had none. */
static PetscErrorCode write_text(const char *from, bool plain, RgText *text)
{
  const size_t n = strlen(from);

  if (plain && n && !strpbrk(from, ",[]{}#&*!|>'\"%@`:\n\t") && from[0] != ' ' && from[0] != '?' &&
      from[n - 1] != ' ' && strncmp(from, "- ", 2) && strcmp(from, "-"))
    return rg_text_add(text, "%s", from);
  PetscCall(rg_text_add(text, "\""));
  for (const unsigned char *p = (const unsigned char *)from; *p; p++) {
    if (*p == '"' || *p == '\\') PetscCall(rg_text_add(text, "\\%c", *p));
    else if (*p < 32) PetscCall(rg_text_add(text, "\\x%02x", *p));
    else PetscCall(rg_text_add(text, "%c", *p));
  }
  return rg_text_add(text, "\"");
}

/* Write a node on one line. */
static PetscErrorCode write_node(const RgYamlNode *node, RgText *text)
{
  if (node->kind == RG_YAML_SCALAR) {
    if (rg_yaml_is_null(node)) PetscCall(rg_text_add(text, "~"));
    else PetscCall(write_text(node->text, node->plain, text));
    return 0;
  }
  PetscCall(rg_text_add(text, node->kind == RG_YAML_MAP ? "{" : "["));
  for (int i = 0; i < node->n; i++) {
    if (i) PetscCall(rg_text_add(text, ", "));
    if (node->kind == RG_YAML_MAP) {
      PetscCall(write_text(node->entries[i].key, true, text));
      PetscCall(rg_text_add(text, ": "));
      PetscCall(write_node(node->entries[i].value, text));
    } else {
      PetscCall(write_node(node->items[i], text));
    }
  }
  return rg_text_add(text, node->kind == RG_YAML_MAP ? "}" : "]");
}

/* ---- seeds ----------------------------------------------------------------------------------- */

static int compare_seeds(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return (x > y) - (x < y);
}

/* Join the `seeds` of both. *grown: the union is larger than the first. */
static PetscErrorCode join_seeds(const RgYamlNode *a, const RgYamlNode *b, RgText *text,
                                 bool *grown)
{
  RgDiagnostics ignored = {0}; /* both parts were studies before */
  const RgDraft draft = {.diagnostics = &ignored};
  RgStudy first = {0}, second = {0};
  uint64_t *seeds;
  int n = 0;

  PetscCall(rg_study_read_seeds(&draft, NULL, rg_yaml_value(a, "seeds"), &first));
  PetscCall(rg_study_read_seeds(&draft, NULL, rg_yaml_value(b, "seeds"), &second));
  const int both = first.n_seeds + second.n_seeds;
  PetscCall(PetscMalloc1(both, &seeds));
  PetscCall(PetscArraycpy(seeds, first.seeds, first.n_seeds));
  PetscCall(PetscArraycpy(seeds + first.n_seeds, second.seeds, second.n_seeds));
  if (both) qsort(seeds, (size_t)both, sizeof(*seeds), compare_seeds);
  for (int i = 0; i < both; i++)
    if (!n || seeds[i] != seeds[n - 1]) seeds[n++] = seeds[i];
  *grown = n > first.n_seeds || *grown;
  if (n && seeds[n - 1] - seeds[0] == (uint64_t)n - 1) {
    PetscCall(
      rg_text_add(text, "seeds: {first: %llu, count: %d}\n", (unsigned long long)seeds[0], n));
  } else {
    PetscCall(rg_text_add(text, "seeds: ["));
    for (int i = 0; i < n; i++)
      PetscCall(rg_text_add(text, "%s%llu", i ? ", " : "", (unsigned long long)seeds[i]));
    PetscCall(rg_text_add(text, "]\n"));
  }
  return RG_FREE(&seeds, &first.seeds, &second.seeds);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static const char *label_of(const RgYamlNode *item)
{
  const RgYamlNode *label = item->kind == RG_YAML_MAP ? rg_yaml_value(item, "label") : item;

  if (!label) label = rg_yaml_value(item, "name");
  return label && label->kind == RG_YAML_SCALAR ? label->text : "";
}

/* Whether two items describe the same entry: entries are matched by label, sweep axes by a path. */
static bool is_twin(const RgYamlNode *a, const RgYamlNode *b, bool axes)
{
  if (!axes) return !strcmp(label_of(a), label_of(b));
  if (a->kind != RG_YAML_MAP || b->kind != RG_YAML_MAP) return false;
  for (int i = 0; i < a->n; i++)
    if (rg_yaml_find(b, a->entries[i].key)) return true;
  return false;
}

/* Join the list `key` of both. *grown: the second has items that the first lacks. */
static PetscErrorCode join_list(const RgYamlNode *a, const RgYamlNode *b, const char *key,
                                bool axes, RgText *text, bool *grown, bool *same,
                                RgStudyDifference *d)
{
  const RgYamlNode *list[2] = {rg_yaml_value(a, key), rg_yaml_value(b, key)};

  if (!list[0] && !list[1]) return 0;
  PetscCall(rg_text_add(text, "%s:\n", key));
  for (int side = 0; side < 2; side++) {
    for (int i = 0; list[side] && list[side]->kind == RG_YAML_LIST && i < list[side]->n; i++) {
      const RgYamlNode *item = list[side]->items[i];
      bool known = false;
      for (int j = 0; side && list[0] && list[0]->kind == RG_YAML_LIST && j < list[0]->n; j++) {
        const RgYamlNode *twin = list[0]->items[j];
        char path[192];
        if (!is_twin(twin, item, axes)) continue;
        known = true;
        snprintf(path, sizeof(path), axes ? "%.60s" : "%.60s.%.100s", key, label_of(twin));
        *same = *same && same_nodes(twin, item, path, d);
      }
      if (known) continue;
      *grown = *grown || side;
      PetscCall(rg_text_add(text, "  - "));
      PetscCall(write_node(item, text));
      PetscCall(rg_text_add(text, "\n"));
    }
  }
  return 0;
}

/* ---- join ------------------------------------------------------------------------------------ */

static RgJoin join_of(const char *name)
{
  const RgStudyKey *key = rg_study_keys;

  while (key->name && strcmp(key->name, name)) key++;
  return key->join;
}

PetscErrorCode rg_study_join(const char *first, const char *second, char **joined, bool *same,
                             RgStudyDifference *difference)
{
  RgYamlTree a = {0}, b = {0};
  RgDiagnostics diagnostics = {0};

  *joined = NULL;
  *same = true;
  if (!strcmp(first, second)) return 0;
  PetscCall(rg_yaml_parse("", first, strlen(first), &a, &diagnostics));
  PetscCall(rg_yaml_parse("", second, strlen(second), &b, &diagnostics));
  if (!diagnostics.n && a.root && b.root && a.root->kind == RG_YAML_MAP &&
      b.root->kind == RG_YAML_MAP) {
    RgText text = {0};
    bool grown = false;
    for (int side = 0; side < 2; side++) {
      const RgYamlNode *map = side ? b.root : a.root;
      for (int i = 0; i < map->n && *same; i++) {
        const char *key = map->entries[i].key;
        *same = join_of(key) != RG_JOIN_EQUAL ||
                same_nodes(rg_yaml_value(a.root, key), rg_yaml_value(b.root, key), key, difference);
      }
    }
    PetscCall(rg_text_add(&text, "# Joined from parts by regatta merge.\n"));
    for (int i = 0; i < a.root->n; i++) {
      const char *key = a.root->entries[i].key;
      if (join_of(key) > RG_JOIN_FIRST) continue;
      PetscCall(rg_text_add(&text, "%s: ", key));
      PetscCall(write_node(a.root->entries[i].value, &text));
      PetscCall(rg_text_add(&text, "\n"));
    }
    for (const RgStudyKey *key = rg_study_keys; key->name; key++) {
      if (key->join == RG_JOIN_SEEDS) PetscCall(join_seeds(a.root, b.root, &text, &grown));
      if (key->join >= RG_JOIN_LIST)
        PetscCall(join_list(a.root, b.root, key->name, key->join == RG_JOIN_AXES, &text, &grown,
                            same, difference));
    }
    if (*same && grown) PetscCall(PetscStrallocpy(text.data, joined));
    PetscCall(rg_text_clear(&text));
  }
  PetscCall(rg_yaml_destroy(&a));
  return rg_yaml_destroy(&b);
}
