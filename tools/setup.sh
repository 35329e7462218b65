#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes this folder ready: Debian packages, .venv with torch, .torch_npu, and msprobe built and installed into .venv.
# Usage: tools/setup.sh [test] [lint] [hunt] (more than is needed to build and run). What is done already is not done again.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

PYTHON="${PYTHON:-python3}"

groups=("$@")
for group in "${groups[@]}"; do
  [[ "$group" =~ ^(test|lint|hunt)$ ]] || die "tools/setup.sh: unknown group '$group'; there are test, lint and hunt."
done
wants() { [[ " ${groups[*]} " == *" $1 "* ]]; }

# On a machine with a real CANN whose Python has torch_npu, that pair is used as it stands: it was chosen to fit the driver.
use_own_torch_npu() {
  [[ -n "$(find_cann)" ]] && "$PYTHON" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch_npu") is None)'
}

# pip in few words: without the line for each package that a folder of PIP_FIND_LINKS is not there, under which errors would drown.
install_quietly() {
  { "$VENV_PYTHON" -m pip install --disable-pip-version-check --quiet "$@" 2>&1 >&3 |
    sed --unbuffered '/^WARNING: Location .* is ignored/d' >&2; } 3>&1
}

pip_install() {
  install_quietly "$@" ||
    die "pip could not install: $*. Is this machine offline? pip takes packages from a folder that exists with PIP_FIND_LINKS=FOLDER."
}

make_venv() {
  # A venv knows its own folder and its Python by absolute path, so a moved folder or another Python means a new one.
  local identity
  identity="$ROOT $("$PYTHON" -c 'import sys; print(sys.version, sys.base_prefix)' | tr '\n' ' ') own=$OWN_TORCH_NPU"
  is_done venv "$identity" && return
  say "making .venv"
  rm -rf "$VENV"
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || die "$PYTHON is $("$PYTHON" --version); msprobe needs Python 3.10 or newer: set PYTHON to one."
  "$PYTHON" -m venv "$VENV"
  if [[ "$OWN_TORCH_NPU" == yes ]]; then
    # Not --system-site-packages: where $PYTHON is of a venv itself, that would mean the packages of its base.
    "$PYTHON" -c 'import site; print("\n".join(f"import site; site.addsitedir({folder!r})" for folder in site.getsitepackages()))' \
      > "$("$VENV_PYTHON" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/own_torch_npu.pth"
  fi
  mark_done venv "$identity"
}

install_requirements() {
  local file="tools/requirements/$1.txt" hash
  hash="$(content_hash "$file")"
  is_done "requirements_$1" "$hash" && return
  say "installing $(grep --invert-match '^#' "$file" | tr '\n' ' ')"
  pip_install --requirement "$file"
  mark_done "requirements_$1" "$hash"
}

install_torch_npu() {
  local file=tools/requirements/torch_npu.txt hash
  hash="$(content_hash "$file")"
  [[ -f "$TORCH_NPU_HOME/.stamp" && "$(<"$TORCH_NPU_HOME/.stamp")" == "$hash" ]] && return
  say "installing $(grep --invert-match '^#' "$file") into .torch_npu"
  rm -rf "$TORCH_NPU_HOME"
  pip_install --no-deps --target "$TORCH_NPU_HOME" --requirement "$file"
  printf '%s\n' "$hash" > "$TORCH_NPU_HOME/.stamp"
}

install_msprobe() {
  local hash settings=(--config-settings=cmake.define.MSPROBE_OPS=ON)
  if [[ "$OWN_TORCH_NPU" == no ]]; then
    settings+=("--config-settings=cmake.define.MSPROBE_TORCH_NPU_DIR=$TORCH_NPU_HOME/torch_npu")
  fi
  # A build folder of its own: CMake remembers where torch_npu lies, and a plain `pip install .` must look for itself.
  settings+=(--config-settings=build-dir=build/venv)
  hash="$(content_hash CMakeLists.txt pyproject.toml README.md LICENSE cmake csrc hostnpu python tools/build_backend tools/requirements) ${settings[*]}"
  is_done msprobe "$hash" && return
  say "building msprobe and installing it into .venv (several minutes the first time)"
  rm -f "$STAMPS/msprobe"
  CMAKE_BUILD_PARALLEL_LEVEL="$JOBS" install_quietly --no-build-isolation --no-deps --force-reinstall \
    "${settings[@]}" . || die "msprobe did not build; the compiler's message is above."
  mark_done msprobe "$hash"
}

lock_setup
PYTHON="$PYTHON" tools/install_debian_packages.sh build "${groups[@]}"
OWN_TORCH_NPU=no
if use_own_torch_npu; then
  OWN_TORCH_NPU=yes
fi
make_venv
if [[ "$OWN_TORCH_NPU" == no ]]; then
  install_requirements torch
  install_requirements torch_npu_needs
  install_torch_npu
fi
install_requirements build
if wants test; then install_requirements test; fi
if wants lint; then install_requirements lint; fi
if wants test || wants hunt; then install_requirements hunt; fi
if wants test || wants lint; then tools/page.sh --tools; fi
install_msprobe
