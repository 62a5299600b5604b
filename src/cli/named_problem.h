/* A problem named on a command line: NAME -set KEY=VALUE ... -instance I -seed S -plugin LIB.so */
#ifndef RG_CLI_NAMED_PROBLEM_H
#define RG_CLI_NAMED_PROBLEM_H

#include "cli/arguments.h"
#include "cli/plugins.h"
#include "regatta/problem.h"
#include "regatta/study.h"
#include "study/file/registry.h"

/* The entries that a command with a named problem has in its table of options. */
#define RG_OPTIONS_NAMED_PROBLEM                                                                   \
  {"-set", "KEY=VALUE", "parameter of the problem; repeated, or several separated by commas"},     \
    {"-instance", "I", "draw of a random problem (default 0)"},                                    \
    {"-seed", "S", "study seed (default " RG_STUDY_SEED_TEXT ", as in studies)"}, RG_OPTION_PLUGIN

typedef struct {
  const char *command; /* prefix of messages; borrowed */
  const RgProblemClass *class;
  void *options; /* owned */
  bool *given;   /* per parameter: set by the user; owned */
  uint64_t instance, seed;
  bool mistaken; /* a mistake was reported */
} RgNamedProblem;

/* Create the problem in arguments->positional[0]. The caller clears it even after mistakes. */
PetscErrorCode rg_named_problem_read(const RgArguments *arguments, const RgRegistry *registry,
                                     RgNamedProblem *named);
/* Print the mistakes found, and set named->mistaken if there are any. */
void rg_named_problem_complain(RgNamedProblem *named, const RgDiagnostics *found);
PetscErrorCode rg_named_problem_clear(RgNamedProblem *named);

/* Split in place at `separators`, but inside parentheses only if these are separators too.
   Returns the number of words (at most 4096). */
int rg_split_words(char *text, const char *separators, const char **words);

#endif
