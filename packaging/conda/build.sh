#!/usr/bin/env bash
set -euo pipefail
cmake -G Ninja -S . -B build ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DWARPLENS_TESTS=OFF -DWARPLENS_MPI=OFF -DWARPLENS_LLVM="$PREFIX"
cmake --build build
cmake --install build
