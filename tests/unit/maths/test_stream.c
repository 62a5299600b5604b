#include "test_main.h"

#include "regatta/stream.h"

#include <Random123/philox.h>

#include <inttypes.h>
#include <stdio.h>

/* --- Philox4x64-10, derived anew ------------------------------------------------------------- */

/* High half of a 64 x 64 bit product by four 32 x 32 bit products. */
static uint64_t high_product(uint64_t a, uint64_t b)
{
  uint64_t a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
  uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
  uint64_t other = a0 * b1 + (middle & 0xFFFFFFFFu);

  return a1 * b1 + (middle >> 32) + (other >> 32);
}

/* Salmon, Moraes, Dror and Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3", section 3.3:
   ten rounds, the key raised by Weyl constants between them. */
static void philox(const uint64_t counter[4], const uint64_t key[2], uint64_t out[4])
{
  uint64_t c[4], k0 = key[0], k1 = key[1];

  memcpy(c, counter, sizeof c);
  for (int round = 0; round < 10; round++) {
    uint64_t high0 = high_product(0xD2E7470EE14C6C93u, c[0]), low0 = 0xD2E7470EE14C6C93u * c[0];
    uint64_t high1 = high_product(0xCA5A826395121157u, c[2]), low1 = 0xCA5A826395121157u * c[2];
    c[0] = high1 ^ c[1] ^ k0;
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ k1;
    c[3] = low0;
    k0 += 0x9E3779B97F4A7C15u; /* golden ratio */
    k1 += 0xBB67AE8584CAA73Bu; /* sqrt(3) - 1 */
  }
  memcpy(out, c, sizeof c);
}

/* Published known-answer vectors of Random123: counter, key, result. */
static const uint64_t vectors[3][10] = {
  {0, 0, 0, 0, 0, 0, 0x16554d9eca36314cu, 0xdb20fe9d672d0fdcu, 0xd7e772cee186176bu,
   0x7e68b68aec7ba23bu},
  {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 0x87b092c3013fe90bu,
   0x438c3c67be8d0224u, 0x9cc7d7c69cd777b6u, 0xa09caebf594f0ba0u},
  {0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u, 0x082efa98ec4e6c89u,
   0x452821e638d01377u, 0xbe5466cf34e90c6cu, 0xa528f45403e61d95u, 0x38c72dbd566e9788u,
   0xa5a1610e72fd18b5u, 0x57bd43b5e52b7fe6u},
};

RG_TEST(known_answers)
{
  for (int i = 0; i < 3; i++) {
    const uint64_t *v = vectors[i];
    uint64_t own[4];
    philox4x64_ctr_t counter = {{v[0], v[1], v[2], v[3]}};
    philox4x64_key_t key = {{v[4], v[5]}};
    philox4x64_ctr_t library = philox4x64(counter, key);
    philox(v, v + 4, own);
    assert_memory_equal(own, v + 6, sizeof own);
    assert_memory_equal(library.v, v + 6, sizeof own);
  }
}

RG_TEST(blocks_are_philox_of_seed_iteration_index)
{
  RgStream zero = {{0, 0}, 0};
  uint64_t words[4], own[4];

  rg_stream_block(&zero, 0, 0, words);
  assert_memory_equal(words, vectors[0] + 6, sizeof words);
  for (uint64_t i = 1; i < 100; i++) {
    RgStream stream = rg_stream(i, "ackley", i * i, "noise", i << 40);
    uint64_t counter[4] = {stream.seed, i * 7919, i << 33, 0};
    rg_stream_block(&stream, counter[1], counter[2], words);
    philox(counter, stream.key, own);
    assert_memory_equal(words, own, sizeof words);
  }
}

/* --- Keys ------------------------------------------------------------------------------------ */

static void assert_words(RgStream stream, uint64_t key0, uint64_t key1, uint64_t word)
{
  RgRandom random = rg_stream_at(&stream, 3);
  uint64_t first = rg_random_word(&random);

  if (stream.key[0] != key0 || stream.key[1] != key1 || first != word) {
    fail_msg("key %016" PRIx64 " %016" PRIx64 ", first word %016" PRIx64, stream.key[0],
             stream.key[1], first);
  }
}

/* Pinned: a change of these values changes every result of every study. */
RG_TEST(keys_do_not_change)
{
  RgStream design = rg_stream(1, "ackley", 0, "design", 7);

  assert_words(design, 0xb36989f206719bdcu, 0xf5f8809900cba2cfu, 0x666f2ad00dcb0502u);
  assert_words(rg_stream(0, "", 0, "", 0), 0xace2fba30e49ecb5u, 0x65d719b2a16d4783u,
               0xccb6958f7c10fb93u);
  assert_words(rg_stream(UINT64_MAX, "branin", 3, "noise", 1), 0xc521fd3ef348cdcdu,
               0x38c68cac5ad8b5bcu, 0x09315ab5042371b8u);
  assert_words(rg_stream_sub(&design, "paths"), 0x50f0e47e29835d58u, 0xbc88dcaff9fb2756u,
               0x8f67baf3f167b9d8u);
}

static bool same_key(RgStream a, RgStream b)
{
  return a.key[0] == b.key[0] && a.key[1] == b.key[1];
}

RG_TEST(every_field_matters)
{
  RgStream base = rg_stream(1, "ackley", 0, "design", 7);

  assert_true(same_key(base, rg_stream(1, "ackley", 0, "design", 8)));
  assert_int_equal(base.seed, 7);
  assert_false(same_key(base, rg_stream(2, "ackley", 0, "design", 7)));
  assert_false(same_key(base, rg_stream(1, "ackle", 0, "design", 7)));
  assert_false(same_key(base, rg_stream(1, "ackley", 1, "design", 7)));
  assert_false(same_key(base, rg_stream(1, "ackley", 0, "noise", 7)));
  /* Fields do not run into each other. */
  assert_false(same_key(rg_stream(1, "ab", 0, "c", 0), rg_stream(1, "a", 0, "bc", 0)));
  assert_false(same_key(rg_stream(1, "", 0, "a", 0), rg_stream(1, "a", 0, "", 0)));
  assert_false(same_key(rg_stream(1, "a", 2, "b", 0), rg_stream(2, "a", 1, "b", 0)));
}

RG_TEST(sub_streams)
{
  RgStream base = rg_stream(1, "ackley", 0, "gp_ucb", 7);
  RgStream paths = rg_stream_sub(&base, "paths"), starts = rg_stream_sub(&base, "starts");

  assert_int_equal(paths.seed, 7);
  assert_false(same_key(paths, base));
  assert_false(same_key(paths, starts));
  assert_true(same_key(paths, rg_stream_sub(&base, "paths")));
}

RG_TEST(draws_do_not_depend_on_other_draws)
{
  RgStream stream = rg_stream(3, "branin", 2, "noise", 11);
  double alone[5], later[5];
  uint64_t others = 0;

  RgRandom first = rg_stream_at(&stream, 5);
  rg_random_normals(&first, 5, alone);
  for (uint64_t iteration = 0; iteration < 5; iteration++) {
    RgRandom other = rg_stream_at(&stream, iteration);
    for (int i = 0; i < 13; i++) others ^= rg_random_word(&other);
  }
  RgRandom second = rg_stream_at(&stream, 5);
  rg_random_normals(&second, 5, later);
  assert_memory_equal(alone, later, sizeof alone);
  assert_true(others != 0);
}

/* Words of 4 x 4 x 4 x 4 streams, iterations and seeds: no two alike. */
RG_TEST(streams_differ)
{
  static const char *const names[] = {"design", "noise", "context", "problem"};
  uint64_t words[256];

  for (uint64_t i = 0; i < 256; i++) {
    RgStream stream = rg_stream(i % 4, "p", 0, names[i / 4 % 4], i / 16 % 4);
    RgRandom random = rg_stream_at(&stream, i / 64);
    words[i] = rg_random_word(&random);
    for (uint64_t j = 0; j < i; j++) assert_true(words[i] != words[j]);
  }
}

/* --- Distributions: moments within five standard errors --------------------------------------- */

#define DRAWS 200000

static RgRandom test_random(const char *name)
{
  RgStream stream = rg_stream(2024, "test", 0, name, 1);

  return rg_stream_at(&stream, 0);
}

/* The mean of n values of standard deviation sd lies within five standard errors of `expected`. */
#define CLOSE_MEAN(sum, n, expected, sd)                                                           \
  RG_CLOSE(((sum) / (n) - (expected)) / (sd), 0.0, 5 / sqrt(n))

RG_TEST(words_come_in_order_of_the_blocks)
{
  RgStream stream = rg_stream(1, "p", 0, "n", 1);
  RgRandom random = rg_stream_at(&stream, 9);
  uint64_t block[4];

  for (uint64_t index = 0; index < 3; index++) {
    rg_stream_block(&stream, 9, index, block);
    for (int i = 0; i < 4; i++) assert_true(rg_random_word(&random) == block[i]);
  }
}

RG_TEST(uniform_moments)
{
  RgRandom random = test_random("uniform");
  double sum = 0, squares = 0, low = 1, high = 0;

  for (int i = 0; i < DRAWS; i++) {
    double u = rg_random_uniform(&random);
    sum += u;
    squares += u * u;
    low = fmin(low, u);
    high = fmax(high, u);
  }
  CLOSE_MEAN(sum, DRAWS, 0.5, sqrt(1.0 / 12));
  CLOSE_MEAN(squares, DRAWS, 1.0 / 3, sqrt(4.0 / 45));
  assert_true(low > 0 && low < 1e-4 && high < 1 && high > 1 - 1e-4);
}

/* The extreme words give the extreme values, neither 0 nor 1. */
RG_TEST(uniform_is_open)
{
  RgRandom random = {.left = 2, .block = {0, 0, 0, UINT64_MAX}};

  assert_true(rg_random_uniform(&random) == 0x1p-53);
  assert_true(rg_random_uniform(&random) == 1.0 - 0x1p-53);
}

RG_TEST(normal_moments)
{
  RgRandom random = test_random("normal");
  double sums[5] = {0}, products = 0, last = 0;
  /* Standard deviations of z, z^2, z^3, z^4. */
  const double sd[5] = {0, 1, sqrt(2), sqrt(15), sqrt(96)}, mean[5] = {0, 0, 1, 0, 3};

  for (int i = 0; i < DRAWS; i++) {
    double z = rg_random_normal(&random), power = 1;
    for (int k = 1; k <= 4; k++) sums[k] += power *= z;
    products += z * last; /* neighbours, and the two halves of a pair, are uncorrelated */
    last = z;
  }
  for (int k = 1; k <= 4; k++) CLOSE_MEAN(sums[k], DRAWS, mean[k], sd[k]);
  CLOSE_MEAN(products, DRAWS, 0.0, 1.0);
}

RG_TEST(exponential_moments)
{
  RgRandom random = test_random("exponential");
  double sum = 0, squares = 0;

  for (int i = 0; i < DRAWS; i++) {
    double x = rg_random_exponential(&random);
    assert_true(x > 0);
    sum += x;
    squares += x * x;
  }
  CLOSE_MEAN(sum, DRAWS, 1.0, 1.0);
  CLOSE_MEAN(squares, DRAWS, 2.0, sqrt(20.0));
}

RG_TEST(gamma_moments)
{
  static const double shapes[] = {0.05, 0.277, 0.9, 1.0, 2.5, 40.0};

  for (int k = 0; k < 6; k++) {
    RgRandom random = test_random("gamma");
    double a = shapes[k], scale = 2.0, sum = 0, squares = 0;
    /* Raw moments of Gamma(a, 1): a, a(a+1), then to the fourth for the error of the second. */
    double second = a * (a + 1), fourth = second * (a + 2) * (a + 3);
    for (int i = 0; i < DRAWS; i++) {
      double x = rg_random_gamma(&random, a, scale) / scale;
      assert_true(x >= 0 && isfinite(x));
      sum += x;
      squares += x * x;
    }
    CLOSE_MEAN(sum, DRAWS, a, sqrt(a));
    CLOSE_MEAN(squares, DRAWS, second, sqrt(fourth - second * second));
  }
}

/* Below one the law has a pole at zero; check the median as well (irgp_ucb O4). */
RG_TEST(gamma_median_of_a_small_shape)
{
  RgRandom random = test_random("gamma median");
  int below = 0;

  for (int i = 0; i < DRAWS; i++)
    below += rg_random_gamma(&random, 0.277258872224, 1.0) < 0.0590451732245;
  CLOSE_MEAN((double)below, DRAWS, 0.5, 0.5);
}

RG_TEST(below_is_unbiased)
{
  static const uint64_t ranges[] = {1, 2, 3, 7, 10};

  for (int k = 0; k < 5; k++) {
    RgRandom random = test_random("below");
    uint64_t n = ranges[k];
    int counts[10] = {0};
    for (int i = 0; i < DRAWS; i++) {
      uint64_t value = rg_random_below(&random, n);
      assert_true(value < n);
      counts[value]++;
    }
    for (uint64_t i = 0; i < n; i++) {
      double p = 1.0 / (double)n;
      CLOSE_MEAN((double)counts[i], DRAWS, p, sqrt(p * (1 - p)) + (n == 1));
    }
  }
}

/* n = 3 * 2^62: plain modulo would give the first third twice as often as the others. */
RG_TEST(below_is_unbiased_where_modulo_is_not)
{
  RgRandom random = test_random("modulo");
  uint64_t n = (uint64_t)3 << 62, third = (uint64_t)1 << 62;
  int first = 0;

  for (int i = 0; i < DRAWS; i++) first += rg_random_below(&random, n) < third;
  CLOSE_MEAN((double)first, DRAWS, 1.0 / 3, sqrt(2.0 / 9));
}

/* The sum of these probabilities is below 1 by more than rounding; the last one gets the rest. */
RG_TEST(index_has_its_probability)
{
  static const double p[] = {0.25, 0, 0.5, 0.125};
  RgRandom random = test_random("index");
  int counts[4] = {0};

  for (int i = 0; i < DRAWS; i++) counts[rg_random_index(&random, 4, p)]++;
  assert_int_equal(counts[1], 0);
  CLOSE_MEAN((double)counts[0], DRAWS, 0.25, sqrt(0.25 * 0.75));
  CLOSE_MEAN((double)counts[2], DRAWS, 0.5, 0.5);
  CLOSE_MEAN((double)counts[3], DRAWS, 0.25, sqrt(0.25 * 0.75));
}

RG_TEST(subset_is_distinct_and_fair)
{
  RgRandom random = test_random("subset");
  int firsts[6] = {0}, members[6] = {0}, out[6];
  double n = DRAWS / 10.0;

  for (int i = 0; i < DRAWS / 10; i++) {
    bool seen[6] = {false};
    RG_OK(rg_random_subset(&random, 6, 4, out));
    firsts[out[0]]++;
    for (int j = 0; j < 4; j++) {
      assert_true(out[j] >= 0 && out[j] < 6 && !seen[out[j]]);
      seen[out[j]] = true;
      members[out[j]]++;
    }
  }
  for (int i = 0; i < 6; i++) {
    CLOSE_MEAN((double)firsts[i], n, 1.0 / 6, sqrt(5.0) / 6);
    CLOSE_MEAN((double)members[i], n, 2.0 / 3, sqrt(2.0) / 3);
  }
  RG_OK(rg_random_subset(&random, 0, 0, out));
  RG_FAILS(rg_random_subset(&random, 3, 4, out), PETSC_ERR_ARG_OUTOFRANGE);
}

RG_TEST(batches_equal_single_draws)
{
  RgRandom batch = test_random("batch"), single = test_random("batch");
  double values[7];

  rg_random_normals(&batch, 7, values);
  for (int i = 0; i < 7; i++) assert_true(values[i] == rg_random_normal(&single));
  rg_random_uniforms(&batch, 7, values);
  for (int i = 0; i < 7; i++) assert_true(values[i] == rg_random_uniform(&single));
}
