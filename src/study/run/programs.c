/* The programs of trials on the real clock: those that one process starts, one for each worker, and
   those that other ranks of the team hold. A question to a rank has one answer, also if it is
   dropped, so no message outlives its trial. */
#include "study/run/programs.h"

#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/text.h"

/* ---- of this process ------------------------------------------------------------------------- */

typedef struct {
  bool asked;
  RgText mistake; /* the question could not be sent; owned */
} OwnWorker;

typedef struct {
  const char *log;
  int n;
  RgChild **children; /* by worker, from 0; owned */
  OwnWorker *workers; /* owned */
} Here;

static PetscErrorCode ask_here(void *closure, int worker, const RgExchange *question)
{
  Here *here = closure;

  for (; here->n < worker; here->n++) {
    PetscCall(RG_GROW(here->n, here->children));
    PetscCall(RG_GROW(here->n, here->workers));
    here->children[here->n] = NULL;
    here->workers[here->n] = (OwnWorker){0};
  }
  RgChild **child = &here->children[worker - 1];
  OwnWorker *w = &here->workers[worker - 1];
  w->asked = true;
  PetscCall(rg_text_clear(&w->mistake));
  if (*child && !rg_child_is(*child, question->words)) PetscCall(rg_child_close(child, true));
  if (!*child) PetscCall(rg_child_start(question->words, child, &w->mistake));
  if (!*child) return 0;
  PetscCall(rg_child_log(*child, here->log));
  return rg_child_send(*child, question->line.data, question->limit, &w->mistake);
}

/* Read the answer of a worker, if there is one. */
static PetscErrorCode read_here(Here *here, int i, RgProgramAnswer *reply)
{
  OwnWorker *w = &here->workers[i];
  RgChildOutcome outcome = RG_CHILD_FAILED;

  if (!w->asked) return 0;
  if (!w->mistake.length)
    PetscCall(
      rg_child_read(here->children[i], &outcome, &reply->answer, &reply->length, &w->mistake));
  if (outcome == RG_CHILD_SILENT) return 0;
  w->asked = false;
  reply->worker = i + 1;
  reply->mistake = w->mistake.data;
  if (here->children[i])
    PetscCall(rg_child_errors(here->children[i], &reply->errors, &reply->n_errors));
  reply->unreachable = !here->children[i];
  if (here->children[i]) reply->cpu = rg_child_cpu_seconds(here->children[i]);
  return 0;
}

static PetscErrorCode wait_here(void *closure, double seconds, RgProgramAnswer *reply)
{
  Here *here = closure;

  *reply = (RgProgramAnswer){0};
  for (int turn = 0; turn < 2 && !reply->worker; turn++) {
    if (turn) PetscCall(rg_child_poll(here->n, here->children, seconds));
    for (int i = 0; i < here->n && !reply->worker; i++) PetscCall(read_here(here, i, reply));
  }
  return 0;
}

static PetscErrorCode drop_here(void *closure, int worker)
{
  Here *here = closure;

  if (worker > here->n) return 0;
  here->workers[worker - 1].asked = false;
  return rg_child_close(&here->children[worker - 1], false);
}

static PetscErrorCode destroy_here(void *closure)
{
  Here *here = closure;

  for (int i = 0; i < here->n; i++) {
    PetscCall(rg_child_close(&here->children[i], true));
    PetscCall(rg_text_clear(&here->workers[i].mistake));
  }
  return RG_FREE(&here->children, &here->workers, &here);
}

PetscErrorCode rg_programs_here(const char *log, RgPrograms *programs)
{
  Here *here;

  PetscCall(PetscNew(&here));
  here->log = log;
  *programs = (RgPrograms){here, ask_here, wait_here, drop_here, destroy_here};
  return 0;
}

/* ---- of the ranks of a team, on their leader ------------------------------------------------- */

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

/* A worker: its question is open until its answer has arrived, and was read or dropped. */
typedef struct {
  bool open;
  char *answer; /* the message; NULL: it has not arrived; owned */
  size_t length;
} TeamProgram;

typedef struct {
  MPI_Comm comm;
  int rank;
  int n;
  TeamProgram *workers; /* from 0; owned */
  char *newest;         /* the newest answer; owned */
} TeamPrograms;

static PetscErrorCode ask_on_team(void *closure, int worker, const RgExchange *question)
{
  TeamPrograms *team = closure;
  Question head = {.limit = question->limit};
  RgText message = {0};

  for (; team->n < worker; team->n++) {
    PetscCall(RG_GROW(team->n, team->workers));
    team->workers[team->n] = (TeamProgram){0};
  }
  team->workers[worker - 1].open = true;
  while (question->words[head.n_words]) head.n_words++;
  PetscCall(rg_text_add_bytes(&message, (const char *)&head, sizeof(head)));
  for (int i = 0; i <= head.n_words; i++) {
    const char *text = i < head.n_words ? question->words[i] : question->line.data;
    PetscCall(rg_text_add_bytes(&message, text, strlen(text) + 1));
  }
  PetscCallMPI(MPI_Send(message.data, (int)message.length, MPI_BYTE, team->rank + worker, QUESTION,
                        team->comm));
  return rg_text_clear(&message);
}

static PetscErrorCode receive_answers(TeamPrograms *team)
{
  MPI_Status status;
  size_t length;
  char *bytes;

  for (;;) {
    PetscCall(receive(team->comm, ANSWER, &bytes, &length, &status));
    if (!bytes) break;
    TeamProgram *worker = &team->workers[status.MPI_SOURCE - team->rank - 1];
    worker->answer = bytes;
    worker->length = length;
  }
  return 0;
}

static PetscErrorCode wait_on_team(void *closure, double seconds, RgProgramAnswer *reply)
{
  TeamPrograms *team = closure;
  const double until = rg_wall_seconds() + seconds;

  *reply = (RgProgramAnswer){0};
  for (double pause = 1e-5;; pause = PetscMin(1.3 * pause, 2e-3)) {
    PetscCall(receive_answers(team));
    for (int i = 0; i < team->n && !reply->worker; i++) {
      TeamProgram *worker = &team->workers[i];
      Answer head;
      if (worker->answer) {
        PetscCall(PetscFree(team->newest));
        team->newest = worker->answer;
        memcpy(&head, team->newest, sizeof(head));
        const char *text = team->newest + sizeof(head);
        *reply = (RgProgramAnswer){.worker = i + 1,
                                   .answer = head.answered ? text : NULL,
                                   .length = worker->length - sizeof(head),
                                   .mistake = head.answered ? NULL : text,
                                   .unreachable = head.unreachable,
                                   .cpu = head.cpu};
        *worker = (TeamProgram){0};
      }
    }
    if (reply->worker || rg_wall_seconds() >= until) break;
    PetscCall(PetscSleep(pause));
  }
  return 0;
}

static PetscErrorCode drop_on_team(void *closure, int w)
{
  TeamPrograms *team = closure;

  if (w > team->n) return 0;
  TeamProgram *worker = &team->workers[w - 1];
  PetscCallMPI(MPI_Send(NULL, 0, MPI_BYTE, team->rank + w, DROP, team->comm));
  while (worker->open && !worker->answer) {
    PetscCall(receive_answers(team));
    PetscCall(PetscSleep(1e-4));
  }
  PetscCall(PetscFree(worker->answer));
  *worker = (TeamProgram){0};
  return 0;
}

static PetscErrorCode destroy_on_team(void *closure)
{
  TeamPrograms *team = closure;

  return RG_FREE(&team->workers, &team->newest, &team);
}

PetscErrorCode rg_programs_on_team(MPI_Comm comm, RgPrograms *programs)
{
  TeamPrograms *team;

  PetscCall(PetscNew(&team));
  team->comm = comm;
  PetscCallMPI(MPI_Comm_rank(comm, &team->rank));
  *programs = (RgPrograms){team, ask_on_team, wait_on_team, drop_on_team, destroy_on_team};
  return 0;
}

PetscErrorCode rg_programs_destroy(RgPrograms *programs)
{
  if (programs->closure) PetscCall(programs->destroy(programs->closure));
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

static PetscErrorCode send_back(RgHolder *holder, const RgProgramAnswer *reply)
{
  const Answer head = {reply->cpu, reply->answer != NULL, reply->unreachable};
  RgText message = {0};

  PetscCall(rg_text_add_bytes(&message, (const char *)&head, sizeof(head)));
  if (reply->answer) PetscCall(rg_text_add_bytes(&message, reply->answer, reply->length));
  else PetscCall(rg_text_add(&message, "%s", reply->mistake));
  PetscCallMPI(
    MPI_Send(message.data, (int)message.length, MPI_BYTE, holder->leader, ANSWER, holder->comm));
  holder->open = false;
  return rg_text_clear(&message);
}

PetscErrorCode rg_holder_create(MPI_Comm comm, const char *log, RgHolder **holder)
{
  PetscCall(PetscNew(holder));
  (*holder)->comm = comm;
  (*holder)->leader = -1;
  return rg_programs_here(log, &(*holder)->program);
}

PetscErrorCode rg_holder_poll(RgHolder *holder)
{
  MPI_Status status;
  RgProgramAnswer reply = {0};
  size_t length;
  char *bytes;

  if (!holder) return 0;
  PetscCall(receive(holder->comm, MPI_ANY_TAG, &bytes, &length, &status));
  if (bytes && status.MPI_TAG == QUESTION) {
    /* Pass a question on to the program. */
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
    holder->leader = status.MPI_SOURCE;
    holder->open = true;
    PetscCall(holder->program.ask(holder->program.closure, 1, &question));
    PetscCall(rg_text_clear(&question.line));
    PetscCall(PetscFree(words));
  } else if (bytes && status.MPI_SOURCE == holder->leader) { /* an open question has an answer */
    PetscCall(holder->program.drop(holder->program.closure, 1));
    if (holder->open) PetscCall(send_back(holder, &(RgProgramAnswer){.mistake = "was dropped"}));
  }
  PetscCall(PetscFree(bytes));
  if (!holder->open) return 0;
  PetscCall(holder->program.wait(holder->program.closure, 0, &reply));
  if (reply.worker) PetscCall(send_back(holder, &reply));
  return 0;
}

PetscErrorCode rg_holder_destroy(RgHolder **holder)
{
  if (!*holder) return 0;
  PetscCall(rg_programs_destroy(&(*holder)->program));
  return RG_FREE(holder);
}
