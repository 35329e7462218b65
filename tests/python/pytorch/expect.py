# SPDX-License-Identifier: Apache-2.0
"""What a dump and its files must hold, computed by other means: torch's own forward hooks or a dispatch mode of the test's own on a model
that msprobe never touches, numpy in float64, and torch.load."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

# Relative tolerances: the CPU's kernels add in float64, an NPU's reductions in float32.
TOLERANCE = {"cpu": 1e-6, "npu": 2e-5}

_SKIPPED = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted", "resize_"}


def record_of(x: torch.Tensor) -> dict[str, Any]:
    """The record of a tensor without Counts and Special: plain numpy on a copy."""
    record: dict[str, Any] = {"type": "torch.Tensor", "dtype": str(x.dtype), "shape": list(x.shape)}
    with _disable_current_modes():  # the copy must not be seen by ApiCalls below
        host = x.detach().cpu()
        return record | _numbers(host)


def _numbers(host: torch.Tensor) -> dict[str, Any]:
    record: dict[str, Any] = {}
    if host.numel() == 0:
        return {"Max": None, "Min": None, "Mean": None, "Norm": None}
    if host.dtype.is_complex:
        values = np.abs(host.to(torch.complex128).numpy())
    elif host.dtype.is_floating_point:
        values = host.to(torch.float64).numpy()
    else:
        exact = host.to(torch.int64).numpy() if host.dtype != torch.uint64 else host.numpy()
        record |= {"Max": int(exact.max()), "Min": int(exact.min())}
        values = exact.astype(np.float64)
    record.setdefault("Max", float(values.max()))
    record.setdefault("Min", float(values.min()))
    with np.errstate(invalid="ignore", over="ignore"):
        largest = float(np.abs(values).max())
        scale = largest if math.isfinite(largest) and largest > 1 else 1.0  # or squares of the largest float64s overflow
        scaled = values / scale
        record |= {"Mean": float(scaled.mean()) * scale, "Norm": float(np.sqrt((scaled * scaled).sum())) * scale}
    return record


def tree(value: Any) -> Any:
    """Nested arguments as a dump shows them: lists, mappings and records; None where there is no tensor."""
    if isinstance(value, torch.Tensor):
        return record_of(value)
    if isinstance(value, dict):
        return {key: inner for key, item in value.items() if (inner := tree(item)) is not None} or None
    if isinstance(value, list | tuple):
        return [inner for item in value if (inner := tree(item)) is not None] or None
    return None


def sequence(value: Any) -> Any:
    """The same for `input_args` and `output`: a lone tensor is a list of one."""
    return tree(value if isinstance(value, list | tuple | dict) else [value]) or []


class Calls:
    """Entries in order of their first tensor, numbered by name."""

    def __init__(self) -> None:
        self.entries: dict[str, dict[str, Any]] = {}
        self._numbers: dict[str, int] = {}

    def begin(self, name: Callable[[int], str], args: Any, kwargs: Any) -> dict[str, Any]:
        number = self._numbers.setdefault(name(0), 0)
        self._numbers[name(0)] += 1
        entry = {"input_args": sequence(list(args)), "input_kwargs": tree(kwargs) or {}, "output": []}
        self.entries[name(number)] = entry
        return entry

    def end(self, entry: dict[str, Any], output: Any) -> None:
        entry["output"] = sequence(output)

    def with_tensors(self) -> dict[str, dict[str, Any]]:
        """The entries of a dump: those that hold a tensor."""
        return {name: entry for name, entry in self.entries.items() if any(entry.values())}


class Copies(Calls):
    """Also a copy of each tensor, under the name of its file in the tensor task, without `.pt`."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors: dict[str, torch.Tensor] = {}

    def begin(self, name: Callable[[int], str], args: Any, kwargs: Any) -> dict[str, Any]:
        entry = super().begin(name, args, kwargs)
        self._copy(entry, "input", dict(enumerate(args)) | kwargs)
        return entry

    def end(self, entry: dict[str, Any], output: Any) -> None:
        super().end(entry, output)
        self._copy(entry, "output", output if isinstance(output, list | tuple | dict) else [output])

    def _copy(self, entry: dict[str, Any], section: str, value: Any) -> None:
        (name,) = (name for name, known in self.entries.items() if known is entry)
        with _disable_current_modes():
            for place, tensor in tensors_of(value, f"{name}.{section}"):
                self.tensors[place] = tensor.detach().cpu().clone()


def tensors_of(value: Any, place: str) -> Iterator[tuple[str, torch.Tensor]]:
    """(place, tensor) of nested sequences and mappings: places count as the caller does, whatever stands between the tensors."""
    if isinstance(value, torch.Tensor):
        yield place, value
    elif isinstance(value, dict | list | tuple):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from tensors_of(item, f"{place}.{key}")


@contextmanager
def module_calls(model: torch.nn.Module, calls: Calls) -> Iterator[None]:
    """Records every module call of `model` by torch's forward hooks."""
    handles = []
    for name, module in model.named_modules():
        full = f"Module.{name or '__root__'}.{type(module).__name__}"
        stack: list[dict[str, Any]] = []

        def before(_: Any, args: Any, kwargs: Any, full: str = full, stack: list[dict[str, Any]] = stack) -> None:
            stack.append(calls.begin(lambda i: f"{full}.forward.{i}", args, kwargs))

        def after(_: Any, _args: Any, output: Any, stack: list[dict[str, Any]] = stack) -> None:
            calls.end(stack.pop(), output)

        handles.append(module.register_forward_pre_hook(before, with_kwargs=True, prepend=True))
        handles.append(module.register_forward_hook(after))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class ApiCalls(TorchDispatchMode):
    """Records every operator call inside the block."""

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self._calls = calls

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        namespace, name = func.name().split("::")
        name = name.split(".")[0]
        if name in _SKIPPED:
            return func(*args, **kwargs)
        prefix = {"aten": "Aten", "npu": "NPU"}.get(namespace, f"Torch.{namespace}")
        inputs = {key: value for key, value in kwargs.items() if key != "out"}
        entry = self._calls.begin(lambda i: f"{prefix}.{name}.{i}.forward", args, inputs)
        output = func(*args, **kwargs)
        self._calls.end(entry, output)
        return output


def expected(model: torch.nn.Module, level: str, runs: Callable[[torch.nn.Module], Any]) -> dict[str, dict[str, Any]]:
    """The entries that `runs(model)` must give at a level. The model must not be hooked by msprobe."""
    calls = Calls()
    watch(calls, model, level, runs)
    return calls.with_tensors()


def expected_tensors(model: torch.nn.Module, level: str, runs: Callable[[torch.nn.Module], Any]) -> dict[str, torch.Tensor]:
    """The tensors that `runs(model)` must leave in files, by their names without `.pt`."""
    copies = Copies()
    watch(copies, model, level, runs)
    return copies.tensors


def watch(calls: Calls, model: torch.nn.Module, level: str, runs: Callable[[torch.nn.Module], Any]) -> Any:
    """`runs(model)` with every call of a level going to `calls`."""
    if level == "L0":
        with module_calls(model, calls):
            return runs(model)
    if level == "L1":
        with ApiCalls(calls):
            return runs(model)
    with module_calls(model, calls), ApiCalls(calls):
        return runs(model)


def renamed_api(entries: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    """The same entries with one API called by another's name, and both numbered together."""
    renamed: dict[str, Any] = {}
    calls = 0
    for name, entry in entries.items():
        if name.rsplit(".", 2)[0] in (old, new):
            renamed[f"{new}.{calls}.forward"] = entry
            calls += 1
        else:
            renamed[name] = entry
    return renamed


def assert_record(actual: dict[str, Any], wanted: dict[str, Any], where: str, tolerance: float, rounding: float = 0) -> None:
    """`rounding`: by how much, relative to the tensor's values, the tensors themselves may differ."""
    tolerance = max(tolerance, rounding)
    for key in ("type", "dtype", "shape"):
        assert actual[key] == wanted[key], (where, key)
    for key in ("Max", "Min", "Mean", "Norm"):
        place = f"{where}.{key}"
        value = wanted[key]
        if value is None:
            assert actual[key] is None and key not in actual.get("Special", {}), place
        elif not math.isfinite(value):
            word = "nan" if math.isnan(value) else "pos_inf" if value > 0 else "neg_inf"
            assert actual[key] is None and actual["Special"][key] == word, place
        elif isinstance(value, int) and key in ("Max", "Min"):
            assert actual[key] == value and isinstance(actual[key], int), (place, actual[key], value)
        elif key in ("Max", "Min") and rounding:
            scale = wanted["Norm"] / math.sqrt(max(1, math.prod(wanted["shape"])))
            assert actual[key] == pytest.approx(value, rel=rounding, abs=rounding * scale), place
        elif key in ("Max", "Min") and not wanted["dtype"].startswith("torch.complex"):
            assert actual[key] == value, (place, actual[key], value)
        else:
            # A mean may cancel: it is as exact as the numbers it is made of.
            scale = wanted["Norm"] / math.sqrt(max(1, math.prod(wanted["shape"]))) if key == "Mean" else abs(value)
            assert actual[key] == pytest.approx(value, rel=tolerance, abs=tolerance * scale), place


def assert_tree(actual: Any, wanted: Any, where: str, tolerance: float, rounding: float = 0) -> None:
    if isinstance(wanted, dict) and wanted.get("type") == "torch.Tensor":
        assert_record(actual, wanted, where, tolerance, rounding)
    elif isinstance(wanted, dict):
        assert list(actual) == list(wanted), where
        for key, item in wanted.items():
            assert_tree(actual[key], item, f"{where}.{key}", tolerance, rounding)
    else:
        assert len(actual) == len(wanted), where
        for index, item in enumerate(wanted):
            assert_tree(actual[index], item, f"{where}.{index}", tolerance, rounding)


def assert_dump(dump: dict[str, Any], wanted: dict[str, dict[str, Any]], device: torch.device, rounding: float = 0) -> None:
    """The dump has exactly the wanted entries, in order, with the wanted numbers, and consistent positions."""
    data = dump["data"]
    assert list(data) == list(wanted), "\n".join(
        difflib.unified_diff(list(wanted), list(data), "wanted", "found", lineterm="", n=1)
    )
    for name, entry in wanted.items():
        assert set(data[name]) - {"parameters"} == {"input_args", "input_kwargs", "output", "Order"}, name
        for section in ("input_args", "input_kwargs", "output"):
            assert_tree(data[name][section], entry[section], f"{name}.{section}", TOLERANCE[device.type], rounding)
    firsts = [entry["Order"]["first"] for entry in data.values()]
    assert firsts == sorted(firsts) and len(set(firsts)) == len(firsts)
    assert all(entry["Order"]["first"] <= entry["Order"]["last"] for entry in data.values())


def records_of(dump: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(entry, record) of every tensor in a dump."""

    def inside(value: Any) -> Iterator[dict[str, Any]]:
        if isinstance(value, dict) and value.get("type") == "torch.Tensor":
            yield value
        else:
            for item in value.values() if isinstance(value, dict) else value:
                yield from inside(item)

    for name, entry in dump["data"].items():
        for section in ("input_args", "input_kwargs", "output"):
            for record in inside(entry[section]):
                yield name, record


def bits(x: torch.Tensor) -> bytes:
    """The bytes of a tensor's values, whatever its dtype, device and layout."""
    plain = x.detach().cpu().resolve_conj().resolve_neg().contiguous()
    return plain.view(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""


def saved_files(dump: dict[str, Any]) -> dict[str, torch.Tensor]:
    """All files of a dump, by their names without `.pt`: those that its records name and no others, each read by torch.load, with the
    numbers of its record."""
    folder = Path(dump["dump_data_dir"])
    files: dict[str, torch.Tensor] = {}
    for entry, record in records_of(dump):
        if "data_name" not in record:
            continue
        name = record["data_name"].removesuffix(".pt")
        assert name not in files, name
        assert record["data_name"].startswith(f"{entry}.") or "FullName" in record, name
        x = torch.load(folder / record["data_name"], weights_only=True)
        assert_record(record, record_of(x), name, 1e-12)
        files[name] = x
    there = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    assert there == sorted(f"{name}.pt" for name in files)
    return files


def assert_files(dump: dict[str, Any], wanted: dict[str, torch.Tensor]) -> None:
    """The dump has exactly the wanted tensors, to the bit."""
    files = saved_files(dump)
    assert sorted(files) == sorted(wanted)
    for name, x in wanted.items():
        found = files[name]
        assert (found.dtype, found.shape) == (x.dtype, x.shape), name
        assert bits(found) == bits(x), name
