/* Numbers as printed and as typed. */
#include "cli/values.h"

#include <stdlib.h>

PetscErrorCode rg_add_value(RgText *text, const char *name, double value, const char *remark)
{
  PetscFunctionBeginUser;
  PetscCall(rg_text_add(text, "%-10s ", name));
  PetscCall(rg_text_add_real(text, value));
  PetscCall(rg_text_add(text, "%s\n", remark));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_add_point(RgText *text, const char *name, int dim, const double *x,
                            const char *remark)
{
  PetscFunctionBeginUser;
  PetscCall(rg_text_add(text, "%-10s ", name));
  for (int j = 0; j < dim; j++) {
    PetscCall(rg_text_add(text, j ? ", " : "("));
    PetscCall(rg_text_add_real(text, x[j]));
  }
  PetscCall(rg_text_add(text, ")%s\n", remark));
  PetscFunctionReturn(0);
}

double rg_duration_parse(const char *text)
{
  double total = 0;

  for (const char *p = text;; p++) {
    char *end;
    double part = strtod(p, &end);
    if (end == p || !(part >= 0)) return -1;
    total = 60 * total + part;
    if (!*end) return total;
    if (*end != ':') return -1;
    p = end;
  }
}

void rg_duration_print(double seconds, char text[32])
{
  if (seconds < 90) snprintf(text, 32, "%.0f s", seconds);
  else if (seconds < 5400) snprintf(text, 32, "%.0f min", seconds / 60);
  else snprintf(text, 32, "%.1f h", seconds / 3600);
}
