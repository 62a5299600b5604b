/* Functions compiled for several instruction sets; the loader picks the best one the CPU has.
   Internal to gp/. */
#ifndef RG_GP_CLONES_H
#define RG_GP_CLONES_H

/* GCC on x86-64 with glibc (it needs indirect functions). A compiler tuned for one CPU, clang, other
   systems and sanitizers (whose run time is not up when the loader resolves) get the plain loops. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) \
  && !defined(__AVX2__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RG_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define RG_CLONES
#endif

#endif
