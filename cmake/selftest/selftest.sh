#!/bin/sh
# The checks of `regatta selftest`, which says with -help what it takes: selftest.sh LAUNCH FOLDER ("": a temporary one).
# REGATTA names the program. One line per check; exit code 0, 1 if a check failed, 2 if none could start.
set -u
here=$(dirname "$0")
launch=$1
mpirun_of_root() { [ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; }

# A job that was started by another launcher is none of its ranks.
for name in $(env | sed -n 's/^\(OMPI_COMM_WORLD_[A-Z_]*\|PMIX_[A-Za-z_]*\|PMI_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
mpirun_of_root
if [ -n "$2" ]; then
  folder=$2
  mkdir -p "$folder" 2>/dev/null
else
  folder=$(mktemp -d "${TMPDIR:-/tmp}/regatta-selftest.XXXXXX") && trap 'rm -rf "$folder"' EXIT
fi
if ! [ -d "$folder" ] || ! [ -w "$folder" ]; then
  echo "regatta: selftest: can't write to '$folder'" >&2
  exit 2
fi
rm -f "$folder"/smoke-[12].h5 "$folder"/high_dimension-[12].h5 "$folder"/page.html
began=$(date +%s) passed=0 failed=0 skipped=0
limit=$(command -v timeout) && limit="$limit 600" # a network that MPI can't use would wait for ever

pass() { passed=$((passed + 1)) && echo "passed   $1: $2"; }
fail() { failed=$((failed + 1)) && echo "FAILED   $1: $2"; }
skip() { skipped=$((skipped + 1)) && echo "skipped  $1: $2"; }

# Run a command; its output is in $said: what it prints, or the last line of its complaint.
try() {
  said=$("$@" 2>"$folder/errors" </dev/null)
  code=$?
  [ $code = 0 ] && return 0
  [ -s "$folder/errors" ] && said=$(grep -v '^-*$' "$folder/errors" | tail -n 1)
  said="${said:-no output} (exit code $code)"
  return 1
}

check_program() {
  try "$REGATTA" version || { fail program "$said" && return; }
  version=$(echo "$said" | sed -n '1s/^regatta \([^ ]*\).*/\1/p')
  fingerprint=$(echo "$said" | sed -n 's/^fingerprint  *//p')
  pass program "$REGATTA, version $version, numeric fingerprint $fingerprint"
}

# A study on one rank, whose checksum must be the recorded one of machines with this fingerprint; then on two.
check_study() {
  name=$1 one='' two=''
  known=$(awk -v f="$fingerprint" -v s="$name" '$1 == f && $2 == s {print $3}' "$here/checksums.txt")
  if ! try $limit "$REGATTA" run "$here/$name.yaml" -o "$folder/$name-1.h5" -quiet; then
    case $said in
    *"not in this build"*) skip "$name" "$said" ;;
    *) fail "$name on 1 rank" "$said" ;;
    esac
    return
  fi
  ran=$(echo "$said" | sed 's/^[^:]*: \([0-9]* trials\).*/\1/')
  try "$REGATTA" checksum "$folder/$name-1.h5" && one=${said%% *}
  if [ -z "$one" ]; then
    fail "$name on 1 rank" "$said"
  elif [ -z "$known" ]; then
    pass "$name on 1 rank" "$ran, checksum $one (none is recorded for this fingerprint)"
  elif [ "$one" = "$known" ]; then
    pass "$name on 1 rank" "$ran, checksum $one as recorded"
  else
    fail "$name on 1 rank" "$ran, checksum $one, but $known is recorded for this fingerprint"
  fi
  if ! try $limit $launch "$REGATTA" run "$here/$name.yaml" -o "$folder/$name-2.h5" -quiet; then
    fail "$name on 2 ranks" "$launch: $said"
    return
  fi
  try "$REGATTA" checksum "$folder/$name-2.h5" && two=${said%% *}
  if [ -n "$two" ] && [ "$two" = "$one" ]; then
    pass "$name on 2 ranks" "the same checksum, by $launch"
  else
    fail "$name on 2 ranks" "checksum ${two:-missing: $said}, but $one on 1 rank"
  fi
}

# Whether LAUNCH starts two processes. Processes that MPI can't connect are refused by the program itself.
check_launch() {
  if ! try $limit $launch echo rank; then
    fail launch "$launch: $said"
  elif [ "$(echo "$said" | grep -c '^rank$')" = 2 ]; then
    pass launch "$launch starts two processes"
  else
    fail launch "$launch does not start two processes"
  fi
}

check_verify() {
  if try "$REGATTA" verify "$2" -sample 10; then pass "$1" "$(echo "$said" | tail -n 1)"; else fail "$1" "$said"; fi
}

check_python() {
  analysis=$(dirname "$REGATTA")/regatta-analysis
  [ -x "$analysis" ] || analysis=$(command -v regatta-analysis) || { skip page "there is no regatta-analysis" && return; }
  if ! try "$analysis" --version; then
    case $said in
    *" lacks "* | *"needs the package"* | *"no Python"*) skip page "$said" ;;
    *) fail page "$said" ;;
    esac
    return
  fi
  if [ "$said" != "regatta-analysis $version" ]; then
    fail page "$analysis is '$said', the program has version $version"
  elif try env REGATTA="$REGATTA" "$analysis" page "$folder/smoke-1.h5" --out "$folder/page.html" &&
    grep -q '<html' "$folder/page.html"; then
    pass page "$(wc -c <"$folder/page.html") bytes of HTML by $analysis"
  else
    fail page "$said"
  fi
}

version='' fingerprint=''
check_program
check_launch
check_study smoke
check_study high_dimension
check_verify verify "$folder/smoke-1.h5"
check_verify "verify of a file from another machine" "$here/reference.h5"
check_python
rm -f "$folder/errors"
echo "selftest: $passed passed, $failed failed, $skipped skipped in $(($(date +%s) - began)) s"
[ "$failed" = 0 ]
