/* Generates docs/results-format.md from the tables that define the files. */
#ifndef RG_STUDY_STORE_FORMAT_DOC_H
#define RG_STUDY_STORE_FORMAT_DOC_H

#include "base/text.h"

/* Append the description of shards and results files, as Markdown. */
PetscErrorCode rg_format_document(RgText *text);

#endif
