#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make lint`: ruff, mypy, eslint, tsc, shellcheck, clang-format and clang-tidy; `tools/lint.sh --fix` (`make format`) writes what they can put right.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tools/setup.sh lint test

python_sources=(python tools tests bench examples hostnpu setup.py)
mapfile -d '' cpp_sources < <(find csrc hostnpu tests/cpp fuzz bench -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.c' \) -print0 | sort -z)

if [[ "${1:-}" == --fix ]]; then
  "$VENV_PYTHON" -m ruff check --fix "${python_sources[@]}"
  "$VENV_PYTHON" -m ruff format "${python_sources[@]}"
  clang-format-19 -i "${cpp_sources[@]}"
  exit 0
fi

failed=()
say "ruff"
"$VENV_PYTHON" -m ruff check "${python_sources[@]}" || failed+=("ruff check")
"$VENV_PYTHON" -m ruff format --check "${python_sources[@]}" || failed+=("ruff format")
say "mypy"
"$VENV_PYTHON" -m mypy || failed+=(mypy)
say "the page: tsc and eslint"
npm run --silent --prefix web check || failed+=("tsc or eslint")
say "shellcheck"
shellcheck tools/*.sh .ci/run || failed+=(shellcheck)
say "clang-format"
clang-format-19 --dry-run --Werror "${cpp_sources[@]}" || failed+=(clang-format)
say "clang-tidy"
tools/clang_tidy.sh || failed+=(clang-tidy)

if [[ ${#failed[@]} -gt 0 ]]; then
  printf -v list '%s, ' "${failed[@]}"
  die "failed: ${list%, } (make format puts the layout right)"
fi
