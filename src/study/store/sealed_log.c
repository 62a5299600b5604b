/* Logs of sealed lines: written durably, read back on resume. */
#include "study/store/sealed_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/hash.h"

enum { BYTES_MAX = 1 << 30 };

/* ---- reading --------------------------------------------------------------------------------- */

static PetscErrorCode seal(const RgSealedLog *log, const char *line, size_t length, char hex[33])
{
  RgText scratch = {0};
  uint64_t hash[2];

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(&scratch, "%s%s ", log->author, log->id));
  PetscCall(rg_text_add_bytes(&scratch, line, length));
  rg_hash128(scratch.data, scratch.length, hash);
  rg_hash_hex(hash, hex);
  PetscCall(rg_text_clear(&scratch));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_file(const RgSealedLog *log, const char *path, RgSealedLine read,
                                void *closure)
{
  RgText mistake = {0};
  bool first = true;
  size_t length;
  char *text;

  PetscFunctionBeginUser;
  PetscCall(rg_file_read(path, BYTES_MAX, &text, &length, &mistake));
  for (char *line = text, *end; text && (end = memchr(line, '\n', length - (size_t)(line - text)));
       line = end + 1) {
    char *last, hex[33];
    *end = '\0';
    last = strrchr(line, ' ');
    if (!last) continue;
    PetscCall(seal(log, line, (size_t)(last - line), hex));
    if (strcmp(last + 1, hex)) continue;
    *last = '\0';
    PetscCall(read(closure, first, line));
    first = false;
  }
  PetscCall(PetscFree(text));
  PetscCall(rg_text_clear(&mistake));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_sealed_open(const char *directory, const char *folder, const char *id,
                              const char *author, RgSealedLine read, void *closure,
                              RgSealedLog *log)
{
  char **names, *path;
  int n, error;

  PetscFunctionBeginUser;
  *log = (RgSealedLog){.fd = -1, .author = author ? author : ""};
  PetscCall(PetscStrncpy(log->id, id, sizeof(log->id)));
  if (!directory) PetscFunctionReturn(0);
  PetscCall(PetscStrallocpy(directory, &log->directory));
  PetscCall(rg_path_join(directory, folder, &log->folder));
  PetscCall(rg_directory_list(log->folder, &n, &names, &error));
  for (int i = 0; i < n; i++) {
    if (strncmp(names[i], id, RG_ID_LENGTH) || names[i][RG_ID_LENGTH] != '.') continue;
    PetscCall(rg_path_join(log->folder, names[i], &path));
    PetscCall(read_file(log, path, read, closure));
    PetscCall(PetscFree(path));
  }
  PetscCall(rg_names_free(n, &names));
  PetscFunctionReturn(0);
}

/* Names are sorted. */
PetscErrorCode rg_sealed_list(const char *directory, const char *folder, int *n, char ***ids)
{
  char *path, **names;
  int n_names, error;

  PetscFunctionBeginUser;
  *n = 0;
  *ids = NULL;
  PetscCall(rg_path_join(directory, folder, &path));
  PetscCall(rg_directory_list(path, &n_names, &names, &error));
  for (int i = 0; i < n_names; i++) {
    if (strlen(names[i]) <= RG_ID_LENGTH || names[i][RG_ID_LENGTH] != '.') continue;
    names[i][RG_ID_LENGTH] = '\0';
    if (*n && !strcmp((*ids)[*n - 1], names[i])) continue;
    PetscCall(RG_GROW(*n, *ids));
    PetscCall(PetscStrallocpy(names[i], &(*ids)[(*n)++]));
  }
  PetscCall(rg_names_free(n_names, &names));
  PetscCall(PetscFree(path));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_sealed_close(RgSealedLog *log)
{
  PetscFunctionBeginUser;
  if (log->fd >= 0) (void)rg_file_close(log->fd);
  log->fd = -1;
  PetscCall(RG_FREE(&log->folder, &log->directory));
  PetscFunctionReturn(0);
}

/* ---- writing --------------------------------------------------------------------------------- */

PetscErrorCode rg_sealed_line(const RgSealedLog *log, const char *line, RgText *text)
{
  char hex[33];

  PetscFunctionBeginUser;
  PetscCall(seal(log, line, strlen(line), hex));
  PetscCall(rg_text_add(text, "%s %s\n", line, hex));
  PetscFunctionReturn(0);
}

/* Create a new file durably. Returns 0 or an errno. */
static int create_file(RgSealedLog *log)
{
  int error = rg_directory_create(log->directory);

  if (!error) error = rg_directory_create(log->folder);
  if (error) return error;
  for (int n = 0; n < 1000000; n++) {
    snprintf(log->path, sizeof(log->path), "%s/%s.%d.log", log->folder, log->id, n);
    log->fd = open(log->path, O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0666);
    if (log->fd >= 0) return rg_directory_sync(log->folder);
    if (errno != EEXIST && errno != EINTR) return errno;
  }
  return EEXIST;
}

PetscErrorCode rg_sealed_write(RgSealedLog *log, const RgText *lines, RgFault *fault)
{
  PetscFunctionBeginUser;
  int error = log->fd < 0 ? create_file(log) : 0;
  if (!error) error = rg_file_write(log->fd, lines->data, lines->length);
  if (!error) error = rg_file_sync(log->fd);
  if (!error) PetscFunctionReturn(0);
  if (log->fd >= 0) (void)rg_file_close(log->fd);
  log->fd = -1;
  rg_fault_file(fault, log->path[0] ? log->path : log->folder, "write", error, log->directory,
                lines->length);
  PetscFunctionReturn(0);
}
