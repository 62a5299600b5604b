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
# memory, a reader in R (50 MB), a browser, Optuna with its CMA-ES, what executes a notebook, a locale with a comma,
# modules, licences.
test_packages=(clang-format clang-tidy valgrind r-cran-hdf5r chromium-headless-shell python3-sklearn python3-xgboost
  python3-optuna python3-cmaes python3-nlopt python3-nbconvert python3-ipykernel python3-cloudpickle python3-tqdm locales
  lmod reuse)
# Only for the documentation: Sphinx reads Markdown by MyST, nbconvert the notebook, KaTeX draws formulas in the
# browser.
docs_packages=(python3-sphinx python3-myst-parser furo python3-nbconvert libjs-katex fonts-katex doxygen)
# Only for a release: pip makes the wheel, cpack the package, lintian checks it.
release_packages=(git dpkg-dev file lintian python3-pip python3-setuptools python3-wheel)

usage() {
  cat <<TEXT
usage: ./run.sh [COMMAND]

  (nothing)             set up, run the quickstart on all cores, draw its figures, write its report
  test [--long] [WHAT]  set up, build and run all tests, or those of a label (unit, oracle, house, mpi,
                        integration, fault, fuzz, mutation, analysis) or whose name contains WHAT
  build                 set up and build
  study FILE [OUT.h5]   run a study, or resume it (default results/NAME/NAME.h5), draw figures, write
                        report.html beside the results; --seeds N, --instances N: add trials; --until-decided:
                        add trials for its claims
  report RESULTS.h5...  the report alone: one page for a browser, also offline; --live OUT.h5.d: redrawn
                        while the study runs
  figures RESULTS.h5 [DIR]
                        draw the figures of a results file into its folder, or into DIR
  reproduce PAPER[/FIGURE,...] [--scale smoke|small|full] [--universes]
                        run what is missing of a paper's studies (full: as in the paper), then write
                        results/PAPER/report.html; all: every paper, and an index; list: papers and figures;
                        --universes: in all settings that a paper leaves open (all papers: about 30 core-hours)
  bench [large|inputs|contexts]
                        measure speed; table on screen, JSON in results/bench/
  release               make and check source archive, .deb, wheel, checksums and list of parts (SPDX), offline;
                        --set VERSION writes the version into the files that have it
  docs                  build the documentation as a site to be read offline; prints its first page
  clean                 remove the build (results stay)
  help                  this text

study, report, figures and reproduce say with --help what else they take.
Environment: REGATTA_RANKS ranks to use (default: all cores), REGATTA_BUILD build folder, REGATTA_PYTHON a
Python with h5py, pandas and Matplotlib, REGATTA_DATA folder of datasets, REGATTA_NATIVE=1 tunes
the build for this CPU, REGATTA_WERROR=1 makes warnings errors.

Systems without apt: docs/install.md lists what to install.
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
    complain "this system has no apt; docs/install.md says what to install"
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

# Install the packages that a command needs beside those of the build.
install_more_packages() {
  local missing
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || return 0
  missing=$(missing_packages "$@")
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

has_packages='from importlib.util import find_spec
assert all(map(find_spec, ("h5py", "jinja2", "matplotlib", "pandas", "xxhash", "yaml")))'

find_python() {
  local python
  for python in ${REGATTA_PYTHON:+"$REGATTA_PYTHON"} /usr/bin/python3 python3; do
    if "$python" -c "$has_packages" 2>/dev/null; then # to import them all takes a second
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

# A package of Python with its arguments, in the caller's folder; it takes the place of this shell, so that signals
# reach it.
python() {
  local python
  python=$(find_python)
  cd "$caller"
  REGATTA=$regatta PYTHONPATH=$root/analysis:$root/experiments exec "$python" -m "$@"
}

# A package that runs the program, which is built first where something is to run.
run_program() {
  case " $* " in *" --help "* | *" -h "* | *" --no-run "* | *" list "*) ;; *) build_target regatta_program ;; esac
  python "$1" "$2" --results "$root/results" --command "$command" "${@:3}"
}

docs() {
  install_more_packages "${docs_packages[@]}"
  build_target regatta_program
  /usr/bin/python3 "$root/docs/build_docs.py" "$regatta" "$build/docs"
}

command="./run.sh${1:+$(printf ' %q' "$@")}" # as the page says how it was made

[ "${BASH_SOURCE[0]}" = "$0" ] || return 0 # sourced by a test, for its functions

case ${2:-}:${1:-} in
-h:test | -h:build | -h:bench | -h:docs | -h:clean | -h:help) set -- help ;;
--help:test | --help:build | --help:bench | --help:docs | --help:clean | --help:help) set -- help ;;
?*:build | ?*:docs | ?*:clean | ?*:help)
  complain "$1 takes no arguments, not '$2'"
  exit 2 ;;
esac
case ${1:-} in
'') command="./run.sh study experiments/quickstart.yaml"
  run_program regatta_analysis study "$root/experiments/quickstart.yaml" ;;
test)
  shift
  build_target all
  [ $# -gt 0 ] || install_test_packages
  "$root/tests/run_tests.sh" "$build" "$@" ;;
build) build_target all && echo "Built: $regatta" ;;
study) run_program regatta_analysis "$@" ;;
figures)
  [ $# -ge 2 ] || { complain "figures needs a results file"; exit 2; }
  case ${3:--} in
  -*) python regatta_analysis "$2" --out "$(dirname "$2")" "${@:3}" ;;
  *) python regatta_analysis "$2" --out "$3" "${@:4}" ;;
  esac ;;
report) shift && python regatta_analysis page "$@" ;;
reproduce) shift && run_program reproduce run "$@" ;;
bench) shift && build_target all && "$root/tests/bench/run_bench.sh" "$build" "$@" ;;
docs) docs ;;
release)
  shift
  case " $* " in
  *" --set "* | *" --help "* | *" -h "*) ;;
  *) install_packages && install_more_packages "${release_packages[@]}" ;;
  esac
  exec /usr/bin/python3 "$root/cmake/release/release.py" "$@" ;;
clean) rm -rf "$build" ;;
help | -h | --help) usage ;;
*)
  complain "unknown command '$1'"
  usage >&2
  exit 2 ;;
esac
