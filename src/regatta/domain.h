/* Domains: the sets that algorithms search. A domain has a design part (chosen by the learner)
   and an optional context part (drawn by nature, or chosen in a simulator). Each part is a box,
   a finite set or a product grid. Algorithms see coordinates of the unit cube; problems see
   native units. */
#ifndef RG_REGATTA_DOMAIN_H
#define RG_REGATTA_DOMAIN_H

#include "regatta/error.h"

typedef enum { RG_SPACE_BOX, RG_SPACE_SET, RG_SPACE_GRID } RgSpaceKind;

typedef enum { RG_INPUT_REAL, RG_INPUT_INTEGER, RG_INPUT_CHOICE } RgInputKind;

/* The meaning of a coordinate of a box. Algorithms see a real number for every kind. */
typedef struct {
  char *name; /* owned, like all pointers below */
  RgInputKind kind;
  double lower, upper; /* native bounds; [0, k] for a choice among k words */
  bool log;            /* the unit coordinate is linear in the logarithm */
  int n_words;         /* words of a choice */
  char **words;
  int parent; /* an earlier choice that the input depends on; -1: the input always counts */
  /* Per word of the parent: whether the input counts with that word; NULL without a parent. */
  bool *when;
} RgInput;

/* One part of a domain. All arrays owned. */
typedef struct {
  RgSpaceKind kind;
  int dim;               /* 0: this part does not exist */
  double *lower, *upper; /* dim: native values of unit coordinates 0 and 1 */
  int size;              /* number of points of a finite space; 0 for a box */
  double *points;        /* size x dim, unit coordinates; grid: first coordinate slowest */
  int *levels;           /* grid: number of levels per coordinate */
  double *axes;          /* grid: the levels in unit coordinates, one coordinate after another */
  /* dim: meaning of the coordinates of a box; NULL: real numbers without names */
  RgInput *inputs;
} RgSpace;

typedef enum {
  RG_CONTEXT_NONE,
  RG_CONTEXT_NATURE,    /* drawn by nature after x was chosen, then observed */
  RG_CONTEXT_SIMULATOR, /* chosen by the learner during optimisation */
  RG_CONTEXT_ANNOUNCED  /* drawn by nature and observed before x is chosen */
} RgContextControl;

typedef struct {
  RgSpace design;
  RgSpace context; /* dim = 0 without context */
  RgContextControl control;
  double *context_prob; /* context.size probabilities known to the learner, or NULL; owned */
  /* Number of laws of a box of contexts: 0 (unknown), 1 (for every coordinate) or context.dim. */
  int n_laws;
  /* n_laws expressions (maths/law.h), unit coordinates; values are clipped to the cube; owned */
  char **laws;
  /* Measure by which F summarises f over contexts (regatta/measure.h); NULL: not given; owned. */
  char *measure;
  int n_scores;  /* further measures that trials are scored by */
  char **scores; /* n_scores expressions of measures; owned */
  /* Number of outcome constraints; a design is feasible if all are <= 0. */
  int n_constraints;
  char **constraints;       /* names of the constraints; owned */
  bool without_replacement; /* finite design: each point may be queried only once */
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
/* Product grid: `levels[j]` values per coordinate, native values in `axes` one coordinate after
   another. `points` are filled in row-major order (first coordinate slowest). */
RG_API PetscErrorCode rg_space_grid(RgSpace *space, int dim, const int *levels, const double *axes,
                                    const double *lower, const double *upper);
/* A box of n named inputs. Each description is `NAME real LOWER UPPER [log]`, `NAME integer
   LOWER UPPER [log]` or `NAME choice WORD WORD ...`. A final `if CHOICE=WORD` (or `=WORD|WORD`)
   says that the input only counts with that word of an earlier choice. The first mistake is
   appended to `mistake`; then the space stays zeroed. */
RG_API PetscErrorCode rg_space_inputs(RgSpace *space, int n, char *const *texts, RgText *mistake);
RG_API PetscErrorCode rg_space_destroy(RgSpace *space);
RG_API PetscErrorCode rg_domain_destroy(RgDomain *domain);
/* State the laws of a box of contexts, n of them (1 or context.dim); copies the texts. */
RG_API PetscErrorCode rg_domain_state_laws(RgDomain *domain, int n, const char *const *laws);
/* Name the outcome constraints; copies the names. */
RG_API PetscErrorCode rg_domain_constrain(RgDomain *domain, int n, const char *const *names);

/* True for a set or a grid. */
static inline bool rg_space_is_finite(const RgSpace *space)
{
  return space->kind != RG_SPACE_BOX;
}

/* Convert one point of `dim` coordinates from unit to native coordinates and back. Input and
   output may be the same array. */
RG_API void rg_space_to_native(const RgSpace *space, const double *unit, double *native);
RG_API void rg_space_to_unit(const RgSpace *space, const double *native, double *unit);

/* Convert a native point to the values that a problem sees: a real number; an integer, floor(v +
   0.5) within its bounds; the number of a word, floor(v), from 0; NaN for an input that doesn't
   count. Input and output may be the same array. */
RG_API void rg_space_seen(const RgSpace *space, const double *native, double *seen);
/* Whether some input only counts with certain words of another input. */
RG_API bool rg_space_is_conditional(const RgSpace *space);
/* Set unit coordinates that don't count to 0.5, so that points with equal evaluations are equal.
   counts: dim, NULL: not wanted. */
RG_API void rg_space_normalise(const RgSpace *space, double *unit, bool *counts);
/* The native value of coordinate j at the unit coordinate 0.5. */
RG_API double rg_space_middle(const RgSpace *space, int j);
/* d native / d unit of coordinate j, at its native value. */
RG_API double rg_space_slope(const RgSpace *space, int j, double native);

/* Points in flight: evaluations that were asked for and whose outcome is not known yet, in order of
   submission. All pointers are borrowed. */
typedef struct {
  int n;
  const double *x;          /* n x dim, unit coordinates */
  const int *index;         /* n: index into the finite design, -1 on a box; NULL: a box */
  const double *c;          /* n x context_dim, unit coordinates; NULL: no context */
  const int *context_index; /* n: index into the finite contexts; NULL: not finite */
  const int *submission;    /* n: numbers in the order of asking, from 1; NULL: not known */
  double now;               /* time on the simulated clock */
} RgPending;

/* Where an evaluation stands in the order of asking, and when it ran on the simulated clock; NaN
   without a clock, and in an initial design that was known at its start. */
typedef struct {
  int submission;
  double dispatched, finished;
} RgTiming;

/* The history of an algorithm: queried inputs and observations, in order of evaluation. */
typedef struct {
  int n;         /* evaluations so far, the initial design included */
  int n_initial; /* the first n_initial evaluations are the initial design */
  int capacity;
  int dim, context_dim;
  double *x;          /* n x dim, unit coordinates */
  double *c;          /* n x context_dim, unit coordinates, as observed */
  int *index;         /* n: index into the finite design, -1 on a box */
  int *context_index; /* n: index into the finite contexts, -1 otherwise */
  /* n: observations, native units. For an evaluation that failed or violates a constraint, y is the
     value that the study substitutes, so that methods may ignore failures and constraints. */
  double *y;
  double *observed; /* n: true observations, NaN where the evaluation failed */
  bool *feasible;   /* n: the evaluation did not fail and violates no constraint */
  int n_constraints;
  double *constraints; /* n x n_constraints; NaN where the evaluation failed */
  RgTiming *timings;   /* n */
  RgPending pending;   /* set during an ask; n = 0: nothing is in flight */
} RgHistory;

/* Create a history with room for `capacity` evaluations. */
RG_API PetscErrorCode rg_history_create(const RgDomain *domain, int capacity, RgHistory *history);
/* Append one evaluation; x, c in unit coordinates (c may be NULL without context). */
RG_API PetscErrorCode rg_history_append(RgHistory *history, const double *x, int index,
                                        const double *c, int context_index, double y);
/* Set the true observation and the constraints (NULL without) of the newest evaluation. */
RG_API PetscErrorCode rg_history_set_outcome(RgHistory *history, double observed,
                                             const double *constraints);
/* Index of the largest observation, the first of equal ones; -1 when there are no observations. */
RG_API int rg_history_best(const RgHistory *history);
RG_API PetscErrorCode rg_history_destroy(RgHistory *history);

#endif
