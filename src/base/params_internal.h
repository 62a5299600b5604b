/* The fields of options, for code that walks a table of parameters. */
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

/* Room for a word of the user in a message: a longer one is cut, between UTF-8 characters. */
#define RG_SHOWN_SIZE 64
#endif
