/* The sums of Gaussians behind Hartmann's functions: shared by every family built on them. */
#ifndef RG_PROBLEM_HARTMANN_H
#define RG_PROBLEM_HARTMANN_H

/* The usual weights (1, 1.2, 3, 3.2). */
extern const double rg_hartmann_weights[4];

/* Rows of A and P, 4 x dim, of the 3- and the 6-dimensional function. */
extern const double rg_hartmann3_a[4 * 3], rg_hartmann3_p[4 * 3];
extern const double rg_hartmann6_a[4 * 6], rg_hartmann6_p[4 * 6];

#endif
