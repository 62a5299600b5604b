/* Parts of problem/external.c: what its parameters say about inputs, and the messages. */
#ifndef RG_PROBLEM_EXTERNAL_H
#define RG_PROBLEM_EXTERNAL_H

#include "base/child.h"
#include "regatta/params.h"
#include "regatta/stream.h"

typedef enum { RG_INPUT_REAL, RG_INPUT_INTEGER, RG_INPUT_CHOICE } RgInputKind;

/* One coordinate of the program's, `name kind lower upper` or `name choice word word ...`. */
typedef struct {
  char *name; /* owned, like the words */
  RgInputKind kind;
  double lower, upper; /* of the coordinate: bounds, for k words [0, k] */
  int n_words;
  char **words;
} RgInput;

/* Read n descriptions; inputs: n, zeroed, to be cleared also after mistakes. The first thing wrong
   is appended to `mistake`. */
PetscErrorCode rg_inputs_parse(int n, char *const *texts, RgInput *inputs, RgText *mistake);
PetscErrorCode rg_inputs_clear(int n, RgInput *inputs);

/* What a coordinate stands for: an integer floor(v + 0.5) within the bounds, the word number
   floor(v). */
double rg_input_integer(const RgInput *input, double v);
int rg_input_word(const RgInput *input, double v);

/* A request. x: n_x coordinates; c: n_c, n_c = 0 without context; trial NULL outside a trial. */
typedef struct {
  int64_t id;
  const char *trial;
  uint64_t instance, seed;
  int evaluation;
  int n_x, n_c;
  const RgInput *inputs, *contexts;
  const double *x, *c;
} RgRequest;

/* Append the request as one line of JSON, without its end. */
PetscErrorCode rg_request_write(const RgRequest *request, RgText *line);

/* Read the answer to request `id`: *value, or what is wrong with it, or the error it reports,
   appended to `mistake`. */
PetscErrorCode rg_answer_read(const char *line, size_t length, int64_t id, double *value,
                              RgText *mistake);

#endif
