#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make fuzz`: builds the fuzzers with libFuzzer and runs each for FUZZ_SECONDS; inputs that reach new code are kept in out/fuzz.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tools/install_debian_packages.sh build fuzz
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --parallel "$JOBS"

found=no
while IFS= read -r -d '' program; do
  found=yes
  name="$(basename "$program")"
  mkdir -p "out/fuzz/$name"
  say "$name, ${FUZZ_SECONDS:-60} seconds"
  "$program" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=4096 -artifact_prefix="out/fuzz/$name-" "out/fuzz/$name"
done < <(find build/fuzz -type f -name '*_fuzzer' -executable -print0 | sort -z)
[[ "$found" == yes ]] || die "build/fuzz has no program called *_fuzzer"
