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
  return rg_text_clear(&scratch);
}

/* Whether a log has this name: no other file of a folder is read or removed. */
static bool is_log(const char *name)
{
  static const char digits[] = "0123456789";

  if (strspn(name, "0123456789abcdef") != RG_ID_LENGTH || name[RG_ID_LENGTH] != '.') return false;
  const char *number = name + RG_ID_LENGTH + 1;
  return strspn(number, digits) && !strcmp(number + strspn(number, digits), ".log");
}

/* The names of the logs in a folder, sorted: of trial `id`; NULL: of all trials. */
static PetscErrorCode list_logs(const char *folder, const char *id, int *n, char ***names)
{
  int n_all, error;

  *n = 0;
  PetscCall(rg_directory_list(folder, RG_FOLDER, &n_all, names, &error));
  for (int i = 0; i < n_all; i++) {
    char *name = (*names)[i];
    if (is_log(name) && (!id || !strncmp(name, id, RG_ID_LENGTH))) (*names)[(*n)++] = name;
    else PetscCall(PetscFree(name));
  }
  return 0;
}

static PetscErrorCode read_file(const RgSealedLog *log, const char *name, RgSealedLine read,
                                void *closure)
{
  RgText mistake = {0};
  bool first = true;
  size_t length;
  char *text, *path;

  PetscCall(rg_path_join(log->folder, name, &path));
  PetscCall(rg_file_read_open(rg_inside_open(path, RG_FOLDER, O_RDONLY | O_NONBLOCK), BYTES_MAX,
                              &text, &length, &mistake));
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
  PetscCall(rg_text_clear(&mistake));
  return RG_FREE(&text, &path);
}

PetscErrorCode rg_sealed_open(const char *directory, const char *folder, const char *id,
                              const char *author, RgSealedLine read, void *closure,
                              RgSealedLog *log)
{
  char **names;
  int n;

  *log = (RgSealedLog){.fd = -1, .author = author ? author : ""};
  PetscCall(PetscStrncpy(log->id, id, sizeof(log->id)));
  if (!directory) return 0;
  PetscCall(PetscStrallocpy(directory, &log->directory));
  PetscCall(rg_path_join(directory, folder, &log->folder));
  PetscCall(list_logs(log->folder, id, &n, &names));
  for (int i = 0; i < n; i++) PetscCall(read_file(log, names[i], read, closure));
  return rg_names_free(n, &names);
}

PetscErrorCode rg_sealed_is_open(const char *directory, const char *folder, const char *id,
                                 bool *open)
{
  char **names, *place, *path;
  int n;

  *open = false;
  PetscCall(rg_path_join(directory, folder, &place));
  PetscCall(list_logs(place, id, &n, &names));
  for (int i = 0; i < n; i++) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    PetscCall(rg_path_join(place, names[i], &path));
    const int fd = rg_inside_open(path, RG_FOLDER, O_RDONLY | O_NONBLOCK);
    PetscCall(PetscFree(path));
    if (fd < 0) continue;
    if (fcntl(fd, F_GETLK, &lock) || lock.l_type != F_UNLCK) *open = true;
    (void)rg_file_close(fd);
  }
  PetscCall(PetscFree(place));
  return rg_names_free(n, &names);
}

PetscErrorCode rg_sealed_list(const char *directory, const char *folder, int *n, char ***ids)
{
  char *place;
  int n_names, kept = 0;

  PetscCall(rg_path_join(directory, folder, &place));
  PetscCall(list_logs(place, NULL, &n_names, ids));
  for (int i = 0; i < n_names; i++) {
    char *id = (*ids)[i];
    id[RG_ID_LENGTH] = '\0';
    if (kept && !strcmp((*ids)[kept - 1], id)) PetscCall(PetscFree(id));
    else (*ids)[kept++] = id;
  }
  *n = kept;
  return PetscFree(place);
}

PetscErrorCode rg_sealed_close(RgSealedLog *log)
{
  if (log->fd >= 0) (void)rg_file_close(log->fd);
  log->fd = -1;
  return RG_FREE(&log->folder, &log->directory);
}

/* ---- writing --------------------------------------------------------------------------------- */

PetscErrorCode rg_sealed_line(const RgSealedLog *log, const char *line, RgText *text)
{
  char hex[33];

  PetscCall(seal(log, line, strlen(line), hex));
  return rg_text_add(text, "%s %s\n", line, hex);
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

/* ---- entries --------------------------------------------------------------------------------- */

static int count_numbers(const RgEvaluationLog *log)
{
  return RG_LOG_POINT + log->dim_x + log->dim_c + log->n_more;
}

/* Append an entry; its numbers are for the caller to fill in. */
static PetscErrorCode append(RgEvaluationLog *log, int evaluation, RgLoggedEvaluation **entry)
{
  PetscCall(RG_GROW(log->n, log->entries));
  *entry = &log->entries[log->n++];
  **entry = (RgLoggedEvaluation){.evaluation = evaluation};
  PetscCall(PetscMalloc1(count_numbers(log), &(*entry)->numbers));
  (*entry)->more = (*entry)->numbers + RG_LOG_POINT + log->dim_x + log->dim_c;
  return 0;
}

/* Remove the last entry. */
static PetscErrorCode remove_last(RgEvaluationLog *log)
{
  log->n--;
  return RG_FREE(&log->entries[log->n].numbers, &log->entries[log->n].reason);
}

const RgLoggedEvaluation *rg_evaluation_log_find(const RgEvaluationLog *log, int evaluation,
                                                 const double *x, const double *c)
{
  const size_t of_x = (size_t)log->dim_x * sizeof(double), of_c = (size_t)log->dim_c;

  for (int i = 0; i < log->n; i++) {
    const RgLoggedEvaluation *entry = &log->entries[i];
    const double *point = entry->numbers + RG_LOG_POINT;
    if (entry->evaluation == evaluation &&
        (!x || (!memcmp(point, x, of_x) &&
                (!of_c || !memcmp(point + log->dim_x, c, of_c * sizeof(double))))))
      return entry;
  }
  return NULL;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static PetscErrorCode read_line(void *closure, bool first, char *line)
{
  RgEvaluationLog *log = closure;
  RgLoggedEvaluation *entry;
  char *end;

  PetscCall(append(log, (int)strtol(line, &end, 10), &entry));
  const char *at = end;
  for (int k = 0; k < count_numbers(log); k++) /* with another dimension the line is not ours */
    if (!rg_number_read(at, &at, &entry->numbers[k])) return remove_last(log);
  return strncmp(at, " #", 2) ? 0 : PetscStrallocpy(at + 2, &entry->reason);
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
  new->dim_c = dim_c;
  new->n_more = n_more;
  return rg_sealed_open(directory, folder, id, author, read_line, new, &new->file);
}

PetscErrorCode rg_evaluation_log_close(RgEvaluationLog **log)
{
  RgEvaluationLog *old = *log;

  if (!old) return 0;
  PetscCall(rg_sealed_close(&old->file));
  while (old->n) PetscCall(remove_last(old));
  return RG_FREE(&old->entries, log);
}

PetscErrorCode rg_evaluation_log_add(RgEvaluationLog *log, int evaluation, const double *x,
                                     const double *c, double value, const double *more,
                                     double seconds, RgFault *fault)
{
  RgText line = {0}, sealed = {0};
  RgLoggedEvaluation *entry;

  PetscCall(append(log, evaluation, &entry));
  entry->numbers[RG_LOG_SECONDS] = seconds;
  entry->numbers[RG_LOG_VALUE] = value;
  PetscCall(PetscArraycpy(entry->numbers + RG_LOG_POINT, x, log->dim_x));
  PetscCall(PetscArraycpy(entry->numbers + RG_LOG_POINT + log->dim_x, c, log->dim_c));
  PetscCall(PetscArraycpy(entry->more, more, log->n_more));
  if (log->reason) PetscCall(PetscStrallocpy(log->reason, &entry->reason));
  if (!log->file.folder) return 0;
  PetscCall(rg_text_add(&line, "%d", evaluation));
  for (int k = 0; k < count_numbers(log); k++)
    PetscCall(rg_text_add(&line, " %a", entry->numbers[k]));
  if (entry->reason) PetscCall(rg_text_add(&line, " #%s", entry->reason));
  PetscCall(rg_sealed_line(&log->file, line.data, &sealed));
  PetscCall(rg_sealed_write(&log->file, &sealed, fault));
  if (fault->code) PetscCall(remove_last(log));
  PetscCall(rg_text_clear(&sealed));
  return rg_text_clear(&line);
}

PetscErrorCode rg_evaluation_logs_remove(const char *directory,
                                         bool (*is_finished)(void *closure, const char *id),
                                         void *closure)
{
  static const char *const folders[] = {RG_FOLDER_EVALUATIONS, RG_FOLDER_ANSWERS,
                                        RG_FOLDER_TIMELINE};
  char **names, *folder, *path, id[RG_ID_LENGTH + 1];
  int n;

  for (size_t f = 0; f < sizeof(folders) / sizeof(folders[0]); f++) {
    PetscCall(rg_path_join(directory, folders[f], &folder));
    PetscCall(list_logs(folder, NULL, &n, &names));
    for (int i = 0; i < n; i++) {
      snprintf(id, sizeof(id), "%s", names[i]);
      if (!is_finished(closure, id)) continue;
      PetscCall(rg_path_join(folder, names[i], &path));
      (void)rg_inside_remove(path, RG_FOLDER, false);
      PetscCall(PetscFree(path));
    }
    PetscCall(rg_names_free(n, &names));
    (void)rg_inside_remove(folder, RG_TOP, true); /* succeeds only if it is there and empty */
    PetscCall(PetscFree(folder));
  }
  return 0;
}
