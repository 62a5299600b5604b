/* The registry of families of bounds: theory/list.h expanded into declarations and a table. */
#include "theory/family.h"

#include <string.h>

#define RG_BOUNDS(symbol) extern const RgBoundFamily rg_bounds_##symbol;
#include "theory/list.h"
#undef RG_BOUNDS

static const RgBoundFamily *const families[] = {
#define RG_BOUNDS(symbol) &rg_bounds_##symbol,
#include "theory/list.h"
#undef RG_BOUNDS
};

enum { N_FAMILIES = sizeof families / sizeof *families };

const RgBoundFamily *const *rg_bound_families(int *n)
{
  *n = N_FAMILIES;
  return families;
}

const RgBoundFamily *rg_bound_family_of(const char *rule, unsigned *mask)
{
  *mask = 0;
  if (!rule) return NULL;
  for (int i = 0; i < N_FAMILIES; i++)
    for (int k = 0; families[i]->rules[k]; k++)
      if (!strcmp(families[i]->rules[k], rule)) {
        *mask = RG_RULE(k);
        return families[i];
      }
  return NULL;
}
