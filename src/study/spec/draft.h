/* A study file on its way from YAML tree to cells: what is set where. Private to the study parser
   (study_*.c).

   A setting is one `key: value` that belongs to a parameters table (a block). Settings stand in
   layers, the later ones win: `common`, the problem's entry, the algorithm's entry. A sweep axis is
   a setting with several values, of the layer its path names. */
#ifndef RG_STUDY_SPEC_DRAFT_H
#define RG_STUDY_SPEC_DRAFT_H

#include "study/spec/study.h"
#include "study/spec/yaml_tree.h"

/* The parameters table a setting belongs to. */
typedef enum {
  RG_BLOCK_RUN,
  RG_BLOCK_PROBLEM,
  RG_BLOCK_ALGORITHM,
  RG_BLOCK_SURROGATE,
  RG_BLOCK_MAXIMISER,
  RG_BLOCK_COUNT
} RgBlock;

typedef enum { RG_LAYER_COMMON, RG_LAYER_PROBLEM, RG_LAYER_ALGORITHM } RgLayer;

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

/* One path of a sweep axis: setting `param` of an entry takes the axis' values in turn. A path to a
   whole block has one key for every setting that some of its values have. */
typedef struct {
  RgLayer layer;
  int entry; /* of its layer; 0 for common */
  RgBlock block;
  const RgParam *param;
  const char *name;    /* what follows the label in the path; borrowed */
  int n;               /* values; those of the axis */
  RgYamlNode **values; /* borrowed nodes, NULL: not in this value of the block; array owned */
  RgYamlNode *made;    /* nodes that ranges stand for, texts and array owned */
  char **texts;        /* canonical texts of the values, NULL where there is none; owned */
  RgPlace place;       /* of the path */
  int whole;           /* first key of its block in the axis, counted from 1; 0: no whole block */
  char *column;        /* name of its variable in the results; owned */
  RgSweptKind kind;    /* of it */
  bool used;           /* some cell takes its value from here */
} RgSweepKey;

typedef struct {
  int n_keys;
  RgSweepKey *keys; /* owned */
  int n_values;
  RgPlace place;
} RgSweepAxis;

typedef struct {
  const RgRegistry *registry; /* borrowed, NULL: no plugins */
  const char *path;           /* of the study file, for messages; borrowed */
  RgDiagnostics *diagnostics; /* borrowed */
  RgEntry common;
  int n_problems, n_algorithms, n_axes;
  RgEntry *problems, *algorithms; /* owned */
  RgSweepAxis *axes;              /* owned */
} RgDraft;

/* How a block is called in a study file: "surrogate", "maximiser"; NULL for the blocks whose keys
   stand directly in an entry. */
extern const char *const rg_block_names[RG_BLOCK_COUNT];

/* The table of a block in an entry; NULL when the entry takes no such block. */
const RgParam *rg_entry_table(const RgEntry *entry, RgBlock block);
/* Whether an algorithm reads a block (surrogate, maximiser) at all. */
bool rg_algorithm_reads(const RgAlgorithmClass *algorithm, RgBlock block);
/* Whether a parameter of a block makes a difference to trials of the algorithm. */
bool rg_algorithm_reads_param(const RgAlgorithmClass *algorithm, RgBlock block,
                              const RgParam *param);
/* Whether an entry, or a sweep of it, sets a parameter. */
bool rg_draft_sets(const RgDraft *draft, const RgEntry *entry, RgBlock block, const RgParam *param);

/* Parse `common`, `problems`, `algorithms` into the draft; values are checked on the way. */
PetscErrorCode rg_draft_entries(RgDraft *draft, const RgYamlNode *root);
/* Parameters without default that nothing sets are mistakes. After the sweep. */
void rg_draft_required(RgDraft *draft);
/* Parse `sweep`; the entries must be there. */
PetscErrorCode rg_draft_sweep(RgDraft *draft, const RgYamlNode *sweep);

/* Whether values i and j of a sweep path mean the same. */
bool rg_axis_same(const RgSweepKey *key, int i, int j);
/* Give every path of the sweep its column: name and kind. After rg_draft_sweep, if all is well. */
PetscErrorCode rg_draft_columns(RgDraft *draft);
/* Give a cell the value of a path that it reads. */
PetscErrorCode rg_draft_add_swept(const RgSweepAxis *axis, const RgSweepKey *key, int value,
                                  RgCell *cell);
/* Append the line that says that an algorithm has n_cells for all values of a path. */
PetscErrorCode rg_draft_add_shared(const RgDraft *draft, int algorithm, const RgSweepKey *key,
                                   int n_cells, RgText *text);

/* Check one value against its parameter. canonical (NULL: not wanted): its canonical text, equal
   for equal values; the caller's to free; left alone when the value is none. */
PetscErrorCode rg_draft_check_value(RgDraft *draft, const RgParam *param, const RgYamlNode *value,
                                    char **canonical);
/* Set a parameter in `options` from a checked value; paths stay as typed. */
PetscErrorCode rg_draft_apply(const RgDraft *draft, const RgParam *param, void *options,
                              const RgYamlNode *value);
/* Let the paths of `options` lead from the folder of the study file (RG_PARAM_PATH). */
PetscErrorCode rg_params_resolve(const RgParam *table, void *options, RgPlace place);
/* Limits of a study: numbers beyond them are slips of the pen. */
#define RG_MAX_TRIALS 10000000
#define RG_MAX_SEED INT64_MAX /* seeds are stored as signed 64-bit integers */

RgPlace rg_draft_place(const RgDraft *draft, const RgYamlNode *node);
/* A whole number in [least, most]; a mistake, told as of `what`, leaves *number as it was. */
bool rg_draft_whole(const RgDraft *draft, const char *what, const RgYamlNode *node, uint64_t least,
                    uint64_t most, uint64_t *number);
/* Whether a key is one of a list that ends with NULL. */
bool rg_draft_is_among(const char *key, const char *const *names);
/* `unknown key 'x' in ...`: names the nearest of `names`, or all of them. */
PetscErrorCode rg_draft_unknown(RgDraft *draft, RgPlace place, const char *what, const char *word,
                                const char *where, const char *const *names);

/* Multiply the draft out into study->cells (labels, options, sweep), still without domains. */
PetscErrorCode rg_draft_expand(RgDraft *draft, RgStudy *study);
/* Parse `replicate` (NULL: there is none) into the numbers of seeds and instances of each cell, and
   the seeds that some have beyond the others'. The cells must be there. */
PetscErrorCode rg_draft_replicate(RgDraft *draft, const RgYamlNode *list, RgStudy *study);
/* Check each cell against its domain, fill in what depends on it (initial points, dimensions,
   canonical text) and refuse equal cells. */
PetscErrorCode rg_study_check(RgStudy *study, RgDiagnostics *diagnostics);

/* Free what is owned. */
PetscErrorCode rg_cell_destroy(RgCell *cell);

#endif
