/* CPU time and memory of a running program, with the CPU time of the programs that it started. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/child_internal.h"

enum { DEPTH_MAX = 16 };

/* CPU time of one process without its children; 0 if the system does not report it. */
static double own_seconds(pid_t pid)
{
#ifdef RG_HAVE_CLOCK_GETCPUCLOCKID
  clockid_t id;
  struct timespec used;

  if (!clock_getcpuclockid(pid, &id) && !clock_gettime(id, &used))
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
#endif
  (void)pid;
  return 0;
}

/* CPU time of children that have ended and were waited for. */
static double ended_seconds(pid_t pid)
{
  char path[64], line[1024];
  unsigned long user = 0, system = 0;
  int found = 0;

  snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  if (fgets(line, sizeof(line), file)) {
    const char *rest = strrchr(line, ')'); /* the program name before it may contain anything */
    if (rest)
      found = sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lu %lu",
                     &user, &system);
  }
  fclose(file);
  return found == 2 ? (double)(user + system) / (double)sysconf(_SC_CLK_TCK) : 0;
}

static double tree_seconds(pid_t pid, int depth);

/* CPU time of the children that one thread started. */
static double children_of_thread(pid_t pid, const char *thread, int depth)
{
  char path[320];
  double sum = 0;
  long child;

  snprintf(path, sizeof(path), "/proc/%ld/task/%s/children", (long)pid, thread);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  while (fscanf(file, "%ld", &child) == 1) sum += tree_seconds((pid_t)child, depth + 1);
  fclose(file);
  return sum;
}

static double tree_seconds(pid_t pid, int depth)
{
  double sum = own_seconds(pid) + ended_seconds(pid);
  char path[64];

  snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
  DIR *threads = depth < DEPTH_MAX ? opendir(path) : NULL;
  if (!threads) return sum;
  for (const struct dirent *entry; (entry = readdir(threads));)
    if (entry->d_name[0] != '.') sum += children_of_thread(pid, entry->d_name, depth);
  closedir(threads);
  return sum;
}

double rg_child_tree_seconds(pid_t pid)
{
  return tree_seconds(pid, 0);
}

double rg_child_peak_bytes(pid_t pid)
{
  char path[64], line[256];
  long kibibytes = 0;

  snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  while (fgets(line, sizeof(line), file))
    if (sscanf(line, "VmHWM: %ld kB", &kibibytes) == 1) break;
  fclose(file);
  return 1024.0 * (double)kibibytes;
}
