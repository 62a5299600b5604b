/* Logs of costly evaluations: written line by line, read back on resume. */
#include "study/store/evaluation_log.h"
#include "base/files.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES_MAX = 1 << 30 };

/* ---- reading --------------------------------------------------------------------------------- */

static PetscErrorCode seal(const RgSealedLog *log, const char *line, size_t length, char hex[33])
{
  RgText scratch = {0};
  uint64_t hash[2];

  PetscCall(rg_text_add(&scratch, "%s%s ", log->author, log->id));
  PetscCall(rg_text_add_bytes(&scratch, line, length));
  rg_hash128(scratch.data, scratch.length, hash);
  rg_hash_hex(hash, hex);
  PetscCall(rg_text_clear(&scratch));
  return 0;
}

/* Whether a log has this name: no other file of a folder is read or removed. */
static bool sealed_is_log(const char *name)
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

  PetscCall(rg_directory_list(folder, RG_FOLDER, &n, &names, &error));
  for (int i = 0; i < n; i++) {
    if (strncmp(names[i], id, RG_ID_LENGTH) || !sealed_is_log(names[i])) continue;
    PetscCall(rg_path_join(folder, names[i], &path));
    PetscCall(visit(closure, path));
    PetscCall(PetscFree(path));
  }
  PetscCall(rg_names_free(n, &names));
  return 0;
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
  return 0;
}

PetscErrorCode rg_sealed_open(const char *directory, const char *folder, const char *id,
                              const char *author, RgSealedLine read, void *closure,
                              RgSealedLog *log)
{
  Reading reading = {log, read, closure};

  *log = (RgSealedLog){.fd = -1, .author = author ? author : ""};
  PetscCall(PetscStrncpy(log->id, id, sizeof(log->id)));
  if (!directory) return 0;
  PetscCall(PetscStrallocpy(directory, &log->directory));
  PetscCall(rg_path_join(directory, folder, &log->folder));
  PetscCall(visit_files(log->folder, id, read_file, &reading));
  return 0;
}

/* Whether a process holds the lock of a file. */
static PetscErrorCode ask_lock(void *closure, const char *path)
{
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  bool *held = closure;
  const int fd = rg_inside_open(path, RG_FOLDER, O_RDONLY | O_NONBLOCK);

  if (fd < 0) return 0;
  if (fcntl(fd, F_GETLK, &lock) || lock.l_type != F_UNLCK) *held = true;
  (void)rg_file_close(fd);
  return 0;
}

PetscErrorCode rg_sealed_is_open(const char *directory, const char *folder, const char *id,
                                 bool *held)
{
  char *path;

  *held = false;
  PetscCall(rg_path_join(directory, folder, &path));
  PetscCall(visit_files(path, id, ask_lock, held));
  PetscCall(PetscFree(path));
  return 0;
}

/* Names are sorted. */
PetscErrorCode rg_sealed_list(const char *directory, const char *folder, int *n, char ***ids)
{
  char *path, **names;
  int n_names, error;

  *n = 0;
  *ids = NULL;
  PetscCall(rg_path_join(directory, folder, &path));
  PetscCall(rg_directory_list(path, RG_FOLDER, &n_names, &names, &error));
  for (int i = 0; i < n_names; i++) {
    if (!sealed_is_log(names[i])) continue;
    names[i][RG_ID_LENGTH] = '\0';
    if (*n && !strcmp((*ids)[*n - 1], names[i])) continue;
    PetscCall(RG_GROW(*n, *ids));
    PetscCall(PetscStrallocpy(names[i], &(*ids)[(*n)++]));
  }
  PetscCall(rg_names_free(n_names, &names));
  PetscCall(PetscFree(path));
  return 0;
}

PetscErrorCode rg_sealed_close(RgSealedLog *log)
{
  if (log->fd >= 0) (void)rg_file_close(log->fd);
  log->fd = -1;
  PetscCall(RG_FREE(&log->folder, &log->directory));
  return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

PetscErrorCode rg_sealed_line(const RgSealedLog *log, const char *line, RgText *text)
{
  char hex[33];

  PetscCall(seal(log, line, strlen(line), hex));
  PetscCall(rg_text_add(text, "%s %s\n", line, hex));
  return 0;
}

/* Create a new file durably, and lock it for rg_sealed_is_open: the lock ends with the process.
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
  int error = log->fd < 0 ? create_file(log) : 0;
  if (!error) error = rg_file_write(log->fd, lines->data, lines->length);
  if (!error) error = rg_file_sync(log->fd);
  if (!error) return 0;
  if (log->fd >= 0) (void)rg_file_close(log->fd);
  log->fd = -1;
  rg_fault_file(fault, log->path[0] ? log->path : log->folder, "write", error, log->directory,
                lines->length);
  return 0;
}

typedef struct {
  int evaluation;
  double *numbers; /* seconds, value, x, c, constraints; owned */
  char *reason;    /* reason of a failure; NULL: no failure; owned */
} Entry;

enum { SECONDS, VALUE, POINT };

struct RgEvaluationLog {
  RgSealedLog file;
  int dim; /* total dimension of x, c and the constraints */
  int dim_x, n_more;
  int n;
  Entry *entries;     /* owned */
  const char *reason; /* reason of the next entry; borrowed */
};

/* ---- entries --------------------------------------------------------------------------------- */

/* Append an entry; its numbers are for the caller to fill in. */
static PetscErrorCode append(RgEvaluationLog *log, int evaluation, double **numbers)
{
  PetscCall(RG_GROW(log->n, log->entries));
  Entry *entry = &log->entries[log->n++];
  *entry = (Entry){.evaluation = evaluation};
  PetscCall(PetscMalloc1(POINT + (size_t)log->dim, &entry->numbers));
  *numbers = entry->numbers;
  return 0;
}

static bool is_at(const RgEvaluationLog *log, const Entry *entry, const double *x, const double *c)
{
  const size_t of_x = (size_t)log->dim_x, of_c = (size_t)(log->dim - log->n_more - log->dim_x);
  const double *point = entry->numbers + POINT;

  return !memcmp(point, x, of_x * sizeof(double)) &&
         (!of_c || !memcmp(point + of_x, c, of_c * sizeof(double)));
}

bool rg_evaluation_log_find(const RgEvaluationLog *log, int evaluation, const double *x,
                            const double *c, double *value, double *more, double *seconds)
{
  for (int i = 0; i < log->n; i++) {
    const Entry *entry = &log->entries[i];
    if (entry->evaluation != evaluation || !is_at(log, entry, x, c)) continue;
    *value = entry->numbers[VALUE];
    *seconds = entry->numbers[SECONDS];
    if (log->n_more)
      memcpy(more, entry->numbers + POINT + log->dim - log->n_more,
             (size_t)log->n_more * sizeof(double));
    return true;
  }
  return false;
}

const double *rg_evaluation_log_design(const RgEvaluationLog *log, int evaluation)
{
  for (int i = 0; i < log->n; i++)
    if (log->entries[i].evaluation == evaluation) return log->entries[i].numbers + POINT;
  return NULL;
}

void rg_evaluation_log_set_reason(RgEvaluationLog *log, const char *reason)
{
  log->reason = reason;
}

const char *rg_evaluation_log_reason(const RgEvaluationLog *log, int evaluation)
{
  for (int i = 0; i < log->n; i++)
    if (log->entries[i].evaluation == evaluation) return log->entries[i].reason;
  return NULL;
}

int rg_evaluation_log_size(const RgEvaluationLog *log)
{
  return log->n;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static PetscErrorCode write_line(const RgEvaluationLog *log, const Entry *entry, RgText *sealed)
{
  RgText line = {0};

  PetscCall(rg_text_add(&line, "%d", entry->evaluation));
  for (int k = 0; k < POINT + log->dim; k++)
    PetscCall(rg_text_add(&line, " %a", entry->numbers[k]));
  if (entry->reason) PetscCall(rg_text_add(&line, " #%s", entry->reason));
  PetscCall(rg_sealed_line(&log->file, line.data, sealed));
  PetscCall(rg_text_clear(&line));
  return 0;
}

static PetscErrorCode read_line(void *closure, bool first, char *line)
{
  RgEvaluationLog *log = closure;
  double *numbers;
  const char *at;
  char *end;

  PetscCall(append(log, (int)strtol(line, &end, 10), &numbers));
  at = end;
  for (int k = 0; k < POINT + log->dim; k++) {
    if (!rg_number_read(at, &at, &numbers[k])) { /* another dimension: the line is not ours */
      log->n--;
      PetscCall(PetscFree(numbers));
      return 0;
    }
  }
  if (!strncmp(at, " #", 2)) PetscCall(PetscStrallocpy(at + 2, &log->entries[log->n - 1].reason));
  return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

PetscErrorCode rg_evaluation_log_open(const char *directory, const char *folder, const char *id,
                                      const char *author, int dim_x, int dim_c, int n_more,
                                      RgEvaluationLog **log)
{
  RgEvaluationLog *new;

  PetscCall(PetscNew(&new));
  *log = new;
  new->dim_x = dim_x;
  new->n_more = n_more;
  new->dim = dim_x + dim_c + n_more;
  PetscCall(rg_sealed_open(directory, folder, id, author, read_line, new, &new->file));
  return 0;
}

PetscErrorCode rg_evaluation_log_close(RgEvaluationLog **log)
{
  RgEvaluationLog *old = *log;

  if (!old) return 0;
  PetscCall(rg_sealed_close(&old->file));
  for (int i = 0; i < old->n; i++)
    PetscCall(RG_FREE(&old->entries[i].numbers, &old->entries[i].reason));
  PetscCall(RG_FREE(&old->entries, log));
  return 0;
}

PetscErrorCode rg_evaluation_log_add(RgEvaluationLog *log, int evaluation, const double *x,
                                     const double *c, double value, const double *more,
                                     double seconds, RgFault *fault)
{
  const int dim_c = log->dim - log->n_more - log->dim_x;
  RgText line = {0};
  double *numbers;

  PetscCall(append(log, evaluation, &numbers));
  numbers[SECONDS] = seconds;
  numbers[VALUE] = value;
  PetscCall(PetscArraycpy(numbers + POINT, x, log->dim_x));
  if (dim_c) PetscCall(PetscArraycpy(numbers + POINT + log->dim_x, c, dim_c));
  if (log->n_more)
    PetscCall(PetscArraycpy(numbers + POINT + log->dim - log->n_more, more, log->n_more));
  Entry *entry = &log->entries[log->n - 1];
  if (log->reason) PetscCall(PetscStrallocpy(log->reason, &entry->reason));
  if (!log->file.folder) return 0;
  PetscCall(write_line(log, entry, &line));
  PetscCall(rg_sealed_write(&log->file, &line, fault));
  if (fault->code) {
    log->n--;
    PetscCall(RG_FREE(&entry->numbers, &entry->reason));
  }
  PetscCall(rg_text_clear(&line));
  return 0;
}

static PetscErrorCode remove_from(const char *directory, const char *name,
                                  bool (*is_finished)(void *closure, const char *id), void *closure)
{
  char **names, *folder, *path, id[RG_ID_LENGTH + 1];
  int n, error;

  PetscCall(rg_path_join(directory, name, &folder));
  PetscCall(rg_directory_list(folder, RG_FOLDER, &n, &names, &error));
  for (int i = 0; i < n; i++) {
    if (!sealed_is_log(names[i])) continue;
    snprintf(id, sizeof(id), "%s", names[i]);
    if (!is_finished(closure, id)) continue;
    PetscCall(rg_path_join(folder, names[i], &path));
    (void)rg_inside_remove(path, RG_FOLDER, false);
    PetscCall(PetscFree(path));
  }
  PetscCall(rg_names_free(n, &names));
  if (!error) (void)rg_inside_remove(folder, RG_TOP, true);
  PetscCall(PetscFree(folder));
  return 0;
}

PetscErrorCode rg_evaluation_logs_remove(const char *directory,
                                         bool (*is_finished)(void *closure, const char *id),
                                         void *closure)
{
  PetscCall(remove_from(directory, RG_FOLDER_EVALUATIONS, is_finished, closure));
  PetscCall(remove_from(directory, RG_FOLDER_ANSWERS, is_finished, closure));
  PetscCall(remove_from(directory, RG_FOLDER_TIMELINE, is_finished, closure));
  return 0;
}
