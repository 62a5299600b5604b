/* Streams of random numbers: a pure function of (study seed, problem, instance, stream name,
   trial seed, iteration, index). No state outlives an iteration, so any draw can be repeated on any
   rank, after any interruption. Generator: Philox4x64-10 of Random123. */
#ifndef RG_REGATTA_STREAM_H
#define RG_REGATTA_STREAM_H

#include "regatta/error.h"

typedef struct {
  uint64_t key[2]; /* XXH3-128 of (study seed, problem, instance, stream name) */
  uint64_t seed;   /* trial seed: first word of the counter */
} RgStream;

/* Position in a stream; counter = (trial seed, iteration, index, 0). */
typedef struct {
  RgStream stream;
  uint64_t iteration, index; /* index of the next block of four words */
  uint64_t block[4];
  int left; /* number of words in `block` that are not used yet */
  bool has_normal;
  double normal; /* second half of a Box-Muller pair */
} RgRandom;

/* The stream `name` of a trial. `problem` is the problem's registry name: variants of one
   problem share random numbers, so that sweeps compare like with like. Streams that must not
   depend on the algorithm are named without it ("design", "noise", "context", "problem"); an
   algorithm's own stream has the algorithm's name. */
RG_API RgStream rg_stream(uint64_t study_seed, const char *problem, uint64_t instance,
                          const char *name, uint64_t trial_seed);

/* A sub-stream: same seed, key hashed with `name`. For a method that needs several streams. */
RG_API RgStream rg_stream_sub(const RgStream *stream, const char *name);

/* Start drawing at `iteration` (index 0). */
RG_API RgRandom rg_stream_at(const RgStream *stream, uint64_t iteration);

/* One raw block: four 64-bit words at (seed, iteration, index, 0). */
RG_API void rg_stream_block(const RgStream *stream, uint64_t iteration, uint64_t index,
                            uint64_t words[4]);

/* The next number of a sequence. */
RG_API uint64_t rg_random_word(RgRandom *random);
RG_API double rg_random_uniform(RgRandom *random);     /* in (0,1), 52 bits, never 0 or 1 */
RG_API double rg_random_normal(RgRandom *random);      /* standard normal, Box-Muller */
RG_API double rg_random_exponential(RgRandom *random); /* exponential with rate 1 */
/* Gamma with shape > 0 and scale > 0 (mean shape*scale); Marsaglia and Tsang 2000. */
RG_API double rg_random_gamma(RgRandom *random, double shape, double scale);
/* Uniform integer in [0, n), n >= 1, without modulo bias. */
RG_API uint64_t rg_random_below(RgRandom *random, uint64_t n);
/* An integer of [0, n) with probabilities p, whose sum is 1. O(n). */
RG_API int rg_random_index(RgRandom *random, int n, const double *p);
/* `m` distinct integers of [0, n) in random order (partial Fisher-Yates), m <= n. out: m ints. */
RG_API PetscErrorCode rg_random_subset(RgRandom *random, int n, int m, int *out);
RG_API void rg_random_normals(RgRandom *random, size_t n, double *out);
RG_API void rg_random_uniforms(RgRandom *random, size_t n, double *out);

#endif
