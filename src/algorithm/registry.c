/* The registry: algorithm/list.h expanded into declarations and into the table of classes. */
#include "regatta/algorithm.h"

#include <string.h>

#define RG_ALGORITHM(symbol) extern const RgAlgorithmClass rg_algorithm_##symbol;
#include "algorithm/list.h"
#undef RG_ALGORITHM

static const RgAlgorithmClass *const classes[] = {
#define RG_ALGORITHM(symbol) &rg_algorithm_##symbol,
#include "algorithm/list.h"
#undef RG_ALGORITHM
};

const RgAlgorithmClass *const *rg_algorithm_classes(int *n)
{
  *n = (int)(sizeof classes / sizeof classes[0]);
  return classes;
}

const RgAlgorithmClass *rg_algorithm_class_find(const char *name)
{
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
    if (!strcmp(classes[i]->name, name)) return classes[i];
  }
  return NULL;
}
