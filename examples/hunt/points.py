# SPDX-License-Identifier: Apache-2.0
"""Single points: from the place that `msprobe compare` names to acl_save of the tensors there, in whichever run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import torch

from msprobe.pytorch import acl_save

CALL = re.compile(r"Module\.(?P<module>.+)\.\w+\.forward\.\d+")


class Point(NamedTuple):
    """A tensor of a module: `section` is "input" or "output", `path` its place there, as in dump.json: "0", "1.mask"."""

    module: str
    section: str
    path: str

    @property
    def name(self) -> str:
        return f"{self.module}.{self.section}.{self.path}"


def module_of(call: str) -> str:
    """The qualified name in the name of a call: layers.0.mlp of Module.layers.0.mlp.MLP.forward.0."""
    found = CALL.fullmatch(call)
    if found is None:
        raise ValueError(f"the name of a module's call must be Module.NAME.CLASS.forward.NUMBER, got {call}")
    return found["module"]


def points_of(spot: dict[str, Any]) -> list[Point]:
    """What to save for a place that `msprobe compare` names: what went into the code at fault, and what came out of it.

    `spot` is "first" of diff_analyze_*.json. The last point is the place itself.
    """
    named = Point(module_of(spot["call"]), spot["section"], spot["path"])
    if named.section == "output":
        return [Point(named.module, "input", "0"), named]
    inner = spot["code"] + "."  # a parent's own code: its children that ran before have made what went in
    before = [module_of(link["call"]) for link in spot["before"]]
    return [*(Point(module, "output", "0") for module in before if module.startswith(inner)), named]


def _tensor_at(values: Any, path: str) -> torch.Tensor:
    for part in path.split("."):
        if isinstance(values, torch.Tensor):  # a result that is no tuple
            break
        values = values[int(part) if part.isdigit() and not isinstance(values, dict) else part]
    return values


def save_at(model: torch.nn.Module, points: list[Point], folder: Path) -> None:
    """From here on each run of these modules, replays of a graph captured later included, saves: FOLDER/NAME_0.pt, NAME_1.pt, ..."""
    folder.mkdir(parents=True, exist_ok=True)
    for point in points:
        module = model.get_submodule(point.module)
        path = str(folder / f"{point.name}.pt")
        if point.section == "input":
            module.register_forward_pre_hook(
                lambda _module, args, kwargs, path=path, at=point.path: _save({**dict(enumerate(args)), **kwargs}, at, path),
                with_kwargs=True,
            )
        else:
            module.register_forward_hook(lambda _module, _args, output, path=path, at=point.path: _save(output, at, path))


def _save(values: Any, at: str, path: str) -> None:
    if isinstance(values, dict):
        first, _, rest = at.partition(".")
        values = values[int(first) if first.isdigit() else first]
        at = rest
    acl_save(_tensor_at(values, at) if at else values, path)
