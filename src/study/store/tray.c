/* Trays: what one process has written and another one commits. */
#include "study/store/tray.h"

#include <string.h>

/* States of a tray; from TAKEN on with the number of the process that has it. */
enum { OWN, WAITING, COMMITTED, TAKEN };

enum { ROOM = 1 << 20, ROOM_OF_ALL = 8 << 20 };

size_t rg_tray_room(int n)
{
  return PetscMin(ROOM, ROOM_OF_ALL / n) / sizeof(size_t) * sizeof(size_t);
}

size_t rg_trays_bytes(int n)
{
  return sizeof(RgTrays) + (size_t)n * (sizeof(RgTray) + rg_tray_room(n));
}

void rg_trays_create(RgTrays *trays, int n)
{
  trays->n = n;
  trays->room = rg_tray_room(n);
}

RgTray *rg_trays_at(RgTrays *trays, int which)
{
  char *first = (char *)(trays + 1);

  return (RgTray *)(void *)(first + (size_t)which * (sizeof(RgTray) + trays->room));
}

bool rg_trays_hold(RgTrays *trays)
{
  return !atomic_exchange(&trays->held, true);
}

void rg_trays_release(RgTrays *trays)
{
  atomic_store(&trays->held, false);
}

static bool turn(RgTray *tray, int from, int to)
{
  return atomic_compare_exchange_strong(&tray->state, &from, to);
}

bool rg_tray_open(RgTray *tray, bool clear)
{
  if ((tray->full && !clear) || (atomic_load(&tray->state) != OWN && !turn(tray, WAITING, OWN)))
    return false;
  if (clear) {
    tray->length = 0;
    tray->full = false;
  }
  return true;
}

bool rg_tray_put(RgTray *tray, size_t room, const RgText *bytes)
{
  const size_t n = bytes->length;

  tray->full = sizeof(n) + n > room - tray->length;
  if (tray->full) return false;
  memcpy(tray->bytes + tray->length, &n, sizeof(n));
  memcpy(tray->bytes + tray->length + sizeof(n), bytes->data, n);
  tray->length += sizeof(n) + n;
  return true;
}

void rg_tray_close(RgTray *tray)
{
  atomic_store(&tray->state, tray->length ? WAITING : OWN);
}

bool rg_tray_was_committed(RgTray *tray)
{
  return turn(tray, COMMITTED, OWN);
}

void rg_tray_withdraw(RgTray *tray)
{
  (void)turn(tray, WAITING, OWN);
}

bool rg_tray_take(RgTray *tray, int who)
{
  return turn(tray, WAITING, TAKEN + who);
}

bool rg_tray_next(const RgTray *tray, size_t *at, const char **bytes, size_t *length)
{
  if (*at >= tray->length) return false;
  memcpy(length, tray->bytes + *at, sizeof(*length));
  *bytes = tray->bytes + *at + sizeof(*length);
  *at += sizeof(*length) + *length;
  return true;
}

void rg_tray_give_back(RgTray *tray, int who, bool committed)
{
  (void)turn(tray, TAKEN + who, committed ? COMMITTED : WAITING);
}
