/* The bytes of a study file, and the study as a whole. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "study/draft.h"

/* Read up to `room` bytes; the number read, -1 with errno. */
static ssize_t read_all(int file, char *bytes, size_t room)
{
  size_t n = 0;

  while (n < room) {
    ssize_t got = read(file, bytes + n, room - n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (!got) break;
    n += (size_t)got;
  }
  return (ssize_t)n;
}

/* Size of the regular file `file` opened from `path`, -1 and a mistake for anything else. */
static ssize_t file_size(int file, RgPlace place, RgDiagnostics *diagnostics)
{
  struct stat info;

  if (file < 0 || fstat(file, &info))
    rg_diagnostics_add(diagnostics, place, "the study file can't be opened: %s", strerror(errno));
  else if (!S_ISREG(info.st_mode))
    rg_diagnostics_add(diagnostics, place, "the study file is %s, not a file of text",
                       S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe");
  else if (info.st_size > RG_YAML_MAX_BYTES)
    rg_diagnostics_add(diagnostics, place, "the file has %lld bytes; a study file has at most %d",
                       (long long)info.st_size, RG_YAML_MAX_BYTES);
  else
    return (ssize_t)info.st_size;
  return -1;
}

PetscErrorCode rg_study_read_file(const char *path, char **text, size_t *length,
                                  RgDiagnostics *diagnostics)
{
  const RgPlace place = {path, 0, 0};
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t size = file_size(file, place, diagnostics), got = 0;

  PetscFunctionBeginUser;
  *text = NULL;
  *length = 0;
  if (size >= 0) {
    PetscCall(PetscCalloc1((size_t)size + 1, text));
    got = read_all(file, *text, (size_t)size);
    if (got < 0) {
      rg_diagnostics_add(diagnostics, place, "the study file can't be read: %s", strerror(errno));
      PetscCall(PetscFree(*text));
    } else {
      *length = (size_t)got;
      (*text)[got] = '\0';
    }
  }
  if (file >= 0) close(file);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_study_load(const char *path, RgStudy *study, RgDiagnostics *diagnostics)
{
  char *text;
  size_t length;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(study, sizeof(*study)));
  PetscCall(rg_study_read_file(path, &text, &length, diagnostics));
  if (!text) PetscFunctionReturn(0);
  PetscCall(rg_study_parse(path, text, length, study, diagnostics));
  PetscCall(PetscFree(text));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_study_destroy(RgStudy *study)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < study->n_cells; i++) PetscCall(rg_cell_destroy(&study->cells[i]));
  PetscCall(PetscFree(study->cells));
  PetscCall(PetscFree(study->seeds));
  PetscCall(PetscFree(study->path));
  PetscCall(PetscFree(study->text));
  PetscCall(PetscFree(study->name));
  PetscCall(PetscFree(study->title));
  PetscCall(PetscFree(study->reference));
  PetscCall(PetscFree(study->description));
  PetscCall(PetscMemzero(study, sizeof(*study)));
  PetscFunctionReturn(0);
}
