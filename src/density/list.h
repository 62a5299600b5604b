/* The smoothing kernels: one line per kernel, `RG_SMOOTHING(SYMBOL, name)`, with the name as typed.
   Its formulas are in smoothing_formulas.h. */
RG_SMOOTHING(GAUSSIAN, "gaussian")         /* exp(-|z|^2/2) */
RG_SMOOTHING(EPANECHNIKOV, "epanechnikov") /* max(1 - |z|^2, 0); so are the others 0 beyond 1 */
RG_SMOOTHING(UNIFORM, "uniform")           /* 1 if |z| <= 1, else 0 */
RG_SMOOTHING(TRIANGULAR, "triangular")     /* 1 - |z| */
RG_SMOOTHING(BIWEIGHT, "biweight")         /* (1 - |z|^2)^2 */
RG_SMOOTHING(TRIWEIGHT, "triweight")       /* (1 - |z|^2)^3 */
RG_SMOOTHING(TRICUBE, "tricube")           /* (1 - |z|^3)^3 */
RG_SMOOTHING(COSINE, "cosine")             /* cos(pi |z|/2) */
RG_SMOOTHING(EXPONENTIAL, "exponential")   /* exp(-|z|), nowhere 0 */
RG_SMOOTHING(LAPLACIAN, "laplacian")       /* exp(-sum_k |z_k|), nowhere 0 */
