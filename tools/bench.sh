#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make bench`: builds and runs the benchmarks; the numbers go to the screen and, for those of the core, as JSON to out/bench.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tools/install_debian_packages.sh bench
tools/setup.sh
cmake --preset bench >/dev/null
cmake --build --preset bench --parallel "$JOBS"

mkdir -p out/bench
while IFS= read -r -d '' program; do
  name="$(basename "$program")"
  say "$name"
  "$program" --benchmark_out="out/bench/$name.json" --benchmark_out_format=json
done < <(find build/bench -type f -name '*_bench' -executable -print0 | sort -z)

say "compare_bench.py"
"$VENV_PYTHON" bench/compare/compare_bench.py
say "eager_bench.py"
"$VENV_PYTHON" bench/dumper/eager_bench.py
tools/run_on_npu.sh bench/dumper/replay_bench.py
tools/run_on_npu.sh bench/save/save_bench.py
