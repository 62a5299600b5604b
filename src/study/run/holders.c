/* Messages between a leader and the ranks that hold its programs. Each question has one answer,
   also if it is dropped, so no message outlives its trial. */
#include "study/run/holders.h"

#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/text.h"
#include "study/run/programs.h"

/* Tags of messages. */
enum { QUESTION = 1, DROP, ANSWER };

/* A question; its texts follow, each with its NUL: the words of the program, and the line. */
typedef struct {
  double limit;
  int n_words;
} Question;

/* An answer; its text follows. */
typedef struct {
  double cpu;
  bool answered, unreachable;
} Answer;

/* Receive a message of any length, if there is one; *bytes is owned by the caller. NULL: none. */
static PetscErrorCode receive(MPI_Comm comm, int tag, char **bytes, size_t *length,
                              MPI_Status *status)
{
  int found, n;

  *bytes = NULL;
  PetscCallMPI(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &found, status));
  if (!found) return 0;
  PetscCallMPI(MPI_Get_count(status, MPI_BYTE, &n));
  PetscCall(PetscCalloc1(n + 1, bytes));
  PetscCallMPI(MPI_Recv(*bytes, n, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, comm, status));
  *length = (size_t)n;
  return 0;
}

/* ---- the leader ------------------------------------------------------------------------------ */

/* A worker: its question is open until its answer has arrived, and was heard or dropped. */
typedef struct {
  bool open;
  char *answer; /* the message; NULL: it has not arrived; owned */
  size_t length;
} Worker;

typedef struct {
  MPI_Comm comm;
  int rank;
  int n;
  Worker *workers; /* from 0; owned */
  char *heard;     /* the last answer; owned */
} Held;

static PetscErrorCode ask(void *closure, int worker, const RgExchange *question)
{
  Held *held = closure;
  Question head = {.limit = question->limit};
  RgText message = {0};

  for (; held->n < worker; held->n++) {
    PetscCall(RG_GROW(held->n, held->workers));
    held->workers[held->n] = (Worker){0};
  }
  held->workers[worker - 1].open = true;
  while (question->words[head.n_words]) head.n_words++;
  PetscCall(rg_text_add_bytes(&message, (const char *)&head, sizeof(head)));
  for (int i = 0; i <= head.n_words; i++) {
    const char *text = i < head.n_words ? question->words[i] : question->line.data;
    PetscCall(rg_text_add_bytes(&message, text, strlen(text) + 1));
  }
  PetscCallMPI(MPI_Send(message.data, (int)message.length, MPI_BYTE, held->rank + worker, QUESTION,
                        held->comm));
  PetscCall(rg_text_clear(&message));
  return 0;
}

/* Take the messages that have arrived. */
static PetscErrorCode take(Held *held)
{
  MPI_Status status;
  size_t length;
  char *bytes;

  for (;;) {
    PetscCall(receive(held->comm, ANSWER, &bytes, &length, &status));
    if (!bytes) break;
    Worker *worker = &held->workers[status.MPI_SOURCE - held->rank - 1];
    worker->answer = bytes;
    worker->length = length;
  }
  return 0;
}

static PetscErrorCode look_at(Held *held, int i, RgHeard *heard)
{
  Worker *worker = &held->workers[i];
  Answer head;

  if (!worker->answer) return 0;
  PetscCall(PetscFree(held->heard));
  held->heard = worker->answer;
  memcpy(&head, held->heard, sizeof(head));
  const char *text = held->heard + sizeof(head);
  *heard = (RgHeard){.worker = i + 1,
                     .answer = head.answered ? text : NULL,
                     .length = worker->length - sizeof(head),
                     .mistake = head.answered ? NULL : text,
                     .unreachable = head.unreachable,
                     .cpu = head.cpu};
  *worker = (Worker){0};
  return 0;
}

static PetscErrorCode hear(void *closure, double seconds, RgHeard *heard)
{
  Held *held = closure;
  const double until = rg_wall_seconds() + seconds;

  *heard = (RgHeard){0};
  for (double pause = 1e-5;; pause = PetscMin(1.3 * pause, 2e-3)) {
    PetscCall(take(held));
    for (int i = 0; i < held->n && !heard->worker; i++) PetscCall(look_at(held, i, heard));
    if (heard->worker || rg_wall_seconds() >= until) break;
    PetscCall(PetscSleep(pause));
  }
  return 0;
}

static PetscErrorCode drop(void *closure, int w)
{
  Held *held = closure;

  if (w > held->n) return 0;
  Worker *worker = &held->workers[w - 1];
  PetscCallMPI(MPI_Send(NULL, 0, MPI_BYTE, held->rank + w, DROP, held->comm));
  while (worker->open && !worker->answer) {
    PetscCall(take(held));
    PetscCall(PetscSleep(1e-4));
  }
  PetscCall(PetscFree(worker->answer));
  *worker = (Worker){0};
  return 0;
}

PetscErrorCode rg_held_programs(MPI_Comm comm, RgPrograms *programs)
{
  Held *held;

  PetscCall(PetscNew(&held));
  held->comm = comm;
  PetscCallMPI(MPI_Comm_rank(comm, &held->rank));
  *programs = (RgPrograms){held, ask, hear, drop};
  return 0;
}

PetscErrorCode rg_held_programs_end(RgPrograms *programs)
{
  Held *held = programs->closure;

  if (!held) return 0;
  PetscCall(RG_FREE(&held->workers, &held->heard, &held));
  *programs = (RgPrograms){0};
  return 0;
}

/* ---- the other ranks ------------------------------------------------------------------------- */

struct RgHolder {
  MPI_Comm comm;
  RgPrograms program; /* the program of worker 1 */
  int leader;         /* rank that asked last; -1: no rank */
  bool open;          /* its question has no answer yet */
};

/* Pass a question on to the program. */
static PetscErrorCode pass_on(RgHolder *holder, int leader, const char *bytes)
{
  const char *text = bytes + sizeof(Question), **words;
  RgExchange question = {0};
  Question head;

  memcpy(&head, bytes, sizeof(head));
  PetscCall(PetscCalloc1(head.n_words + 1, &words));
  for (int i = 0; i < head.n_words; i++) {
    words[i] = text;
    text += strlen(text) + 1;
  }
  question.words = words;
  question.limit = head.limit;
  PetscCall(rg_text_add(&question.line, "%s", text));
  holder->leader = leader;
  holder->open = true;
  PetscCall(holder->program.ask(holder->program.closure, 1, &question));
  PetscCall(rg_text_clear(&question.line));
  PetscCall(PetscFree(words));
  return 0;
}

static PetscErrorCode send_back(RgHolder *holder, const RgHeard *heard)
{
  const Answer head = {heard->cpu, heard->answer != NULL, heard->unreachable};
  RgText message = {0};

  PetscCall(rg_text_add_bytes(&message, (const char *)&head, sizeof(head)));
  if (heard->answer) PetscCall(rg_text_add_bytes(&message, heard->answer, heard->length));
  else PetscCall(rg_text_add(&message, "%s", heard->mistake));
  PetscCallMPI(
    MPI_Send(message.data, (int)message.length, MPI_BYTE, holder->leader, ANSWER, holder->comm));
  holder->open = false;
  PetscCall(rg_text_clear(&message));
  return 0;
}

/* End the program. An open question still gets an answer. */
static PetscErrorCode give_up(RgHolder *holder)
{
  PetscCall(holder->program.drop(holder->program.closure, 1));
  if (holder->open) PetscCall(send_back(holder, &(RgHeard){.mistake = "was dropped"}));
  return 0;
}

PetscErrorCode rg_holder_create(MPI_Comm comm, const char *log, RgHolder **holder)
{
  PetscCall(PetscNew(holder));
  (*holder)->comm = comm;
  (*holder)->leader = -1;
  PetscCall(rg_programs_here(log, &(*holder)->program));
  return 0;
}

PetscErrorCode rg_holder_look(RgHolder *holder)
{
  MPI_Status status;
  RgHeard heard = {0};
  size_t length;
  char *bytes;

  if (!holder) return 0;
  PetscCall(receive(holder->comm, MPI_ANY_TAG, &bytes, &length, &status));
  if (bytes && status.MPI_TAG == QUESTION) PetscCall(pass_on(holder, status.MPI_SOURCE, bytes));
  else if (bytes && status.MPI_SOURCE == holder->leader) PetscCall(give_up(holder));
  PetscCall(PetscFree(bytes));
  if (!holder->open) return 0;
  PetscCall(holder->program.hear(holder->program.closure, 0, &heard));
  if (heard.worker) PetscCall(send_back(holder, &heard));
  return 0;
}

PetscErrorCode rg_holder_destroy(RgHolder **holder)
{
  if (!*holder) return 0;
  PetscCall(rg_programs_end(&(*holder)->program));
  PetscCall(RG_FREE(holder));
  return 0;
}
