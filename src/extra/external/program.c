/* The user's programs that a study file names. */
#include "extra/external/program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

const char *rg_program_name(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}

static bool is_a_file(const char *path)
{
  struct stat found;

  return !stat(path, &found) && S_ISREG(found.st_mode);
}

/* Whether PATH has an executable of that name. */
static PetscErrorCode find_in_path(const char *name, bool *found)
{
  const char *folder = getenv("PATH");
  RgText path = {0};

  PetscFunctionBeginUser;
  *found = false;
  if (!folder) folder = "/bin:/usr/bin"; /* the same default as execvp */
  while (!*found) {
    const size_t length = strcspn(folder, ":");
    PetscCall(rg_text_add(&path, "%.*s%s%s", (int)length, folder, length ? "/" : "./", name));
    *found = is_a_file(path.data) && access(path.data, X_OK) == 0;
    PetscCall(rg_text_clear(&path));
    if (!folder[length]) break;
    folder += length + 1;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_program_check(const char *program, bool in_path, RgPlace place,
                                RgDiagnostics *diagnostics)
{
  const bool here = access(program, F_OK) == 0, sought = in_path && !strchr(program, '/');
  bool found = here;

  PetscFunctionBeginUser;
  if (program[0] && !here && sought) PetscCall(find_in_path(program, &found));
  if (!program[0]) rg_diagnostics_add(diagnostics, place, "external: 'program' is empty");
  else if (!found)
    rg_diagnostics_add(diagnostics, place, "external: there is no program '%.200s'%s", program,
                       sought ? " beside the study file or in PATH" : "");
  else if (here && !is_a_file(program))
    rg_diagnostics_add(diagnostics, place, "external: '%.200s' is not a file", program);
  else if (here && access(program, X_OK))
    rg_diagnostics_add(diagnostics, place,
                       "external: '%.200s' can't be executed (chmod +x, and "
                       "for a script a first line like #!/usr/bin/env python3)",
                       program);
  PetscFunctionReturn(0);
}

void rg_program_check_names(const char *parameter, const RgTexts *names, int most, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  if (names->n > most)
    rg_diagnostics_add(diagnostics, place, "external: '%s' has %d names; at most %d are accepted",
                       parameter, names->n, most);
  for (int i = 0; i < names->n; i++) {
    const char *name = names->values[i];
    if (!*name || strlen(name) > RG_PROGRAM_NAME_MAX ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name))
      rg_diagnostics_add(diagnostics, place,
                         "external: '%.60s' in '%s': a name is made of lower-case letters, "
                         "digits and '_', at most %d of them",
                         name, parameter, RG_PROGRAM_NAME_MAX);
    for (int j = 0; j < i; j++)
      if (!strcmp(name, names->values[j]))
        rg_diagnostics_add(diagnostics, place, "external: '%s' names '%.60s' twice", parameter,
                           name);
  }
}

PetscErrorCode rg_program_identity(const RgParam *params, int n, const void *options, size_t size,
                                   RgText *text)
{
  RgParam *table;
  char *copy, **program;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc2(n + 1, &table, size, &copy));
  PetscCall(PetscArraycpy(table, params, n));
  PetscCall(PetscArraycpy(copy, (const char *)options, size));
  program = (char **)(copy + params[0].offset);
  *program += rg_program_name(*program) - *program;
  PetscCall(rg_params_canonical(table, copy, text));
  PetscCall(PetscFree2(table, copy));
  PetscFunctionReturn(0);
}
