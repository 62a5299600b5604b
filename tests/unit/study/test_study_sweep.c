#include "study_text.h"

/* One line per cell: problem | algorithm | swept. */
static void check_cells(const char *text, const char *const *expected)
{
  int n = 0;

  const RgStudy *study = study_of("%s", text);
  while (expected[n]) n++;
  for (int i = 0; i < study->n_cells && i < n; i++) {
    char line[512];
    const RgCell *cell = &study->cells[i];
    snprintf(line, sizeof(line), "%s | %s | %s", cell->problem_label, cell->algorithm_label,
             cell->swept);
    assert_string_equal(line, expected[i]);
  }
  assert_int_equal(study->n_cells, n);
}

#define TWO                                                                                        \
  STUDY("[branin, {name: ackley, label: Ackley 4.5-D}]", "[random, {name: gp_ucb, label: "         \
                                                         "GP-UCB}]")

RG_TEST(an_algorithm_axis_multiplies_its_cells_only)
{
  check_cells(TWO "sweep: [{algorithms.GP-UCB.delta: [0.1, 0.2]}]\n",
              (const char *const[]){"branin | random | ", "branin | GP-UCB (delta=0.1) | delta=0.1",
                                    "branin | GP-UCB (delta=0.2) | delta=0.2",
                                    "Ackley 4.5-D | random | ",
                                    "Ackley 4.5-D | GP-UCB (delta=0.1) | delta=0.1",
                                    "Ackley 4.5-D | GP-UCB (delta=0.2) | delta=0.2", NULL});
}

RG_TEST(a_problem_axis_multiplies_its_cells_only)
{
  check_cells(
    TWO "sweep: [{problems.Ackley 4.5-D.dim: [2, 4]}]\n",
    (const char *const[]){"branin | random | ", "branin | GP-UCB | ",
                          "Ackley 4.5-D | random | dim=2", "Ackley 4.5-D | random | dim=4",
                          "Ackley 4.5-D | GP-UCB | dim=2", "Ackley 4.5-D | GP-UCB | dim=4", NULL});
}

RG_TEST(a_range_stands_for_its_whole_numbers)
{
  check_cells(STUDY("[bbob]", "[random]") "sweep: [{problems.bbob.function: [1..3, 24]}]\n",
              (const char *const[]){"bbob | random | function=1", "bbob | random | function=2",
                                    "bbob | random | function=3", "bbob | random | function=24",
                                    NULL});
}

RG_TEST(a_common_axis_multiplies_all)
{
  check_cells(TWO "sweep: [{common.noise_variance: [1e-4, 1e-2]}]\n",
              (const char *const[]){
                "branin | random | noise_variance=1e-4", "branin | random | noise_variance=1e-2",
                "branin | GP-UCB | noise_variance=1e-4", "branin | GP-UCB | noise_variance=1e-2",
                "Ackley 4.5-D | random | noise_variance=1e-4",
                "Ackley 4.5-D | random | noise_variance=1e-2",
                "Ackley 4.5-D | GP-UCB | noise_variance=1e-4",
                "Ackley 4.5-D | GP-UCB | noise_variance=1e-2", NULL});
}

/* Random search ignores the model's settings. */
RG_TEST(a_common_block_axis_multiplies_who_reads_it)
{
  check_cells(
    STUDY("[branin]",
          "[random, gp_ucb]") "sweep: [{common.surrogate.length_scale: [0.1, [0.2, 0.3]]}]\n",
    (const char *const[]){"branin | random | ", "branin | gp_ucb | surrogate.length_scale=0.1",
                          "branin | gp_ucb | surrogate.length_scale=[0.2, 0.3]", NULL});
}

/* An entry that sets the key itself is not affected. */
RG_TEST(an_axis_does_not_reach_through_an_override)
{
  check_cells(
    "study: t\ncommon: {iterations: 5}\n"
    "problems: [branin, {name: ackley, noise_variance: 1, surrogate: {variance: 2}}]\n"
    "algorithms: [gp_ucb, {name: ei, surrogate: {variance: 3}}]\n"
    "sweep:\n  - {common.noise_variance: [3, 4]}\n  - {common.surrogate.variance: [5, 6]}\n",
    (const char *const[]){"branin | gp_ucb | noise_variance=3, surrogate.variance=5",
                          "branin | gp_ucb | noise_variance=3, surrogate.variance=6",
                          "branin | gp_ucb | noise_variance=4, surrogate.variance=5",
                          "branin | gp_ucb | noise_variance=4, surrogate.variance=6",
                          "branin | ei | noise_variance=3", "branin | ei | noise_variance=4",
                          "ackley | gp_ucb | ", "ackley | ei | ", NULL});
}

RG_TEST(axes_are_crossed_and_paths_of_one_axis_go_together)
{
  check_cells(STUDY("[ackley]", "[gp_ucb]") "sweep:\n  - {problems.ackley.dim: [2, 3], "
                                            "algorithms.gp_ucb.delta: [0.2, 0.3]}\n"
                                            "  - {common.initial_points: [4, 5]}\n",
              (const char *const[]){
                "ackley | gp_ucb (delta=0.2) | dim=2, delta=0.2, initial_points=4",
                "ackley | gp_ucb (delta=0.2) | dim=2, delta=0.2, initial_points=5",
                "ackley | gp_ucb (delta=0.3) | dim=3, delta=0.3, initial_points=4",
                "ackley | gp_ucb (delta=0.3) | dim=3, delta=0.3, initial_points=5", NULL});
}

/* An axis of pairs, and a cell that reads only one of them: each of its values occurs once. */
RG_TEST(half_an_axis_is_not_repeated)
{
  check_cells(STUDY("[ackley]", "[random, gp_ucb]") "sweep: [{problems.ackley.dim: [2, 2, 3], "
                                                    "algorithms.gp_ucb.delta: [0.2, 0.3, 0.2]}]\n",
              (const char *const[]){"ackley | random | dim=2", "ackley | random | dim=3",
                                    "ackley | gp_ucb (delta=0.2) | dim=2, delta=0.2",
                                    "ackley | gp_ucb (delta=0.3) | dim=2, delta=0.3",
                                    "ackley | gp_ucb (delta=0.2) | dim=3, delta=0.2", NULL});
}

/* Values also occur once if a cell reads a default that was added later, which texts of cells
   omit. */
RG_TEST(half_an_axis_of_a_later_word_is_not_repeated)
{
  check_cells(STUDY("[ackley]", "[gp_ucb, ei]") "sweep: [{algorithms.ei.surrogate.solver: [auto, "
                                                "auto, dense], algorithms.gp_ucb.delta: [0.2, "
                                                "0.3, 0.3]}]\n",
              (const char *const[]){"ackley | gp_ucb (delta=0.2) | delta=0.2",
                                    "ackley | gp_ucb (delta=0.3) | delta=0.3",
                                    "ackley | ei (surrogate.solver=auto) | surrogate.solver=auto",
                                    "ackley | ei (surrogate.solver=dense) | surrogate.solver=dense",
                                    NULL});
}

RG_TEST(blocks_are_swept_at_every_layer)
{
  check_cells(
    STUDY("[branin]",
          "[gp_ucb]") "sweep:\n  - {problems.branin.surrogate.kernel: [matern32, gaussian]}\n"
                      "  - {algorithms.gp_ucb.maximiser.restarts: [10]}\n",
    (const char *const[]){"branin | gp_ucb (maximiser.restarts=10) | surrogate.kernel=matern32, "
                          "maximiser.restarts=10",
                          "branin | gp_ucb (maximiser.restarts=10) | surrogate.kernel=gaussian, "
                          "maximiser.restarts=10",
                          NULL});
}

RG_TEST(the_longest_label_is_meant)
{
  check_cells(STUDY("[{name: ackley, label: A, upper: 3}, {name: ackley, label: A.B}]",
                    "[random]") "sweep: [{problems.A.B.dim: [2, 3]}, {problems.A.dim: [5]}]\n",
              (const char *const[]){"A | random | dim=5", "A.B | random | dim=2",
                                    "A.B | random | dim=3", NULL});
}

/* A swept value replaces the one that stands in the entry, and takes effect. */
RG_TEST(the_swept_value_counts)
{
  const RgStudy *study =
    study_of(STUDY("[{name: ackley, dim: 9, iterations: 9}]",
                   "[random]") "sweep: [{problems.ackley.dim: [2, 3], problems.ackley.iterations: "
                               "[20, 30]}]\n");
  assert_int_equal(study->n_cells, 2);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(study->cells[i].dim_x, 2 + i);
    assert_int_equal(study->cells[i].run.iterations, 20 + 10 * i);
    assert_int_equal(study->cells[i].run.initial_points, i ? 8 : 4);
  }
}

/* A required setting may come from the sweep alone. */
RG_TEST(a_sweep_can_give_what_is_required)
{
  const RgStudy *study = study_of("study: t\nproblems: [branin]\nalgorithms: [random]\n"
                                  "sweep: [{common.iterations: [5, 6]}]\n");
  assert_int_equal(study->n_cells, 2);
  assert_int_equal(study->cells[1].run.iterations, 6);
}

/* A number, a word and a block; methods that read one, two, none and all of them. */
RG_TEST(what_is_swept_is_data)
{
  static const char *const expected[] = {
    "random: ",
    "density_exploration: maximiser[3]={raw_samples=64}",
    "density_exploration: maximiser[3]={raw_samples=32,restarts=2}",
    "turbo: surrogate.variance[0]=0.5 surrogate.kernel[3]=gaussian",
    "turbo: surrogate.variance[0]=2 surrogate.kernel[3]=matern52",
    "ei: surrogate.variance[0]=0.5 surrogate.kernel[3]=gaussian maximiser[3]={raw_samples=64}",
    "ei: surrogate.variance[0]=0.5 surrogate.kernel[3]=gaussian "
    "maximiser[3]={raw_samples=32,restarts=2}",
    "ei: surrogate.variance[0]=2 surrogate.kernel[3]=matern52 maximiser[3]={raw_samples=64}",
    "ei: surrogate.variance[0]=2 surrogate.kernel[3]=matern52 "
    "maximiser[3]={raw_samples=32,restarts=2}"};

  const RgStudy *study =
    study_of(STUDY("[branin]", "[random, density_exploration, turbo, ei]") //
             "sweep:\n"
             "  - {common.surrogate.variance: [0.5, 2.0e0], common.surrogate.kernel: [gaussian, "
             "matern52]}\n"
             "  - {common.maximiser: [{raw_samples: 64}, {restarts: 2, raw_samples: 32}]}\n");
  assert_int_equal(study->n_cells, 9);
  for (int c = 0; c < 9; c++) {
    char line[256];
    int n = snprintf(line, sizeof(line), "%s: ", study->cells[c].algorithm_label);
    for (int i = 0; i < study->cells[c].n_swept; i++) {
      const RgSwept *s = &study->cells[c].settings[i];
      n += snprintf(line + n, sizeof(line) - (size_t)n, "%s%s[%d]=%s", i ? " " : "", s->name,
                    s->kind, s->text);
    }
    assert_string_equal(line, expected[c]);
  }
  assert_string_equal(study->cells[8].swept, "surrogate.variance=2.0e0, surrogate.kernel=matern52, "
                                             "maximiser={raw_samples=32, restarts=2}");
  assert_int_equal(study->cells[7].maximiser.raw_samples, 64);
  assert_int_equal(study->cells[7].maximiser.restarts, 50);
  assert_int_equal(study->cells[8].maximiser.restarts, 2);
  assert_string_equal(study->shared,
                      "random doesn't read surrogate.variance: 1 cell for 2 values\n"
                      "random doesn't read surrogate.kernel: 1 cell for 2 values\n"
                      "random doesn't read maximiser: 1 cell for 2 values\n"
                      "density_exploration doesn't read surrogate.variance: 1 cell "
                      "for 2 values\n"
                      "density_exploration doesn't read surrogate.kernel: 1 cell for "
                      "2 values\n"
                      "turbo doesn't read maximiser: 1 cell for 2 values\n");
}

static void check_settings(const char *text, const char *const *expected)
{
  const RgStudy *study = study_of("%s", text);
  for (int c = 0; c < study->n_cells; c++) {
    const RgCell *cell = &study->cells[c];
    RgText line = {0};
    RG_OK(rg_text_add(&line, "%s", ""));
    for (int i = 0; i < cell->n_swept; i++)
      RG_OK(rg_text_add(&line, "%s=%s %s %d ", cell->settings[i].name, cell->settings[i].text,
                        cell->settings[i].part, (int)cell->settings[i].kind));
    assert_string_equal(line.data, expected[c]);
    RG_OK(rg_text_clear(&line));
  }
}

RG_TEST(kinds_of_what_is_swept)
{
  check_settings(STUDY("[ackley]", "[gp_ucb]") //
                 "sweep: [{common.initial_points: [auto, 5], common.noise_known: [yes, no]}]\n",
                 (const char *const[]){"initial_points=auto run 3 noise_known=true run 2 ",
                                       "initial_points=5 run 3 noise_known=false run 2 "});
  check_settings(
    STUDY("[ackley]", "[gp_ucb]") //
    "sweep: [{common.initial_points: [4, 5], problems.ackley.noise_variance: [0, 1e0]}, "
    "{common.surrogate.length_scale: [0.1, [0.2]]}]\n",
    (const char *const[]){
      "initial_points=4 run 1 noise_variance=0 run 0 surrogate.length_scale=0.1 "
      "surrogate 0 ",
      "initial_points=4 run 1 noise_variance=0 run 0 surrogate.length_scale=0.2 "
      "surrogate 0 ",
      "initial_points=5 run 1 noise_variance=1 run 0 surrogate.length_scale=0.1 "
      "surrogate 0 ",
      "initial_points=5 run 1 noise_variance=1 run 0 surrogate.length_scale=0.2 "
      "surrogate 0 "});
  check_settings(STUDY("[branin]", "[{name: cma_es, label: C}]") //
                 "sweep: [{common.initial_points: [4, 5], algorithms.C.restarts: [no, yes]}]\n",
                 (const char *const[]){"initial_points=4 run 1 restarts=false algorithm 2 ",
                                       "initial_points=5 run 1 restarts=true algorithm 2 "});
}

/* A known noise variance makes no difference to a method that never reads it. */
RG_TEST(a_blind_method_is_not_told_twice)
{
  check_cells(STUDY("[branin]", "[random, gp_ucb]") "sweep: [{common.noise_known: [no, yes]}]\n",
              (const char *const[]){"branin | random | ", "branin | gp_ucb | noise_known=no",
                                    "branin | gp_ucb | noise_known=yes", NULL});
}
