/* Logs of lines in the study directory, each line sealed by a hash. A log is
   `FOLDER/<trial id>.<n>.log`. Every run of the trial writes its own file (with the first free n)
   and reads all of them, so two processes never write to one file. A line ends with XXH3-128 over
   author, trial id and line. Damaged lines, such as the last line of a killed process, are
   ignored. */
#ifndef RG_STUDY_STORE_SEALED_LOG_H
#define RG_STUDY_STORE_SEALED_LOG_H

#include "base/fault.h"
#include "regatta/study.h"

typedef struct {
  char *directory, *folder; /* study directory and folder of the logs; NULL in memory; owned */
  char id[RG_ID_LENGTH + 1];
  const char *author; /* borrowed, never NULL */
  int fd;             /* this process's file, -1: not created yet */
  char path[PETSC_MAX_PATH_LEN];
} RgSealedLog;

/* Called for each sealed line, without its seal. first: whether it is the first line of a file. */
typedef PetscErrorCode (*RgSealedLine)(void *closure, bool first, char *line);

/* Whether a log has this name: no other file of a folder is read or removed. */
bool rg_sealed_is_log(const char *name);

/* Open a log, and read the lines of all its files. directory: the study directory, which need not
   exist; NULL: a log in memory, which is never written. author: see the evaluation log. */
PetscErrorCode rg_sealed_open(const char *directory, const char *folder, const char *id,
                              const char *author, RgSealedLine read, void *closure,
                              RgSealedLog *log);
/* Whether a process that runs now, on any host that shares the file system, has written to a log;
   true where the file system does not say. */
PetscErrorCode rg_sealed_is_held(const char *directory, const char *folder, const char *id,
                                 bool *held);
/* The ids of the trials that have logs in a folder of the study directory, which need not exist.
   The caller frees them with rg_names_free (base/files.h). */
PetscErrorCode rg_sealed_list(const char *directory, const char *folder, int *n, char ***ids);
PetscErrorCode rg_sealed_close(RgSealedLog *log);

/* Append a line to a text, and its seal and end. */
PetscErrorCode rg_sealed_line(const RgSealedLog *log, const char *line, RgText *text);
/* Append sealed lines to this process's file, durably. After a fault the next attempt uses a new
   file: complete lines of the old one are valid, and the damaged last line is ignored. */
PetscErrorCode rg_sealed_write(RgSealedLog *log, const RgText *lines, RgFault *fault);

#endif
