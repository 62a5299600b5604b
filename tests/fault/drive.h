/* One run of a fake study through the store, as `regatta run` makes it on one rank, resumable. */
#ifndef RG_TESTS_FAULT_DRIVE_H
#define RG_TESTS_FAULT_DRIVE_H

#include <stddef.h>

typedef struct {
  const char *output; /* results file */
  const char *ledger; /* file outside of the faults' reach: ids of the trials said to be finished */
  int n_seeds;        /* 4 trials each */
  size_t image_bytes; /* RgStoreLimits */
  int n, which;       /* number among n runs at once, each with trials of its own; 0: alone */
} Drive;

/* The outcome of a run, as an exit code. */
enum {
  DRIVE_COMPLETE = 0,
  DRIVE_STORAGE = 3,     /* the disk refused too often */
  DRIVE_INCOMPLETE = 75, /* a shard turned out to be damaged: run again */
  DRIVE_LOST = 90,       /* a finished trial is missing */
  DRIVE_ERROR = 91,      /* a PETSc error: a bug */
  DRIVE_FOREIGN = 92     /* our own results file was refused */
};

int drive(const Drive *settings);

#endif
