#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make hunt`: runs examples/hunt on the NPU where there is one, else on hostnpu. HUNT holds its arguments: HUNT="epsilon --layer 5".
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tools/setup.sh hunt

read -r -a arguments <<< "${HUNT:-}"
tools/run_on_npu.sh examples/hunt/hunt.py --out out/hunt "${arguments[@]}"
