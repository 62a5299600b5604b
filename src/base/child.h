/* A program of the user's that runs beside this process and is talked to in lines over its standard
   input and output. Nothing of it is left behind: it stands in a process group of its own, which is
   killed with it; when this process dies, however, the program is killed too (Linux) and reads the
   end of its input (everywhere). */
#ifndef RG_BASE_CHILD_H
#define RG_BASE_CHILD_H

#include "base/text.h"

#define RG_CHILD_LINE_MAX 65536 /* bytes of an answer */

typedef struct RgChild RgChild;

/* How long to wait for an answer. */
typedef struct {
  double limit;                /* seconds */
  double grace;                /* seconds left once `stop` has said true, if that is sooner */
  bool (*stop)(void *closure); /* called about every 0.05 s while waiting; NULL: nobody to ask */
  void *closure;
} RgPatience;

typedef enum {
  RG_CHILD_ANSWERED,
  RG_CHILD_FAILED,   /* no answer, and there won't be one: to be closed */
  RG_CHILD_ABANDONED /* a stop cut the waiting short: to be closed */
} RgChildOutcome;

/* Start words[0] (looked for in PATH when it holds no '/') with arguments words[1..], NULL at the
   end; no shell. It gets the environment without the variables of MPI's launchers, and
   OMP_NUM_THREADS=1 unless that is set: the ranks share the cores already. Its standard error
   passes through. A program that can't be started: *child NULL and why in `mistake`. */
PetscErrorCode rg_child_start(const char *const *words, RgChild **child, RgText *mistake);

/* Whether the child was started with these words. */
bool rg_child_is(const RgChild *child, const char *const *words);

/* Questions it has been asked so far. */
int64_t rg_child_count(const RgChild *child);

/* Send a line (without its end) and wait for one line of answer: *answer of *length bytes, borrowed
   until the next call. Anything else fails, with the reason in `mistake`: silence for longer than
   the patience, an answer of more than RG_CHILD_LINE_MAX bytes, output nobody asked for, an end of
   the program (with its exit code or signal, and the last line of its standard error). */
PetscErrorCode rg_child_ask(RgChild *child, const char *line, const RgPatience *patience,
                            RgChildOutcome *outcome, const char **answer, size_t *length,
                            RgText *mistake);

/* Seconds of CPU that the program, and what it started, used since this was asked last. */
double rg_child_cpu_seconds(RgChild *child);

/* Largest resident set of the program itself so far, bytes; 0 where there is no /proc. */
double rg_child_peak_memory(const RgChild *child);

/* End the program and free; NULL is fine. gently: it reads the end of its input and has a second to
   leave by itself. */
PetscErrorCode rg_child_close(RgChild **child, bool gently);

#endif
