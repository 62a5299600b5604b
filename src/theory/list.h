/* The families of regret bounds: one line per family, `RG_BOUNDS(symbol)` for
   `const RgBoundFamily rg_bounds_<symbol>` in theory/. */
RG_BOUNDS(irgp_ucb)
RG_BOUNDS(rrgp_ucb)
RG_BOUNDS(kde)
RG_BOUNDS(wasserstein)
RG_BOUNDS(sampling)
