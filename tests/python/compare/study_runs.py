# SPDX-License-Identifier: Apache-2.0
"""Dumps a model of the study by the product's own dumper, and reads what `msprobe compare` says of two dumps."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import torch
from study_faults import Place
from study_models import Linear, Model

from msprobe.pytorch import AclGraphDumper

# What runs against what: the types of target and golden, and whether the target's sums are split.
PAIRS = {
    "fp32/fp32": (torch.float32, torch.float32, True),
    "bf16/bf16": (torch.bfloat16, torch.bfloat16, True),
    "bf16/fp32": (torch.bfloat16, torch.float32, False),
    "fp16/fp32": (torch.float16, torch.float32, False),
}

_CALL = re.compile(r"Module\.(?P<module>.+)\.[^.]+\.forward\.(?P<call>\d+)")


def prepared(model: Model, dtype: torch.dtype, *, split: bool) -> Model:
    """A copy in another type."""
    model = copy.deepcopy(model).to(dtype)
    for module in model.modules():
        if isinstance(module, Linear) and split:
            module.pieces = 2
    return model


def dump(
    model: Model, calls: list[tuple[torch.Tensor, ...]], folder: Path, level: str = "L0", *, parameters: bool = False
) -> Path:
    """Runs the calls in one step; the path of their dump.json, with the parameters of modules or without."""
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "config.json"
    config.write_text(json.dumps({"dump_path": str(folder / "dumps"), "level": level}))
    with torch.no_grad(), AclGraphDumper(config) as dumper:
        dumper.start(model)
        for arguments in calls:
            model(*arguments)
        dumper.step()
    (path,) = (folder / "dumps" / "step0").glob("*/dump.json")
    content = json.loads(path.read_text())
    for name, entry in content["data"].items():
        entry.pop("parameters", None)
        match = _CALL.fullmatch(name)
        if parameters and match and match["call"] == "0" and match["module"] != "__root__":
            own = dict(model.get_submodule(match["module"]).named_parameters(recurse=False))
            entry |= {"parameters": {key: record(value) for key, value in own.items()}} if own else {}
    path.write_text(json.dumps(content))
    return path


def record(tensor: torch.Tensor) -> dict[str, Any]:
    """The numbers of a parameter as a record of a dump has them, computed here in float64."""
    x = tensor.detach().double()
    return {
        "type": "torch.Tensor",
        "dtype": str(tensor.dtype),
        "shape": list(tensor.shape),
        "Max": x.max().item(),
        "Min": x.min().item(),
        "Mean": x.mean().item(),
        "Norm": x.norm().item(),
    }


def place_of(spot: dict[str, Any]) -> Place:
    match = _CALL.fullmatch(spot["call"])
    assert match, spot["call"]
    where = "inside the call" if spot["where"] == "parameter" else spot["where"]
    return Place(where, spot["code"] or "", match["module"], int(match["call"]))


def divergence(analysis: Path) -> dict[str, Any] | None:
    """What was found, from diff_analyze_*.json; None if nothing was."""
    (pair,) = json.loads(analysis.read_text()).values()
    found: dict[str, Any] = pair[0]["divergence"]
    return found if found["first"] is not None else None


class _Recorder:
    """Writes inputs and outputs of every module as files, and their records with the names of those files."""

    def __init__(self, folder: Path) -> None:
        self.data: dict[str, Any] = {}
        self._files = folder / "dump_tensor_data"
        self._files.mkdir(parents=True)
        self._calls: dict[str, int] = {}
        self._open: list[str] = []
        self._position = 0

    def _records(self, name: str, section: str, values: Any) -> list[dict[str, Any]]:
        found = []
        for index, value in enumerate(values):
            for inner, tensor in enumerate(value if isinstance(value, tuple) else (value,)):
                if not isinstance(tensor, torch.Tensor):
                    continue
                path = f"{index}.{inner}" if isinstance(value, tuple) else str(index)
                file = f"{name}.{section}.{path}.pt"
                torch.save(tensor.contiguous().clone(), self._files / file)
                found.append(record(tensor) | {"data_name": file})
                self.data[name]["Order"]["last"] = self._position
                self._position += 1
        return found

    def before(self, name: str, arguments: Any) -> None:
        call = self._calls.get(name, 0)
        self._calls[name] = call + 1
        entry = f"{name}.forward.{call}"
        self._open.append(entry)
        self.data[entry] = {"Order": {"first": self._position, "last": self._position}}
        self.data[entry] |= {"input_args": self._records(entry, "input", arguments), "input_kwargs": {}}

    def after(self, output: Any) -> None:
        entry = self._open.pop()
        outputs = output if isinstance(output, tuple) else (output,)
        self.data[entry]["output"] = self._records(entry, "output", outputs)


def dump_tensors(model: Model, calls: list[tuple[torch.Tensor, ...]], folder: Path) -> Path:
    """A dump with task `tensor`, written here: what is compared is the files."""
    recorder = _Recorder(folder)
    for name, module in model.named_modules():
        entry = f"Module.{name or '__root__'}.{type(module).__name__}"
        module.register_forward_pre_hook(lambda _, arguments, entry=entry: recorder.before(entry, arguments))
        module.register_forward_hook(lambda _, __, output: recorder.after(output))
    with torch.no_grad():
        for arguments in calls:
            model(*arguments)
    path = folder / "dump.json"
    content = {"task": "tensor", "level": "L0", "framework": "pytorch", "dump_data_dir": "", "data": recorder.data}
    path.write_text(json.dumps(content))
    return path
