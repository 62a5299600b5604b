#include "test_main.h"

#include "base/hash.h"

static void assert_hex(const char *data, const char *expected)
{
  uint64_t hash[2];
  char hex[33];

  rg_hash128(data, strlen(data), hash);
  rg_hash_hex(hash, hex);
  assert_string_equal(hex, expected);
}

/* As printed by `xxhsum -H2`. */
RG_TEST(known_answers)
{
  assert_hex("", "99aa06d3014798d86001c324468d497f");
  assert_hex("a", "a96faf705af16834e6c632b61e964e1f");
  assert_hex("abc", "06b05ab6733a618578af5f94892f3950");
}

RG_TEST(halves_and_digits_are_in_order)
{
  const uint64_t hash[2] = {0x0123456789abcdefu, 0xfedcba9876543210u};
  char hex[33];

  rg_hash_hex(hash, hex);
  assert_string_equal(hex, "fedcba98765432100123456789abcdef");
}
