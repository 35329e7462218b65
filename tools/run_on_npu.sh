#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: tools/run_on_npu.sh PROGRAM.py ARGUMENTS: runs it in the folder of the caller, on the NPU where there is CANN, else on hostnpu.
caller="$PWD"
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cann="$(find_cann)"
cd "$caller"
if [[ -z "$cann" ]]; then
  say "no CANN on this machine: $(basename "$1") runs on hostnpu, with the real torch_npu"
  exec "$VENV/bin/msprobe" hostnpu run "$@"
fi

say "CANN found ($cann): $(basename "$1") runs on the NPU"
if [[ -z "${ASCEND_OPP_PATH:-}" ]]; then
  # The toolkit's own script stands in one of the folders above the library.
  folder="$(dirname "$cann")"
  while [[ "$folder" != / && ! -f "$folder/set_env.sh" ]]; do
    folder="$(dirname "$folder")"
  done
  if [[ -f "$folder/set_env.sh" ]]; then
    set +u  # it reads variables that may be unset
    # shellcheck disable=SC1091  # CANN brings it
    source "$folder/set_env.sh"
    set -u
  fi
fi
if [[ -d "$TORCH_NPU_HOME" ]]; then
  export PYTHONPATH="$TORCH_NPU_HOME${PYTHONPATH:+:$PYTHONPATH}"
fi
exec "$VENV_PYTHON" "$@"
