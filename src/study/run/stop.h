/* Reasons to stop early: signals, the STOP file, the wall-time limit (conventions, 5). */
#ifndef RG_STUDY_STOP_H
#define RG_STUDY_STOP_H

#include "base/core.h"

typedef enum { RG_STOP_NONE, RG_STOP_SIGNAL, RG_STOP_FILE, RG_STOP_WALLTIME } RgStopReason;

/* Install the handlers of USR1, USR2, TERM and INT (they set a flag, nothing else) and remember the
   limits. walltime: seconds from now, 0 for none; stop_file: path looked for at most once a second.
 */
PetscErrorCode rg_stop_initialize(double walltime, const char *stop_file);
/* Cheap enough for every iteration. Sticky. */
RgStopReason rg_stop_requested(void);
/* One word or two for the message. */
const char *rg_stop_describe(RgStopReason reason);

#endif
