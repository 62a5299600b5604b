#include "test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>

#include "scratch.h"
#include "base/files.h"
#include "study/hdf5/container.h"
#include "study/store/store.h"

RG_TEST(writes_and_replaces)
{
  char scratch[64], path[512];
  unsigned char *bytes;
  size_t length;
  RgFault fault = {0};

  scratch_create(scratch);
  RG_OK(rg_file_commit(scratch, RG_TOP, "a.h5", "hello", 5, &fault));
  assert_int_equal(fault.code, RG_FAULT_NONE);
  RG_OK(rg_file_commit(scratch, RG_TOP, "a.h5", "other!", 6, &fault));
  assert_int_equal(fault.code, RG_FAULT_NONE);
  snprintf(path, sizeof(path), "%s/a.h5", scratch);
  bytes = scratch_read(path, &length);
  assert_int_equal(length, 6);
  assert_memory_equal(bytes, "other!", 6);
  free(bytes);
  RG_OK(rg_file_commit(scratch, RG_TOP, "empty", NULL, 0, &fault));
  assert_int_equal(fault.code, RG_FAULT_NONE);
  assert_int_equal(scratch_count(scratch, ""), 2); /* no temporary file is left */
  scratch_remove(scratch);
}

RG_TEST(missing_directory_is_an_error)
{
  char scratch[64], directory[128];
  RgFault fault = {0};

  scratch_create(scratch);
  snprintf(directory, sizeof(directory), "%s/nowhere", scratch);
  RG_OK(rg_file_commit(directory, RG_TOP, "a.h5", "hello", 5, &fault));
  assert_int_equal(fault.error, ENOENT);
  assert_non_null(strstr(fault.message, "nowhere/a.h5"));
  scratch_remove(scratch);
}

/* A limit on the size of files takes the place of a full disk: EFBIG after a short write. */
RG_TEST(nothing_is_left_of_a_failed_write)
{
  char scratch[64], bytes[8192] = {0};
  struct rlimit old, small;
  RgFault fault = {0};

  scratch_create(scratch);
  (void)signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old;
  small.rlim_cur = 5000;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  RG_OK(rg_file_commit(scratch, RG_TOP, "a.h5", bytes, sizeof(bytes), &fault));
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
  assert_int_equal(fault.error, EFBIG);
  assert_non_null(strstr(fault.message, "needs 8.0 KiB"));
  assert_non_null(strstr(fault.message, " free)"));
  assert_int_equal(scratch_count(scratch, ""), 0);
  scratch_remove(scratch);
}

RG_TEST(target_that_is_a_directory_is_an_error)
{
  char scratch[64], directory[128];
  RgFault fault = {0};

  scratch_create(scratch);
  snprintf(directory, sizeof(directory), "%s/a.h5", scratch);
  assert_int_equal(mkdir(directory, 0777), 0);
  RG_OK(rg_file_commit(scratch, RG_TOP, "a.h5", "hello", 5, &fault));
  assert_true(fault.error == EISDIR || fault.error == EEXIST);
  assert_non_null(strstr(fault.message, "rename"));
  assert_int_equal(scratch_count(scratch, ""), 1);
  scratch_remove(scratch);
}

RG_TEST(temporary_names_do_not_collide)
{
  char scratch[64], first[512], second[512];
  int a, b, error = 0;

  scratch_create(scratch);
  a = rg_file_create_temporary(scratch, first, sizeof(first), &error);
  b = rg_file_create_temporary(scratch, second, sizeof(second), &error);
  assert_true(a >= 0 && b >= 0);
  assert_string_not_equal(first, second);
  assert_false(rg_file_is_stale(strrchr(first, '/') + 1)); /* we are alive */
  close(a);
  close(b);
  assert_int_equal(rg_file_create_temporary(scratch, first, 20, &error), -1);
  assert_int_equal(error, ENAMETOOLONG);
  scratch_remove(scratch);
}

RG_TEST(files_of_the_dead_are_stale)
{
  char host[RG_FILE_PLACE_MAX], name[300];

  rg_file_place(host);
  snprintf(name, sizeof(name), ".tmp.%s.%d.0", host, 0x3ffffff); /* beyond any pid */
  assert_true(rg_file_is_stale(name));
  snprintf(name, sizeof(name), ".tmp.%s.%d.0", host, (int)getpid());
  assert_false(rg_file_is_stale(name));
  snprintf(name, sizeof(name), ".tmp.other-%s.%d.0", host, 0x3ffffff);
  assert_false(rg_file_is_stale(name));
  host[strlen(host) - 1] ^= 1; /* the same host name, but another namespace of processes */
  snprintf(name, sizeof(name), ".tmp.%s.%d.0", host, 0x3ffffff);
  assert_false(rg_file_is_stale(name));
  host[strlen(host) - 1] ^= 1;
  snprintf(name, sizeof(name), ".tmp.%s.%d.0", "host", 0x3ffffff);
  assert_false(rg_file_is_stale(name));
  snprintf(name, sizeof(name), ".tmp.%s.%d", host, 0x3ffffff);
  assert_false(rg_file_is_stale(name));
  assert_false(rg_file_is_stale("0-00.h5"));
  assert_false(rg_file_is_stale(".tmp"));
}

/* Files of a process before the last start of this host, or on another host, are judged by age
   alone; only files with our names are removed. */
RG_TEST(files_of_other_places_are_forgotten_with_time)
{
  static const struct {
    const char *name;
    bool ours;
  } cases[] = {{".tmp.host.0123456789abcdef.17.0", true},
               {".tmp.host.0123456789abcdef.17", false},
               {".tmp.host.17.0", false},
               {".tmp.mine", false},
               {"0-00.h5", false}};
  const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
  char scratch[64], place[RG_FILE_PLACE_MAX], name[300], path[512];

  scratch_create(scratch);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    snprintf(path, sizeof(path), "%s/%s", scratch, cases[i].name);
    scratch_write(path, "x", 1);
    assert_false(rg_file_is_abandoned(scratch, RG_TOP, cases[i].name, 86400));
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_int_equal(rg_file_is_abandoned(scratch, RG_TOP, cases[i].name, 86400), cases[i].ours);
  }
  rg_file_place(place); /* here the process can be looked up */
  snprintf(name, sizeof(name), ".tmp.%s.%d.0", place, (int)getpid());
  snprintf(path, sizeof(path), "%s/%s", scratch, name);
  scratch_write(path, "x", 1);
  assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
  assert_false(rg_file_is_abandoned(scratch, RG_TOP, name, 86400));
  scratch_remove(scratch);
}

RG_TEST(shards_are_known_by_their_names)
{
  assert_int_equal(rg_shard_level("0-0123456789abcdef0123456789abcdef.h5"), 0);
  assert_int_equal(rg_shard_level("12-0123456789abcdef0123456789abcdef.h5"), 12);
  assert_int_equal(rg_shard_level("0-0123456789abcdef0123456789abcdef.h5~"), -1);
  assert_int_equal(rg_shard_level("0-0123456789ABCDEF0123456789abcdef.h5"), -1);
  assert_int_equal(rg_shard_level("-1-0123456789abcdef0123456789abcdef.h5"), -1);
  assert_int_equal(rg_shard_level("0-0123456789abcdef.h5"), -1);
  assert_int_equal(rg_shard_level("STOP"), -1);
  assert_int_equal(rg_shard_level(""), -1);
}

RG_TEST(trailer_survives_the_way)
{
  const uint64_t hash[2] = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};
  unsigned char trailer[RG_TRAILER_LENGTH];
  uint64_t length = 0, found[2] = {0};

  rg_trailer_write(UINT64_C(0x1122334455667788), hash, trailer);
  assert_memory_equal(trailer, "RGTRAIL\n\x88\x77\x66\x55\x44\x33\x22\x11\xef\xcd", 18);
  assert_true(rg_trailer_read(trailer, &length, found));
  assert_true(length == UINT64_C(0x1122334455667788));
  assert_true(found[0] == hash[0] && found[1] == hash[1]);
  trailer[0] ^= 1;
  assert_false(rg_trailer_read(trailer, &length, found));
}
