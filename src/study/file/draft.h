/* A draft: the form of a study file between YAML tree and cells. Private to the study parser
   (draft_*.c, study_*.c).
   A setting is one `key: value` of a parameters table (a block). Settings come in layers, and
   later layers win: `common`, the problem's entry, the algorithm's entry. A sweep axis is a
   setting with several values, in the layer that its path names. */
#ifndef RG_STUDY_FILE_DRAFT_H
#define RG_STUDY_FILE_DRAFT_H

#include "study/file/study.h"
#include "study/file/yaml_tree.h"

/* The parameters tables that settings belong to. */
typedef enum {
  RG_BLOCK_RUN,
  RG_BLOCK_WORKERS,
  RG_BLOCK_PROBLEM,
  RG_BLOCK_ALGORITHM,
  RG_BLOCK_SURROGATE,
  RG_BLOCK_MAXIMISER,
  RG_BLOCK_CREW,
  RG_BLOCK_THINKING,
  RG_BLOCK_PENDING,
  RG_BLOCK_NOISE,
  RG_BLOCK_COUNT
} RgBlock;

typedef enum { RG_LAYER_COMMON, RG_LAYER_PROBLEM, RG_LAYER_ALGORITHM, RG_LAYER_COUNT } RgLayer;

extern const char *const rg_layer_keys[]; /* their keys in a study file; NULL at the end */

typedef struct {
  RgBlock block;
  const RgParam *param;
  const RgYamlNode *value; /* borrowed from the tree */
} RgSetting;

/* `common`, or one entry of `problems` or `algorithms`. */
typedef struct {
  RgLayer layer;
  RgPlace place;
  const char *label;                 /* borrowed; NULL in common */
  const RgProblemClass *problem;     /* layer problem only */
  const RgAlgorithmClass *algorithm; /* layer algorithm only */
  int n_settings;
  RgSetting *settings; /* owned */
} RgEntry;

/* A path of a sweep axis: setting `param` of an entry takes the axis's values in turn. A path to
   a whole block becomes one key for every setting in some of its values. */
typedef struct {
  RgLayer layer;
  int entry; /* number of the entry in its layer; 0 for common */
  RgBlock block;
  const RgParam *param;
  const char *name; /* rest of the path after the label; borrowed */
  int n;            /* number of values, the same for all keys of the axis */
  /* Nodes of the tree; NULL: this value of the block lacks the setting; array owned. */
  const RgYamlNode **values;
  char **texts;  /* canonical texts of the values; NULL for missing values; owned */
  RgPlace place; /* place of the path in the file */
  /* Number, from 1, of the first key of its block in the axis; 0: not a whole block. */
  int whole;
  char *column;     /* name of the variable in the results; owned */
  RgSweptKind kind; /* kind of that variable */
  bool used;        /* some cell takes its value from this key */
} RgSweepKey;

typedef struct {
  int n_keys;
  RgSweepKey *keys; /* owned */
  int n_values;
  RgPlace place;
} RgSweepAxis;

struct RgDraft {
  const RgRegistry *registry; /* borrowed; NULL: no plug-ins */
  const char *path;           /* path of the study file, for messages; borrowed */
  RgDiagnostics *diagnostics; /* borrowed */
  RgYamlTree tree;            /* owned */
  struct {
    int n;
    RgEntry *entries;      /* owned */
  } layer[RG_LAYER_COUNT]; /* `common` is a layer of one entry */
  int n_axes;
  RgSweepAxis *axes; /* owned */
};

/* A block of a study file: its name, its parameters and who may set it. */
typedef struct {
  const char *name;      /* in a study file; NULL: its keys are written directly in an entry */
  const char *part;      /* its name in results */
  const RgParam *params; /* NULL: those of the problem, or of the algorithm */
  size_t offset;         /* of its options in RgCell, or of a pointer to these */
  bool brief;            /* a value in place of its map is the value of its first setting */
  bool methods;          /* an algorithm may set it; else it is alike for all algorithms */
} RgBlockInfo;
extern const RgBlockInfo rg_blocks[RG_BLOCK_COUNT];

/* The table of a block in an entry; NULL if the entry does not accept the block. */
const RgParam *rg_entry_table(const RgEntry *entry, RgBlock block);
/* Whether an algorithm reads a block (surrogate, maximiser, pending). */
bool rg_algorithm_reads(const RgAlgorithmClass *algorithm, RgBlock block);
/* Whether a parameter of a block can affect trials of the algorithm. */
bool rg_algorithm_reads_param(const RgAlgorithmClass *algorithm, RgBlock block,
                              const RgParam *param);
/* The entry that a sweep path names. */
static inline RgEntry *rg_draft_entry(const RgDraft *draft, const RgSweepKey *key)
{
  return &draft->layer[key->layer].entries[key->entry];
}
/* Whether an entry, or a sweep over it, sets a parameter. */
bool rg_draft_sets(const RgDraft *draft, const RgEntry *entry, RgBlock block, const RgParam *param);

/* Parse `common`, `problems`, `algorithms` into the draft, and check their values. */
PetscErrorCode rg_draft_entries(RgDraft *draft);
/* Report parameters without a default that nothing sets. Call after rg_draft_sweep. */
void rg_draft_required(const RgDraft *draft);
/* Parse `sweep`, after the entries. */
PetscErrorCode rg_draft_sweep(RgDraft *draft, const RgYamlNode *sweep);

/* Whether values i and j of a sweep path are equal in meaning. */
bool rg_axis_same(const RgSweepKey *key, int i, int j);
/* Report a number for a parameter that is the name of a rule, if another one of its table holds the
   number of the rule `fixed`; false: that is not so. */
bool rg_draft_number_for_rule(const RgDraft *draft, const RgParam *table, const RgParam *param,
                              const RgYamlNode *value);
/* Report a key that is unknown in an entry (NULL: at the top of the file), or in its block `inside`
   (NULL: not in a block), and known elsewhere in the file; false: it is known nowhere, or near one
   of the names that are accepted there. Call after the classes of all entries are known. */
bool rg_draft_elsewhere(const RgDraft *draft, const RgEntry *entry, const char *inside,
                        const char *where, const RgYamlEntry *e, const char *const *names);
/* Write the path under which a setting that is unknown in an entry can be swept; false: none. */
bool rg_draft_path_elsewhere(const RgDraft *draft, const RgEntry *entry, const char *name,
                             char path[160]);
/* Check a value against its parameter in `table`. canonical (NULL: not wanted): its canonical
   text, equal for equal values, freed by the caller; unchanged if the value is wrong. */
PetscErrorCode rg_draft_check_value(const RgDraft *draft, const RgParam *table,
                                    const RgParam *param, const RgYamlNode *value,
                                    char **canonical);
/* Resolve the paths in `options` against the folder of the study file (RG_PARAM_PATH). */
PetscErrorCode rg_params_resolve(const RgParam *table, void *options, RgPlace place);
/* Limits of a study; larger numbers are probably typing errors. */
#define RG_MAX_TRIALS 10000000
#define RG_MAX_SEED INT64_MAX /* seeds are stored as signed 64-bit integers */

/* Report a mistake at a node, or at an entry of a map; 0. */
#define RG_MISTAKE(draft, at, ...)                                                                 \
  rg_diagnostics_add((draft)->diagnostics, RG_PLACE_OF(draft, at), __VA_ARGS__)
#define RG_PLACE_OF(draft, at) ((RgPlace){(draft)->path, (at)->line, (at)->column})
/* Read a whole number in [least, most]. A mistake is reported about `what` and leaves *number
   unchanged. */
bool rg_draft_whole(const RgDraft *draft, const char *what, const RgYamlNode *node, uint64_t least,
                    uint64_t most, uint64_t *number);
/* Whether a list contains a key; the list ends with NULL. */
bool rg_draft_is_among(const char *key, const char *const *names);
/* Report `unknown key 'x' in ...` with the nearest of `names`, or all of them. */
PetscErrorCode rg_draft_unknown(const RgDraft *draft, RgPlace place, const char *what,
                                const char *word, const char *where, const char *const *names);

/* Report the keys of a map that are not among the names. */
PetscErrorCode rg_draft_check_keys(const RgDraft *draft, const RgYamlNode *map, const char *where,
                                   const char *const *names);

/* Expand the draft into study->cells (labels, options, sweep), without domains yet. */
PetscErrorCode rg_draft_expand(RgDraft *draft, RgStudy *study);
/* Parse `replicate` (may be NULL): numbers of seeds and instances of each cell, and additional
   seeds. Call after rg_draft_expand. */
PetscErrorCode rg_draft_replicate(RgDraft *draft, const RgYamlNode *list, RgStudy *study);
/* Check each cell against its domain, fill in what depends on the domain (initial points,
   dimensions, canonical text) and refuse equal cells. */
PetscErrorCode rg_study_check(RgStudy *study, RgDiagnostics *diagnostics);

/* ---- blocks of a cell ---- */

/* The parameters table of a block in a cell, and its options. NULL: the cell has no problem or
   algorithm yet. */
const RgParam *rg_cell_table(const RgCell *cell, RgBlock block);
void *rg_cell_options(const RgCell *cell, RgBlock block);
/* Whether a block can affect the trials of a cell: then it is part of their identity, and of the
   settings in results. */
bool rg_cell_reads(const RgCell *cell, RgBlock block);
/* Append `;NAME={settings}` as a part of an identity. */
PetscErrorCode rg_params_identity(const char *name, const RgParam *table, const void *options,
                                  RgText *text);
/* Free all owned members. */
PetscErrorCode rg_cell_destroy(RgCell *cell);

#endif
