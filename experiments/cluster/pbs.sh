#!/bin/bash
# A study by an array of PBS jobs (OpenPBS, PBS Professional; Torque: -t in place of -J). Each runs its
# part, all write into one results file:
#   qsub -J 1-8 -v STUDY=study.yaml,OUT=study.h5,PARTS=8 experiments/cluster/pbs.sh
# Five minutes before its limit a job stops cleanly and submits its part again until that is finished;
# the part that ends last writes the results file. The same command resumes an array that was deleted;
# one part alone: qsub -v PART=3,STUDY=...,OUT=...,PARTS=8 experiments/cluster/pbs.sh
#PBS -N regatta
#PBS -l select=1:ncpus=16:mpiprocs=16
#PBS -l walltime=04:00:00
#PBS -j oe
set -u
limit=${LIMIT:-03:55:00} # five minutes less than the walltime above
cd "$PBS_O_WORKDIR" || exit
script=${SCRIPT:-experiments/cluster/pbs.sh} # as seen from where qsub was called
number=${PART:-${PBS_ARRAY_INDEX:-$PBS_ARRAYID}}
part=$number/$PARTS
export OMP_NUM_THREADS=1
mpirun regatta run "$STUDY" -part "$part" -o "$OUT" -quiet -walltime "$limit"
code=$?
[ $code -eq 0 ] || [ $code -eq 75 ] || exit $code # 75: it had to end in the midst of an iteration
regatta status "$OUT" -part "$part" -study "$STUDY"
code=$?
[ $code -eq 75 ] || exit $code
[ ! -e "$OUT.d/STOP" ] || exit 0
qsub -v "PART=$number,PARTS=$PARTS,STUDY=$STUDY,OUT=$OUT,LIMIT=$limit,SCRIPT=$script" "$script"
