/* Optima found by search, stored in files. */
#include "study/trial/optimum_cache.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/files.h"
#include "study/record/software.h"

enum { LARGEST = 1 << 20 }; /* largest file in bytes */

PetscErrorCode rg_optimum_cache_program(RgText *text)
{
  RgText mistake = {0}; /* without /proc, versions alone must suffice */
  char *software, hex[33] = "";

  PetscFunctionBeginUser;
  PetscCall(rg_software_describe(&software));
  PetscCall(rg_file_hash("/proc/self/exe", hex, &mistake));
  PetscCall(rg_text_add(text, "%s; program %s", software, hex));
  PetscCall(rg_text_clear(&mistake));
  PetscCall(PetscFree(software));
  PetscFunctionReturn(0);
}

/* ---- one file -------------------------------------------------------------------------------- */

static void name_of(const char *key, char name[48])
{
  uint64_t hash[2];
  char hex[33];

  rg_hash128(key, strlen(key), hash);
  rg_hash_hex(hash, hex);
  snprintf(name, 48, "%s.optimum", hex);
}

static PetscErrorCode add_head(const char *key, RgText *text)
{
  return rg_text_add(text, "regatta optimum 1\n%s\n", key);
}

/* The text of a file; its decimal numbers are for people. */
static PetscErrorCode compose(const char *key, double optimum, double accuracy, RgText *text)
{
  uint64_t bits[2], hash[2];
  char hex[33];

  PetscFunctionBeginUser;
  memcpy(&bits[0], &optimum, sizeof(optimum));
  memcpy(&bits[1], &accuracy, sizeof(accuracy));
  PetscCall(add_head(key, text));
  PetscCall(rg_text_add(text, "optimum %016" PRIx64 " %.17g\naccuracy %016" PRIx64 " %.17g\n",
                        bits[0], optimum, bits[1], accuracy));
  rg_hash128(text->data, text->length, hash);
  rg_hash_hex(hash, hex);
  PetscCall(rg_text_add(text, "checksum %s\n", hex));
  PetscFunctionReturn(0);
}

/* Parse a file. It is valid if it equals the text composed from its numbers. */
static PetscErrorCode parse(const char *key, const char *bytes, size_t length, double *optimum,
                            double *accuracy, bool *found)
{
  RgText head = {0}, whole = {0};
  uint64_t bits[2];
  double numbers[2];

  PetscFunctionBeginUser;
  PetscCall(add_head(key, &head));
  if (length > head.length && !memcmp(bytes, head.data, head.length) &&
      sscanf(bytes + head.length, "optimum %" SCNx64 " %*s accuracy %" SCNx64, &bits[0],
             &bits[1]) == 2) {
    memcpy(numbers, bits, sizeof(numbers));
    PetscCall(compose(key, numbers[0], numbers[1], &whole));
    *found = isfinite(numbers[0]) && isfinite(numbers[1]) && whole.length == length &&
             !memcmp(bytes, whole.data, length);
  }
  if (*found) {
    *optimum = numbers[0];
    *accuracy = numbers[1];
  }
  PetscCall(rg_text_clear(&head));
  PetscCall(rg_text_clear(&whole));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_optimum_cache_read(const char *folder, const char *key, double *optimum,
                                     double *accuracy, bool *found)
{
  RgText path = {0}, mistake = {0};
  char name[48], *bytes = NULL;
  size_t length = 0;

  PetscFunctionBeginUser;
  *found = false;
  name_of(key, name);
  PetscCall(rg_text_add(&path, "%s/%s", folder, name));
  PetscCall(rg_file_read_open(rg_inside_open(path.data, RG_FOLDER, O_RDONLY | O_NONBLOCK), LARGEST,
                              &bytes, &length, &mistake));
  if (bytes) PetscCall(parse(key, bytes, length, optimum, accuracy, found));
  PetscCall(PetscFree(bytes));
  PetscCall(rg_text_clear(&mistake));
  PetscCall(rg_text_clear(&path));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_optimum_cache_write(const char *folder, const char *key, double optimum,
                                      double accuracy)
{
  RgText text = {0};
  RgFault fault = {0}; /* a failure is harmless: another run will search */
  char name[48];
  double value, error_bound;
  bool found;

  PetscFunctionBeginUser;
  if (!isfinite(optimum) || !isfinite(accuracy)) PetscFunctionReturn(0);
  PetscCall(rg_optimum_cache_read(folder, key, &value, &error_bound, &found));
  if (found) PetscFunctionReturn(0); /* another rank has stored it already */
  name_of(key, name);
  PetscCall(compose(key, optimum, accuracy, &text));
  (void)rg_inside_create(folder); /* the commit reports a failure */
  PetscCall(rg_file_commit(folder, RG_FOLDER, name, text.data, text.length, &fault));
  PetscCall(rg_text_clear(&text));
  PetscFunctionReturn(0);
}
