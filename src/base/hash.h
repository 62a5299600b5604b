/* 128-bit hashes (XXH3-128 of xxHash) for keys, identities and checksums. Not cryptographic. */
#ifndef RG_BASE_HASH_H
#define RG_BASE_HASH_H

#include "regatta/error.h"

/* XXH3-128 of `length` bytes: out[0] has the low, out[1] the high 64 bits. As numbers they are
   the same on machines of either byte order. O(length). */
void rg_hash128(const void *data, size_t length, uint64_t out[2]);

/* The hash as 32 lower-case hexadecimal digits and a NUL, high half first (as `xxhsum -H2` prints
   it). */
void rg_hash_hex(const uint64_t hash[2], char hex[33]);

/* Parse 32 such digits; false if the text is anything else. */
bool rg_hash_parse(const char *hex, uint64_t hash[2]);

#endif
