/* Child processes of the user that answer in lines over standard input and output. A child leads
   its own process group, and the group is killed with it. If this process dies, the program is
   killed (Linux) and reads the end of its input (everywhere). */
#ifndef RG_BASE_CHILD_H
#define RG_BASE_CHILD_H

#include "base/text.h"

#define RG_CHILD_LINE_MAX 65536 /* largest length of an answer in bytes */

typedef struct RgChild RgChild;

/* Limits on the wait for an answer. */
typedef struct {
  double limit;                /* seconds */
  double grace;                /* at most this many seconds remain after `stop` returned true */
  bool (*stop)(void *closure); /* called about every 0.05 s while waiting; NULL: no stop */
  void *closure;
} RgPatience;

typedef enum {
  RG_CHILD_ANSWERED,
  RG_CHILD_FAILED,    /* the program will not answer: close it */
  RG_CHILD_ABANDONED, /* a stop ended the wait: close the program */
  RG_CHILD_SILENT     /* there is no answer yet; not an outcome of rg_child_ask */
} RgChildOutcome;

/* Start words[0] (searched in PATH unless it contains '/') with arguments words[1..], NULL at
   the end, without a shell. The environment loses the variables of MPI launchers, and gets
   OMP_NUM_THREADS=1 unless that is set, because the ranks already share the cores. Standard
   error is passed on (see rg_child_log). If the program can't be started, *child is NULL and
   `mistake` says why. */
PetscErrorCode rg_child_start(const char *const *words, RgChild **child, RgText *mistake);

/* Whether the child was started with these words. */
bool rg_child_is(const RgChild *child, const char *const *words);

/* From now on append the standard error of the program to a file, which is made with its folder at
   the first output. path NULL, or a file that can't be written: standard error is passed on. */
PetscErrorCode rg_child_log(RgChild *child, const char *path);

/* Number of requests sent so far. */
int64_t rg_child_count(const RgChild *child);

/* Send a line (without its end) and wait for a line of answer: *answer of *length bytes,
   borrowed until the next call. The request fails, with the reason in `mistake`, if the program
   is silent for too long, answers with more than RG_CHILD_LINE_MAX bytes, writes output without
   a request, or ends (the reason then has its exit code or signal, and the last line of its
   standard error). */
PetscErrorCode rg_child_ask(RgChild *child, const char *line, const RgPatience *patience,
                            RgChildOutcome *outcome, const char **answer, size_t *length,
                            RgText *mistake);

/* The same in parts, for several children at a time: send a line, which is answered within `limit`
   seconds; wait at most `seconds` until one of n children (NULL: none) has written or taken
   something; look for the answer of a child. */
PetscErrorCode rg_child_send(RgChild *child, const char *line, double limit, RgText *mistake);
PetscErrorCode rg_child_poll(int n, RgChild *const *children, double seconds);
PetscErrorCode rg_child_read(RgChild *child, RgChildOutcome *outcome, const char **answer,
                             size_t *length, RgText *mistake);

/* Get the standard error of the program since the last question: its last *length bytes, at most
   RG_CHILD_LINE_MAX. *errors is borrowed until the next call, and NULL if there is no text. */
PetscErrorCode rg_child_errors(RgChild *child, const char **errors, size_t *length);

/* CPU seconds that the program and its descendants used since the last call. */
double rg_child_cpu_seconds(RgChild *child);

/* Peak resident set of the program itself in bytes; 0 without /proc. */
double rg_child_peak_memory(const RgChild *child);

/* End the program and free the child; NULL is fine. gently: close the program's input and give
   it a second to exit. */
PetscErrorCode rg_child_close(RgChild **child, bool gently);

#endif
