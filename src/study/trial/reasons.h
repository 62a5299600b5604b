/* Reasons of failed evaluations and trials, counted. */
#ifndef RG_STUDY_TRIAL_REASONS_H
#define RG_STUDY_TRIAL_REASONS_H

#include "regatta/error.h"

enum { RG_REASONS_MAX = 12 };

/* Zeroed: no reasons. Has no pointers, so that ranks can send it. */
typedef struct {
  int n;
  struct {
    int count;
    char text[sizeof(((RgFailure *)0)->message)];
  } list[RG_REASONS_MAX]; /* in the order of their first occurrence */
  int others;             /* failures for reasons that the full list does not hold */
} RgReasons;

/* Count a reason `count` more times. */
void rg_reasons_add(RgReasons *reasons, const char *text, int count);
/* Count all reasons of another rank. */
void rg_reasons_join(RgReasons *reasons, const RgReasons *more);

#endif
