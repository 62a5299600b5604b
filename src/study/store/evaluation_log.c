/* Logs of costly evaluations: written line by line, read back on resume. */
#include "study/store/evaluation_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/grow.h"
#include "base/number.h"
#include "study/store/sealed_log.h"

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
  PetscFunctionBeginUser;
  PetscCall(RG_GROW(log->n, log->entries));
  Entry *entry = &log->entries[log->n++];
  *entry = (Entry){.evaluation = evaluation};
  PetscCall(PetscMalloc1(POINT + (size_t)log->dim, &entry->numbers));
  *numbers = entry->numbers;
  PetscFunctionReturn(0);
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

void rg_evaluation_log_explain(RgEvaluationLog *log, const char *reason)
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

  PetscFunctionBeginUser;
  PetscCall(rg_text_add(&line, "%d", entry->evaluation));
  for (int k = 0; k < POINT + log->dim; k++)
    PetscCall(rg_text_add(&line, " %a", entry->numbers[k]));
  if (entry->reason) PetscCall(rg_text_add(&line, " #%s", entry->reason));
  PetscCall(rg_sealed_line(&log->file, line.data, sealed));
  PetscCall(rg_text_clear(&line));
  PetscFunctionReturn(0);
}

static PetscErrorCode read_line(void *closure, bool first, char *line)
{
  RgEvaluationLog *log = closure;
  double *numbers;
  const char *at;
  char *end;

  PetscFunctionBeginUser;
  (void)first;
  PetscCall(append(log, (int)strtol(line, &end, 10), &numbers));
  at = end;
  for (int k = 0; k < POINT + log->dim; k++) {
    if (!rg_number_read(at, &at, &numbers[k])) { /* another dimension: the line is not ours */
      log->n--;
      PetscCall(PetscFree(numbers));
      PetscFunctionReturn(0);
    }
  }
  if (!strncmp(at, " #", 2)) PetscCall(PetscStrallocpy(at + 2, &log->entries[log->n - 1].reason));
  PetscFunctionReturn(0);
}

/* ---- the file -------------------------------------------------------------------------------- */

PetscErrorCode rg_evaluation_log_open(const char *directory, const char *folder, const char *id,
                                      const char *author, int dim_x, int dim_c, int n_more,
                                      RgEvaluationLog **log)
{
  RgEvaluationLog *new;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&new));
  *log = new;
  new->dim_x = dim_x;
  new->n_more = n_more;
  new->dim = dim_x + dim_c + n_more;
  PetscCall(rg_sealed_open(directory, folder, id, author, read_line, new, &new->file));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_evaluation_log_close(RgEvaluationLog **log)
{
  RgEvaluationLog *old = *log;

  PetscFunctionBeginUser;
  if (!old) PetscFunctionReturn(0);
  PetscCall(rg_sealed_close(&old->file));
  for (int i = 0; i < old->n; i++)
    PetscCall(RG_FREE(&old->entries[i].numbers, &old->entries[i].reason));
  PetscCall(RG_FREE(&old->entries, log));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_evaluation_log_add(RgEvaluationLog *log, int evaluation, const double *x,
                                     const double *c, double value, const double *more,
                                     double seconds, RgFault *fault)
{
  const int dim_c = log->dim - log->n_more - log->dim_x;
  RgText line = {0};
  double *numbers;

  PetscFunctionBeginUser;
  PetscCall(append(log, evaluation, &numbers));
  numbers[SECONDS] = seconds;
  numbers[VALUE] = value;
  PetscCall(PetscArraycpy(numbers + POINT, x, log->dim_x));
  if (dim_c) PetscCall(PetscArraycpy(numbers + POINT + log->dim_x, c, dim_c));
  if (log->n_more)
    PetscCall(PetscArraycpy(numbers + POINT + log->dim - log->n_more, more, log->n_more));
  Entry *entry = &log->entries[log->n - 1];
  if (log->reason) PetscCall(PetscStrallocpy(log->reason, &entry->reason));
  if (!log->file.folder) PetscFunctionReturn(0);
  PetscCall(write_line(log, entry, &line));
  PetscCall(rg_sealed_write(&log->file, &line, fault));
  if (fault->code) {
    log->n--;
    PetscCall(RG_FREE(&entry->numbers, &entry->reason));
  }
  PetscCall(rg_text_clear(&line));
  PetscFunctionReturn(0);
}

static PetscErrorCode remove_from(const char *directory, const char *name,
                                  bool (*is_finished)(void *closure, const char *id), void *closure)
{
  char **names, *folder, *path, id[RG_ID_LENGTH + 1];
  int n, error;

  PetscFunctionBeginUser;
  PetscCall(rg_path_join(directory, name, &folder));
  PetscCall(rg_directory_list(folder, RG_FOLDER, &n, &names, &error));
  for (int i = 0; i < n; i++) {
    if (!rg_sealed_is_log(names[i])) continue;
    snprintf(id, sizeof(id), "%s", names[i]);
    if (!is_finished(closure, id)) continue;
    PetscCall(rg_path_join(folder, names[i], &path));
    (void)rg_inside_remove(path, RG_FOLDER, false);
    PetscCall(PetscFree(path));
  }
  PetscCall(rg_names_free(n, &names));
  if (!error) (void)rg_inside_remove(folder, RG_TOP, true);
  PetscCall(PetscFree(folder));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_evaluation_logs_remove(const char *directory,
                                         bool (*is_finished)(void *closure, const char *id),
                                         void *closure)
{
  PetscFunctionBeginUser;
  PetscCall(remove_from(directory, RG_FOLDER_EVALUATIONS, is_finished, closure));
  PetscCall(remove_from(directory, RG_FOLDER_ANSWERS, is_finished, closure));
  PetscCall(remove_from(directory, RG_FOLDER_TIMELINE, is_finished, closure));
  PetscFunctionReturn(0);
}
