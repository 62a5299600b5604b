/* Stops inside long computations. */
#include "base/poll.h"

#include "base/clock.h"

#define STOPPED PETSC_ERR_USER /* the code of an abandoned computation */

static const double interval = 0.1; /* seconds between two calls of the stop function */

/* Searches and sums are many calls below the caller that can abandon them. Only one thread
   computes. */
static struct {
  RgPollStop stop; /* NULL: nobody can abandon the computation */
  void *closure;
  double next; /* rg_wall_seconds of the next call of `stop` */
  bool stopped;
} poll;

void rg_poll_begin(RgPollStop stop, void *closure)
{
  poll.stop = stop;
  poll.closure = closure;
  poll.next = rg_wall_seconds() + interval;
  poll.stopped = false;
}

PetscErrorCode rg_poll(void)
{
  if (!poll.stop) return 0;
  const double now = rg_wall_seconds();
  if (now < poll.next) return 0;
  poll.next = now + interval;
  if (!poll.stop(poll.closure)) return 0;
  poll.stop = NULL;
  poll.stopped = true;
  /* With the default handler every function on the way up would print a line. */
  const PetscErrorCode code = PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  return code ? code : STOPPED;
}

PetscErrorCode rg_poll_end(PetscErrorCode code, bool *stopped)
{
  poll.stop = NULL;
  *stopped = poll.stopped;
  if (!poll.stopped) return code;
  poll.stopped = false;
  PetscCall(PetscPopErrorHandler());
  return code == STOPPED ? 0 : code;
}
