/* Man pages and completion, made from the table of commands and their tables of options. */
#ifndef RG_CLI_MANUAL_H
#define RG_CLI_MANUAL_H

#include "cli/command.h"

typedef struct {
  const char *name, *doc;
} RgManualVariable;
extern const RgManualVariable rg_manual_environment[]; /* NULL name at the end */

typedef struct {
  int code;
  const char *doc;
} RgManualExit;
extern const RgManualExit rg_manual_exits[]; /* NULL doc at the end */

/* The word that, as the only argument of a command, has it explain itself as "man", "bash", "zsh"
   or "fish" wants it; NULL for anything else. */
const char *rg_manual_word(const char *form);

/* Print what a command says of itself in answer to such a word; false: it is none. */
bool rg_manual_command(const char *word, const char *command, const char *usage,
                       const RgOption *options);

/* The page of the whole program. */
void rg_manual_page(void);
/* What stands before and after the commands in a completion script. */
void rg_manual_begin(const char *word);
void rg_manual_end(const char *word);

#endif
