/* The table of columns, expanded from the list in regatta/results.h. */
#include "study/record/fields.h"

#define RG_COLUMN_INFO(symbol, name, width, result, units, long_name, description)                 \
  {name, width, result, units, long_name, description},
const RgColumnInfo rg_columns[RG_COLUMN_COUNT] = {RG_COLUMN_LIST(RG_COLUMN_INFO)};
#undef RG_COLUMN_INFO

/* A blank and the name, for every column with result 1. */
#define NAME_0(name) ""
#define NAME_1(name) " " name
#define RG_COLUMN_NAME(symbol, name, width, result, units, long_name, description)                 \
  NAME_##result(name)
static const char names[] = RG_COLUMN_LIST(RG_COLUMN_NAME);
#undef RG_COLUMN_NAME
#undef NAME_1
#undef NAME_0

const char *const rg_checksum_columns = names + 1;
