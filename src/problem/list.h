/* The registry of problems: one line per family, `RG_PROBLEM(symbol)` for
   `const RgProblemClass rg_problem_<symbol>` in problem/. */
