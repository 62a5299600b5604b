/* The table of columns (columns.h), expanded. */
#include "regatta/results.h"

#define RG_COLUMN_INFO(symbol, name, width, result, units, long_name, description)                 \
  {name, width, result, units, long_name, description},
const RgColumnInfo rg_columns[RG_COLUMN_COUNT] = {RG_COLUMN_LIST(RG_COLUMN_INFO)};
#undef RG_COLUMN_INFO
