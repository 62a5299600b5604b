/* Exit codes in words; and the hidden arguments by which commands print themselves for manuals. */
#ifndef RG_CLI_MANUAL_H
#define RG_CLI_MANUAL_H

#include "cli/command.h"

typedef struct {
  int code;
  const char *doc;
} RgManualExit;
extern const RgManualExit rg_manual_exits[]; /* NULL doc at the end */

/* If `word` is such an argument (--man, --complete-bash, ..), print the text of the command; else
   return false. */
bool rg_manual_command(const char *word, const char *command, const char *usage,
                       const RgOption *options);

#endif
