#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: tools/run_torch_npu_tests.sh CHECKOUT [WORD ...]: runs torch_npu's own tests of graphs, streams, events and random state on
# hostnpu, and prints a table of what passed; exit code 1 below 95 %. CHECKOUT is a clone of github.com/Ascend/pytorch (with or without a
# work tree, taken at the tag below) or a folder of its sources. WORD: only the test files whose path holds one of them. For developers:
# MSPROBE_PYTHON, MSPROBE_HOSTNPU_LIB, MSPROBE_TORCH_NPU_PATH and PYTHONPATH choose another build than the set-up one.
caller="$PWD"
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# The tests of the torch_npu that msprobe is built for.
version="$(sed -n 's/^torch-npu==//p' tools/requirements/torch_npu.txt)"
TAG="${MSPROBE_TORCH_NPU_TESTS_REF:-v26.2.0-beta.1-pytorch$version}"

[[ $# -ge 1 ]] || die "usage: tools/run_torch_npu_tests.sh CHECKOUT [WORD ...]; get one with: git clone --depth 1 --branch $TAG https://github.com/Ascend/pytorch"
checkout="$(cd "$caller" && realpath "$1")" || die "there is no folder '$1'"
shift

python="${MSPROBE_PYTHON:-}"
if [[ -z "$python" ]]; then
  tools/setup.sh test
  python="$VENV_PYTHON"
fi

work="$(mktemp --directory --tmpdir torch_npu_tests.XXXXXX)"
trap 'rm -rf "$work"' EXIT

# The sources lie outside the repository, so that neither pytest nor git takes them for ours.
if git -C "$checkout" rev-parse --git-dir >/dev/null 2>&1; then
  git -C "$checkout" rev-parse --verify --quiet "$TAG^{commit}" >/dev/null \
    || die "'$checkout' has no $TAG; fetch it, or name another with MSPROBE_TORCH_NPU_TESTS_REF"
  mkdir "$work/source"
  git -C "$checkout" archive "$TAG" test | tar --extract --directory "$work/source"
  checkout="$work/source"
fi

needs="$ROOT/out/torch_npu_tests/needs"
wanted="$(content_hash tools/requirements/torch_npu_tests.txt)"
if [[ ! -f "$needs/.$wanted" ]]; then
  rm -rf "$needs"
  "$python" -m pip install --quiet --no-deps --target "$needs" --requirement tools/requirements/torch_npu_tests.txt
  touch "$needs/.$wanted"
fi

export PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}$needs"
"$python" tools/torch_npu_tests/run.py "$checkout" "$@" --out "$ROOT/out/torch_npu_tests"
