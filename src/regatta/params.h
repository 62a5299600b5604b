/* Parameters tables: the only place where a parameter of a method is described. A method
   declares an options struct and a table whose entries point into it. The table provides the
   validation of study files, the defaults, `regatta describe`, the canonical text that
   identifies a trial, and the reference documentation. */
#ifndef RG_REGATTA_PARAMS_H
#define RG_REGATTA_PARAMS_H

#include "regatta/error.h"

typedef struct {
  int n;
  double *values; /* owned */
} RgReals;

typedef struct {
  int n;
  char **values; /* owned, and so is every text in it */
} RgTexts;

typedef enum {
  RG_PARAM_BOOL,   /* bool in the struct; accepts true, false, yes, no, on, off */
  RG_PARAM_INT,    /* int; decimal integer, also written 1e3 */
  RG_PARAM_REAL,   /* double; finite */
  RG_PARAM_CHOICE, /* int, the index into `choices` */
  RG_PARAM_TEXT,   /* char *, owned by the struct */
  RG_PARAM_REALS,  /* RgReals, owned by the struct; one number or a list of numbers */
  RG_PARAM_TEXTS,  /* RgTexts, owned by the struct; one text or a list of texts */
  /* RgTexts, owned by the struct: a map as texts `NAME=text`; no '=' or ';' in a name */
  RG_PARAM_NAMED,
  /* char *, owned by the struct. A relative path starts at the folder of the file that contains it
     (place.file of rg_params_set) if a file exists there; else it stays as typed. */
  RG_PARAM_PATH,
  /* Entries that are no parameters: RG_GROUP and RG_GONE make them. */
  RG_PARAM_GROUP,
  RG_PARAM_GONE
} RgParamType;

/* One parameter. A table ends with an entry whose name is NULL. */
typedef struct {
  const char *name; /* as typed in a study file: lower case, words joined by '_' */
  RgParamType type;
  size_t offset; /* offsetof the options struct */
  /* Default as text; NULL: required. With "auto" the word `auto` is accepted, and stored as NaN
     (REAL), -1 (INT), n = 0 (REALS, TEXTS), NULL (TEXT, PATH). */
  const char *fallback;
  /* Range of numbers; both 0: unbounded; maximum < minimum: no upper limit, infinity accepted. */
  double minimum, maximum;
  /* CHOICE: accepted words, NULL-terminated; INT: rg_param_layout, rg_param_or_auto, or NULL; INT,
     REAL, TEXTS: rg_param_later, or NULL */
  const char *const *choices;
  const char *symbol; /* the paper's symbol, or "" */
  const char *doc;    /* one line: meaning, unit, what `auto` means */
} RgParam;

/* Entries of a parameters table by type. Arguments: name, options struct and its field (a field
   of another type doesn't compile), default, range or words, symbol and doc of RgParam. RG_ENTRY
   takes the field's type and all members of RgParam, for other kinds of `choices`. */
#define RG_REAL(name, Options, field, fallback, minimum, maximum, symbol, doc)                     \
  RG_ENTRY(name, REAL, Options, field, double, fallback, minimum, maximum, NULL, symbol, doc)
#define RG_INT(name, Options, field, fallback, minimum, maximum, symbol, doc)                      \
  RG_ENTRY(name, INT, Options, field, int, fallback, minimum, maximum, NULL, symbol, doc)
#define RG_REALS(name, Options, field, fallback, minimum, maximum, symbol, doc)                    \
  RG_ENTRY(name, REALS, Options, field, RgReals, fallback, minimum, maximum, NULL, symbol, doc)
#define RG_CHOICE(name, Options, field, fallback, words, symbol, doc)                              \
  RG_ENTRY(name, CHOICE, Options, field, int, fallback, 0, 0, words, symbol, doc)
#define RG_BOOL(name, Options, field, fallback, doc)                                               \
  RG_ENTRY(name, BOOL, Options, field, bool, fallback, 0, 0, NULL, "", doc)
#define RG_TEXT(name, Options, field, fallback, symbol, doc)                                       \
  RG_ENTRY(name, TEXT, Options, field, char *, fallback, 0, 0, NULL, symbol, doc)
#define RG_TEXTS(name, Options, field, fallback, symbol, doc)                                      \
  RG_ENTRY(name, TEXTS, Options, field, RgTexts, fallback, 0, 0, NULL, symbol, doc)
#define RG_NAMED(name, Options, field, fallback, symbol, doc)                                      \
  RG_ENTRY(name, NAMED, Options, field, RgTexts, fallback, 0, 0, NULL, symbol, doc)
#define RG_PATH(name, Options, field, fallback, symbol, doc)                                       \
  RG_ENTRY(name, PATH, Options, field, char *, fallback, 0, 0, NULL, symbol, doc)
#define RG_ENTRY(name, kind, Options, field, Type, ...)                                            \
  {                                                                                                \
    name, RG_PARAM_##kind, offsetof(Options, field) + RG_IS_A(Type, Options, field), __VA_ARGS__   \
  }
#define RG_IS_A(Type, Options, field) _Generic(((Options *)0)->field, Type : 0)

/* The following entries belong to this group. Descriptions have a table for every group; a group
   may have entries at several places. */
#define RG_GROUP(title)                                                                            \
  {                                                                                                \
    title, RG_PARAM_GROUP, 0, NULL, 0, 0, NULL, "", ""                                             \
  }
/* A parameter that was deleted when results existed: unknown to study files and descriptions.
   `name=value` stays in the canonical text, so that the identity of those results stays. */
#define RG_GONE(name, value)                                                                       \
  {                                                                                                \
    name, RG_PARAM_GONE, 0, value, 0, 0, NULL, "", ""                                              \
  }

/* Whether an entry is a parameter that can be set: no group, and not deleted. */
static inline bool rg_is_param(const RgParam *entry)
{
  return entry->type != RG_PARAM_GROUP && entry->type != RG_PARAM_GONE;
}

/* In the descriptor of a method: its parameters table and the struct that the table points into. */
#define RG_OPTIONS(Options, table) .params = (table), .options_size = sizeof(Options)
/* The first fields of a descriptor; RgAlgorithmClass and RgProblemClass describe them. */
#define RG_ABOUT(name_, title_, revision_, summary_, reference_)                                   \
  .name = (name_), .title = (title_), .summary = (summary_), .reference = (reference_),            \
  .revision = (revision_)

/* `choices` of an INT that lays out work over ranks and changes no result. It is left out of the
   canonical text, and accepts `auto` (-1) whatever its default. */
RG_API extern const char *const rg_param_layout[];
/* `choices` of an INT that accepts `auto` (-1) although its default is a number. */
extern const char *const rg_param_or_auto[];

/* `choices` of an INT, a REAL or TEXTS with default `auto` that was added when results existed.
   At `auto` it is left out of the canonical text, so that the identity of those results stays.
   RG_LATER as the `minimum` of a CHOICE, or of a BOOL with default `false`, means the same. */
extern const char *const rg_param_later[];
#define RG_LATER 1

/* `minimum` for parameters that must be > 0. */
#define RG_POSITIVE 1e-300

/* Fill `options` with the defaults; entries without default become false / 0 / NULL / empty. The
   struct must be zeroed or cleared before. Errors: PETSC_ERR_PLIB when a default is invalid. */
RG_API PetscErrorCode rg_params_defaults(const RgParam *table, void *options);

/* Set one parameter from the scalars of a study file (`n` = 1 unless it was a list). A mistake
   is added to `diagnostics` at `place` and leaves the option unchanged. `entry` receives the
   entry (NULL when the name is unknown; the message then names the nearest known one). */
RG_API PetscErrorCode rg_params_set(const RgParam *table, void *options, const char *name, int n,
                                    const char *const *values, RgPlace place,
                                    RgDiagnostics *diagnostics, const RgParam **entry);

/* Append `name=value` pairs of the whole table, in table order, separated by ','. Reals have
   full precision, lists are in brackets, texts are quoted. Equal options give equal text. */
RG_API PetscErrorCode rg_params_canonical(const RgParam *table, const void *options, RgText *text);

/* Free texts and lists and zero those fields. */
RG_API PetscErrorCode rg_params_clear(const RgParam *table, void *options);

/* Append a table for people: name, type, default, range or choices, symbol, meaning. With groups:
   a table for each of them below its title. */
RG_API PetscErrorCode rg_params_describe(const RgParam *table, RgText *text);

/* Entry by name, or NULL. */
RG_API const RgParam *rg_params_find(const RgParam *table, const char *name);

#endif
