/* A measure is a row of the table in measure.c. Internal to robust/. */
#ifndef RG_ROBUST_MEASURE_INTERNAL_H
#define RG_ROBUST_MEASURE_INTERNAL_H

#include "regatta/measure.h"

/* The contexts of one design. */
typedef struct {
  int n;               /* contexts */
  const double *l, *u; /* n each; the same array when the caller wants a value */
  const double *p;     /* n */
  double *scratch;     /* 3 n */
} RgMeasureRow;

/* The argument in parentheses behind the name. */
typedef enum {
  RG_MEASURE_ALONE,        /* nothing */
  RG_MEASURE_OF_LEVEL,     /* `parameter`, a probability */
  RG_MEASURE_OF_NUMBER,    /* `parameter`, any number */
  RG_MEASURE_OF_MEASURE,   /* a measure */
  RG_MEASURE_OF_LIMITS,    /* a measure, `parameter` and `most` */
  RG_MEASURE_OF_AMBIGUITY, /* a measure and an ambiguity set */
} RgMeasureArguments;

/* In place of a constant: the sum of the constants of the parts, times |coefficient|; 1 / level. */
#define RG_MEASURE_BY_PARTS (-1.0)
#define RG_MEASURE_BY_LEVEL (-2.0)

typedef struct {
  RgMeasureInfo about; /* without a name: a weighted sum, which is written by + and - */
  RgMeasureArguments arguments;
  /* One of three: the value at f of a measure that never decreases when f grows; bounds between
     row->l and row->u; an increasing map of the measure inside, and its derivative. */
  double (*value)(const RgMeasure *, const RgMeasureRow *, const double *f);
  void (*bounds)(const RgMeasure *, const RgMeasureRow *, double *lower, double *upper);
  double (*map)(const RgMeasure *, double inner);
  double (*rate)(const RgMeasure *, double inner);
  /* Derivatives by f = row->l, where the measure is `value`. Not for maps. */
  PetscErrorCode (*gradient)(const RgMeasure *, const RgMeasureRow *, double value, double *slope);
  double slope, transport; /* rg_measure_slope, rg_measure_transport */
} RgMeasureClass;

const RgMeasureClass *rg_measure_class(RgMeasureKind kind);

#endif
