#!/bin/bash
# A study by an array of LSF jobs. Each runs its part, all write into one results file:
#   STUDY=study.yaml OUT=study.h5 bsub < experiments/cluster/lsf.sh
# Five minutes before its limit a job stops cleanly and ends with exit code 75, on which LSF queues it
# again (-Q); the part that ends last writes the results file. The same command resumes an array that
# was killed; one part of eight alone: PARTS=8 STUDY=... OUT=... bsub -J "regatta[3]" < .../lsf.sh
#BSUB -J "regatta[1-8]"
#BSUB -n 16
#BSUB -W 240
#BSUB -Q "75"
#BSUB -o regatta.%J.%I.log
set -u
limit=${LIMIT:-03:55:00} # five minutes less than -W
part=$LSB_JOBINDEX/${PARTS:-$LSB_JOBINDEX_END}
export OMP_NUM_THREADS=1
mpirun regatta run "$STUDY" -part "$part" -o "$OUT" -quiet -walltime "$limit" || exit
regatta status "$OUT" -part "$part" -study "$STUDY"
