/* regatta new algorithm|problem NAME: a working skeleton and the line that registers it. */
#include "cli/command.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { OPT_SOURCE };

static const RgOption options[] = {
  {"-source", "FOLDER", "Regatta's source tree (default: the working directory)"},
  {NULL, NULL, NULL},
};

static const char *const kinds[] = {"algorithm", "problem", NULL};

static bool is_identifier(const char *name)
{
  if (!islower((unsigned char)name[0])) return false;
  for (const char *p = name; *p; p++)
    if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '_') return false;
  return strlen(name) < 48;
}

/* The whole file appended to `text`; false when it can't be read. */
static PetscErrorCode read_file(const char *path, RgText *text, bool *ok)
{
  char buffer[4096];
  size_t n;
  FILE *file = fopen(path, "r");

  PetscFunctionBeginUser;
  *ok = file != NULL;
  if (!file) PetscFunctionReturn(0);
  while ((n = fread(buffer, 1, sizeof(buffer), file)) > 0)
    PetscCall(rg_text_add_bytes(text, buffer, n));
  *ok = !ferror(file);
  *ok = fclose(file) == 0 && *ok;
  PetscFunctionReturn(0);
}

/* The template with every @NAME@ replaced. */
static PetscErrorCode fill_template(const char *template, const char *name, RgText *out)
{
  static const char mark[] = "@NAME@";

  PetscFunctionBeginUser;
  for (const char *next; (next = strstr(template, mark)); template = next + strlen(mark)) {
    PetscCall(rg_text_add_bytes(out, template, (size_t)(next - template)));
    PetscCall(rg_text_add(out, "%s", name));
  }
  PetscCall(rg_text_add(out, "%s", template));
  PetscFunctionReturn(0);
}

/* Write `text` to a file opened with `flags`; false with errno when that fails. */
static bool write_file(const char *path, int flags, const char *text)
{
  size_t length = strlen(text);
  int fd = open(path, O_WRONLY | flags, 0666);

  if (fd < 0) return false;
  bool ok = write(fd, text, length) == (ssize_t)length;
  return close(fd) == 0 && ok;
}

static PetscErrorCode create(const char *source, const char *kind, const char *name, int *exit_code)
{
  char path[4200], list[4200], line[128];
  RgText template = {0}, code = {0}, registry = {0};
  bool ok = false, listed = false;

  PetscFunctionBeginUser;
  *exit_code = RG_EXIT_BAD_INPUT;
  snprintf(path, sizeof(path), "%s/src/%s/new.c.in", source, kind);
  snprintf(list, sizeof(list), "%s/src/%s/list.h", source, kind);
  snprintf(line, sizeof(line), "RG_%s(%s)\n", !strcmp(kind, kinds[0]) ? "ALGORITHM" : "PROBLEM",
           name);
  PetscCall(read_file(path, &template, &ok));
  if (ok) PetscCall(read_file(list, &registry, &listed));
  if (!ok || !listed) {
    rg_complain("new: %s: %s (run it in Regatta's source tree, or give -source)", ok ? list : path,
                strerror(errno));
  } else {
    PetscCall(fill_template(template.data, name, &code));
    snprintf(path, sizeof(path), "%s/src/%s/%s.c", source, kind, name);
    if (strstr(registry.data, line)) {
      rg_complain("new: %s has the line %.*s already", list, (int)strlen(line) - 1, line);
    } else if (!write_file(path, O_CREAT | O_EXCL, code.data) ||
               !write_file(list, O_APPEND, line)) {
      rg_complain("new: %s: %s", path, strerror(errno));
    } else {
      rg_say("%s: a working %s to start from; registered in %s\n", path, kind, list);
      *exit_code = RG_EXIT_OK;
    }
  }
  PetscCall(rg_text_clear(&template));
  PetscCall(rg_text_clear(&code));
  PetscCall(rg_text_clear(&registry));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_command_new(int argc, char **argv, int *exit_code)
{
  RgArguments arguments;
  bool ok;
  int rank;

  PetscFunctionBeginUser;
  PetscCall(rg_arguments_parse(argc, argv, "new algorithm|problem NAME [-source FOLDER]", options,
                               2, 2, &arguments, &ok, exit_code));
  if (!ok) PetscFunctionReturn(0);
  const char *kind = arguments.positional[0], *name = arguments.positional[1];
  if (strcmp(kind, kinds[0]) && strcmp(kind, kinds[1])) {
    rg_complain("new: unknown kind '%s', accepted: algorithm, problem", kind);
    *exit_code = RG_EXIT_BAD_INPUT;
  } else if (!is_identifier(name)) {
    rg_complain("new: '%s' is no name: lower-case letters, digits and '_', first a letter", name);
    *exit_code = RG_EXIT_BAD_INPUT;
  } else {
    PetscCallMPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    const char *source = arguments.option[OPT_SOURCE] ? arguments.option[OPT_SOURCE] : ".";
    if (rank == 0) PetscCall(create(source, kind, name, exit_code));
    PetscCallMPI(MPI_Bcast(exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD));
  }
  PetscFunctionReturn(0);
}
