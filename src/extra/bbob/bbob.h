/* Instances of the noiseless BBOB functions (private to extra/bbob/): the data of a dimension
   and an instance, and the functions of transformed coordinates z. The notation is that of the
   report (Hansen, Finck, Ros, Auger 2009, RR-6829), with indices from 0: R and Q are rotations,
   t_i = i/(D - 1), Lambda^a = diag(a^(t_i/2)). */
#ifndef RG_EXTRA_BBOB_BBOB_H
#define RG_EXTRA_BBOB_BBOB_H

#include "regatta/problem.h"

enum { RG_BBOB_FUNCTIONS = 24, RG_BBOB_STEPS = 4 };

/* The steps from x - x_opt to z, in this order. For a linear step the instance holds a matrix. */
typedef enum {
  RG_BBOB_END,
  RG_BBOB_R,        /* z = R v */
  RG_BBOB_Q,        /* z = Q v, times c = max(1, sqrt(D)/8) if the formula has the factor c */
  RG_BBOB_SCALED_Q, /* z = Lambda^a Q v */
  RG_BBOB_MIX,      /* z = R Lambda^a Q v */
  RG_BBOB_OSZ,      /* T_osz */
  RG_BBOB_ASY,      /* T_asy^beta */
  RG_BBOB_LAMBDA    /* z = Lambda^a v */
} RgBbobStep;

typedef struct RgBbob RgBbob;

/* The function of z (D), without f_opt and penalty. dz (D; NULL: not wanted): its gradient, 0 in
   coordinates that have a kink at z. */
typedef double (*RgBbobRaw)(const RgBbob *bbob, const double *z, double *dz);

/* A descriptor of one of the 24 functions. */
typedef struct {
  const char *title;
  RgBbobRaw raw;
  RgBbobStep steps[RG_BBOB_STEPS + 1];
  RgBbobStep inner;  /* a linear step inside the function of z */
  double alpha;      /* exponent base of Lambda */
  double beta;       /* exponent of T_asy */
  double penalty;    /* factor of sum max(0, |x_i| - 5)^2 */
  bool per_dim;      /* the factor is divided by D */
  bool fixed_origin; /* the first step starts from x, not from x - x_opt */
  bool stretched;    /* coordinates are multiplied by c */
} RgBbobFormula;

struct RgBbob {
  const RgBbobFormula *formula;
  int function, dim;
  double f_opt;
  double c;                      /* 1 if the formula has no factor c */
  double offset;                 /* f8, f9, f19: offset of z */
  double *x_opt;                 /* D */
  double *matrix[RG_BBOB_STEPS]; /* D x D, row-major, for linear steps; else NULL */
  double *inner;                 /* D x D, for the formula's `inner`; else NULL */
  int n_peaks;                   /* number of peaks of f21 and f22 */
  double *height;                /* n_peaks */
  double *scale, *peaks;         /* n_peaks x D: C_p, and Q times the positions Y_p */
};

/* Instance `instance` >= 1 of function 1 ... 24 in dim >= 2 coordinates. O(dim^3). */
PetscErrorCode rg_bbob_create(int function, int dim, uint64_t instance, RgBbob *bbob);
PetscErrorCode rg_bbob_destroy(RgBbob *bbob);

/* The numbers that make up instances: n uniform numbers in (0, 1] from a seed; n normal numbers;
   an orthogonal matrix (dim x dim, row-major). */
void rg_bbob_uniform(int n, int64_t seed, double *out);
PetscErrorCode rg_bbob_normal(int n, int64_t seed, double *out);
PetscErrorCode rg_bbob_rotation(int dim, int64_t seed, double *matrix);

/* T_osz of a number. slope (NULL: not wanted): its derivative. */
double rg_bbob_osz(double v, double *slope);

/* i/(D - 1). */
static inline double rg_bbob_t(const RgBbob *bbob, int i)
{
  return i / (bbob->dim - 1.0);
}

#endif
