/* The remaining time of a run. */
#include "study/schedule/time_left.h"

#include <math.h>

/* The number of ranks that the unfinished trials would take if all ran at once. */
static double ranks_left(int n_cells, const RgCellClock *cells)
{
  double n = 0;

  for (int c = 0; c < n_cells; c++) n += fmax(cells[c].n - cells[c].n_finished, 0) * cells[c].ranks;
  return n;
}

double rg_ranks_at_work(int n_cells, const RgCellClock *cells, int ranks)
{
  return fmin(ranks_left(n_cells, cells), ranks);
}

double rg_time_left(int n_cells, const RgCellClock *cells, int ranks, double worked)
{
  const double n_left = ranks_left(n_cells, cells);
  double seen = 0, seen_nominal = 0, work = 0, done = 0;

  for (int c = 0; c < n_cells; c++) {
    seen += 1e-6 * (double)cells[c].finished_us;
    seen_nominal += cells[c].n_finished * cells[c].nominal;
    done += 1e-6 * (double)cells[c].finished_us * cells[c].ranks;
  }
  if (!(seen > 0)) return NAN;
  for (int c = 0; c < n_cells; c++) {
    const RgCellClock *cell = &cells[c];
    const int rest = cell->n - cell->n_finished;
    if (rest <= 0) continue;
    const double each = cell->n_finished ? 1e-6 * (double)cell->finished_us / cell->n_finished
                                         : cell->nominal * seen / fmax(seen_nominal, 1e-300);
    work += rest * each * cell->ranks;
  }
  if (!(n_left > 0)) return 0;
  const double at_work = fmin(n_left, ranks), flying = at_work / n_left * work;
  const double spent = fmax(worked - done, 0);
  return (work - flying + fmax(flying - spent, spent / 9)) / at_work;
}
