/* Faults and the texts that describe them. */
#include "base/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/number.h"
#include "base/text.h"

void rg_fault_set(RgFault *fault, RgFaultCode code, const char *format, ...)
{
  va_list arguments;

  if (fault->code) return;
  fault->code = code;
  va_start(arguments, format);
  rg_format_list(fault->message, sizeof(fault->message), format, arguments);
  va_end(arguments);
  rg_text_disarm(fault->message, false); /* one line, whatever names a file has */
}

void rg_fault_restate(RgFault *fault, RgFaultCode code, const char *where)
{
  char message[sizeof(fault->message)];

  if (!fault->code) return;
  memcpy(message, fault->message, sizeof(message));
  fault->code = code;
  snprintf(fault->message, sizeof(fault->message), "%.200s: %.300s", where, message);
}

static void print_size(char text[32], double bytes)
{
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int unit = 0;

  for (; bytes >= 1024 && unit < 5; unit++) bytes /= 1024;
  rg_format(text, 32, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

void rg_fault_file(RgFault *fault, const char *path, const char *what, int error,
                   const char *directory, uint64_t needed)
{
  const RgFaultCode code = error == ENOSPC || error == EDQUOT ? RG_FAULT_FULL : RG_FAULT_ERROR;
  struct statvfs space;
  char need[32], available[32] = "unknown";

  if (!error) return;
  if (!fault->code) fault->error = error;
  if (!needed) {
    rg_fault_set(fault, code, "cannot %s %.400s: %s", what, path, strerror(error));
    return;
  }
  print_size(need, (double)needed);
  if (!statvfs(directory, &space))
    print_size(available, (double)space.f_bavail * (double)space.f_frsize);
  rg_fault_set(fault, code, "cannot %s %.300s: %s (needs %s, %s free)", what, path, strerror(error),
               need, available);
}

bool rg_fault_lasts(const RgFault *fault)
{
  return fault->code && (fault->error == ENOTDIR || fault->error == ELOOP);
}
