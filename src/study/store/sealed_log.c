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

bool rg_sealed_is_log(const char *name)
{
  static const char digits[] = "0123456789";

  if (strspn(name, "0123456789abcdef") != RG_ID_LENGTH || name[RG_ID_LENGTH] != '.') return false;
  const char *number = name + RG_ID_LENGTH + 1;
  return strspn(number, digits) && !strcmp(number + strspn(number, digits), ".log");
}

/* Call `visit` with the path of each file of trial `id`. */
typedef PetscErrorCode (*Visit)(void *closure, const char *path);
static PetscErrorCode visit_files(const char *folder, const char *id, Visit visit, void *closure)
{
  char **names, *path;
  int n, error;

  PetscFunctionBeginUser;
  PetscCall(rg_directory_list(folder, RG_FOLDER, &n, &names, &error));
  for (int i = 0; i < n; i++) {
    if (strncmp(names[i], id, RG_ID_LENGTH) || !rg_sealed_is_log(names[i])) continue;
    PetscCall(rg_path_join(folder, names[i], &path));
    PetscCall(visit(closure, path));
    PetscCall(PetscFree(path));
  }
  PetscCall(rg_names_free(n, &names));
  PetscFunctionReturn(0);
}

typedef struct {
  const RgSealedLog *log;
  RgSealedLine read;
  void *closure;
} Reading;

static PetscErrorCode read_file(void *closure, const char *path)
{
  const Reading *reading = closure;
  RgText mistake = {0};
  bool first = true;
  size_t length;
  char *text;

  PetscFunctionBeginUser;
  PetscCall(rg_file_read_open(rg_inside_open(path, RG_FOLDER, O_RDONLY | O_NONBLOCK), BYTES_MAX,
                              &text, &length, &mistake));
  for (char *line = text, *end; text && (end = memchr(line, '\n', length - (size_t)(line - text)));
       line = end + 1) {
    char *last, hex[33];
    *end = '\0';
    last = strrchr(line, ' ');
    if (!last) continue;
    PetscCall(seal(reading->log, line, (size_t)(last - line), hex));
    if (strcmp(last + 1, hex)) continue;
    *last = '\0';
    PetscCall(reading->read(reading->closure, first, line));
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
  Reading reading = {log, read, closure};

  PetscFunctionBeginUser;
  *log = (RgSealedLog){.fd = -1, .author = author ? author : ""};
  PetscCall(PetscStrncpy(log->id, id, sizeof(log->id)));
  if (!directory) PetscFunctionReturn(0);
  PetscCall(PetscStrallocpy(directory, &log->directory));
  PetscCall(rg_path_join(directory, folder, &log->folder));
  PetscCall(visit_files(log->folder, id, read_file, &reading));
  PetscFunctionReturn(0);
}

/* Whether a process holds the lock of a file. */
static PetscErrorCode ask_lock(void *closure, const char *path)
{
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  bool *held = closure;
  const int fd = rg_inside_open(path, RG_FOLDER, O_RDONLY | O_NONBLOCK);

  PetscFunctionBeginUser;
  if (fd < 0) PetscFunctionReturn(0);
  if (fcntl(fd, F_GETLK, &lock) || lock.l_type != F_UNLCK) *held = true;
  (void)rg_file_close(fd);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_sealed_is_held(const char *directory, const char *folder, const char *id,
                                 bool *held)
{
  char *path;

  PetscFunctionBeginUser;
  *held = false;
  PetscCall(rg_path_join(directory, folder, &path));
  PetscCall(visit_files(path, id, ask_lock, held));
  PetscCall(PetscFree(path));
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
  PetscCall(rg_directory_list(path, RG_FOLDER, &n_names, &names, &error));
  for (int i = 0; i < n_names; i++) {
    if (!rg_sealed_is_log(names[i])) continue;
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

/* Create a new file durably, and lock it for rg_sealed_is_held: the lock ends with the process.
   Returns 0 or an errno. */
static int create_file(RgSealedLog *log)
{
  const struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  const int error = rg_inside_create(log->folder);

  if (error) return error;
  for (int n = 0; n < 1000000; n++) {
    snprintf(log->path, sizeof(log->path), "%s/%s.%d.log", log->folder, log->id, n);
    log->fd = rg_inside_open(log->path, RG_FOLDER, O_CREAT | O_EXCL | O_WRONLY | O_APPEND);
    if (log->fd >= 0) {
      (void)fcntl(log->fd, F_SETLK, &lock);
      return rg_inside_sync(log->folder, RG_FOLDER);
    }
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
