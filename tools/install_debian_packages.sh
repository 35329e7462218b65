#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages of the named groups (tools/debian_packages.tsv) that are missing; without root, tells the line to type.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

is_installed() { [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }

wanted_packages() {
  local group
  for group in "$@"; do
    awk -F '\t' -v group="$group" '$1 == group { print $2 }' tools/debian_packages.tsv
  done
  # A Python that did not come from Debian (pyenv, conda) brings these itself.
  "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
  "$PYTHON" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' || echo python3-dev
}

# Other systems than Debian: the tools are asked for by name, since their packages are called otherwise.
check_without_dpkg() {
  local tool missing=()
  for tool in g++ cmake ninja; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [[ ${#missing[@]} -eq 0 ]] || die "missing programs: ${missing[*]}. Install g++ (12 or newer), cmake (3.25 or newer) and ninja, then run this again."
}

PYTHON="${PYTHON:-python3}"
command -v "$PYTHON" >/dev/null || die "there is no $PYTHON: install Python 3.10 or newer (apt-get install python3 python3-venv python3-dev), or set PYTHON to one."

if ! command -v dpkg-query >/dev/null; then
  check_without_dpkg
  exit 0
fi

missing=()
while read -r package; do
  is_installed "$package" || missing+=("$package")
done < <(wanted_packages "$@")
[[ ${#missing[@]} -gt 0 ]] || exit 0

install_line="apt-get install --yes --no-install-recommends ${missing[*]}"
if [[ "$(id --user)" -ne 0 ]]; then
  die "Debian packages are missing, and only root can install them. Type this, then run the same command again:
  sudo $install_line"
fi
say "installing Debian packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# An old package list is no harm where the packages can still be had, so a failed update alone does not stop the set-up.
apt-get update --quiet=2 || say "apt-get update failed; going on with the package lists that are here"
$install_line --quiet=2 || die "could not install: ${missing[*]}. Is this machine offline? Install them by hand: $install_line"
