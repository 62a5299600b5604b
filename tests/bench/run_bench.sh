#!/usr/bin/env bash
# run_bench.sh BUILD [large [ARGUMENTS] | inputs | contexts]: the benchmark program, then how a study of equal trials scales
# over the cores; or the benchmark of large Gaussian processes on all cores, by default what
# docs/scaling.md is made of (some ten minutes on 2 cores); or what searches and methods cost with many inputs
# (five minutes); or what searches through contexts lose and cost (half an hour; the data set of the portfolio).
set -euo pipefail
build=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$root/results/bench
mkdir -p "$out"
export OMP_NUM_THREADS=1
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
if [ $# -gt 1 ] && [ "$2" != large ] && [ "$2" != inputs ] && [ "$2" != contexts ]; then
  echo "bench: there is no part '$2'; accepted: large, inputs, contexts, or nothing" >&2
  exit 2
fi
if [ "${2:-}" = contexts ]; then
  "$build/tests/bench/bench_contexts" "$root/tests/bench/contexts/contexts.yaml" 5 more | tee "$out/contexts.txt"
  exit
fi
if [ "${2:-}" = inputs ]; then
  rm -rf "$out/inputs.h5" "$out/inputs.h5.d"
  "$build/regatta" run "$root/tests/bench/inputs/methods.yaml" -o "$out/inputs.h5" -quiet >/dev/null
  {
    python3 "$root/tests/bench/inputs/inputs_table.py" "$out/inputs.h5"
    "$build/tests/bench/bench_contexts" "$root/tests/bench/inputs/inputs.yaml" 1 lbfgsb
  } | tee "$out/inputs.txt"
  exit
fi
if [ "${2:-}" = large ]; then
  ranks=${REGATTA_RANKS:-$(nproc)}
  large() { OMPI_MCA_rmaps_base_oversubscribe=1 mpirun -n "$ranks" \
    "$build/tests/bench/bench_large" "$@"; }
  if [ $# -gt 2 ]; then
    "$build/tests/bench/bench_large" check "${@:3}" || exit
    large "${@:3}"
    exit
  fi
  {
    large constants
    large crossover
    large dense 4000 8000 16000
    large iterative 20000
  } | tee "$out/large.txt"
  exit
fi
"$build/tests/bench/bench" "$out/bench.json"

seconds() { # wall seconds of the scaling study on $1 ranks
  local start end
  rm -rf "$out/scaling.h5" "$out/scaling.h5.d"
  start=$(date +%s.%N)
  mpirun -n "$1" "$build/regatta" run "$root/tests/bench/scaling.yaml" -o "$out/scaling.h5" -quiet >/dev/null
  end=$(date +%s.%N)
  echo "$start $end" | awk '{printf "%.3f", $2 - $1}'
}
if [ "$(nproc)" -ge 2 ]; then
  one=$(seconds 1)
  two=$(seconds 2)
  echo "$one $two" | awk '{printf "study of equal trials: 1 rank %.2f s, 2 ranks %.2f s, ratio %.3f\n", $1, $2, $2 / $1}'
fi
echo "Written: $out/bench.json"
