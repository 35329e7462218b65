# SPDX-License-Identifier: Apache-2.0
"""A captured graph on the NPU against eager runs on the CPU: the planted place is named, healthy replays are left in peace."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from study_faults import BEFORE, FAULTS, Place
from study_models import build, inputs
from study_runs import CPU, compared, dump, dump_of_replay, place_of, prepared


def dumps(folder: Path, family: str, dtype: torch.dtype, fault: str = "", level: str = "L0"):
    """A replay with the fault in it, an eager run on the CPU in float32, and the place that must be named."""
    model = build(family, 0)
    call = inputs(family, 0)[0]
    golden = dump(
        prepared(model, torch.float32, split=False, device=CPU), [call], folder / "golden", level, parameters=not fault
    )
    changed = prepared(model, dtype, split=False)
    wanted = FAULTS[fault].plant(changed, 1, family) if fault else None
    return dump_of_replay(changed, call, folder / "target", level, parameters=not fault), golden, wanted


@pytest.mark.parametrize("level", ["L0", "mix"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_healthy_replays_are_left_in_peace(tmp_path: Path, dtype: torch.dtype, level: str) -> None:
    target, golden, _ = dumps(tmp_path, "llama", dtype, level=level)
    found, text = compared(target, golden, tmp_path)
    assert found is None
    assert "No jump above 8 x noise; noise ended at B = " in text


def test_another_formula_on_the_device_is_named(tmp_path: Path) -> None:
    """CANN's gelu is the tanh approximation, which float32 shows."""
    target, golden, _ = dumps(tmp_path, "bert", torch.float32, level="mix")
    found, _ = compared(target, golden, tmp_path)
    assert found is not None
    assert place_of(found["first"]) == Place(BEFORE, "layers.0.mlp", "layers.0.mlp.down")
    assert found["first"]["operator"]["call"].startswith("Aten.gelu.0.")


@pytest.mark.parametrize("name", ["exchanged weights", "transposed weight", "residual lost", "attention scale x1.41", "NaN"])
@pytest.mark.parametrize("family", ["llama", "bert"])
def test_the_planted_place_is_named(tmp_path: Path, family: str, name: str) -> None:
    target, golden, wanted = dumps(tmp_path, family, torch.bfloat16, name)
    found, text = compared(target, golden, tmp_path)
    assert found is not None
    assert place_of(found["first"]) == wanted, found["sentence"]
    assert " ".join(found["sentence"].split()) in text


def test_the_operator_inside_is_named(tmp_path: Path) -> None:
    target, golden, wanted = dumps(tmp_path, "llama", torch.bfloat16, "residual lost", level="mix")
    found, _ = compared(target, golden, tmp_path)
    assert found is not None
    assert place_of(found["first"]) == wanted
    assert found["first"]["operator"]["call"].startswith("Aten.mul.")
