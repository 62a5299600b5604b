/* Worst case of an expectation over distributions near a weighted sample in total variation (the
   full L1 distance, no factor 1/2, range [0, 2]). Source: arXiv:2312.10423, Proposition 2, in the
   closed form of sbo_kde 2.3.1. */
#ifndef RG_ROBUST_TOTAL_VARIATION_H
#define RG_ROBUST_TOTAL_VARIATION_H

#include "regatta/error.h"

/* Minimise E_q u over q with |q - w|_1 <= radius, where mass may also move to a point of value
   `floor`: sum w_i min(u_i, eta) - radius/2 max(0, eta - floor), eta = max(floor, upper radius/2
   quantile). w: n weights > 0, sum 1; NULL: equal weights. q: n, the worst weights at the u_i,
   and *q_floor the mass at the floor (both NULL: not wanted); ties at eta each give mass in
   proportion to w. work: 2n. O(n). */
double rg_total_variation_worst(int n, const double *u, const double *w, double floor,
                                double radius, double *q, double *q_floor, double *work);

#endif
