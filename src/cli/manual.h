/* Man pages and completion scripts, made from the tables of commands and options. */
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

/* The hidden argument by which a command prints its text in the form "man", "bash", "zsh" or
   "fish"; NULL for another form. */
const char *rg_manual_word(const char *form);

/* If `word` is such an argument, print the text of the command; else return false. */
bool rg_manual_command(const char *word, const char *command, const char *usage,
                       const RgOption *options);

/* Print the man page of the whole program. */
void rg_manual_page(void);
/* Print the text before and after the commands of a completion script. */
void rg_manual_begin(const char *word);
void rg_manual_end(const char *word);

#endif
