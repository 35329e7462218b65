# SPDX-License-Identifier: Apache-2.0
"""From a wrong token to the culprit: plants a fault, dumps both runs, lets `msprobe compare` name the place, and looks at it closely.

Usage: msprobe hostnpu run hunt.py [FAULT ...] [--layer N] [--out FOLDER]; on an NPU, python3 hunt.py.
"""

from __future__ import annotations

import argparse
import json
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
import torch_npu
from faults import FAULTS
from model import BATCH, LAYERS
from points import Point, points_of, save_at
from runs import Golden, Target

import msprobe

WIDTH = 116
INDENT = 11


class Found(NamedTuple):
    """What came of one hunt."""

    golden_tokens: torch.Tensor
    target_tokens: torch.Tensor
    told: list[str]
    """What the dumper warned of."""
    account: dict[str, Any]
    """"Run" of the target's last step."""
    step: int
    """The first that parts; -1 if none does."""
    verdict: dict[str, Any]
    """"divergence" of that step in diff_analyze_*.json; of the last step if none parts."""
    page: Path
    saved: list[tuple[Point, elements.Elements]]
    worst: tuple[tuple[int, ...], float, float] | None


def golden_dump(out: Path) -> torch.Tensor:
    """The golden run, dumped once for all hunts."""
    shutil.rmtree(out / "golden", ignore_errors=True)
    return Golden().generate(out / "golden")


def hunt(name: str, layer: int, out: Path, golden_tokens: torch.Tensor) -> Found:
    """One fault in one layer, from the dump to the elements. Files lie in out/name; the golden dump must be in out/golden."""
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    target = Target(FAULTS[name](layer))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tokens = target.generate(folder / "target")
    told = [str(warning.message) for warning in caught if str(warning.message).startswith("msprobe: ")]

    compared = msprobe.compare(
        folder / "target" / "dump", out / "golden" / "dump", output=folder, formats="html", diff_analyze=True
    )
    step = -1 if compared.first_diverging_step is None else compared.first_diverging_step
    (analysis,) = folder.glob("diff_analyze_*.json")
    verdict = _verdict(json.loads(analysis.read_text(encoding="utf-8")), step)
    (page,) = folder.glob("compare_result_*.html")

    saved, worst = [], None
    if verdict["first"] is not None:
        points = points_of(verdict["first"])
        Golden().generate(watch=partial(save_at, points=points, folder=folder / "saved_golden"))
        target.generate(watch=partial(save_at, points=points, folder=folder / "saved_target"))
        msprobe.pytorch.flush()
        for point in points:
            pair = [elements.load(folder / f"saved_{side}", point.name, step, BATCH) for side in ("target", "golden")]
            saved.append((point, elements.compare(*pair)))
            worst = elements.worst(*pair)
    return Found(golden_tokens, tokens, told, _run_of_last_step(folder), step, verdict, page, saved, worst)


def _verdict(analysis: dict[str, Any], step: int) -> dict[str, Any]:
    steps = [(key, pairs[0]["divergence"]) for key, pairs in analysis.items() if key.startswith("step_")]
    return next((verdict for key, verdict in steps if key.startswith(f"step_{step}_")), steps[-1][1])


def _run_of_last_step(folder: Path) -> dict[str, Any]:
    dumps = sorted((folder / "target" / "dump").glob("step*/*/dump.json"))
    return json.loads(dumps[-1].read_text(encoding="utf-8"))["Run"]


# --- telling --------------------------------------------------------------------------------------------------------


def _said(head: str, text: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=f"{head:<{INDENT}}", subsequent_indent=" " * INDENT, break_on_hyphens=False
    )


def _tokens(found: Found) -> Iterator[str]:
    for head, side, other in (
        ("golden", found.golden_tokens, found.golden_tokens),
        ("target", found.target_tokens, found.golden_tokens),
    ):
        rows = [
            " ".join(f"{token}{'' if token == right else '*'}" for token, right in zip(row, rights, strict=True))
            for row, rights in zip(side.tolist(), other.tolist(), strict=True)
        ]
        yield f"{head:<{INDENT}}{' | '.join(rows)}"


def _elements(found: Found) -> Iterator[str]:
    yield f"{'elements':<{INDENT}}{'saved by acl_save, step ' + str(found.step):<58}{'relative L2':>12}{'cosine':>9}{'scale':>8}{'not finite':>12}"
    for point, measured in found.saved:
        name = f"{point.name} {list(measured.shape)}"
        numbers = f"{measured.relative_l2:>12.4g}{measured.cosine:>9.4f}{measured.scale:>8.3f}"
        lost = f"{measured.not_finite:>12}"
        yield f"{'':<{INDENT}}{name:<58}{numbers}{lost}"
    if found.worst is not None:
        index, target, golden = found.worst
        yield f"{'':<{INDENT}}furthest apart at {list(index)}: target {target:.6g}, golden {golden:.6g}"


def report(name: str, layer: int, out: Path, found: Found) -> str:
    """The hunt, on one screen."""
    run, verdict = found.account, found.verdict
    account = run["Account"]
    lines = [f"== {name}: {FAULTS[name].story.format(layer=layer)}", *_tokens(found)]
    graphs = ", ".join(f"graph {graph['id']} with {graph['sites']} sites" for graph in run["graphs"])
    lines.append(
        _said(
            "dumper",
            f"step 0 is the prefill, eager; each further step replays {graphs}; "
            f"{account['recorded']} of {account['hooked']} modules recorded, {account['dropped']} records dropped",
        )
    )
    lines += [_said("", warning) for warning in found.told]
    lines.append(_said("compare", f"-tp {out / name}/target/dump -gp {out}/golden/dump -o {out / name} --format html -da"))
    where = f"Step {found.step}. " if found.step >= 0 else "No step parts. "
    lines.append(_said("", where + verdict["sentence"]))
    lines += [_said("", rider) for rider in verdict["riders"]]
    if found.saved:
        lines += _elements(found)
    lines.append(_said("page", str(found.page)))
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="hunt.py", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=f"of {', '.join(FAULTS)}; default: all")
    parser.add_argument("--layer", type=int, default=3, choices=range(LAYERS), help="the layer that is faulty (default: 3)")
    parser.add_argument("--out", type=Path, default=Path("out/hunt"), help="folder for dumps, pages and tensors (default: out/hunt)")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.faults if name not in FAULTS]
    if unknown:
        parser.error(f"there is no fault {unknown[0]}; there are {', '.join(FAULTS)}")
    golden_tokens = golden_dump(options.out)
    for name in options.faults or FAULTS:
        found = hunt(name, options.layer, options.out, golden_tokens)
        print(report(name, options.layer, options.out, found), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
