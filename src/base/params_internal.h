/* Shared by params*.c only. */
#ifndef RG_BASE_PARAMS_INTERNAL_H
#define RG_BASE_PARAMS_INTERNAL_H

#include "regatta/params.h"

/* The field of an options struct that an entry describes, by the entry's type. */
typedef union {
  void *address;
  bool *boolean;
  int *integer; /* INT, CHOICE */
  double *real;
  char **text;
  RgReals *reals;
  RgTexts *texts;
} RgParamField;

static inline RgParamField rg_param_field(const RgParam *entry, void *options)
{
  RgParamField field;

  field.address = (char *)options + entry->offset;
  return field;
}

/* Whether the word `auto` is accepted and stored as a value of its own. */
bool rg_param_allows_auto(const RgParam *entry);

/* Whether the field is an RgTexts. */
bool rg_param_is_texts(const RgParam *entry);

/* Duplicate n texts and the array of them. */
PetscErrorCode rg_param_copy_texts(int n, const char *const *from, char ***to);

/* Free what the field owns and set it to false, 0, NULL or empty. */
PetscErrorCode rg_param_reset(const RgParam *entry, void *options);

/* Set the field from `n` words. After a mistake, `problem` (else empty) describes it and the
   field is unchanged. */
PetscErrorCode rg_param_parse(const RgParam *entry, void *options, int n, const char *const *values,
                              RgText *problem);

/* Append the range of a number: `in [0, 1]`, `> 0`, `>= 2`; nothing if unbounded. */
PetscErrorCode rg_param_range(const RgParam *entry, RgText *text);

/* Quote a user's word for a message: shortened if long, in whole UTF-8 characters. */
#define RG_SHOWN_SIZE 64
void rg_param_show(const char *word, char shown[RG_SHOWN_SIZE]);

#endif
