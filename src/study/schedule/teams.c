/* Teams of ranks: their number, sizes and members. */
#include "study/schedule/teams.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/grow.h"
#include "base/number.h"
#include "gp/team/team.h"
#include "study/plan/cost.h"

/* A model of up to this order may run on one rank: its matrices take 1 GB, 2 GB with a fit. */
enum { order_alone = 8000 };

/* The meaning of `auto` in a job, for cells whose matrix reaches the crossover. */
typedef struct {
  const RgStudy *study;
  int ranks, crossover;
  int whole; /* ranks for matrices too large for one rank, and for matrices of problems */
  int spare; /* ranks for each of the trials that would otherwise be last */
  /* Number of those trials, which use spare ranks; other trials of the kind have one rank. */
  int n_spare;
} Automatic;

typedef enum { FIXED, SMALL, WHOLE, ALONE } Kind;

static Kind kind_of(const Automatic *automatic, const RgCell *cell)
{
  const double order = rg_cost_order(cell), crossover = automatic->crossover;

  if (cell->run.ranks_per_trial != -1) return FIXED;
  if (order < crossover) return SMALL;
  return order > order_alone || rg_cost_problem_order(cell) >= crossover ? WHOLE : ALONE;
}

/* Number of ranks that share the matrices of such cells well, a divisor of the job; 1: no
   sharing. */
static int good_size(const Automatic *automatic, Kind kind)
{
  const RgStudy *study = automatic->study;
  int size = 0;

  for (int c = 0; c < study->n_cells; c++)
    if (kind_of(automatic, &study->cells[c]) == kind)
      size = PetscMax(size, (int)ceil(rg_cost_order(&study->cells[c]) / automatic->crossover));
  if (!size) return 1;
  size = PetscMin(PetscMax(size, 2), automatic->ranks);
  while (automatic->ranks % size) size++;
  return size;
}

/* Number of trials of kind ALONE that remain when all ranks have had equally many. 0 if small
   trials keep the other ranks busy. */
static int left_over(const Automatic *automatic)
{
  const RgStudy *study = automatic->study;
  double alone = 0, small = 0;
  int n = 0;

  for (int c = 0; c < study->n_cells; c++) {
    const RgCell *cell = &study->cells[c];
    const int trials = rg_study_instances(study, cell) * cell->n_seeds;
    const Kind kind = kind_of(automatic, cell);
    const double seconds = rg_cost_nominal(cell);
    if (kind == SMALL || cell->run.ranks_per_trial == 1) small += trials * seconds;
    if (kind != ALONE) continue;
    alone += trials * seconds;
    n += trials;
  }
  const int left = n % automatic->ranks;
  return left && small < (automatic->ranks - left) * alone / n ? left : 0;
}

static int size_of(const Automatic *automatic, const RgCell *cell)
{
  const Kind kind = kind_of(automatic, cell);

  return kind == FIXED ? cell->run.ranks_per_trial : kind == WHOLE ? automatic->whole : 1;
}

/* Insert a size into the descending list; false if the list is full. */
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

static bool collect(const Automatic *automatic, RgTeams *teams)
{
  bool fits = true;

  teams->n = 0;
  for (int c = 0; c < automatic->study->n_cells; c++)
    fits = fits && add_size(teams, size_of(automatic, &automatic->study->cells[c]));
  if (automatic->n_spare) fits = fits && add_size(teams, automatic->spare);
  if (teams->n == 0) add_size(teams, 1);
  return fits;
}

/* Index of the first size that does not divide the previous one, or the job; n if all do. */
static int broken_link(const RgTeams *teams, int ranks)
{
  for (int i = 0; i < teams->n; i++)
    if ((i ? teams->size[i - 1] : ranks) % teams->size[i]) return i;
  return teams->n;
}

/* Add the largest teams of spare ranks that are compatible with the other sizes. */
static bool collect_with_spare(Automatic *automatic, RgTeams *teams)
{
  const int left = left_over(automatic);

  automatic->n_spare = left;
  automatic->spare = left ? PetscMin(automatic->ranks / left, good_size(automatic, ALONE)) : 1;
  for (; automatic->spare > 1; automatic->spare--)
    if (collect(automatic, teams) && broken_link(teams, automatic->ranks) == teams->n) return true;
  automatic->n_spare = 0;
  return collect(automatic, teams);
}

static int level_of(const RgTeams *teams, int size)
{
  int level = 0;

  while (teams->size[level] != size) level++;
  return level;
}

/* Assign levels to cells, and select the trials with teams of spare ranks. These run first, so
   they are the first trials of the schedule. */
static PetscErrorCode assign(const RgPlan *plan, const Automatic *automatic, RgTeams *teams)
{
  const RgStudy *study = plan->study;
  RgPlanWalk walk = {0};
  int cell;

  for (int c = 0; c < study->n_cells; c++)
    teams->level[c] = level_of(teams, size_of(automatic, &study->cells[c]));
  if (!automatic->n_spare) return 0;
  teams->early_level = level_of(teams, automatic->spare);
  PetscCall(PetscMalloc1(automatic->n_spare, &teams->early));
  while (teams->n_early < automatic->n_spare) {
    const int trial = rg_plan_next(plan, &walk, &cell);
    if (kind_of(automatic, &study->cells[cell]) == ALONE) teams->early[teams->n_early++] = trial;
  }
  PetscCall(PetscSortInt(teams->n_early, teams->early));
  return 0;
}

PetscErrorCode rg_teams_create(const RgPlan *plan, int ranks, int crossover, RgTeams *teams,
                               char message[RG_TEAMS_MESSAGE])
{
  const int measured = rg_team_measured_crossover(ranks);
  Automatic automatic = {.study = plan->study,
                         .ranks = ranks,
                         .crossover = crossover && measured < INT_MAX ? crossover : measured};
  int broken;

  *teams = (RgTeams){.ranks = ranks};
  message[0] = 0;
  PetscCall(PetscMalloc1(plan->study->n_cells, &teams->level));
  automatic.whole = good_size(&automatic, WHOLE);
  collect(&automatic, teams);
  if (automatic.whole > 1 && broken_link(teams, ranks) < teams->n)
    automatic.whole = ranks; /* every other size divides it */
  const bool fits = collect_with_spare(&automatic, teams);
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
  if (!message[0]) PetscCall(assign(plan, &automatic, teams));
  return 0;
}

PetscErrorCode rg_teams_destroy(RgTeams *teams)
{
  PetscCall(RG_FREE(&teams->level, &teams->early));
  *teams = (RgTeams){0};
  return 0;
}

/* Number of trials with teams of spare ranks before a trial of the plan. */
static int early_before(const RgTeams *teams, int trial)
{
  int low = 0, high = teams->n_early;

  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (teams->early[middle] < trial) low = middle + 1;
    else high = middle;
  }
  return low;
}

int rg_teams_level(const RgTeams *teams, const RgPlan *plan, int trial)
{
  const int at = early_before(teams, trial);

  return at < teams->n_early && teams->early[at] == trial ? teams->early_level
                                                          : teams->level[rg_plan_cell(plan, trial)];
}

int rg_teams_trials(const RgTeams *teams, const RgPlan *plan, int cell, int level)
{
  const RgPlanCell *trials = &plan->cells[cell];
  const int early =
    early_before(teams, trials->first + trials->n) - early_before(teams, trials->first);

  return (teams->level[cell] == level ? trials->n - early : 0) +
         (teams->early_level == level ? early : 0);
}

/* Bytes that trials of `cell` use on a host with `ranks_here` ranks in teams of `size`. */
static double host_bytes(const RgCell *cell, int size, int ranks_here)
{
  const double leader = rg_cost_bytes(cell, size), shared = rg_cost_dense_bytes(cell, size);
  const int leaders = PetscMax(1, ranks_here / size);

  return leaders * (leader - shared) + ranks_here * shared;
}

/* Smallest power of two times `size` for which the matrices fit; 0: other memory is the problem. */
static int size_that_fits(const RgCell *cell, int size, double memory, int ranks_here)
{
  const double shared = ranks_here * rg_cost_dense_bytes(cell, size);

  if (rg_cost_countable(cell, size) && shared < 0.5 * host_bytes(cell, size, ranks_here)) return 0;
  for (; size <= 1 << 24; size *= 2)
    if (host_bytes(cell, size, ranks_here) <= memory && rg_cost_countable(cell, size)) return size;
  return 0;
}

/* Check that trials of a cell in teams of `size` fit; otherwise write the message. */
static void check_cell(const RgCell *cell, int size, double memory, int ranks_here,
                       char message[RG_TEAMS_MESSAGE])
{
  const double need = host_bytes(cell, size, ranks_here);
  const double contexts = rg_cost_context_bytes(cell) * ranks_here;
  const bool fits = need <= memory;

  if (fits && rg_cost_countable(cell, size)) return;
  const int enough = size_that_fits(cell, size, memory, ranks_here);
  const int ranks = (int)fmin(memory / rg_cost_bytes(cell, size), ranks_here);
  const RgPlace at = cell->problem_place;
  int used = at.file
               ? rg_format(message, RG_TEAMS_MESSAGE, "%.200s:%d:%d: ", at.file, at.line, at.column)
               : 0;
  used += rg_format(message + used, RG_TEAMS_MESSAGE - used,
                    "'%.80s' on '%.80s' needs %.1f GB%s for %d %s", cell->algorithm_label,
                    cell->problem_label, need / 1e9,
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
    rg_format(rest, room, " on this host, which has %.1f GB; ranks_per_trial: %d would do",
              memory / 1e9, enough);
  else if (ranks)
    rg_format(rest, room, " on this host, which has %.1f GB: %d rank%s per host would do",
              memory / 1e9, ranks, ranks == 1 ? "" : "s");
  else
    rg_format(rest, room, " on this host, which has %.1f GB, and no number of ranks would do",
              memory / 1e9);
}

void rg_teams_check_memory(const RgPlan *plan, const RgTeams *teams, double memory, int ranks_here,
                           char message[RG_TEAMS_MESSAGE])
{
  int busy[RG_TEAM_LEVELS]; /* ranks of the host that trials of a level can keep busy */

  message[0] = 0;
  for (int level = 0; level < teams->n; level++) {
    double ranks = 0;
    for (int c = 0; c < plan->study->n_cells; c++)
      ranks += (double)teams->size[level] * rg_teams_trials(teams, plan, c, level);
    busy[level] = (int)fmin(ranks, ranks_here);
  }
  for (int c = 0; c < plan->study->n_cells; c++)
    for (int level = 0; level < teams->n && !message[0]; level++)
      if (rg_teams_trials(teams, plan, c, level))
        check_cell(&plan->study->cells[c], teams->size[level], memory, busy[level], message);
}
