/* The loops for the baseline instruction set, the choice among the compiled instruction sets,
   and normal numbers. */
#define VECTOR_OPS rg_vectors_base
#define LANES 2
#include "maths/vector_body.h"

#include <Random123/philox.h>

extern const RgVectorOps rg_vectors_v3, rg_vectors_v4;
static const RgVectorOps *const levels[] = RG_LEVELS(rg_vectors);

int rg_vector_level(void)
{
#if defined(REGATTA_X86_LEVELS)
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");

  return !v3 ? 0 : v4 ? 2 : 1;
#else
  return 0;
#endif
}

const RgVectorOps *rg_vector_ops_at(int level)
{
  return level <= rg_vector_level() ? levels[level] : NULL;
}

const RgVectorOps *rg_vector_ops(void)
{
  return levels[rg_vector_level()];
}

#define CHUNK 128 /* pairs per batch: words and results stay in the first cache */

void rg_vector_normals(RgRandom *random, size_t n, double *out)
{
  const RgVectorOps *ops = rg_vector_ops();
  uint64_t word[2 * CHUNK];
  double pair[2 * CHUNK];

  while (n > 0) {
    int count = n < 2 * CHUNK ? (int)n : 2 * CHUNK, pairs = (count + 1) / 2;
    /* the rest of the current block, whole blocks, then the start of another */
    philox4x64_key_t key = {{random->stream.key[0], random->stream.key[1]}};
    int done = 0;
    while (done < 2 * pairs && random->left > 0) word[done++] = rg_random_word(random);
    for (; done + 4 <= 2 * pairs; done += 4) {
      philox4x64_ctr_t counter = {{random->stream.seed, random->iteration, random->index++, 0}};
      philox4x64_ctr_t block = philox4x64(counter, key);

      for (int i = 0; i < 4; i++) word[done + i] = block.v[i];
    }
    while (done < 2 * pairs) word[done++] = rg_random_word(random);
    ops->box_muller(pairs, word, pair);
    memcpy(out, pair, (size_t)count * sizeof *out);
    out += count;
    n -= (size_t)count;
  }
}
