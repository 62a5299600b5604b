/* The generations of cma_es, for the check of workers. */
#ifndef RG_ALGORITHM_CMA_ES_H
#define RG_ALGORITHM_CMA_ES_H

#include "regatta/algorithm.h"

/* The number of points that the method chooses before it learns from them, with these options in
   `dim` inputs; 0: the class is another one. Restarts double it. */
int rg_cma_es_generation(const RgAlgorithmClass *class, const void *options, int dim);

#endif
