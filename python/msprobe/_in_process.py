# SPDX-License-Identifier: Apache-2.0
"""Calls the functions of libmsprobe_compare.so, which do what the program's commands do, with the words of a command line."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterable
from typing import Any

_LIBRARY = os.path.join(os.path.dirname(__file__), "lib", "libmsprobe_compare.so")


def ask(function: str, words: list[str]) -> dict[str, Any]:
    """What the function found. Raises ValueError for wrong words and input, OSError for what the system refused."""
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise ImportError(f"{_LIBRARY} cannot be loaded: {error}; install msprobe with `pip install .`") from error
    call = library[function]
    call.restype = ctypes.c_char_p
    call.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t]
    encoded = [os.fsencode(word) for word in words]
    if any(b"\0" in word for word in encoded):
        raise ValueError("a path must not have a zero byte in it")
    told = json.loads(call((ctypes.c_char_p * len(encoded))(*encoded), len(encoded)))
    if "error" in told:
        if told["errno"]:
            raise OSError(told["errno"], told["error"])
        raise ValueError(told["error"])
    summary: dict[str, Any] = told["summary"]
    return summary


def list_of(numbers: int | Iterable[int]) -> str:
    """Numbers as the options --rank and --step take them."""
    return ",".join(str(number) for number in ([numbers] if isinstance(numbers, int) else numbers))
