# SPDX-License-Identifier: Apache-2.0
"""From a wrong token to the culprit: plants a fault, dumps both runs, lets `msprobe compare` name the place, and looks at it closely.

Usage: msprobe hostnpu run hunt.py [FAULT ...] [--layer N] [--out FOLDER]; on an NPU, python3 hunt.py.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

os.environ["HF_HUB_OFFLINE"] = "1"  # the weights are made here

import elements
import torch
from faults import FAULTS
from model import BATCH, LAYERS
from points import Point, points_of, save_at
from runs import Golden, Target

import msprobe
from msprobe.pytorch import flush

WIDTH = 116
INDENT = 11


class Saved(NamedTuple):
    """A tensor that acl_save brought from both runs."""

    point: Point
    elements: elements.Elements
    """Of the requests' rows."""
    not_finite_in_padding: int


class Found(NamedTuple):
    """What came of one hunt."""

    golden_tokens: torch.Tensor
    """What golden takes where it has read what the target has."""
    target_tokens: torch.Tensor
    told: list[str]
    """What the dumper warned of."""
    run: dict[str, Any]
    """What the target's last dump.json says of the run."""
    notes: int
    """Records of the target that the dumper has marked, such as tensors that share memory while both are alive."""
    step: int
    """The first that parts; -1 if none does."""
    verdicts: list[dict[str, Any]]
    """"divergence" in diff_analyze_*.json, of each step."""
    page: Path
    saved: list[Saved]

    @property
    def verdict(self) -> dict[str, Any]:
        """Of the first step that parts, else of the last one."""
        return self.verdicts[self.step]


def hunt(name: str, layer: int, folder: Path) -> Found:
    """One fault in one layer, from the two dumps to the elements; all files lie in `folder`, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    target = Target(FAULTS[name](layer))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tokens = target.generate(folder / "target")
    told = [str(warning.message) for warning in caught if str(warning.message).startswith("msprobe: ")]

    golden_tokens = Golden().choose(tokens, folder / "golden")

    compared = msprobe.compare(
        folder / "target" / "dump", folder / "golden" / "dump", output=folder, formats="html", diff_analyze=True
    )
    step = -1 if compared.first_diverging_step is None else compared.first_diverging_step
    (analysis,) = folder.glob("diff_analyze_*.json")
    analysed = json.loads(analysis.read_text(encoding="utf-8"))
    verdicts = [pairs[0]["divergence"] for key, pairs in analysed.items() if key.startswith("step_")]
    (page,) = folder.glob("compare_result_*.html")
    dumps = [path.read_text(encoding="utf-8") for path in sorted((folder / "target" / "dump").glob("step*/*/dump.json"))]
    run = json.loads(dumps[-1])["Run"]
    notes = sum(dump.count('"Note": ') for dump in dumps)

    saved = []
    if step >= 0:
        points = points_of(verdicts[step]["first"])
        Golden().choose(tokens, watch=partial(save_at, points=points, folder=folder / "saved_golden"))
        target.generate(watch=partial(save_at, points=points, folder=folder / "saved_target"))
        flush()
        for point in points:
            right = elements.load(folder / "saved_golden", point.name, step)
            seen = elements.load(folder / "saved_target", point.name, step)
            lost = int((~seen[BATCH:].isfinite()).sum())
            saved.append(Saved(point, elements.compare(seen[:BATCH], right), lost))
    return Found(golden_tokens, tokens, told, run, notes, step, verdicts, page, saved)


# --- telling --------------------------------------------------------------------------------------------------------


def _said(head: str, text: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=f"{head:<{INDENT}}", subsequent_indent=" " * INDENT, break_on_hyphens=False
    )


def _tokens(found: Found) -> Iterator[str]:
    """The target's tokens by request, and which golden would have taken in their place."""
    pairs = [
        list(zip(*rows, strict=True)) for rows in zip(found.target_tokens.tolist(), found.golden_tokens.tolist(), strict=True)
    ]
    seen = " | ".join(" ".join(f"{token}{'' if token == right else '*'}" for token, right in row) for row in pairs)
    yield f"{'tokens':<{INDENT}}{seen}"
    if "*" in seen:
        rights = " | ".join(" ".join(f"{'.' if token == right else right}" for token, right in row) for row in pairs)
        yield f"{'':<{INDENT}}* golden takes, having read the same: {rights}"


def _number(number: float) -> str:
    return "-" if math.isnan(number) else f"{number:.3g}"


def _elements(found: Found) -> Iterator[str]:
    head = f"step {found.step} of both runs, saved by acl_save"
    yield f"{'elements':<{INDENT}}{head:<58}{'relative L2':>11}{'cosine':>8}{'scale':>8}{'not finite':>12}{'in padding':>12}"
    for point, measured, lost in found.saved:
        name = f"{point.name} {list(measured.shape)}"
        numbers = [_number(number) for number in (measured.relative_l2, measured.cosine, measured.scale)]
        yield (
            f"{'':<{INDENT}}{name:<58}{numbers[0]:>11}{numbers[1]:>8}{numbers[2]:>8}{measured.not_finite or '-':>12}{lost or '-':>12}"
        )
    named = found.saved[-1].elements
    for dimension, errors in zip(("request", "token"), named.along, strict=False):
        if len(errors) > 1 and not any(math.isnan(error) for error in errors):
            yield f"{'':<{INDENT}}the last one, relative L2 by {dimension}: {' '.join(f'{error:.2g}' for error in errors)}"
    index, target, golden = named.worst
    yield f"{'':<{INDENT}}the last one, furthest apart at {list(index)}: target {target:.6g}, golden {golden:.6g}"


def _dumper(found: Found) -> str:
    account = found.run["Account"]
    graphs = ", ".join(
        f"graph {graph['id']} ({graph['sites']} tensors, {graph['replays']} replay)" for graph in found.run["graphs"]
    )
    silent = ", ".join(account["silent"]) or "none"
    return (
        f"{account['recorded']} of {account['hooked']} modules recorded, silent: {silent}; "
        f"{account['dropped']} records dropped, {found.notes} marked. "
        f"Step 0, the prefill, is eager; the last step is {graphs}"
    )


def report(name: str, layer: int, folder: Path, found: Found) -> str:
    """The hunt, on one screen."""
    weights = found.verdicts[0]
    where = f"Step {found.step} is the first that parts. " if found.step >= 0 else "No step parts. "
    lines = [
        f"== {name}: {FAULTS[name].story.format(layer=layer)}",
        *_tokens(found),
        _said("dumper", _dumper(found)),
        *(_said("", warning) for warning in found.told),
        _said(
            "compare",
            f"msprobe compare -tp {folder}/target/dump -gp {folder}/golden/dump -o {folder} --format html -da",
        ),
        _said("", where + found.verdict["sentence"]),
        *(_said("", rider) for rider in found.verdict["riders"]),
        _said("", f"Weights and buffers: {weights['parameters_off']} of {weights['parameters_judged']} differ."),
        *(_elements(found) if found.saved else ()),
        _said("page", str(found.page)),
    ]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="hunt.py", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=f"of {', '.join(FAULTS)}; default: all")
    parser.add_argument("--layer", type=int, default=3, choices=range(LAYERS), help="the layer that is faulty (default: 3)")
    parser.add_argument(
        "--out", type=Path, default=Path("out/hunt"), help="folder for dumps, pages and tensors (default: out/hunt)"
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.faults if name not in FAULTS]
    if unknown:
        parser.error(f"there is no fault {unknown[0]}; there are {', '.join(FAULTS)}")
    for name in dict.fromkeys(options.faults or FAULTS):
        found = hunt(name, options.layer, options.out / name)
        print(report(name, options.layer, options.out / name, found), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
