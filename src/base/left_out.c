/* The parts of the program that this build omits. */
#include "base/left_out.h"

#include <stddef.h>
#include <string.h>

const char *rg_left_out(const char *name)
{
  static const struct {
    const char *name, *option;
  } parts[] = {
#ifdef RG_NO_BBOB
    {"bbob", "REGATTA_BBOB"},
#endif
#ifdef RG_NO_EXTERNAL
    {"external", "REGATTA_EXTERNAL"},
    {"serve", "REGATTA_EXTERNAL"},
#endif
    {NULL, NULL}};

  for (int i = 0; parts[i].name; i++)
    if (!strcmp(name, parts[i].name)) return parts[i].option;
  return NULL;
}
