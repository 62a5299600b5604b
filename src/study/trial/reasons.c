/* Reasons of failed evaluations and trials, counted. */
#include "study/trial/reasons.h"

#include <stdio.h>
#include <string.h>

void rg_reasons_add(RgReasons *reasons, const char *text, int count)
{
  int k = 0;

  while (k < reasons->n && strcmp(reasons->list[k].text, text)) k++;
  if (k == RG_REASONS_MAX) {
    reasons->others += count;
    return;
  }
  if (k == reasons->n) {
    snprintf(reasons->list[k].text, sizeof(reasons->list[k].text), "%s", text);
    reasons->n++;
  }
  reasons->list[k].count += count;
}

void rg_reasons_join(RgReasons *reasons, const RgReasons *more)
{
  for (int k = 0; k < more->n; k++)
    rg_reasons_add(reasons, more->list[k].text, more->list[k].count);
  reasons->others += more->others;
}
