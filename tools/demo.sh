#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make demo`: runs the quick start in out/demo, on the NPU where there is one, else on hostnpu, and shows what it left behind.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tools/setup.sh

demo="$ROOT/out/demo"
rm -rf "$demo"
mkdir -p "$demo"
cp examples/quick_start.py examples/acl_config.json "$demo"
cd "$demo"
"$ROOT/tools/run_on_npu.sh" quick_start.py
"$VENV_PYTHON" "$ROOT/tools/show_dumps.py" L0_dump
