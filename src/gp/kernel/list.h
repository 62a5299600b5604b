/* The families of kernels: one line per family, the file that describes it. No include guard: each
   file ends in RG_KERNEL(name, NAME), and the includer says what that stands for. The order is that
   of RgKernelFamily. */
#include "gp/kernel/families/gaussian.h"
#include "gp/kernel/families/matern12.h"
#include "gp/kernel/families/matern32.h"
#include "gp/kernel/families/matern52.h"
#include "gp/kernel/families/rational_quadratic.h"
#include "gp/kernel/families/periodic.h"
