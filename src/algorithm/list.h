/* The registry of algorithms: one line per method, `RG_ALGORITHM(symbol)` for
   `const RgAlgorithmClass rg_algorithm_<symbol>` in algorithm/. */
RG_ALGORITHM(random_search)
RG_ALGORITHM(gp_ucb)
RG_ALGORITHM(rgp_ucb)
RG_ALGORITHM(irgp_ucb)
RG_ALGORITHM(ei)
RG_ALGORITHM(rrgp_ucb)
RG_ALGORITHM(bbbmobo)
RG_ALGORITHM(bpt_ucb)
RG_ALGORITHM(bq)
RG_ALGORITHM(uncertainty_sampling)
RG_ALGORITHM(random_sampling)
