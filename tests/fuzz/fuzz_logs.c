/* libFuzzer: the texts of a study directory and of records that are parsed: timelines and logs of
   evaluations, every line with a seal that fits, and the replay of a trial from such a timeline. */
#include "fuzz.h"

#include <unistd.h>

#include "base/files.h"
#include "study/plan/plan.h"
#include "study/store/evaluation_log.h"
#include "study/store/timeline.h"
#include "study/trial/trial.h"

enum { FUZZ_POINT = 3 }; /* numbers of a point of the study below */

/* A study on the real clock, for the life of the process; its memory is none of PETSc's. */
typedef struct {
  RgStudy study;
  RgPlan plan;
  RgTrial trial;
} Replayed;

static void open_study(Replayed *r)
{
  static const char text[] =
    "study: fuzz\ncommon: {iterations: 5, initial_points: 2, clock: real, workers: 3}\n"
    "problems: [{name: external, program: /bin/true, inputs: [a real 0 1]}]\n"
    "algorithms: [random]\n";
  RgDiagnostics diagnostics = {0};

  FUZZ_OK(rg_study_parse(NULL, "fuzz.yaml", text, strlen(text), &r->study, &diagnostics));
  FUZZ_HOLDS(!diagnostics.n);
  FUZZ_OK(rg_plan_fill(&r->study, &r->plan));
  FUZZ_OK(rg_plan_trial(&r->plan, 0, &r->trial));
}

/* Write the lines of a text, sealed, as a log of the trial. */
static void write_log(const char *folder, const char *name, const char *id, const char *text)
{
  RgSealedLog log = {.fd = -1, .author = ""};
  RgText lines = {0};
  char path[PETSC_MAX_PATH_LEN];
  int error = rg_directory_create(folder);

  snprintf(log.id, sizeof(log.id), "%s", id);
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  if (!error) error = rg_directory_create(path);
  FUZZ_HOLDS(!error);
  while (*text) {
    const size_t length = strcspn(text, "\n");
    RgText line = {0};
    FUZZ_OK(rg_text_add_bytes(&line, text, length));
    FUZZ_OK(rg_sealed_line(&log, line.data ? line.data : "", &lines));
    FUZZ_OK(rg_text_clear(&line));
    text += length + (text[length] == '\n');
  }
  snprintf(path, sizeof(path), "%s/%s/%s.0.log", folder, name, id);
  FILE *file = fopen(path, "w");
  FUZZ_HOLDS(file && (!lines.length || fwrite(lines.data, lines.length, 1, file) == 1));
  fclose(file);
  FUZZ_OK(rg_text_clear(&lines));
}

static void remove_log(const char *folder, const char *name, const char *id)
{
  char path[PETSC_MAX_PATH_LEN];

  snprintf(path, sizeof(path), "%s/%s/%s.0.log", folder, name, id);
  (void)unlink(path);
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  (void)rmdir(path);
}

static void expect_possible(const RgTimeline *timeline)
{
  for (int i = 0; i < timeline->n; i++) {
    const RgTimelineEvent *e = &timeline->events[i];
    const bool attempt = e->kind != RG_TIMELINE_BEGIN && e->kind != RG_TIMELINE_GAP;
    FUZZ_HOLDS(!attempt || (e->submission >= 1 && e->attempt >= 1 && e->worker >= 1));
    FUZZ_HOLDS(e->tick >= 0);
  }
}

/* The events that were read are written, and read again as the same events. */
static void read_timeline(const char *text)
{
  RgTimeline first, second;
  RgText again = {0};

  FUZZ_OK(rg_timeline_read(text, &first));
  expect_possible(&first);
  FUZZ_OK(rg_timeline_write(&first, &again));
  FUZZ_OK(rg_timeline_read(again.data ? again.data : "", &second));
  FUZZ_HOLDS(second.n == first.n);
  FUZZ_OK(rg_text_clear(&again));
  FUZZ_OK(rg_timeline_clear(&first));
  FUZZ_OK(rg_timeline_clear(&second));
}

static void read_logs(const Replayed *r, const char *folder, const char *text)
{
  const double x[FUZZ_POINT] = {0.5};
  RgTimeline timeline;
  RgEvaluationLog *log;
  RgRecord record = {0};
  bool stopped;

  write_log(folder, RG_FOLDER_TIMELINE, r->trial.id, text);
  FUZZ_OK(rg_timeline_open(folder, r->trial.id, FUZZ_POINT, &timeline));
  expect_possible(&timeline);
  FUZZ_OK(rg_timeline_clear(&timeline));
  write_log(folder, RG_FOLDER_EVALUATIONS, r->trial.id, text);
  FUZZ_OK(rg_evaluation_log_open(folder, RG_FOLDER_EVALUATIONS, r->trial.id, NULL, 1, 0, 0, &log));
  (void)rg_evaluation_log_find(log, 1, x, NULL);
  RgTrialServices host = {.known = log, .timeline = text};
  FUZZ_OK(rg_trial_run(&r->study, &r->trial, &host, &record, &stopped));
  FUZZ_HOLDS(record.status == RG_STATUS_FAILED || record.status == RG_STATUS_COMPLETE);
  FUZZ_OK(rg_record_destroy(&record));
  FUZZ_OK(rg_evaluation_log_close(&log));
  remove_log(folder, RG_FOLDER_TIMELINE, r->trial.id);
  remove_log(folder, RG_FOLDER_EVALUATIONS, r->trial.id);
}

int rg_fuzz_one(const uint8_t *data, size_t size)
{
  Replayed replayed = {0};
  char folder[64], *text = malloc(size + 1);

  memcpy(text, data, size);
  text[size] = '\0';
  snprintf(folder, sizeof(folder), "%s/regatta-fuzz-%ld",
           access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
  open_study(&replayed);
  read_timeline(text);
  read_logs(&replayed, folder, text);
  FUZZ_OK(rg_plan_clear(&replayed.plan));
  FUZZ_OK(rg_study_destroy(&replayed.study));
  (void)rmdir(folder);
  free(text);
  return 0;
}
