/* Streams of random numbers: pure functions of key and counter. */
#include "regatta/stream.h"

#include "base/hash.h"

#include <Random123/philox.h>

#include <math.h>
#include <string.h>

/* The record that is hashed to a key, little-endian on every machine. Stream: 0, study seed,
   problem, instance, name. Sub-stream: 1, the two words of the key, name. */
typedef struct {
  unsigned char bytes[128];
  size_t length;
} KeyRecord;

static void record_number(KeyRecord *record, uint64_t value)
{
  for (int i = 0; i < 8; i++) record->bytes[record->length++] = (unsigned char)(value >> (8 * i));
}

/* A text enters by its length and hash, so that records have a fixed layout. */
static void record_text(KeyRecord *record, const char *text)
{
  uint64_t hash[2];
  size_t length = strlen(text);

  rg_hash128(text, length, hash);
  record_number(record, length);
  record_number(record, hash[0]);
  record_number(record, hash[1]);
}

RgStream rg_stream(uint64_t study_seed, const char *problem, uint64_t instance, const char *name,
                   uint64_t trial_seed)
{
  RgStream stream = {{0, 0}, trial_seed};
  KeyRecord record = {{0}, 0};

  record_number(&record, 0); /* tag of a stream */
  record_number(&record, study_seed);
  record_text(&record, problem);
  record_number(&record, instance);
  record_text(&record, name);
  rg_hash128(record.bytes, record.length, stream.key);
  return stream;
}

RgStream rg_stream_sub(const RgStream *stream, const char *name)
{
  RgStream sub = {{0, 0}, stream->seed};
  KeyRecord record = {{0}, 0};

  record_number(&record, 1); /* tag of a sub-stream */
  record_number(&record, stream->key[0]);
  record_number(&record, stream->key[1]);
  record_text(&record, name);
  rg_hash128(record.bytes, record.length, sub.key);
  return sub;
}

RgRandom rg_stream_at(const RgStream *stream, uint64_t iteration)
{
  return (RgRandom){.stream = *stream, .iteration = iteration};
}

void rg_stream_block(const RgStream *stream, uint64_t iteration, uint64_t index, uint64_t words[4])
{
  philox4x64_ctr_t counter = {{stream->seed, iteration, index, 0}};
  philox4x64_key_t key = {{stream->key[0], stream->key[1]}};
  philox4x64_ctr_t block = philox4x64(counter, key);

  for (int i = 0; i < 4; i++) words[i] = block.v[i];
}

uint64_t rg_random_word(RgRandom *random)
{
  if (random->left == 0) {
    rg_stream_block(&random->stream, random->iteration, random->index++, random->block);
    random->left = 4;
  }
  return random->block[4 - random->left--];
}

double rg_random_uniform(RgRandom *random)
{
  /* The midpoints of 2^52 equal intervals: all representable, neither 0 nor 1. */
  return ((double)(rg_random_word(random) >> 12) + 0.5) * 0x1p-52;
}

double rg_random_normal(RgRandom *random)
{
  static const double two_pi = 6.283185307179586476925287;

  if (random->has_normal) {
    random->has_normal = false;
    return random->normal;
  }
  double radius = sqrt(-2.0 * log(rg_random_uniform(random)));
  double angle = two_pi * rg_random_uniform(random);
  random->normal = radius * sin(angle);
  random->has_normal = true;
  return radius * cos(angle);
}

double rg_random_exponential(RgRandom *random)
{
  return -log(rg_random_uniform(random));
}

/* Marsaglia and Tsang (2000), "A simple method for generating gamma variables", shape >= 1. */
static double gamma_large_shape(RgRandom *random, double shape)
{
  double d = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);

  for (;;) {
    double x = rg_random_normal(random), v = 1.0 + c * x;
    double u = rg_random_uniform(random);
    if (v <= 0.0) continue;
    v = v * v * v;
    if (log(u) < 0.5 * x * x + d - d * v + d * log(v)) return d * v;
  }
}

double rg_random_gamma(RgRandom *random, double shape, double scale)
{
  if (shape >= 1.0) return scale * gamma_large_shape(random, shape);
  /* Their section 6: Gamma(a) = Gamma(a + 1) U^(1/a). */
  double larger = gamma_large_shape(random, shape + 1.0);
  return scale * larger * exp(log(rg_random_uniform(random)) / shape);
}

uint64_t rg_random_below(RgRandom *random, uint64_t n)
{
  uint64_t excess = (0u - n) % n; /* 2^64 mod n; words below it are redrawn */
  uint64_t word;

  do word = rg_random_word(random);
  while (word < excess);
  return word % n;
}

int rg_random_index(RgRandom *random, int n, const double *p)
{
  double u = rg_random_uniform(random);
  int i = 0;

  while (i < n - 1 && (u -= p[i]) >= 0.0) i++;
  return i;
}

PetscErrorCode rg_random_subset(RgRandom *random, int n, int m, int *out)
{
  int *pool;

  PetscCheck(m >= 0 && m <= n, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%d distinct integers of %d", m, n);
  PetscCall(PetscMalloc1((size_t)n, &pool));
  for (int i = 0; i < n; i++) pool[i] = i;
  for (int i = 0; i < m; i++) {
    int j = i + (int)rg_random_below(random, (uint64_t)(n - i));
    out[i] = pool[j];
    pool[j] = pool[i];
  }
  return PetscFree(pool);
}

void rg_random_normals(RgRandom *random, size_t n, double *out)
{
  for (size_t i = 0; i < n; i++) out[i] = rg_random_normal(random);
}

void rg_random_uniforms(RgRandom *random, size_t n, double *out)
{
  for (size_t i = 0; i < n; i++) out[i] = rg_random_uniform(random);
}
