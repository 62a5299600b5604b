/* Teams of ranks: how many, of which size, and who is in them. */
#include "study/run/teams.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "gp/team/team.h"
#include "study/plan/cost.h"

/* Least divisor of `ranks` that is at least `wanted`. */
static int divisor(int ranks, int wanted)
{
  int size = wanted < ranks ? wanted : ranks;
  while (ranks % size) size++;
  return size;
}

/* What `auto` means for the cell that needs most of it. */
static int automatic_size(const RgPlan *plan, int ranks)
{
  const int crossover = rg_team_measured_crossover(ranks);
  int size = 1;

  for (int i = 0; i < plan->n; i++) {
    const RgCell *cell = &plan->study->cells[plan->trials[i].cell];
    const double order = rg_cost_order(cell);
    if (cell->run.ranks_per_trial != -1 || order < crossover) continue;
    size = PetscMax(size, divisor(ranks, PetscMax(2, (int)ceil(order / crossover))));
  }
  return size;
}

static int size_of(const RgPlan *plan, int trial, int automatic, int ranks)
{
  const RgCell *cell = &plan->study->cells[plan->trials[trial].cell];

  if (cell->run.ranks_per_trial != -1) return cell->run.ranks_per_trial;
  return rg_cost_order(cell) < rg_team_measured_crossover(ranks) ? 1 : automatic;
}

/* Put a size into its place in the descending list; false when there are too many. */
static bool add_size(RgTeams *teams, int size)
{
  int at = 0;

  while (at < teams->n && teams->size[at] > size) at++;
  if (at < teams->n && teams->size[at] == size) return true;
  if (teams->n == RG_TEAM_LEVELS) return false;
  for (int i = teams->n; i > at; i--) teams->size[i] = teams->size[i - 1];
  teams->size[at] = size;
  teams->n++;
  return true;
}

static bool collect(const RgPlan *plan, int automatic, int ranks, RgTeams *teams)
{
  teams->n = 0;
  for (int i = 0; i < plan->n; i++)
    if (!add_size(teams, size_of(plan, i, automatic, ranks))) return false;
  if (teams->n == 0) add_size(teams, 1);
  return true;
}

/* Where the chain of sizes breaks: the index of the size that does not divide the one before it, or
   the job; n when all is well. */
static int broken_link(const RgTeams *teams, int ranks)
{
  for (int i = 0; i < teams->n; i++)
    if ((i ? teams->size[i - 1] : ranks) % teams->size[i]) return i;
  return teams->n;
}

PetscErrorCode rg_teams_create(const RgPlan *plan, int ranks, RgTeams *teams,
                               char message[RG_TEAMS_MESSAGE])
{
  int automatic = automatic_size(plan, ranks), broken;

  PetscFunctionBeginUser;
  *teams = (RgTeams){0};
  message[0] = 0;
  PetscCall(PetscMalloc1(PetscMax(plan->n, 1), &teams->level));
  bool fits = collect(plan, automatic, ranks, teams);
  if (automatic > 1 && broken_link(teams, ranks) < teams->n) {
    automatic = ranks; /* divisible by whatever the others ask for */
    fits = collect(plan, automatic, ranks, teams);
  }
  broken = broken_link(teams, ranks);
  if (!fits) {
    snprintf(message, RG_TEAMS_MESSAGE, "ranks_per_trial: more than %d different team sizes",
             RG_TEAM_LEVELS);
  } else if (teams->size[0] > 1 && !rg_team_possible()) {
    snprintf(message, RG_TEAMS_MESSAGE,
             "ranks_per_trial: teams of %d ranks need ScaLAPACK, which this build of Regatta is "
             "without; accepted: 1, auto",
             teams->size[0]);
  } else if (teams->size[0] > ranks) {
    snprintf(message, RG_TEAMS_MESSAGE,
             "ranks_per_trial: %d is more than the %d rank%s of this job; start it with a multiple "
             "of %d ranks",
             teams->size[0], ranks, ranks == 1 ? "" : "s", teams->size[0]);
  } else if (broken == 0) {
    snprintf(message, RG_TEAMS_MESSAGE,
             "ranks_per_trial: teams of %d ranks do not divide the %d ranks of this job; start it "
             "with a multiple of %d ranks",
             teams->size[0], ranks, teams->size[0]);
  } else if (broken < teams->n) {
    snprintf(message, RG_TEAMS_MESSAGE,
             "ranks_per_trial: teams of %d ranks do not divide teams of %d; sizes in one study "
             "must divide one another",
             teams->size[broken], teams->size[broken - 1]);
  }
  for (int i = 0; !message[0] && i < plan->n; i++) {
    const int size = size_of(plan, i, automatic, ranks);
    for (teams->level[i] = 0; teams->size[teams->level[i]] != size;) teams->level[i]++;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_teams_destroy(RgTeams *teams)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(teams->level));
  *teams = (RgTeams){0};
  PetscFunctionReturn(0);
}

/* Ranks of a host that trials of a level can keep busy. */
static int busy_ranks(const RgPlan *plan, const RgTeams *teams, int level, int ranks_here)
{
  double ranks = 0;

  for (int i = 0; i < plan->n; i++) ranks += teams->level[i] == level ? teams->size[level] : 0;
  return (int)fmin(ranks, ranks_here);
}

/* Bytes on a host of which `ranks_here` ranks of teams of `size` have trials of `cell`. */
static double host_bytes(const RgCell *cell, int size, int ranks_here)
{
  const double leader = rg_cost_bytes(cell, size), shared = rg_cost_dense_bytes(cell, size);
  const int leaders = PetscMax(1, ranks_here / size);

  return leaders * (leader - shared) + ranks_here * shared;
}

/* Least power of two times `size` with which the matrices fit; 0: it is not they that don't. */
static int size_that_fits(const RgCell *cell, int size, double memory, int ranks_here)
{
  const double shared = ranks_here * rg_cost_dense_bytes(cell, size);

  if (rg_cost_countable(cell, size) && shared < 0.5 * host_bytes(cell, size, ranks_here)) return 0;
  for (; size <= 1 << 24; size *= 2)
    if (host_bytes(cell, size, ranks_here) <= memory && rg_cost_countable(cell, size)) return size;
  return 0;
}

void rg_teams_check_memory(const RgPlan *plan, const RgTeams *teams, double memory, int ranks_here,
                           char message[RG_TEAMS_MESSAGE])
{
  const int all_here = ranks_here;
  int level = -1;

  message[0] = 0;
  for (int i = 0; i < plan->n && !message[0]; i++) {
    if (i && plan->trials[i].cell == plan->trials[i - 1].cell) continue;
    if (teams->level[i] != level) ranks_here = busy_ranks(plan, teams, teams->level[i], all_here);
    level = teams->level[i];
    const RgCell *cell = &plan->study->cells[plan->trials[i].cell];
    const int size = teams->size[teams->level[i]];
    const double need = host_bytes(cell, size, ranks_here);
    const double contexts = rg_cost_context_bytes(cell) * ranks_here;
    const bool fits = need <= memory;
    if (fits && rg_cost_countable(cell, size)) continue;
    const int enough = size_that_fits(cell, size, memory, ranks_here);
    const int ranks = (int)fmin(memory / rg_cost_bytes(cell, size), ranks_here);
    int used = snprintf(message, RG_TEAMS_MESSAGE, "'%.80s' on '%.80s' needs %.1f GB%s for %d %s",
                        cell->algorithm_label, cell->problem_label, need / 1e9,
                        contexts > need / 2 ? ", most of it for its contexts," : "", ranks_here,
                        ranks_here == 1 ? "rank" : "ranks");
    char *rest = message + used;
    const size_t room = (size_t)(RG_TEAMS_MESSAGE - used);
    if (fits)
      snprintf(rest, room,
               ", and shares of a matrix of 2^31 entries or more, which ScaLAPACK can't count; "
               "ranks_per_trial: %d would do",
               enough);
    else if (enough)
      snprintf(rest, room, " on this host, which has %.1f GB; ranks_per_trial: %d would do",
               memory / 1e9, enough);
    else if (ranks)
      snprintf(rest, room, " on this host, which has %.1f GB: %d rank%s per host would do",
               memory / 1e9, ranks, ranks == 1 ? "" : "s");
    else
      snprintf(rest, room, " on this host, which has %.1f GB, and no number of ranks would do",
               memory / 1e9);
  }
}
