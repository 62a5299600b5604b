#!/bin/bash
# A study on hosts without a batch system that share a folder. Each host runs its part, all write into
# one results file; this script waits for them:
#   experiments/cluster/ssh.sh study.yaml study.h5 hosts [options of regatta run]
# hosts: a line each, name and number of ranks; # begins a comment. The same command resumes, also with
# other hosts: what is finished stays finished, the rest is shared out anew. Ctrl-C or TERM stops all
# hosts cleanly. Exit code: that of `regatta status`, or of the first host that failed.
set -u
study=$1 out=$2 hosts=$3
shift 3
ssh=${SSH:-ssh -o BatchMode=yes} # BatchMode: no questions, keys must be set up
regatta=${REGATTA:-regatta}      # on every host
stop=$out.d/STOP
stopped=

ask_to_stop() {
  stopped=yes
  mkdir -p "$out.d" && touch "$stop"
}
trap ask_to_stop INT TERM

mapfile -t lines < <(sed 's/#.*//' "$hosts" | grep -w '[0-9]\+')
n=${#lines[@]}
[ "$n" -gt 0 ] || { echo "$hosts: no line with a host and its ranks" >&2; exit 2; }
pids=() names=()
for i in "${!lines[@]}"; do
  read -r host ranks <<<"${lines[i]}"
  run=$(printf '%q ' "$regatta" run "$study" -part "$((i + 1))/$n" -o "$out" -quiet "$@")
  # shellcheck disable=SC2086 # words of a command
  $ssh "$host" "cd $(printf '%q' "$PWD") && OMP_NUM_THREADS=1 mpirun -n $ranks $run" </dev/null &
  pids+=($!) names+=("$host")
done

failed=0
for i in "${!pids[@]}"; do
  while # a signal ends `wait`, not the host
    wait "${pids[i]}"
    code=$?
    [ $code -gt 128 ] && kill -0 "${pids[i]}" 2>/dev/null
  do :; done
  if [ $code -ne 0 ]; then
    echo "${names[i]}: part $((i + 1)) of $n ended with exit code $code" >&2
    [ $failed -ne 0 ] || failed=$code
  fi
done
[ -z "$stopped" ] || rm -f "$stop"
[ $failed -eq 0 ] || [ -n "$stopped" ] || exit $failed # who had not begun yet refuses to, once stopped

parts_are_finished() {
  for ((i = 1; i <= n; i++)); do
    "$regatta" status "$out" -part "$i/$n" -study "$study" >/dev/null || return
  done
}
# A network file system may have hidden the last parts from each other: then nobody wrote the file.
if ! "$regatta" status "$out" >/dev/null && parts_are_finished; then
  "$regatta" run "$study" -o "$out" -quiet || exit
fi
"$regatta" status "$out"
