/* The registry of algorithms: one line per method, `RG_ALGORITHM(symbol)` for
   `const RgAlgorithmClass rg_algorithm_<symbol>` in algorithm/. */
