/* Replacement of a file by a finished one, only if the old file is the expected one. */
#include "study/store/install.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files.h"

RgFileState rg_install_state(const char *path)
{
  RgFileState state = {0};

  state.exists = !stat(path, &state.status);
  return state;
}

bool rg_install_same(const RgFileState *a, const RgFileState *b)
{
  if (!a->exists || !b->exists) return a->exists == b->exists;
  return a->status.st_dev == b->status.st_dev && a->status.st_ino == b->status.st_ino &&
         a->status.st_size == b->status.st_size &&
         a->status.st_mtim.tv_sec == b->status.st_mtim.tv_sec &&
         a->status.st_mtim.tv_nsec == b->status.st_mtim.tv_nsec;
}

static void tell_changed(const char *path, RgFault *fault)
{
  rg_fault_set(fault, RG_FAULT_INCOMPLETE, "another run changed %.400s meanwhile", path);
}

void rg_install_check(const char *path, const RgFileState *expected, RgFault *fault)
{
  const RgFileState now = rg_install_state(path);

  if (!rg_install_same(&now, expected)) tell_changed(path, fault);
}

static bool is_unsupported(int error)
{
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

/* rename() with a flag: exchange two files, or don't replace. */
#ifdef RG_HAVE_RENAMEAT2
#define RENAME(from, to, flag) renameat2(AT_FDCWD, from, AT_FDCWD, to, flag)
#else
#define RENAME(from, to, flag) (errno = ENOSYS, -1)
#endif

/* Exchange the two names, then check the file that came out. So another run's file is never
   overwritten unnoticed. */
static int exchange(const char *temporary, const char *path, const RgFileState *expected,
                    bool *changed)
{
  RgFileState displaced;

  if (RENAME(temporary, path, RENAME_EXCHANGE)) return errno;
  displaced = rg_install_state(temporary);
  *changed = !rg_install_same(&displaced, expected);
  if (*changed && RENAME(temporary, path, RENAME_EXCHANGE) && rename(temporary, path)) return errno;
  return 0;
}

/* Returns 0 or an errno. File systems without exchange and no-replace get a last check and a
   plain rename. */
static int place(const char *temporary, const char *path, const RgFileState *expected,
                 bool *changed)
{
  RgFileState now = rg_install_state(path);
  int error = 0;

  *changed = !rg_install_same(&now, expected);
  if (*changed) return 0;
  if (expected->exists) error = exchange(temporary, path, expected, changed);
  else if (RENAME(temporary, path, RENAME_NOREPLACE)) error = errno;
  if (error == (expected->exists ? ENOENT : EEXIST)) {
    *changed = true;
    return 0;
  }
  if (!is_unsupported(error)) return error;
  return rename(temporary, path) ? errno : 0;
}

void rg_install(const char *temporary, const char *path, const char *directory,
                const RgFileState *expected, RgFault *fault)
{
  bool changed = false;
  const char *step = "rename";
  int error = place(temporary, path, expected, &changed);

  /* Remove the replaced file, or the file that could not be placed. */
  if (!changed || !error) (void)unlink(temporary);
  if (changed && !error) tell_changed(path, fault);
  if (!error) { /* the name exists, but a power loss could still remove it */
    error = rg_directory_sync(directory);
    step = "sync the directory of";
  }
  rg_fault_file(fault, path, step, error, directory, 0);
}
