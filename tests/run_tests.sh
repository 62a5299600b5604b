#!/usr/bin/env bash
# Runs the tests of a build: tests/run_tests.sh BUILD [--long] [LABEL or NAME]; ./run.sh test builds and calls it.
set -euo pipefail
build=$1
shift

complain() { echo "run.sh: $*" >&2; }

# A folder in memory for what tests write, where there is room and programs may run from there: on a
# disk they wait for it, for every commit ends with fsync.
scratch_in_memory() {
  local folder free
  free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 {print $4}')
  [ "${free:-0}" -ge 4000000 ] && folder=$(mktemp -d /dev/shm/regatta-XXXXXX 2>/dev/null) || return 0
  chmod 755 "$folder" # as /tmp is: some tests run as another user
  printf '#!/bin/sh\n' >"$folder/probe" && chmod +x "$folder/probe"
  if "$folder/probe" 2>/dev/null; then rm "$folder/probe" && echo "$folder"; else rm -r "$folder"; fi
}

# Programs of tests start in half of the time; a long run tests them as they are.
use_stand_ins() {
  local python folder=$build/stand_ins
  python=$(command -v /usr/bin/python3 python3 | head -n 1) || return 0
  "$python" "$(dirname "${BASH_SOURCE[0]}")/stand_ins.py" "$build/regatta" "$folder" || return 0
  [ -d "$folder" ] && export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

run_tests() {
  local select=() scratch=
  if [ "${1:-}" = --long ]; then export REGATTA_LONG=1 && shift; fi
  case ${1:-} in
  '') ;;
  unit | oracle | house | mpi | integration | fault | fuzz | mutation | analysis) select=(-L "^$1\$") ;;
  -*) complain "test: unknown option '$1'" && exit 2 ;;
  *) select=(-R "$1") ;;
  esac
  [ "$(id -u)" = 0 ] && export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  [ -n "${REGATTA_LONG:-}" ] || use_stand_ins || true
  [ -n "${TMPDIR:-}" ] || scratch=$(scratch_in_memory)
  if [ -n "$scratch" ]; then
    export TMPDIR=$scratch
    trap 'rm -rf "$TMPDIR"' EXIT
  fi
  local log=$build/tests.log status=0
  # Two more than cores: many tests wait for what they have started.
  (cd "$build" && ctest "${select[@]}" --output-on-failure --parallel $(($(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) + 2))) 2>&1 | tee "$log" ||
    status=$?
  local total failed skipped
  total=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#' "$log" || true)
  skipped=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#.*\*\*\*Skipped' "$log" || true)
  failed=$(grep -E '^ *[0-9]+/[0-9]+ Test +#' "$log" | grep -vcE 'Passed|\*\*\*Skipped' || true)
  [ "$total" -gt 0 ] || complain "no test has the label or name '${1:-}'"
  echo "$((total - failed - skipped)) passed, $failed failed, $skipped skipped"
  [ "$total" -gt 0 ] && [ "$failed" = 0 ] && [ "$status" = 0 ]
}

run_tests "$@"
