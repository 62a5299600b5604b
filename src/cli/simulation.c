/* regatta plan -simulate: a line for each number of ranks. */
#include "cli/simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/table.h"
#include "cli/values.h"
#include "study/run/simulate.h"

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
  snprintf(wall, sizeof(wall), "%.1f", job->wall);
  snprintf(busy, sizeof(busy), "%.1f%%", 100 * job->busy);
  snprintf(ticket, sizeof(ticket), "%.1f%%", 100 * job->ticket);
  snprintf(disk, sizeof(disk), "%.1f%%", 100 * job->disk);
  snprintf(idle, sizeof(idle), "%.1f%%", 100 * job->idle);
  snprintf(commits, sizeof(commits), "%.4g", job->commits);
  snprintf(files, sizeof(files), "%.0f", job->files);
  snprintf(resume, sizeof(resume), "%.1f", job->resume);
  snprintf(pack, sizeof(pack), "%.1f", job->pack);
  PetscCall(rg_table_add(
    table, (const char *const[]){n, wall, busy, ticket, disk, idle, commits, files, resume, pack}));
  PetscFunctionReturn(0);
}

/* A line for a job of so many ranks. A mistake is said. */
static PetscErrorCode simulate(const RgPlan *plan, const char *word, int per_host,
                               const RgJobRates *rates, RgTable *table, int *exit_code)
{
  char message[RG_TEAMS_MESSAGE] = "", *end;
  const long ranks = strtol(word, &end, 10);
  RgTeams teams;
  RgJob job;

  PetscFunctionBeginUser;
  if (end == word || *end || ranks < 1 || ranks > 10000000) {
    rg_complain("plan: -simulate takes numbers of ranks, separated by ',', got '%s'", word);
    *exit_code = RG_EXIT_BAD_INPUT;
    PetscFunctionReturn(0);
  }
  PetscCall(rg_teams_create(plan, (int)ranks, 0, &teams, message));
  if (message[0]) {
    rg_complain("plan: %s", message);
    *exit_code = RG_EXIT_BAD_INPUT;
  } else {
    PetscCall(rg_simulate(plan, &teams, rates, per_host, &job));
    PetscCall(add_job((int)ranks, &job, table));
  }
  PetscCall(rg_teams_destroy(&teams));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_simulation_show(const RgPlan *plan, const char *text, int per_host, int n,
                                  const char *const *words, int *exit_code)
{
  RgTable table = {.n_columns = 10,
                   .headings = {">ranks", ">wall (s)", ">trials", ">counter", ">commits", ">idle",
                                ">commits/s", ">shards", ">resume (s)", ">pack (s)"}};
  RgDiagnostics found = {0};
  RgJobRates rates;
  RgText out = {0};
  char *list, *rest;

  PetscFunctionBeginUser;
  PetscCall(set_rates(n, words, &rates, &found));
  for (int i = 0; i < found.n; i++) rg_complain("plan: %s", found.list[i].message);
  if (found.n) *exit_code = RG_EXIT_BAD_INPUT;
  PetscCall(PetscStrallocpy(text, &list));
  for (char *word = strtok_r(list, ",", &rest); word && *exit_code == RG_EXIT_OK;
       word = strtok_r(NULL, ",", &rest))
    PetscCall(simulate(plan, word, per_host, &rates, &table, exit_code));
  PetscCall(PetscFree(list));
  PetscCall(rg_table_print(&table, &out));
  if (*exit_code == RG_EXIT_OK) rg_say("\n%s", out.data);
  PetscCall(rg_text_clear(&out));
  PetscFunctionReturn(0);
}
