#!/bin/bash
# A study by an array of Slurm jobs. Each runs its part, all write into one results file:
#   sbatch experiments/cluster/slurm.sh study.yaml study.h5 [options of regatta run]
# Two minutes before its limit a job stops cleanly and queues itself again until its part is finished;
# the part that ends last writes the results file. The same command resumes an array that was
# cancelled; one part of eight alone: PARTS=8 sbatch --array=3 experiments/cluster/slurm.sh ...
# Where a run says that MPI can't connect the processes of srun: export SLURM_MPI_TYPE=pmix before sbatch.
#SBATCH --job-name=regatta
#SBATCH --array=1-8
#SBATCH --ntasks=16
#SBATCH --time=04:00:00
#SBATCH --signal=USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
set -u
study=$1 out=$2
shift 2
part=$SLURM_ARRAY_TASK_ID/${PARTS:-$SLURM_ARRAY_TASK_COUNT}
export OMP_NUM_THREADS=1
srun regatta run "$study" -part "$part" -o "$out" -quiet "$@"
code=$?
[ $code -eq 0 ] || [ $code -eq 75 ] || exit $code # 75: it had to end in the midst of an iteration
regatta status "$out" -part "$part" -study "$study"
code=$?
[ $code -eq 75 ] || exit $code
scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
