#!/bin/bash
# conda-forge has no L-BFGS-B: its source is built with Regatta.
set -eu
read -ra arguments <<<"${CMAKE_ARGS:-}"
cmake -S . -B build -G Ninja "${arguments[@]}" -DREGATTA_TESTS=OFF -DREGATTA_LBFGSB_SOURCE="$SRC_DIR/lbfgsb" \
  -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_INSTALL_PREFIX="$PREFIX"
cmake --build build --parallel "$CPU_COUNT" --target install
