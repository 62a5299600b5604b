/* XXH3-128 and its text. */
#include "base/hash.h"

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

  for (int i = 0; i < 32; ++i) {
    uint64_t half = hash[i < 16 ? 1 : 0];
    hex[i] = digits[(half >> (60 - 4 * (i % 16))) & 15u];
  }
  hex[32] = '\0';
}
