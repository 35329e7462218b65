#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make test`: the core's C++ tests, the same under the sanitizers, then the Python tests. All run even if one fails.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tools/setup.sh test
mkdir -p build

failed=()
for preset in core asan tsan; do
  say "C++ tests: $preset"
  cmake --preset "$preset" >"$ROOT/build/configure-$preset.log" 2>&1 || { cat "$ROOT/build/configure-$preset.log" >&2; die "cmake --preset $preset failed"; }
  if ! cmake --build --preset "$preset" --parallel "$JOBS" -- --quiet || ! ctest --preset "$preset" --parallel "$JOBS"; then
    failed+=("C++ tests ($preset)")
  fi
done

say "Python tests"
"$VENV_PYTHON" -m pytest --numprocesses "$JOBS" --dist loadfile || failed+=("Python tests")

if [[ ${#failed[@]} -gt 0 ]]; then
  printf -v list '%s, ' "${failed[@]}"
  die "failed: ${list%, }"
fi
