/* A YAML text as a tree that remembers the place of every node. All scalars stay text: the
   parameters table decides later what `no` and `1e-3` mean.
   Accepted: one document of maps, lists and scalars, comments, block scalars, anchors with
   aliases. Refused, each with its place: anything but UTF-8 without control characters,
   duplicate keys, keys that are not plain text, merge keys (`<<`), tags, several documents, tabs
   as indentation, and texts beyond the limits below (aliases count like copies). */
#ifndef RG_STUDY_FILE_YAML_TREE_H
#define RG_STUDY_FILE_YAML_TREE_H

#include "regatta/error.h"

#define RG_YAML_MAX_BYTES (4 * 1024 * 1024)
#define RG_YAML_MAX_DEPTH 32
#define RG_YAML_MAX_NODES 100000
#define RG_YAML_MAX_ANCHORS 1000

typedef enum { RG_YAML_SCALAR, RG_YAML_LIST, RG_YAML_MAP } RgYamlKind;

typedef struct RgYamlNode RgYamlNode;

/* One `key: value` of a map. */
typedef struct {
  char *key;         /* owned by the map's node */
  int line, column;  /* place of the key */
  RgYamlNode *value; /* borrowed from the tree */
} RgYamlEntry;

struct RgYamlNode {
  RgYamlKind kind;
  int line, column;     /* from 1; an aliased node has the place of its definition */
  char *text;           /* scalar: its text; owned */
  bool plain;           /* scalar: plain, neither quoted nor a block */
  int n;                /* entries of a map or items of a list */
  RgYamlEntry *entries; /* map: in file order; owned */
  RgYamlNode **items;   /* list: borrowed from the tree; the array is owned */
  int weight;           /* nodes of the subtree, aliases expanded */
  int height;           /* levels of the subtree, including the node */
  RgYamlNode *next;     /* link in the list of all nodes of the tree */
};

typedef struct {
  RgYamlNode *root;  /* NULL for an empty text, or after a mistake that stopped the reading */
  RgYamlNode *nodes; /* every node once; owned */
} RgYamlTree;

/* Read `length` bytes. Mistakes go to `diagnostics` with `path` (borrowed) as their file; after
   a mistake the tree must not be used, only destroyed. An empty text has no root. O(length log
   length). */
PetscErrorCode rg_yaml_parse(const char *path, const char *text, size_t length, RgYamlTree *tree,
                             RgDiagnostics *diagnostics);
PetscErrorCode rg_yaml_destroy(RgYamlTree *tree);

/* Add a node at the place of another one; the tree owns it. text: copied, NULL: a map. */
PetscErrorCode rg_yaml_add(RgYamlTree *tree, const RgYamlNode *place, const char *text,
                           RgYamlNode **node);

/* The entry `key` of a map; NULL if it does not exist. O(n). */
const RgYamlEntry *rg_yaml_find(const RgYamlNode *map, const char *key);
/* The value of that entry. */
const RgYamlNode *rg_yaml_value(const RgYamlNode *map, const char *key);

/* Whether a scalar is null: empty, `~` or `null`, not quoted. */
bool rg_yaml_is_null(const RgYamlNode *node);

/* Write "a list", "a map", "nothing" or "'text'" (shortened) for messages; returns `buffer`. */
const char *rg_yaml_describe(const RgYamlNode *node, char buffer[64]);

#endif
