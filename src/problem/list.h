/* The registry of problems: one line per family, `RG_PROBLEM(symbol)` for
   `const RgProblemClass rg_problem_<symbol>` in problem/. */
RG_PROBLEM(gp_path)
RG_PROBLEM(forrester)
RG_PROBLEM(branin)
RG_PROBLEM(goldstein_price)
RG_PROBLEM(six_hump_camel)
RG_PROBLEM(holder_table)
RG_PROBLEM(cross_in_tray)
RG_PROBLEM(hartmann3)
RG_PROBLEM(hartmann6)
RG_PROBLEM(ackley)
RG_PROBLEM(rosenbrock)
RG_PROBLEM(sphere)
