#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# install_test.sh BUILD CXX: installs BUILD to a fresh prefix; a project that knows only that prefix
# finds Fermata with find_package and with pkg-config, compiles and runs.

set -euo pipefail
build=$(realpath "$1")
compiler=$2
consumer=$(realpath "$(dirname "${BASH_SOURCE[0]}")")/consumer
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cmake --install "$build" --prefix "$place/prefix" >"$place/install.log"

cmake -G Ninja -S "$consumer" -B "$place/build" -D CMAKE_PREFIX_PATH="$place/prefix" \
  -D CMAKE_CXX_COMPILER="$compiler"
cmake --build "$place/build"
"$place/build/program"
"$place/build/simulation"

PKG_CONFIG_PATH=$(dirname "$(find "$place/prefix" -name fermata-uv.pc)")
export PKG_CONFIG_PATH
read -ra uv < <(pkg-config --cflags --libs fermata-uv)
"$compiler" -std=c++20 "$consumer/program.cpp" -o "$place/program" "${uv[@]}"
"$place/program"
read -ra sim < <(pkg-config --cflags --libs fermata-sim_main)
"$compiler" -std=c++20 "$consumer/simulation.cpp" -o "$place/simulation" "${sim[@]}"
"$place/simulation"
