/* Output and input of numbers. */
#include "cli/values.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "cli/arguments.h"

PetscErrorCode rg_add_value(RgText *text, const char *name, double value, const char *remark)
{
  PetscFunctionBeginUser;
  PetscCall(rg_text_add(text, "%-10s ", name));
  PetscCall(rg_text_add_real(text, value + 0.0)); /* 0, not -0 */
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
    PetscCall(rg_text_add_real(text, x[j] + 0.0));
  }
  PetscCall(rg_text_add(text, ")%s\n", remark));
  PetscFunctionReturn(0);
}

/* The largest number of parts of a study. */
static const long most = 1000000;

bool rg_part_parse(const char *command, const char *text, int *part, int *parts)
{
  char *end, *rest;
  const long i = strtol(text, &end, 10), n = *end == '/' ? strtol(end + 1, &rest, 10) : 0;
  const bool good = end > text && *end == '/' && rest > end + 1 && !*rest && i >= 1 && i <= n;

  if (good && n <= most) {
    *part = (int)i;
    *parts = (int)n;
    return true;
  }
  rg_complain("%s: -part must be I/N with I from 1 to N, such as 2/8, and N to %ld, got '%s'",
              command, most, text);
  return false;
}

double rg_duration_parse(const char *text)
{
  double total = 0;

  for (int parts = 0; parts < 3; parts++) { /* hours, minutes, seconds */
    const char *end;
    double part;
    if (rg_number_read(text, &end, &part) != RG_NUMBER_READ || !(part >= 0)) return -1;
    total = 60 * total + part;
    if (!*end) return total;
    if (*end != ':') return -1;
    text = end + 1;
  }
  return -1;
}

void rg_duration_print(double seconds, char text[32])
{
  if (seconds < 90) rg_format(text, 32, "%.0f s", seconds);
  else if (seconds < 5400) rg_format(text, 32, "%.0f min", seconds / 60);
  else rg_format(text, 32, "%.1f h", seconds / 3600);
}

char *rg_pair_split(char *word, RgPlace place, RgDiagnostics *found)
{
  char *value = strchr(word, '=');

  if (value) *value++ = 0;
  else rg_diagnostics_add(found, place, "'%s' is not of the form KEY=VALUE", word);
  return value;
}

PetscErrorCode rg_pair_set(const RgParam *params, void *options, const char *key, char *value,
                           RgPlace place, RgDiagnostics *found)
{
  const char **values;
  const RgParam *entry;
  int n = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(strlen(value) + 1, &values));
  if (*value == '[') {
    for (char *at = strtok(value + 1, ", ]"); at; at = strtok(NULL, ", ]")) values[n++] = at;
  } else {
    values[n++] = value;
  }
  PetscCall(rg_params_set(params, options, key, n, values, place, found, &entry));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

double rg_median(int n, double *values)
{
  int known = 0;

  for (int i = 0; i < n; i++)
    if (!isnan(values[i])) values[known++] = values[i];
  if (!known || PetscSortReal(known, values)) return NAN;
  return 0.5 * (values[(known - 1) / 2] + values[known / 2]);
}
