# SPDX-License-Identifier: Apache-2.0
"""What dump.json says of the run besides its steps: versions, device, rank, configuration (docs/formats.md, "Run")."""

from __future__ import annotations

import json
import sys

import torch

from msprobe import __version__


def describe(device: torch.device, rank: int | None, config: str) -> str:
    """Members of a JSON object, without braces. `config`: JSON, as it was read."""
    torch_npu = sys.modules.get("torch_npu")
    facts = {
        "msprobe": __version__,
        "torch": torch.__version__,
        "torch_npu": torch_npu.__version__ if torch_npu else None,
        "cann": _cann_version(),
        "device": _device_name(device),
        "rank": rank,
        "config": json.loads(config),
    }
    return json.dumps(facts)[1:-1]


def _cann_version() -> str | None:
    utils = sys.modules.get("torch_npu.npu.utils")
    try:
        version = utils.get_cann_version() if utils else None
    except (AttributeError, RuntimeError):  # a torch_npu that does not tell, or a CANN that does not know
        return None
    return version or None


def _device_name(device: torch.device) -> str:
    if device.type == "cpu":
        return "cpu"
    module = torch.get_device_module(device.type)
    return f"{device} {module.get_device_name(device)}"
