/* Children that do a part of the work of their parent, and answer through pipes. */
#include "base/helpers.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_internal.h"
#include "base/files.h"

typedef struct {
  pid_t pid;
  int fd; /* to read its answers from, -1: none will come */
} Helper;

/* What stands in front of the bytes of an answer. */
typedef struct {
  size_t length;
  RgFault fault;
} Head;

/* In the child: items `first`, `first` + step, ... */
static void serve(int first, int step, int n, const RgWork *work, int fd)
{
  Head head = {0};

  for (int item = first; item < n && !head.fault.code; item += step) {
    RgText answer = {0};
    if (work->work(work->closure, item, &answer, &head.fault)) _exit(1);
    head.length = answer.length;
    if (rg_file_write(fd, &head, sizeof(head)) || rg_file_write(fd, answer.data, answer.length) ||
        rg_text_clear(&answer))
      _exit(1);
  }
  _exit(0);
}

/* Make helper `which`; the earlier ones' pipes are not for it. */
static void begin(Helper *helpers, int which, int step, int n, const RgWork *work)
{
  const pid_t parent = getpid();
  int ends[2];

  helpers[which] = (Helper){-1, -1};
  if (pipe(ends)) return;
  helpers[which] = (Helper){fork(), ends[0]};
  if (helpers[which].pid == 0) {
    for (int i = 0; i <= which; i++) close(helpers[i].fd);
    if (rg_child_follow(parent)) serve(which, step, n, work, ends[1]);
    _exit(1);
  }
  close(ends[1]);
}

/* All of `size` bytes, or false. */
static bool hear(int fd, void *to, size_t size)
{
  char *at = to;

  while (size) {
    const ssize_t got = read(fd, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= (size_t)got;
  }
  return true;
}

/* The answer of a helper for an item. *heard: there is one. */
static PetscErrorCode take(Helper *helper, int item, const RgWork *work, bool *heard,
                           RgFault *fault)
{
  Head head;
  char *answer = NULL;

  PetscFunctionBeginUser;
  *heard = helper->fd >= 0 && hear(helper->fd, &head, sizeof(head));
  if (*heard) PetscCall(PetscMalloc1(head.length, &answer));
  *heard = *heard && hear(helper->fd, answer, head.length);
  if (*heard && head.fault.code) *fault = head.fault;
  else if (*heard) PetscCall(work->take(work->closure, item, answer, fault));
  PetscCall(PetscFree(answer));
  PetscFunctionReturn(0);
}

static void end(Helper *helper)
{
  if (helper->fd >= 0) close(helper->fd);
  if (helper->pid <= 0) return;
  (void)kill(helper->pid, SIGKILL); /* it has answered, or nobody wants to know */
  while (waitpid(helper->pid, NULL, 0) < 0 && errno == EINTR) continue;
}

PetscErrorCode rg_helpers_do(int helpers, int n, const RgWork *work, RgFault *fault)
{
  const int step = helpers > n ? n : helpers;
  Helper *list = NULL;

  PetscFunctionBeginUser;
  if (step > 1) PetscCall(PetscMalloc1(step, &list));
  for (int i = 0; list && i < step; i++) begin(list, i, step, n, work);
  for (int item = 0; item < n && !fault->code; item++) {
    bool heard = false;
    if (list) PetscCall(take(&list[item % step], item, work, &heard, fault));
    if (!heard) PetscCall(work->work(work->closure, item, NULL, fault));
  }
  for (int i = 0; list && i < step; i++) end(&list[i]);
  PetscCall(PetscFree(list));
  PetscFunctionReturn(0);
}
