/* The families of kernels, one line `RG_KERNEL(name, NAME)` for each. The file of that name in
   gp/kernel/families/ describes the family. The includer defines what a line expands to. The
   order is that of RgKernelFamily. */
RG_KERNEL(gaussian, GAUSSIAN)
RG_KERNEL(matern12, MATERN12)
RG_KERNEL(matern32, MATERN32)
RG_KERNEL(matern52, MATERN52)
RG_KERNEL(rational_quadratic, RATIONAL_QUADRATIC)
RG_KERNEL(periodic, PERIODIC)
RG_KERNEL(spherical_linear, SPHERICAL_LINEAR)
