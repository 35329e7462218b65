#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy on the torch-free core. A file that was clean is not looked at again until it, a header it reads or the rules change.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cmake --preset core -DMSPROBE_TESTS=OFF -DMSPROBE_FUZZ=OFF -B build/tidy >/dev/null
cache=build/tidy/clean
mkdir -p "$cache"
rules_hash="$({ clang-tidy-19 --version; cat .clang-tidy; } | sha256sum)"

# Files of the core as CMake knows them, one a line: the file, a tab, the command that compiles it.
core_files() {
  "$VENV_PYTHON" - build/tidy/compile_commands.json <<'PYTHON'
import json, sys
# What the build makes is not there yet, and nobody wrote it.
entries = [entry for entry in json.load(open(sys.argv[1])) if "/build/tidy/" not in entry["file"]]
print("\n".join(sorted(f"{entry['file']}\t{entry['command'].split(' -o ')[0]}" for entry in entries)))
PYTHON
}

# The contents of a file and of the headers of the project that it reads, and how it is compiled.
inputs() {
  local file="$1" command="$2"
  printf '%s\n' "$command"
  # Word splitting is meant: CMake quotes nothing here.
  # shellcheck disable=SC2086
  (cd build/tidy && $command -MM "$file") | grep --only-matching "$ROOT/[^ ]*" | sort -u | xargs cat
}

check_file() {
  local file="${1%%$'\t'*}" command="${1#*$'\t'}" key
  key="$cache/$({ printf '%s' "$rules_hash"; inputs "$file" "$command"; } | sha256sum | cut -c1-40)"
  [[ -f "$key" ]] && return 0
  clang-tidy-19 --quiet -p build/tidy "$file" 2> >(grep --invert-match 'warnings generated\|Suppressed\|Use -header-filter' >&2) && touch "$key"
}
export -f check_file inputs
export rules_hash cache ROOT

# shellcheck disable=SC2016  # the inner shell expands it
core_files | xargs --delimiter='\n' --max-procs="$JOBS" -I{} bash -o pipefail -c 'check_file "$1"' _ {}
