#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make test-aarch64`: cross-compiles the torch-free core for aarch64 (most Ascend hosts are Arm) and runs its tests under qemu.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# What the core links (groups `build` and `test` of debian_packages.tsv, for the other architecture), with what these need at run time.
PACKAGES=(
  libdeflate-dev libdeflate0 libyaml-dev libyaml-0-2 libexpat1-dev libexpat1 libutf8proc-dev libutf8proc2 libxlsxwriter-dev
  libxlsxwriter4 libminizip1 libssl3 zlib1g-dev zlib1g libgtest-dev rapidjson-dev libcli11-dev nlohmann-json3-dev
)
LIBRARIES="$ROOT/build/aarch64-root"
# Tests that emulation cannot run: it has no openat2 (the other way of opening is tested), and the large sums take minutes.
SKIPPED="OpenInsideKernel.LinksThatStayInsideAreFollowed:HundredMillionTest.*"

# Debian's packages are unpacked into a folder of their own: the machine's package system does not hear of another architecture.
fetch_libraries() {
  local apt="$ROOT/build/aarch64-apt" apt_get
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
  : >"$apt/state/status"
  apt_get=(apt-get --quiet=2 -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State=$apt/state"
    -o "Dir::State::status=$apt/state/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  "${apt_get[@]}" update || die "cannot fetch Debian's package list for arm64: is this machine offline?"
  (cd "$apt/debs" && "${apt_get[@]}" download "${PACKAGES[@]}") || die "cannot fetch Debian's packages for arm64 (see above)."
  rm -rf "$LIBRARIES.new"
  local package
  for package in "$apt"/debs/*.deb; do
    dpkg-deb --extract "$package" "$LIBRARIES.new"
  done
  printf '%s\n' "${PACKAGES[@]}" >"$LIBRARIES.new/packages"
  rm -rf "$LIBRARIES"
  mv "$LIBRARIES.new" "$LIBRARIES"
}

tools/install_debian_packages.sh build test aarch64
mkdir -p build
if [[ "$(cat "$LIBRARIES/packages" 2>/dev/null)" != "$(printf '%s\n' "${PACKAGES[@]}")" ]]; then
  say "fetching libraries for aarch64"
  fetch_libraries
fi
say "C++ tests: aarch64"
cmake --preset aarch64 >build/configure-aarch64.log 2>&1 || { cat build/configure-aarch64.log >&2; die "cmake --preset aarch64 failed"; }
cmake --build --preset aarch64 --parallel "$JOBS" -- --quiet
GTEST_FILTER="-$SKIPPED" ctest --preset aarch64 --parallel "$JOBS"
