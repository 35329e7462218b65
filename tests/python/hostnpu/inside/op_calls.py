# SPDX-License-Identifier: Apache-2.0
"""What the operator library tells of itself."""

from __future__ import annotations

import ctypes

import torch

LIBRARY = ctypes.CDLL("libascendcl.so")
LIBRARY.hostnpuOperatorTable.restype = ctypes.c_char_p
LIBRARY.hostnpuOperatorCalls.restype = ctypes.c_int64


def operator_types() -> dict[str, str]:
    """The C types of the parameters of each operator."""
    return dict(line.split("\t") for line in LIBRARY.hostnpuOperatorTable().decode().splitlines())


def calls(operator: str) -> int:
    """How often aclnn`operator` has run so far."""
    torch.npu.synchronize()
    count = LIBRARY.hostnpuOperatorCalls(b"aclnn" + operator.encode())
    assert count >= 0, f"there is no aclnn{operator}"
    return count
