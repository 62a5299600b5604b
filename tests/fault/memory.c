/* A preloaded library in which the k-th allocation that Regatta, HDF5 or PETSc makes fails, and with
   REGATTA_MEMORY_FOREVER every later one too. REGATTA_MEMORY_CALL: k, from 1; 0: none.
   REGATTA_MEMORY_COUNT: a file that gets the number of such calls. Allocations of other libraries
   succeed, which end the process by themselves. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

enum { MOST = 32 };

static struct {
  uintptr_t from[MOST], to[MOST];
  int n;
  long call, *count; /* count: shared with children, which leave by _exit */
  bool armed, forever;
} memory;

static int note_library(struct dl_phdr_info *info, size_t size, void *closure)
{
  (void)size, (void)closure;
  const bool wanted =
    !info->dlpi_name[0] || strstr(info->dlpi_name, "hdf5") || strstr(info->dlpi_name, "petsc");
  for (int k = 0; wanted && k < info->dlpi_phnum && memory.n < MOST; k++) {
    if (info->dlpi_phdr[k].p_type != PT_LOAD || !(info->dlpi_phdr[k].p_flags & PF_X)) continue;
    memory.from[memory.n] = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr;
    memory.to[memory.n++] =
      info->dlpi_addr + info->dlpi_phdr[k].p_vaddr + info->dlpi_phdr[k].p_memsz;
  }
  return 0;
}

__attribute__((constructor)) static void begin(void)
{
  const char *call = getenv("REGATTA_MEMORY_CALL"), *forever = getenv("REGATTA_MEMORY_FOREVER");

  if (strcmp(program_invocation_short_name, "regatta")) return; /* MPI starts programs of its own */
  dl_iterate_phdr(note_library, NULL);
  memory.call = call ? atol(call) : 0;
  memory.forever = forever && atoi(forever);
  memory.count =
    mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  memory.armed = memory.count != MAP_FAILED;
}

__attribute__((destructor)) static void end(void)
{
  const char *path = memory.armed ? getenv("REGATTA_MEMORY_COUNT") : NULL;
  FILE *file = path ? fopen(path, "w") : NULL;

  memory.armed = false;
  if (!file) return;
  fprintf(file, "%ld\n", *memory.count);
  fclose(file);
}

static bool fails(const void *caller)
{
  const uintptr_t at = (uintptr_t)caller;
  bool ours = false;

  if (!memory.armed) return false;
  for (int k = 0; k < memory.n && !ours; k++) ours = at >= memory.from[k] && at < memory.to[k];
  if (!ours) return false;
  const long number = __atomic_add_fetch(memory.count, 1, __ATOMIC_RELAXED);
  if (!memory.call || (memory.forever ? number < memory.call : number != memory.call)) return false;
  errno = ENOMEM;
  return true;
}

void *malloc(size_t size)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
  return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
  if (fails(__builtin_return_address(0))) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
