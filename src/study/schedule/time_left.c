/* The remaining time of a run. */
#include "study/schedule/time_left.h"

#include <math.h>

double rg_time_left(int n_cells, const RgCellClock *cells, int ranks, double elapsed)
{
  double seen = 0, seen_nominal = 0, work = 0, longest = 0, done = 0, n_left = 0;

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
    longest = fmax(longest, each);
    n_left += rest * cell->ranks;
  }
  if (!(n_left > 0)) return 0;
  const double flying = fmin(n_left, ranks) / n_left * work;
  const double begun = fmin(fmax(elapsed * ranks - done, 0), 0.9 * flying);
  return fmax((work - begun) / ranks, 0.1 * longest);
}
