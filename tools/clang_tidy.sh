#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy on the torch-free core. A file that was clean is not looked at again until it, a header or the rules change.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cmake --preset core -DMSPROBE_TESTS=OFF -DMSPROBE_FUZZ=OFF -B build/tidy >/dev/null
cache=build/tidy/clean
mkdir -p "$cache"
# What every file's findings depend on beside the file itself.
headers_hash="$({ find csrc -name '*.h' -print0 | sort -z | xargs -0 cat; cat .clang-tidy CMakeLists.txt csrc/CMakeLists.txt cmake/*; } | sha256sum)"

# Files of the core as CMake knows them, one a line.
core_files() {
  "$VENV_PYTHON" - build/tidy/compile_commands.json <<'PYTHON'
import json, sys
# What the build makes is not there yet, and nobody wrote it.
print("\n".join(sorted(entry["file"] for entry in json.load(open(sys.argv[1])) if "/build/" not in entry["file"])))
PYTHON
}

check_file() {
  local file="$1" key
  key="$cache/$(printf '%s' "$headers_hash $file $(sha256sum < "$file")" | sha256sum | cut -c1-40)"
  [[ -f "$key" ]] && return 0
  clang-tidy-19 --quiet -p build/tidy "$file" 2> >(grep --invert-match 'warnings generated\|Suppressed\|Use -header-filter' >&2) && touch "$key"
}
export -f check_file
export headers_hash cache

# shellcheck disable=SC2016  # the inner shell expands it
core_files | xargs --delimiter='\n' --max-procs="$JOBS" -I{} bash -c 'check_file "$1"' _ {}
