# SPDX-License-Identifier: Apache-2.0
"""Typed wrappers of msprobe's operators; nothing else calls `torch.ops.msprobe`."""

from __future__ import annotations

import types
from collections.abc import Callable

import torch
from torch.utils._python_dispatch import _disable_current_modes

from msprobe.lib import aclgraph_dump_ext  # registers the operators
from msprobe.pytorch import inductor, npugraphs

_zeros = torch.zeros  # the original, should the user have it recorded as a custom API


def token_of(handle: int, device: torch.device) -> torch.Tensor:
    """The one-element tensor whose declared mutation keeps operators in a traced graph; one for each dumper and device.

    It must not be made inside a trace (then the operators are dropped), nor be an inference tensor (autograd refuses those).
    """
    if not torch.compiler.is_compiling() and (known := _tokens.get((handle, device))) is not None:
        return known
    make = _makers.get((handle, device.type, device.index), _make_token)
    token: torch.Tensor = make(handle, device)
    return token


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _make_token(handle: int, device: torch.device) -> torch.Tensor:
    inductor.register_rule_in_trace()
    key = (handle, device)
    token = _tokens.get(key)
    if token is None:
        if device.type == "npu":
            aclgraph_dump_ext.load_npu()
            npugraphs.register_rule()
        # Not under a mode that is active here: a fake token would turn every later operator into nothing.
        with _disable_current_modes(), torch.inference_mode(False), torch.no_grad():
            token = _zeros(1, dtype=torch.uint8, device=device)
        _tokens[key] = token
    return token


def name_tokens(handle: int) -> None:
    """Lets tensors of several devices, or of several dumpers, be recorded in one compiled graph: Dynamo calls a constant after the function
    that gave it, and AOT refuses two constants of one name. Not from inside a trace."""
    devices = [torch.device("cpu")]
    if (accelerator := torch.accelerator.current_accelerator()) is not None:
        devices += [torch.device(accelerator.type, index) for index in range(torch.accelerator.device_count())]
    for device in devices:
        key = (handle, device.type, device.index)
        if key not in _makers:
            name = f"{_make_token.__name__}_{handle}_{device.type}_{device.index}"
            maker = types.FunctionType(_make_token.__code__.replace(co_name=name), _make_token.__globals__, name)
            _makers[key] = torch.compiler.assume_constant_result(maker)


_tokens: dict[tuple[int, torch.device], torch.Tensor] = {}  # a cache: contents mean nothing
_makers: dict[tuple[int, str, int | None], Callable[[int, torch.device], torch.Tensor]] = {}  # by dumper and device


def stat(x: torch.Tensor, handle: int, tag: str, token: torch.Tensor | None = None) -> None:
    """Records the statistics of x under `tag` (csrc/log/tag.h): any shape, dtype, layout and device. x is not changed.

    `token`: of the graph that a backend is tracing at the moment, which can take in no other.
    """
    if token is not None:
        torch.ops.msprobe.stat_(x, token, handle, tag)
    elif torch.compiler.is_compiling():
        torch.ops.msprobe.stat_(x, token_of(handle, x.device), handle, tag)
    else:
        with torch._C.DisableTorchFunction():  # a subclass or mode of the user's has no say in it
            torch.ops.msprobe.stat_(x, token_of(handle, x.device), handle, tag)


def commit(handle: int, device: torch.device) -> None:
    """Ends a forward on `device`: what this thread has recorded goes to the host log, at every replay if this is captured."""
    torch.ops.msprobe.commit_(token_of(handle, device), handle)


def commit_part(handle: int, device: torch.device) -> None:
    """The same where the thread may be in the middle of a forward that runs eagerly, and goes on: before and in compiled regions."""
    torch.ops.msprobe.commit_part_(token_of(handle, device), handle)


def save(x: torch.Tensor, base: str) -> None:
    """Saves x to `{base}_{seq}.pt`, at every replay if this is captured. x is dense and of a plain dtype; it is not changed."""
    torch.ops.msprobe.save_(x, token_of(0, x.device), base)


def forget(handle: int) -> None:
    """Drops the tokens of a closed dumper. Graphs that hold them keep them alive."""
    for key in [key for key in _tokens if key[0] == handle]:
        _tokens.pop(key, None)
    for known in [known for known in _makers if known[0] == handle]:
        _makers.pop(known, None)


def prepare(handle: int, device: torch.device, sites: int) -> None:
    """Makes the token of a device and room for `sites` captured tensors, before a capture or trace begins."""
    token_of(handle, device)
    aclgraph_dump_ext.reserve(handle, device, sites)
