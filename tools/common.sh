# SPDX-License-Identifier: Apache-2.0
# What the scripts of tools/ share: places, messages, stamps. Sourced, never run; ends in the root of the repository.
# shellcheck shell=bash disable=SC2034  # the variables are for those who source this
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT="$PWD"
VENV="$ROOT/.venv"
VENV_PYTHON="$VENV/bin/python"
# torch_npu lives outside the venv: with it in site-packages and no CANN, a plain `import torch` fails.
TORCH_NPU_HOME="$ROOT/.torch_npu"
STAMPS="$VENV/.stamps"
# Paths below the root count as relative ones, so that a fresh clone in another folder finds what was compiled before.
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$ROOT}" CCACHE_NOHASHDIR=true
JOBS="${MSPROBE_JOBS:-$(nproc)}"

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# The hash of the contents and names of the given files and folders; generated files do not count.
content_hash() {
  find "$@" -type f ! -path '*/__pycache__/*' ! -name '*.pyc' -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-40
}

# A step is done when its stamp holds the hash of what it was made from. A stamp is written last, so that a step that was
# interrupted is done again.
is_done() { [[ -f "$STAMPS/$1" && "$(<"$STAMPS/$1")" == "$2" ]]; }
mark_done() {
  mkdir -p "$STAMPS"
  printf '%s\n' "$2" > "$STAMPS/$1.new"
  mv "$STAMPS/$1.new" "$STAMPS/$1"
}

# One setup at a time for a folder: two `make` started together must not write the same venv.
lock_setup() {
  exec 9> "$ROOT/.setup.lock"
  if ! flock --nonblock 9; then
    say "another set-up of this folder is running; waiting for it"
    flock 9
  fi
}

# The libascendcl.so of a real CANN, or nothing: as `msprobe hostnpu run` looks for it, from the sources, since nothing may be
# installed yet.
find_cann() {
  PYTHONPATH="$ROOT/python" "${PYTHON:-python3}" -c '
import os
from msprobe.hostnpu import checks, places
print(checks.find_real_cann(places.library_folder(os.environ), os.environ) or "")'
}
