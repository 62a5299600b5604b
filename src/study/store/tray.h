/* Trays: finished trials that their processes have not committed yet, as bytes in memory that the
   processes of a host share. Each process has a tray of its own and keeps the records that are in
   it; whoever commits next takes the trays of others too, and says when they are on the disk. What
   becomes of a tray never hangs on the life of its taker: its owner may commit the records by
   itself at any time, since twice is as good as once. */
#ifndef RG_STUDY_STORE_TRAY_H
#define RG_STUDY_STORE_TRAY_H

#include <stdatomic.h>

#include "regatta/error.h"

typedef struct {
  atomic_int state; /* the owner's, waiting, committed, or taken by a process */
  bool full;        /* something had no room */
  size_t length;    /* bytes that are filled */
  char bytes[];
} RgTray;

typedef struct {
  atomic_bool held; /* a process commits for all */
  int n;            /* processes */
  size_t room;      /* bytes of a tray */
} RgTrays;          /* in front of the trays */

/* Bytes of the tray of one of n processes: a MiB, 8 MiB for all together at most. */
size_t rg_tray_room(int n);
/* Bytes of n trays. */
size_t rg_trays_bytes(int n);
/* Zeroed memory becomes n trays; all processes may do it. */
void rg_trays_create(RgTrays *trays, int n);
RgTray *rg_trays_at(RgTrays *trays, int which);
/* Become the one who commits for all. False: another one is. When it dies only time is lost. */
bool rg_trays_hold(RgTrays *trays);
void rg_trays_release(RgTrays *trays);

/* For the owner. Open a tray to put records into it, of which the first may clear it; false: it is
   full, taken or committed. Nobody else can take it until it is closed. */
bool rg_tray_open(RgTray *tray, bool clear);
/* False: no room. */
bool rg_tray_put(RgTray *tray, size_t room, const RgText *bytes);
void rg_tray_close(RgTray *tray);
/* Whether somebody has committed all that is in it, since it was asked last. */
bool rg_tray_was_committed(RgTray *tray);
/* What is in it was committed by its owner. */
void rg_tray_withdraw(RgTray *tray);

/* For process `who`, which commits. False: nothing waits in it. */
bool rg_tray_take(RgTray *tray, int who);
/* The bytes at *at (0 at first), and on to the next. False: there are no more. */
bool rg_tray_next(const RgTray *tray, size_t *at, const char **bytes, size_t *length);
/* If `who` has taken it. */
void rg_tray_give_back(RgTray *tray, int who, bool committed);

#endif
