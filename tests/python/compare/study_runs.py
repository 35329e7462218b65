# SPDX-License-Identifier: Apache-2.0
"""Dumps a model of the study by the product's own dumper, and reads what `msprobe compare` says of two dumps.

Runs are on the NPU where torch_npu can be imported, else on the CPU.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from compare_program import run
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

DEVICE = torch.device("npu:0" if importlib.util.find_spec("torch_npu") else "cpu")
CPU = torch.device("cpu")

_CALL = re.compile(r"Module\.(?P<module>.+)\.[^.]+\.forward\.(?P<call>\d+)")


def prepared(model: Model, dtype: torch.dtype, *, split: bool, device: torch.device = DEVICE) -> Model:
    """A copy in another type, where it is to run."""
    model = copy.deepcopy(model).to(device, dtype)
    for module in model.modules():
        if isinstance(module, Linear) and split:
            module.pieces = 2
    return model


def moved(arguments: tuple[torch.Tensor, ...], model: Model) -> tuple[torch.Tensor, ...]:
    """The arguments on the model's device."""
    return tuple(argument.to(model.embed.weight.device) for argument in arguments)


@contextlib.contextmanager
def _dumper(model: Model, folder: Path, level: str, *, parameters: bool) -> Iterator[AclGraphDumper]:
    """A dumper that was started on the model; what runs inside is one step."""
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "config.json"
    config.write_text(json.dumps({"dump_path": str(folder / "dumps"), "level": level, "parameters": parameters}))
    with torch.no_grad(), AclGraphDumper(config) as dumper:
        dumper.start(model)
        yield dumper
        dumper.step()


def _only_dump(folder: Path) -> Path:
    (path,) = (folder / "dumps" / "step0").glob("*/dump.json")
    return path


def dump(
    model: Model, calls: list[tuple[torch.Tensor, ...]], folder: Path, level: str = "L0", *, parameters: bool = False
) -> Path:
    """Runs the calls in one step; the path of their dump.json, with the parameters of modules or without."""
    with _dumper(model, folder, level, parameters=parameters):
        for arguments in calls:
            model(*moved(arguments, model))
    return _only_dump(folder)


def dump_of_replay(
    model: Model, arguments: tuple[torch.Tensor, ...], folder: Path, level: str = "L0", *, parameters: bool = False
) -> Path:
    """The same for one call as a graph that is captured with other inputs and then replayed with these; on the NPU."""
    given = moved(arguments, model)
    static = [torch.zeros_like(argument) for argument in given]
    with torch.no_grad():
        copy.deepcopy(model)(*static)  # whatever torch makes at first use is made before the capture
    with _dumper(model, folder, level, parameters=parameters):
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            model(*static)
        for place, value in zip(static, given, strict=True):
            place.copy_(value)
        graph.replay()
    return _only_dump(folder)


def record(tensor: torch.Tensor) -> dict[str, Any]:
    """The numbers of a tensor as a record of a dump has them, computed here in float64."""
    x = tensor.detach().cpu().double()
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


def compared(target: Path, golden: Path, folder: Path) -> tuple[dict[str, Any] | None, str]:
    """What was found, or None, and what the terminal says."""
    done = run("compare", "-tp", target, "-gp", golden, "-o", folder / "out", "-da")
    (analysis,) = (folder / "out").glob("diff_analyze_*.json")
    return divergence(analysis), " ".join(done.stdout.split())


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
            model(*moved(arguments, model))
    path = folder / "dump.json"
    content = {"task": "tensor", "level": "L0", "framework": "pytorch", "dump_data_dir": "", "data": recorder.data}
    path.write_text(json.dumps(content))
    return path
