/* regatta plan -simulate: one line for each number of ranks. */
#include "cli/simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "cli/command.h"
#include "base/table.h"
#include "cli/values.h"
#include "study/trial/trial_crew.h"

static PetscErrorCode set_rates(int n, const char *const *words, RgJobRates *rates,
                                RgDiagnostics *found)
{
  PetscFunctionBeginUser;
  PetscCall(rg_params_defaults(rg_job_rates, rates));
  for (int i = 0; i < n; i++) {
    char *key, *value;
    PetscCall(PetscStrallocpy(words[i], &key));
    value = rg_pair_split(key, (RgPlace){0}, found);
    if (value) PetscCall(rg_pair_set(rg_job_rates, rates, key, value, (RgPlace){0}, found));
    PetscCall(PetscFree(key));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode add_job(int ranks, const RgJob *job, RgTable *table)
{
  char n[16], wall[32], busy[16], ticket[16], disk[16], idle[16], commits[32], files[32],
    resume[32], pack[32];

  PetscFunctionBeginUser;
  snprintf(n, sizeof(n), "%d", ranks);
  rg_format(wall, sizeof(wall), "%.1f", job->wall);
  rg_format(busy, sizeof(busy), "%.1f%%", 100 * job->busy);
  rg_format(ticket, sizeof(ticket), "%.1f%%", 100 * job->ticket);
  rg_format(disk, sizeof(disk), "%.1f%%", 100 * job->disk);
  rg_format(idle, sizeof(idle), "%.1f%%", 100 * job->idle);
  rg_format(commits, sizeof(commits), "%.4g", job->commits);
  rg_format(files, sizeof(files), "%.0f", job->files);
  rg_format(resume, sizeof(resume), "%.1f", job->resume);
  rg_format(pack, sizeof(pack), "%.1f", job->pack);
  PetscCall(rg_table_add(
    table, (const char *const[]){n, wall, busy, ticket, disk, idle, commits, files, resume, pack}));
  PetscFunctionReturn(0);
}

/* Print the line of a job, or report why the job is impossible. */
static PetscErrorCode simulate(const RgPlan *plan, int ranks, const RgJobRates *rates,
                               RgTable *table, int *exit_code)
{
  char message[RG_TEAMS_MESSAGE] = "";
  RgTeams teams;
  RgJob job;

  PetscFunctionBeginUser;
  PetscCall(rg_teams_create(plan, ranks, 0, &teams, message));
  if (message[0]) {
    rg_complain("plan: %s", message);
    *exit_code = RG_EXIT_BAD_INPUT;
  } else {
    PetscCall(rg_simulate(plan, &teams, rates, &job));
    PetscCall(add_job(ranks, &job, table));
  }
  PetscCall(rg_teams_destroy(&teams));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_simulation_parse(const char *text, int n, const char *const *words,
                                   RgSimulation *simulation, int *exit_code)
{
  RgDiagnostics found = {0};
  char *list, *rest, *end;

  PetscFunctionBeginUser;
  *simulation = (RgSimulation){0};
  PetscCall(set_rates(n, words, &simulation->rates, &found));
  PetscCall(PetscStrallocpy(text, &list));
  for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    const long ranks = strtol(word, &end, 10);
    if (end == word || *end || ranks < 1 || ranks > 10000000)
      rg_diagnostics_add(&found, (RgPlace){0},
                         "-simulate takes numbers of ranks, separated by ',', got '%s'", word);
    PetscCall(RG_GROW(simulation->n, simulation->ranks));
    simulation->ranks[simulation->n++] = (int)ranks;
  }
  PetscCall(PetscFree(list));
  if (!simulation->n) rg_diagnostics_add(&found, (RgPlace){0}, "-simulate needs numbers of ranks");
  for (int i = 0; i < found.n && i < RG_DIAGNOSTICS_MAX; i++)
    rg_complain("plan: %s", found.list[i].message);
  if (found.n) *exit_code = RG_EXIT_BAD_INPUT;
  PetscFunctionReturn(0);
}

/* ---- workers --------------------------------------------------------------------------------- */

/* The clocks of cells. */
typedef struct {
  RgTable table;
  RgInstances *instances;
  int n_rough, n_reported, n_open; /* cells; reported, open: left out */
} Clocks;

/* Means over the trials of a cell; *known is false if some trial has no forecast. *last: that of
   the last trial. */
static PetscErrorCode average_clock(const RgPlan *plan, int c, RgInstances *instances,
                                    double mean[4], RgForecast *last, bool *known)
{
  const RgPlanCell *trials = &plan->cells[c];

  PetscFunctionBeginUser;
  *known = trials->n > 0;
  for (int i = 0; i < trials->n && *known; i++) {
    RgTrial trial;
    PetscCall(rg_plan_trial(plan, trials->first + i, &trial));
    PetscCall(rg_trial_forecast(plan->study, &trial, instances, last, known));
    mean[0] += last->makespan / trials->n;
    mean[1] += last->idle_share / trials->n;
    mean[2] += (double)last->n_rows / trials->n;
    mean[3] += (double)last->lost / trials->n;
  }
  PetscFunctionReturn(0);
}

/* Add the line of a cell, or count it among those that are left out. */
static PetscErrorCode add_clock(const RgPlan *plan, int c, Clocks *clocks)
{
  const RgCell *cell = &plan->study->cells[c];
  double mean[4] = {0};
  char text[5][24];
  RgForecast last = {0};
  bool known;

  PetscFunctionBeginUser;
  PetscCall(average_clock(plan, c, clocks->instances, mean, &last, &known));
  if (!known) {
    clocks->n_reported += last.reported;
    clocks->n_open += !last.reported;
    PetscFunctionReturn(0);
  }
  clocks->n_rough += last.rough;
  snprintf(text[0], sizeof(text[0]), "%d", cell->crew.workers);
  rg_format(text[1], sizeof(text[1]), "%s%.4g", last.rough ? "~" : "", mean[0]);
  rg_format(text[2], sizeof(text[2]), "%.1f%%", 100 * mean[1]);
  rg_format(text[3], sizeof(text[3]), "%.4g", mean[2]);
  rg_format(text[4], sizeof(text[4]), "%.3g", mean[3]);
  PetscCall(rg_table_add(
    &clocks->table, (const char *const[]){cell->problem_label, cell->algorithm_label, cell->swept,
                                          text[0], text[1], text[2], text[3], text[4]}));
  PetscFunctionReturn(0);
}

/* Print the makespan, idle time and losses of every cell with a simulated clock, as far as they are
   known without its method. */
static PetscErrorCode show_clock(const RgPlan *plan)
{
  Clocks clocks = {.table = {.n_columns = 8,
                             .headings = {"problem", "algorithm", "swept", ">workers", ">makespan",
                                          ">idle", ">evaluations", ">lost"}}};
  RgText out = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_instances_create(&clocks.instances));
  for (int c = 0; c < plan->study->n_cells; c++)
    if (plan->study->cells[c].crew.duration) PetscCall(add_clock(plan, c, &clocks));
  if (clocks.table.n_rows) {
    PetscCall(rg_table_print(&clocks.table, &out));
    rg_say("\n%s", out.data);
  }
  if (clocks.n_rough)
    rg_say("~: durations depend on the queries; here each is of a random design\n");
  if (clocks.n_reported)
    rg_say("cells without a clock here: %d, whose programs report durations\n", clocks.n_reported);
  if (clocks.n_open)
    rg_say("cells without a clock here: %d, whose trials may fail or end early\n", clocks.n_open);
  PetscCall(rg_instances_destroy(&clocks.instances));
  PetscCall(rg_text_clear(&out));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_simulation_show(const RgSimulation *simulation, const RgPlan *plan,
                                  int *exit_code)
{
  RgTable table = {.n_columns = 10,
                   .headings = {">ranks", ">wall (s)", ">trials", ">counter", ">commits", ">idle",
                                ">commits/s", ">shards", ">resume (s)", ">pack (s)"}};
  RgText out = {0};

  PetscFunctionBeginUser;
  for (int i = 0; i < simulation->n && *exit_code == RG_EXIT_OK; i++)
    PetscCall(simulate(plan, simulation->ranks[i], &simulation->rates, &table, exit_code));
  PetscCall(rg_table_print(&table, &out));
  if (*exit_code == RG_EXIT_OK) rg_say("\n%s", out.data);
  PetscCall(rg_text_clear(&out));
  if (*exit_code == RG_EXIT_OK) PetscCall(show_clock(plan));
  PetscFunctionReturn(0);
}
