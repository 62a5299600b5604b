#!/usr/bin/env bash
# Regatta's front door: ./run.sh help
set -euo pipefail
caller=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${REGATTA_BUILD:-$root/build}
regatta=$build/regatta

packages=(build-essential cmake ninja-build pkg-config openmpi-bin libopenmpi-dev petsc-dev
  libscalapack-openmpi-dev libhdf5-openmpi-dev libopenblas-dev liblapacke-dev libgsl-dev
  liblbfgsb-dev libyaml-dev libjansson-dev libxxhash-dev librandom123-dev libcmocka-dev hdf5-tools
  python3 python3-numpy python3-scipy python3-pandas python3-h5py python3-xarray
  python3-h5netcdf python3-netcdf4 python3-matplotlib python3-jinja2 python3-yaml python3-xxhash)
# Only for tests, which are skipped without them: the format, mistakes that clang-tidy finds, leaks of
# memory, a reader in R (50 MB), a browser,
# Optuna with its CMA-ES.
test_packages=(clang-format clang-tidy valgrind r-cran-hdf5r chromium-headless-shell python3-sklearn python3-xgboost
  python3-optuna python3-cmaes python3-nlopt)
# Only for the documentation: Sphinx reads Markdown by MyST, KaTeX draws formulas in the browser.
docs_packages=(python3-sphinx python3-myst-parser furo libjs-katex fonts-katex doxygen)

usage() {
  cat <<TEXT
usage: ./run.sh [COMMAND]

  (nothing)             set up, run the quickstart on all cores, draw its figures, write its report
  test [--long] [WHAT]  set up, build and run all tests, or those of a label (unit, oracle, house, mpi,
                        integration, fault, fuzz, analysis) or whose name contains WHAT
  build                 set up and build
  study FILE [OUT.h5] [--until-decided] [--budget CORE-HOURS]
                        run a study, or resume it (default results/<name>/<name>.h5), draw figures, write
                        report.html beside the results; --until-decided: add trials in stages, and write them
                        into FILE, until the claims beside it are decided or the budget (default 4) is spent
  report RESULTS.h5... [--out FILE.html] [--claims FILE.yaml] [--live]
                        the report alone: one page for a browser, also offline; of several results on
                        one page; --live OUT.h5.d: redrawn while the study runs
  figures RESULTS.h5 [DIR] [options]
                        draw the figures of a results file into its folder, or into DIR; options of
                        regatta_analysis, like --panel SETTING or --where SETTING=VALUE
  reproduce PAPER[/FIGURE,...] [--scale smoke|small|full] [--seeds N] [--universes]
                        [--until-decided [--keep]] [--budget CORE-HOURS] [--no-run]
                        run what is missing of a paper's studies (full: as in the paper), then write
                        results/PAPER/report.html and report.md: figures, tables, claims with
                        verdicts; --universes: under every setting the paper leaves open
                        (experiments/PAPER/settings.yaml); --until-decided: as above; --keep: what
                        experiments/PAPER/verdicts.json has decided gets no trials;
                        "all": every paper, and an index; "list": papers and figures
  bench [large]         measure speed; table on screen, JSON in results/bench/; large: of large
                        Gaussian processes on all cores (minutes; bench large WHAT: one part)
  docs                  build the documentation as a site to be read offline; prints its first page
  clean                 remove the build (results stay)
  help                  this text

Environment: REGATTA_RANKS ranks to use (default: all cores), REGATTA_BUILD build folder,
REGATTA_PYTHON a Python with h5py, pandas and Matplotlib, REGATTA_DATA folder of datasets,
REGATTA_NATIVE=1 tunes the build for this CPU, REGATTA_WERROR=1 makes warnings errors.

Systems without apt: install a C compiler, CMake >= 3.22, an MPI, PETSc (real numbers), HDF5 with its
high-level library, a BLAS and LAPACK with CBLAS and LAPACKE (best OpenBLAS), GSL, libyaml,
jansson, xxHash, Random123, cmocka for the tests, ScaLAPACK for teams of ranks (without it: one rank per
trial), L-BFGS-B 3.0 (without it: a method of our own in its place, with other bits), and Python with NumPy, SciPy, pandas, h5py, xarray, Matplotlib, Jinja2, PyYAML and xxhash:
  Fedora  dnf install gcc gcc-gfortran cmake ninja-build pkgconf-pkg-config openmpi-devel petsc-openmpi-devel
          scalapack-openmpi-devel hdf5-openmpi-devel openblas-devel lapack-devel gsl-devel libyaml-devel
          jansson-devel xxhash-devel libcmocka-devel python3-h5py python3-pandas python3-xarray
          python3-scipy python3-matplotlib python3-jinja2 python3-pyyaml python3-xxhash
          (then: module load mpi/openmpi-x86_64); from source: Random123 (headers)
  macOS   brew install cmake ninja pkgconf open-mpi petsc scalapack hdf5-mpi openblas lapack gsl libyaml
          jansson xxhash cmocka numpy scipy; pip install ./analysis; from source: Random123
  Spack   spack install openmpi petsc+mpi+hdf5 netlib-scalapack hdf5+mpi+hl openblas gsl libyaml jansson
          xxhash random123 cmocka
CMake looks first at what is named: PETSC_DIR and PETSC_ARCH, HDF5_ROOT, BLA_VENDOR (Intel10_64lp: MKL),
CMAKE_PREFIX_PATH (where L-BFGS-B and Random123 are), mpicc on the path; then pkg-config; then the system.
A summary at the end says what it took.
TEXT
}

complain() { echo "run.sh: $*" >&2; }

# ---- set-up ------------------------------------------------------------------------------------

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

install_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    command -v mpicc >/dev/null && command -v cmake >/dev/null && return 0
    complain "this system has no apt; see './run.sh help' for what to install"
    exit 2
  fi
  local missing
  missing=$(missing_packages "${packages[@]}")
  [ -z "$missing" ] && return 0
  apt_install $missing
}

install_test_packages() {
  local missing package
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || return 0
  missing=$(missing_packages "${test_packages[@]}")
  for package in $missing; do
    (apt_install "$package") || complain "going on without $package"
  done
}

install_docs_packages() {
  local missing
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || return 0
  missing=$(missing_packages "${docs_packages[@]}")
  [ -z "$missing" ] || apt_install $missing
}

apt_install() {
  local sudo=()
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      complain "as root: apt-get install $*"
      exit 2
    fi
    sudo=(sudo)
  fi
  echo "Installing: $*"
  "${sudo[@]}" apt-get update -qq || complain "apt-get update failed; trying with the lists at hand"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@"
}

# `all` is the tests too.
build_target() {
  install_packages
  local generator=() log=$build/build.log
  if [ ! -f "$build/CMakeCache.txt" ] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
  mkdir -p "$build"
  [ -x "$regatta" ] || echo "Building in $build (a minute or two)"
  if ! { cmake -S "$root" -B "$build" "${generator[@]}" \
           -DREGATTA_NATIVE="${REGATTA_NATIVE:+ON}" -DREGATTA_WERROR="${REGATTA_WERROR:+ON}" &&
         cmake --build "$build" --target "$1" --parallel "$(cores)"; } >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    complain "the build failed; the whole log is $log"
    exit 1
  fi
}

# ---- running -----------------------------------------------------------------------------------

cores() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN; }

find_python() {
  local python
  for python in ${REGATTA_PYTHON:+"$REGATTA_PYTHON"} /usr/bin/python3 python3; do
    if "$python" -c 'import h5py, jinja2, matplotlib, pandas, xxhash, yaml' 2>/dev/null; then
      echo "$python"
      return 0
    fi
    if [ -n "${REGATTA_PYTHON:-}" ]; then # what was asked for is not replaced by something else
      complain "REGATTA_PYTHON=$python lacks h5py, Jinja2, Matplotlib, pandas, PyYAML or xxhash"
      return 1
    fi
  done
  complain "no Python with h5py, Jinja2, Matplotlib, pandas, PyYAML and xxhash; set REGATTA_PYTHON"
  return 1
}

# How mpirun is started for a study.
mpi_words() {
  local ranks=${REGATTA_RANKS:-$(cores)} more=
  [ "$ranks" -gt "$(cores)" ] && more=--oversubscribe
  echo "mpirun $more -n $ranks"
}

mpi_run() { stoppable $(mpi_words) "$@"; }

# A command that runs a study. TERM and INT become USR1, which mpirun hands through to the ranks: they
# commit what is finished and stop cleanly.
stoppable() {
  local pid status=0
  if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
  set -m # a process group of its own: Ctrl-C must not reach mpirun, which would kill the ranks
  "$@" </dev/null &
  pid=$!
  set +m
  trap 'kill -USR1 "$pid" 2>/dev/null || true' TERM INT
  wait "$pid" || status=$?
  while kill -0 "$pid" 2>/dev/null; do
    status=0
    wait "$pid" || status=$?
  done
  trap - TERM INT
  return "$status"
}

# More arguments are options of regatta_analysis.
figures() {
  local results=$1 out=${2:-$(dirname "$1")} python bounds=()
  shift $(($# < 2 ? $# : 2))
  python=$(find_python)
  [ -f "$(dirname "$results")/bounds.csv" ] && bounds=(--bounds "$(dirname "$results")/bounds.csv")
  REGATTA=$regatta PYTHONPATH=$root/analysis "$python" -m regatta_analysis "$results" --out "$out" "${bounds[@]}" "$@"
}

# The page of results, with the claims file beside the study where there is one.
report() {
  local python
  python=$(find_python)
  analysis page "$@"
}

# A relative path is the caller's.
absolute() { case $1 in /*) echo "$1" ;; *) echo "$caller/$1" ;; esac; }

# Trials for undecided claims: the package (regatta_analysis or reproduce) and options of its `replicate`.
replicate() {
  local python
  python=$(find_python) || return 2
  stoppable env REGATTA="$regatta" PYTHONPATH="$root/analysis:$root/experiments" "$python" -m "$1" replicate \
    --launch "$(mpi_words)" "${@:2}"
}

# More arguments are options of replicate.
run_study() {
  local study=$1 output=$2 command=$3 claims=()
  # A mistake in the study file is reported here, by one process.
  "$regatta" plan "$study" -o "$output" -ranks "${REGATTA_RANKS:-$(cores)}"
  mkdir -p "$(dirname "$output")"
  mpi_run "$regatta" run "$study" -o "$output"
  "$regatta" status "$output" >/dev/null || return 0 # stopped: no figures yet
  if [ $# -gt 3 ]; then replicate regatta_analysis "$study" -o "$output" "${@:4}" || return; fi
  "$regatta" bounds "$study" -o "$(dirname "$output")/bounds.csv" >/dev/null
  [ -f "$(dirname "$study")/claims.yaml" ] && claims=(--claims "$(dirname "$study")/claims.yaml")
  figures "$output" "$(dirname "$output")" --page "$(dirname "$output")/report.html" --command "$command" "${claims[@]}"
}

study() {
  local file= output= until= budget= command="./run.sh study $*" name
  while [ $# -gt 0 ]; do
    case $1 in
    --until-decided) until=yes ;;
    --budget) budget=${2:-x} && shift ;;
    -*) complain "study: unknown option '$1'" && exit 2 ;;
    *) if [ -z "$file" ]; then file=$(absolute "$1"); else output=$(absolute "$1"); fi ;;
    esac
    shift || true
  done
  [ -n "$file" ] || { complain "study needs a FILE"; exit 2; }
  check_budget "$until" "$budget"
  name=$(basename "$file" .yaml)
  build_target regatta_program
  run_study "$file" "${output:-$root/results/$name/$name.h5}" "$command" ${until:+--budget "${budget:-4}"}
}

# --budget H goes with --until-decided, and is a number.
check_budget() {
  if [ -n "$2" ] && [ -z "$1" ]; then complain "--budget goes with --until-decided" && exit 2; fi
  [[ ${2:-1} =~ ^([0-9]+[.]?[0-9]*|[.][0-9]+)$ ]] || { complain "--budget takes a number of core-hours"; exit 2; }
}

# ---- papers ------------------------------------------------------------------------------------

analysis() { REGATTA=$regatta PYTHONPATH=$root/analysis "$python" -m regatta_analysis "$@"; }
papers() { REGATTA=$regatta PYTHONPATH=$root/analysis:$root/experiments "$python" -m reproduce "$@"; }

stopped=0 # a run was asked to stop: write the report of what is there, and end

# One study of a reproduction; complains and returns 1 when it can't be run. What was computed at a
# smaller scale is taken over.
reproduce_study() {
  local study=$1 file=$2 bounds=$3 directory=$4 smaller=$5 output status=0
  output=$directory/$study.h5
  if [ -n "$smaller" ] && [ ! -e "$output" ] && [ ! -e "$output.d" ] && [ -e "$smaller/$study.h5" ]; then
    cp "$smaller/$study.h5" "$output"
  fi
  "$regatta" plan "$file" -o "$output" >"$directory/$study.log" 2>&1 || {
    cat "$directory/$study.log" >&2
    return 1
  }
  tail -n 2 "$directory/$study.log" | sed 's/^/  /'
  mpi_run "$regatta" run "$file" -o "$output" || status=$?
  if ! "$regatta" status "$output" >/dev/null; then
    stopped=1
    return "$status"
  fi
  [ "$bounds" = - ] || "$regatta" bounds "$file" -o "$directory/${study}_bounds.csv" >/dev/null
}

# PAPER[/FIGURE,...]: its studies one after the other, then the report.
reproduce_paper() {
  local target=$1 scale=$2 seeds=$3 run=$4 command=$5 universes=$6 until=$7 keep=${8:-} paper=${1%%/*} list
  local skipped=() smaller= n=0 total files=()
  local directory=$root/results/$paper
  mkdir -p "$directory/$scale"
  [ "$scale" = full ] && smaller=$directory/small
  if [ "$run" = yes ]; then
    list=$(papers studies "$target" "$directory/$scale" --scale "$scale" ${seeds:+--seeds "$seeds"} \
      $universes --regatta "$regatta") ||
      return 2
    total=$(grep -c . <<<"$list" || true)
    while IFS=$'\t' read -r -u 9 study file bounds state reason; do
      [ -n "$study" ] || continue # a figure without studies: the list is one empty line
      n=$((n + 1))
      echo "[$n/$total] $paper/$study"
      if [ "$state" = skip ]; then
        complain "$study is left out: $reason"
        skipped+=(--skipped "$study=$reason")
        continue
      elif [ "$reason" != - ]; then
        complain "$study goes without $reason"
        skipped+=(--without "$study=$reason")
      fi
      reproduce_study "$study" "$file" "$bounds" "$directory/$scale" "$smaller" ||
        skipped+=(--skipped "$study=$(tail -n 1 "$directory/$scale/$study.log" | sed 's|.*/||')")
      [ "$stopped" = 0 ] || break
      if "$regatta" status "$directory/$scale/$study.h5" >/dev/null 2>&1; then files+=("$file"); fi
    done 9<<<"$list"
    if [ -n "$until" ] && [ "$stopped" = 0 ] && [ ${#files[@]} -gt 0 ]; then
      replicate reproduce "${files[@]}" -o "$directory/$scale" --claims "$root/experiments/$paper/claims.yaml" \
        --budget "$until" ${keep:+--keep "$root/experiments/$paper/verdicts.json"} || return
    fi
  fi
  papers report "$paper" "$directory" --scale "$scale" --command "$command" "${skipped[@]}"
}

reproduce() {
  local target= scale=full seeds= run=yes universes= until= budget= keep= command="./run.sh reproduce $*"
  local papers paper python
  while [ $# -gt 0 ]; do
    case $1 in
    --scale) scale=${2:-} && shift ;;
    --seeds) seeds=${2:-x} && shift ;;
    --no-run) run=no ;;
    --universes) universes=--universes ;;
    --keep) keep=yes ;;
    --until-decided) until=yes ;;
    --budget) budget=${2:-x} && shift ;;
    -*) complain "reproduce: unknown option '$1'" && exit 2 ;;
    *) [ -z "$target" ] && target=$1 || { complain "reproduce: one paper, or all" && exit 2; } ;;
    esac
    shift || true
  done
  case $scale in smoke | small | full) ;; *) complain "--scale is smoke, small or full" && exit 2 ;; esac
  case $seeds in *[!0-9]* | 0*) complain "--seeds takes a number from 1" && exit 2 ;; esac
  check_budget "$until" "$budget"
  if [ -n "$keep" ] && [ -z "$until" ]; then complain "--keep goes with --until-decided" && exit 2; fi
  [ -z "$until" ] || until=${budget:-4}
  python=$(find_python) || exit 2
  papers=$(cd "$root/experiments" && ls -d */figures.yaml | sed 's|/.*||')
  if [ -z "$target" ] || [ "$target" = list ]; then
    for paper in $papers; do
      sed -n "s|^  - id: *|$paper/|p" "$root/experiments/$paper/figures.yaml"
    done
    return 0
  fi
  [ "$run" = no ] || build_target regatta_program
  if [ "$target" != all ]; then
    reproduce_paper "$target" "$scale" "$seeds" "$run" "$command" "$universes" "$until" "$keep" || exit $?
    return 0
  fi
  for paper in $papers; do
    reproduce_paper "$paper" "$scale" "$seeds" "$run" "./run.sh reproduce $paper${command#* all}" \
      "$universes" "$until" "$keep" ||
      complain "$paper: no report"
    [ "$stopped" = 0 ] || break
  done
  papers index "$root/results" --scale "$scale"
}

quickstart() {
  build_target regatta_program
  run_study "$root/experiments/quickstart.yaml" "$root/results/quickstart/quickstart.h5" ./run.sh
}

docs() {
  install_docs_packages
  build_target regatta_program
  /usr/bin/python3 "$root/docs/build_docs.py" "$regatta" "$build/docs"
}

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

run_tests() {
  local select=() scratch=
  if [ "${1:-}" = --long ]; then export REGATTA_LONG=1 && shift; fi
  case ${1:-} in
  '') ;;
  unit | oracle | house | mpi | integration | fault | fuzz | analysis) select=(-L "^$1\$") ;;
  -*) complain "test: unknown option '$1'" && exit 2 ;;
  *) select=(-R "$1") ;;
  esac
  build_target all
  [ ${#select[@]} -gt 0 ] || install_test_packages
  [ "$(id -u)" = 0 ] && export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  [ -n "${TMPDIR:-}" ] || scratch=$(scratch_in_memory)
  if [ -n "$scratch" ]; then
    export TMPDIR=$scratch
    trap 'rm -rf "$TMPDIR"' EXIT
  fi
  local log=$build/tests.log status=0
  # Two more than cores: many tests wait for what they have started.
  (cd "$build" && ctest "${select[@]}" --output-on-failure --parallel $(($(cores) + 2))) 2>&1 | tee "$log" ||
    status=$?
  local total failed skipped
  total=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#' "$log" || true)
  skipped=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#.*\*\*\*Skipped' "$log" || true)
  failed=$(grep -E '^ *[0-9]+/[0-9]+ Test +#' "$log" | grep -vcE 'Passed|\*\*\*Skipped' || true)
  [ "$total" -gt 0 ] || complain "no test has the label or name '${1:-}'"
  echo "$((total - failed - skipped)) passed, $failed failed, $skipped skipped"
  [ "$total" -gt 0 ] && [ "$failed" = 0 ] && [ "$status" = 0 ]
}

[ "${BASH_SOURCE[0]}" = "$0" ] || return 0 # sourced by a test, for its functions

case ${1:-} in
'') quickstart ;;
test) shift && run_tests "$@" ;;
build) build_target all && echo "Built: $regatta" ;;
study) shift && study "$@" ;;
figures)
  [ $# -ge 2 ] || { complain "figures needs a results file"; exit 2; }
  case ${3:-} in
  -*) figures "$(absolute "$2")" "" "${@:3}" ;;
  *) figures "$(absolute "$2")" "${3:+$(absolute "$3")}" "${@:4}" ;;
  esac ;;
report)
  shift
  [ $# -ge 1 ] || { complain "report needs a results file"; exit 2; }
  cd "$caller" && report "$@" ;;
reproduce) shift && reproduce "$@" ;;
bench) shift && build_target all && "$root/tests/bench/run_bench.sh" "$build" "$@" ;;
docs) docs ;;
clean) rm -rf "$build" ;;
help | -h | --help) usage ;;
*)
  complain "unknown command '$1'"
  usage >&2
  exit 2 ;;
esac
