/* One design: bounds of a measure over the contexts. Internal to robust/. */
#ifndef RG_ROBUST_MEASURE_ROW_H
#define RG_ROBUST_MEASURE_ROW_H

#include "regatta/measure.h"

typedef struct {
  int n;               /* contexts */
  const double *l, *u; /* n each; the same array when the caller wants a value */
  const double *p;     /* n */
  double *scratch;     /* 3 n */
} RgMeasureRow;

void rg_measure_row(const RgMeasure *measure, const RgMeasureRow *row, double *lower,
                    double *upper);
/* l, u = mean -/+ width sqrt(variance) */
void rg_measure_intervals(int n, const double *mean, const double *variance, double width,
                          double *l, double *u);

#endif
