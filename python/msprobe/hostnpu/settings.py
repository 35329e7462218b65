# SPDX-License-Identifier: Apache-2.0
"""What is played: devices, chip, CANN version and memory, from the command line, HOSTNPU_* variables or the defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from msprobe.hostnpu.errors import HostnpuError

DEFAULT_SOC = "Ascend910B1"
DEFAULT_MEMORY_GIB = "8"
MAX_DEVICES = 64
OLDEST_CANN = (8, 5)
# Chips that have captured graphs and that torch_npu knows by name; it takes any name that begins with Ascend950.
SOCS = (
    *("Ascend910B1", "Ascend910B2", "Ascend910B2C", "Ascend910B3", "Ascend910B4", "Ascend910B4-1"),
    *(
        "Ascend910_9391",
        "Ascend910_9392",
        "Ascend910_9381",
        "Ascend910_9382",
        "Ascend910_9372",
        "Ascend910_9362",
        "Ascend910_9363",
    ),
)


@dataclass(frozen=True)
class Settings:
    devices: int
    soc: str
    cann: str
    memory_gib: str

    @property
    def cann_numbers(self) -> tuple[int, ...]:
        return tuple(int(number) for number in re.findall(r"\d+", self.cann)[:3])


def _devices(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MAX_DEVICES:
        raise HostnpuError(f"--devices must be a number from 1 to {MAX_DEVICES}, got {text!r}")
    return int(text)


def _soc(text: str) -> str:
    if text not in SOCS and not text.startswith("Ascend950"):
        raise HostnpuError(f"--soc must be one of {', '.join(SOCS)} or a name that begins with Ascend950, got {text!r}")
    return text


def _cann(text: str) -> str:
    numbers = re.fullmatch(r"(\d{1,3})\.(\d{1,3})(?:\.\w+)*", text, re.ASCII)
    if numbers is None:
        raise HostnpuError(f"--cann must be a version such as 8.5.0, got {text!r}")
    if (int(numbers[1]), int(numbers[2])) < OLDEST_CANN:
        oldest = ".".join(map(str, OLDEST_CANN))
        raise HostnpuError(f"--cann must be {oldest}.0 or later: older rules are not known to hostnpu, got {text!r}")
    return text


def _memory(text: str) -> str:
    try:
        gib = float(text)
    except ValueError:
        gib = 0.0
    if not 0 < gib <= 65536:
        raise HostnpuError(f"--memory must be a number of GiB above 0 and at most 65536, got {text!r}")
    return text


def choose_settings(options: Mapping[str, str], environment: Mapping[str, str], default_cann: str) -> Settings:
    """An option of the command line wins over the variable, the variable over the default."""

    def chosen(option: str, variable: str, default: str) -> str:
        return options.get(option) or environment.get(variable) or default

    return Settings(
        devices=_devices(chosen("devices", "HOSTNPU_DEVICES", "1")),
        soc=_soc(chosen("soc", "HOSTNPU_SOC", DEFAULT_SOC)),
        cann=_cann(chosen("cann", "HOSTNPU_CANN", default_cann)),
        memory_gib=_memory(chosen("memory", "HOSTNPU_MEMORY_GIB", DEFAULT_MEMORY_GIB)),
    )
