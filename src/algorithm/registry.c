/* The registry: algorithm/list.h expanded into declarations and into the table of classes. */
#include "regatta/algorithm.h"

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
  *n = (int)(sizeof classes / sizeof *classes);
  return classes;
}
