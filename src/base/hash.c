/* XXH3-128 hashes and their text. */
#include "base/hash.h"

#include <string.h>
#include <xxhash.h>

void rg_hash128(const void *data, size_t length, uint64_t out[2])
{
  XXH128_hash_t hash = XXH3_128bits(data, length);

  out[0] = hash.low64;
  out[1] = hash.high64;
}

void rg_hash_hex(const uint64_t hash[2], char hex[33])
{
  static const char digits[] = "0123456789abcdef";

  for (int i = 0; i < 32; i++) {
    uint64_t half = hash[i < 16 ? 1 : 0];
    hex[i] = digits[(half >> (60 - 4 * (i % 16))) & 15u];
  }
  hex[32] = '\0';
}

bool rg_hash_parse(const char *hex, uint64_t hash[2])
{
  hash[0] = hash[1] = 0;
  if (strspn(hex, "0123456789abcdef") != 32 || hex[32]) return false;
  for (int i = 0; i < 32; i++) {
    int digit = hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10;
    hash[i < 16] = hash[i < 16] << 4 | (uint64_t)digit;
  }
  return true;
}
