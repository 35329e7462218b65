#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make page`: brings the page's tools into web/node_modules and bundles web/ into csrc/report/page/page.html. `tools/page.sh --tools`
# only brings the tools.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

NODE_AT_LEAST=20

check_node() {
  local major
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    die "node or npm is missing; the page's tools need Node.js $NODE_AT_LEAST or newer (https://nodejs.org). Who only builds msprobe needs neither."
  fi
  major="$(node -p 'process.versions.node.split(".")[0]')"
  [[ "$major" -ge "$NODE_AT_LEAST" ]] || die "node is $(node --version); the page's tools need Node.js $NODE_AT_LEAST or newer (https://nodejs.org)."
}

# The packages of web/package-lock.json, to the letter.
bring_tools() {
  local stamp=web/node_modules/.stamp hash
  hash="$(content_hash web/package-lock.json)"
  [[ -f "$stamp" && "$(<"$stamp")" == "$hash" ]] && return
  say "installing the page's tools into web/node_modules"
  npm ci --prefix web --silent --no-audit --no-fund || die "npm ci failed. Is this machine offline? npm takes packages from a mirror with --registry, or its cache."
  printf '%s\n' "$hash" > "$stamp"
}

check_node
bring_tools
[[ "${1:-}" == --tools ]] || npm run --silent --prefix web build
