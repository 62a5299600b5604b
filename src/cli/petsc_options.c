/* PETSc's options from outside of the command line: PETSC_OPTIONS and option files. Some of them
   would change what a run does, such as -fp_trap, for not-a-number is a value here. */
#include "cli/petsc_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "cli/arguments.h"

enum { MOST = 1 << 20 }; /* bytes of an option file */

static bool is_option(const char *word)
{
  return word[0] == '-' && isalpha((unsigned char)word[1]);
}

PetscErrorCode rg_petsc_options_filter(RgText *dropped)
{
  const char *given = getenv("PETSC_OPTIONS");
  RgText words = {0}, kept = {0};
  bool keep = false;
  char *rest;

  (void)unsetenv("PETSC_OPTIONS_YAML");
  if (!given) return 0;
  PetscCall(rg_text_add(&words, "%s", given));
  for (char *word = words.length ? strtok_r(words.data, " \t\r\n", &rest) : NULL; word;
       word = strtok_r(NULL, " \t\r\n", &rest)) {
    if (is_option(word)) keep = rg_arguments_petsc_knows(word);
    if (keep) PetscCall(rg_text_add(&kept, "%s%s", kept.length ? " " : "", word));
    else if (is_option(word))
      PetscCall(rg_text_add(dropped, "%s%.80s", dropped->length ? " " : "", word));
  }
  (void)(kept.length ? setenv("PETSC_OPTIONS", kept.data, 1) : unsetenv("PETSC_OPTIONS"));
  PetscCall(rg_text_clear(&kept));
  PetscCall(rg_text_clear(&words));
  return 0;
}

/* PETSc reads an option from each line, behind blanks; `#` and `!` begin comments. */
static PetscErrorCode check_file(const char *path, RgText *mistake)
{
  RgText unreadable = {0};
  size_t length;
  char *text, *rest, word[84];
  int number = 0;

  PetscCall(rg_file_read(path, MOST, &text, &length, &unreadable));
  if (!text) PetscCall(rg_text_add(mistake, "-options_file: %s %s", path, unreadable.data));
  for (char *line = text; line && *line && !mistake->length; line = rest) {
    const size_t end = strcspn(line, "\n");
    const size_t blanks = strspn(line, " \t\r"), width = strcspn(line + blanks, " \t\r\n");
    rest = line + end + (line[end] == '\n');
    number++;
    snprintf(word, sizeof(word), "%.*s", (int)PetscMin(width, 80), line + blanks);
    if (blanks >= end || *word == '#' || *word == '!' || rg_arguments_petsc_knows(word)) continue;
    PetscCall(
      rg_text_add(mistake, "-options_file: %s:%d: '%s' is not accepted", path, number, word));
  }
  PetscCall(PetscFree(text));
  PetscCall(rg_text_clear(&unreadable));
  return 0;
}

PetscErrorCode rg_petsc_options_check(int argc, char **argv, RgText *mistake)
{
  static const char option[] = "-options_file";
  const char *given = getenv("PETSC_OPTIONS"), *found = given ? strstr(given, option) : NULL;
  char path[PETSC_MAX_PATH_LEN];

  for (int i = 1; i + 1 < argc && !mistake->length; i++)
    if (!strcmp(argv[i], option)) PetscCall(check_file(argv[i + 1], mistake));
  if (found && !mistake->length && sscanf(found + strlen(option), " %4095s", path) == 1)
    PetscCall(check_file(path, mistake));
  return 0;
}
