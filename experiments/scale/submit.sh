#!/bin/bash
# Strong and weak scaling of teams and of the schedule, on one node of 64 cores or on several:
#   sbatch experiments/scale/submit.sh            from Regatta's folder, after ./run.sh build
# Other clusters: set the numbers below; a job of K ranks runs the teams of strong.yaml and weak.yaml
# only if K is a multiple of 64. Resubmitting goes on where it stopped.
#SBATCH --job-name=regatta-scale
#SBATCH --ntasks=64
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=3G
#SBATCH --time=02:00:00
#SBATCH --signal=USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
set -u
regatta=${REGATTA:-build/regatta}
studies=${STUDIES:-experiments/scale}
out=${OUT:-results/scale}
ranks=${RANKS:-${SLURM_NTASKS:-64}}
smoke=${SMOKE:-} # _smoke: a few seconds on 2 ranks (RANKS=2 SMOKE=_smoke bash .../submit.sh)
read -ra launch <<<"${LAUNCH:-mpirun -n}" # Slurm's own: LAUNCH="srun -n"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
mkdir -p "$out"

run() { # RANKS STUDY.yaml OUT.h5; leaves when the study fails, or was stopped before its end
  "$regatta" plan "$2" -ranks "$1" >/dev/null || exit 2
  "${launch[@]}" "$1" "$regatta" run "$2" -o "$3" -quiet || exit
  "$regatta" status "$3" >/dev/null || exit
}

for study in strong weak; do
  run "$ranks" "$studies/$study$smoke.yaml" "$out/$study.h5"
done
results=()
for ((k = 1; k <= ranks; k *= 2)); do
  sed "s/^seeds: .*/seeds: $((64 * k))/" "$studies/throughput$smoke.yaml" >"$out/weak_$k.yaml"
  [ -z "$smoke" ] || cp "$studies/throughput$smoke.yaml" "$out/weak_$k.yaml"
  run "$k" "$out/weak_$k.yaml" "$out/throughput_weak_$k.h5"
  results+=("$out/throughput_weak_$k.h5")
done
for ((k = ranks; k >= 1 && k > ranks / 8; k /= 2)); do
  run "$k" "$studies/throughput$smoke.yaml" "$out/throughput_strong_$k.h5"
done
"${PYTHON:-python3}" "$studies/scaling.py" "$out/strong.h5" "$out/weak.h5"
echo "Throughput, the same number of trials per rank:"
"${PYTHON:-python3}" "$studies/scaling.py" "${results[@]}"
echo "Throughput, the same trials on more ranks:"
"${PYTHON:-python3}" "$studies/scaling.py" "$out"/throughput_strong_*.h5
