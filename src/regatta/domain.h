/* Domains: where an algorithm may look. A domain has a design part (chosen by the learner) and an
   optional context part (drawn by nature, or chosen in a simulator). Each part is a box, a finite
   set or a product grid. Algorithms see coordinates of the unit cube; problems see native units. */
#ifndef RG_REGATTA_DOMAIN_H
#define RG_REGATTA_DOMAIN_H

#include "regatta/error.h"

typedef enum { RG_SPACE_BOX, RG_SPACE_SET, RG_SPACE_GRID } RgSpaceKind;

typedef enum { RG_INPUT_REAL, RG_INPUT_INTEGER, RG_INPUT_CHOICE } RgInputKind;

/* What a coordinate of a box stands for. An algorithm sees a real number in any case. */
typedef struct {
  char *name; /* owned, like all below */
  RgInputKind kind;
  double lower, upper; /* native bounds; of a choice among k words [0, k] */
  bool log;            /* the unit coordinate is that of the logarithm */
  int n_words;         /* of a choice */
  char **words;
  int parent; /* the input it depends on, a choice before it; -1: it always counts */
  bool *when; /* per word of the parent: whether it counts with that one; NULL without a parent */
} RgInput;

/* One part of a domain. All arrays owned. */
typedef struct {
  RgSpaceKind kind;
  int dim;               /* 0: this part does not exist */
  double *lower, *upper; /* dim: native value of unit coordinates 0 and 1 */
  int size;              /* number of points of a finite space; 0 for a box */
  double *points;        /* size x dim, unit coordinates; grid: first coordinate slowest */
  int *levels;           /* grid: number of levels per coordinate */
  double *axes;          /* grid: the levels in unit coordinates, coordinate after coordinate */
  RgInput *inputs;       /* dim, what the coordinates of a box stand for; NULL: real numbers that
                            have no names */
} RgSpace;

typedef enum {
  RG_CONTEXT_NONE,
  RG_CONTEXT_NATURE,   /* drawn by nature after x was chosen, then observed */
  RG_CONTEXT_SIMULATOR /* chosen by the learner during optimisation */
} RgContextControl;

typedef struct {
  RgSpace design;
  RgSpace context; /* dim = 0 without context */
  RgContextControl control;
  double *context_prob;     /* context.size probabilities known to the learner, or NULL; owned */
  char *measure;            /* what the objective F makes of f over the contexts, as
                                    regatta/measure.h writes it; NULL: not said; owned */
  int n_scores;             /* further measures that trials are scored by */
  char **scores;            /* n_scores, written alike; owned */
  int n_constraints;        /* outcome constraints; a design is feasible where all are <= 0 */
  char **constraints;       /* their names; owned */
  bool without_replacement; /* finite design: a point may be queried once only */
} RgDomain;

/* A box with native bounds. Copies `lower`, `upper` (dim each; lower < upper). */
RG_API PetscErrorCode rg_space_box(RgSpace *space, int dim, const double *lower,
                                   const double *upper);
/* The box [lower, upper]^dim. */
RG_API PetscErrorCode rg_space_cube(RgSpace *space, int dim, double lower, double upper);
/* A finite set of `size` native points (size x dim), scaled to the unit cube by the bounds (NULL:
   the column minima and maxima; a constant column maps to 0.5 and keeps its native value). */
RG_API PetscErrorCode rg_space_set(RgSpace *space, int dim, int size, const double *points,
                                   const double *lower, const double *upper);
/* Product grid: `levels[j]` values per coordinate, native values in `axes` one coordinate after the
   other; `points` are filled in row-major order (first coordinate slowest). */
RG_API PetscErrorCode rg_space_grid(RgSpace *space, int dim, const int *levels, const double *axes,
                                    const double *lower, const double *upper);
/* A box of n named inputs, each written `NAME real LOWER UPPER [log]`, `NAME integer LOWER UPPER
   [log]` or `NAME choice WORD WORD ...`, and behind it `if CHOICE=WORD` (or `=WORD|WORD`) where it
   only counts with that word of a choice that stands before it. The first thing wrong is appended
   to `mistake`; then the space stays zeroed. */
RG_API PetscErrorCode rg_space_inputs(RgSpace *space, int n, char *const *texts, RgText *mistake);
RG_API PetscErrorCode rg_space_destroy(RgSpace *space);
RG_API PetscErrorCode rg_domain_destroy(RgDomain *domain);
/* Name the outcome constraints; copies the names. */
RG_API PetscErrorCode rg_domain_constrain(RgDomain *domain, int n, const char *const *names);

/* True for a set or a grid. */
static inline bool rg_space_is_finite(const RgSpace *space)
{
  return space->kind != RG_SPACE_BOX;
}

/* unit -> native and back, one point of `dim` coordinates; in and out may be the same array. */
RG_API void rg_space_to_native(const RgSpace *space, const double *unit, double *native);
RG_API void rg_space_to_unit(const RgSpace *space, const double *native, double *unit);

/* What who evaluates sees of a point in native units: a real number, an integer floor(v + 0.5)
   within its bounds, the number of a word, floor(v), from 0; NaN for an input that doesn't count.
   in and out may be the same array. */
RG_API void rg_space_seen(const RgSpace *space, const double *native, double *seen);
/* Whether some input only counts with some word of another one. */
RG_API bool rg_space_is_conditional(const RgSpace *space);
/* Set those unit coordinates of a point that don't count to 0.5, so that points that are evaluated
   alike are alike. counts: dim, NULL: not wanted. */
RG_API void rg_space_settle(const RgSpace *space, double *unit, bool *counts);
/* The native value of coordinate j at the unit coordinate 0.5. */
RG_API double rg_space_middle(const RgSpace *space, int j);
/* d native / d unit of coordinate j, at its native value. */
RG_API double rg_space_slope(const RgSpace *space, int j, double native);

/* What an algorithm has seen: queried inputs and observations, in order of evaluation. */
typedef struct {
  int n;         /* evaluations so far, the initial design included */
  int n_initial; /* the first n_initial of them are the initial design */
  int capacity;
  int dim, context_dim;
  double *x;          /* n x dim, unit coordinates */
  double *c;          /* n x context_dim, unit coordinates, as observed */
  int *index;         /* n: index into the finite design, -1 on a box */
  int *context_index; /* n: index into the finite contexts, -1 otherwise */
  double *y;          /* n: observations, native units; of evaluations that failed or violate a
                         constraint what the study tells in their place, so that methods that know
                         of neither may use it as it is */
  double *observed;   /* n: observations as they are, NaN where the evaluation failed */
  bool *feasible;     /* n: it did not fail and violates no constraint */
  int n_constraints;
  double *constraints; /* n x n_constraints; NaN where the evaluation failed */
} RgHistory;

/* Room for `capacity` evaluations. */
RG_API PetscErrorCode rg_history_create(const RgDomain *domain, int capacity, RgHistory *history);
/* Append one evaluation; x, c in unit coordinates (c may be NULL without context). */
RG_API PetscErrorCode rg_history_append(RgHistory *history, const double *x, int index,
                                        const double *c, int context_index, double y);
/* What the newest evaluation was in truth: its observation and constraints (NULL without). */
RG_API PetscErrorCode rg_history_judge(RgHistory *history, double observed,
                                       const double *constraints);
/* Index of the largest observation, the first of equal ones; -1 without any. */
RG_API int rg_history_best(const RgHistory *history);
RG_API PetscErrorCode rg_history_destroy(RgHistory *history);

#endif
