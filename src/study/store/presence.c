/* Locks of an open file description: other descriptors of the process do not release them. */
#include "study/store/presence.h"

#include <fcntl.h>
#include <unistd.h>

int rg_presence_begin(const char *directory)
{
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

  if (fd < 0 || !fcntl(fd, F_OFD_SETLK, &lock)) return fd;
  (void)close(fd);
  return -1;
}

bool rg_presence_others(int fd)
{
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

  return fd >= 0 && !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

bool rg_presence_any(const char *directory)
{
  const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const bool any = rg_presence_others(fd);

  if (fd >= 0) (void)close(fd);
  return any;
}
