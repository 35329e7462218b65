# SPDX-License-Identifier: Apache-2.0
"""Each fault in more than one layer: the verdict names the layer, and the saved tensors show what is wrong there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "examples" / "hunt"))

from elements import compare  # noqa: E402
from faults import FAULTS  # noqa: E402
from model import BATCH, PROMPT, TOKENS, build, checkpoint, prompts  # noqa: E402
from points import Point, points_of  # noqa: E402
from runs import Golden  # noqa: E402

from hunt import Found, hunt  # noqa: E402


class Where(NamedTuple):
    """Where a fault must be found: the module at which it is visible, the one whose code it is in, the step."""

    seen_at: str
    section: str
    code: str
    step: int


# Faults that only a captured graph can have are not there in step 0, which is eager.
EXPECTED = {
    "epsilon": Where("input_layernorm", "output", "input_layernorm", 0),
    "transposed": Where("self_attn.o_proj", "output", "self_attn.o_proj", 0),
    "cache": Where("self_attn.o_proj", "input", "self_attn", 0),
    "rebound": Where("mlp.down_proj", "output", "mlp.down_proj", 1),
    "frozen": Where("self_attn.o_proj", "input", "self_attn", 1),
    "padding": Where("mlp.down_proj", "input", "mlp", 1),
}


def hunted(folder: Path, name: str, layer: int) -> Found:
    found = hunt(name, layer, folder)
    expected = EXPECTED[name]
    first = found.verdict["first"]
    prefix = f"model.layers.{layer}."
    assert found.step == expected.step, found.verdict["sentence"]
    assert first["call"].startswith(f"Module.{prefix}{expected.seen_at}."), found.verdict["sentence"]
    assert (first["section"], first["path"], first["code"]) == (expected.section, "0", prefix + expected.code)
    assert first["grade"] in ("first fault", "first suspect")
    assert all(verdict["first"] is None for verdict in found.verdicts[: found.step])
    *before, named = found.saved
    assert named.point == Point(prefix + expected.seen_at, expected.section, "0")
    assert before and all(saved.point.module.startswith(prefix) for saved in before)
    assert all(saved.elements.relative_l2 < 0.05 and not saved.elements.not_finite for saved in before), "what went in was fine"
    assert found.page.stat().st_size > 100_000
    assert len(found.told) == (name == "rebound"), found.told
    return found


def test_every_fault_has_its_place() -> None:
    assert set(FAULTS) == {"healthy", *EXPECTED}


def test_golden_says_what_transformers_generates() -> None:
    model = build("cpu", torch.float32)
    model.load_state_dict(checkpoint())
    generated = model.generate(prompts(), max_new_tokens=TOKENS, min_new_tokens=TOKENS, do_sample=False)
    tokens = generated[:, PROMPT:]
    assert Golden().choose(tokens).tolist() == tokens.tolist()


def test_the_healthy_run_is_left_in_peace(tmp_path: Path) -> None:
    found = hunt("healthy", 0, tmp_path / "healthy")
    assert found.step == -1 and len(found.verdicts) == TOKENS
    for verdict in found.verdicts:
        assert verdict["result"] == "none" and verdict["sentence"].startswith("No jump above 8 x noise")
        assert verdict["calls_unmatched"] == 0
    assert found.target_tokens.tolist() == found.golden_tokens.tolist()
    assert (found.told, found.notes) == ([], 0)
    assert (found.verdicts[0]["parameters_off"], found.verdicts[0]["parameters_not_comparable"]) == (0, 0)
    assert found.verdicts[0]["parameters_judged"] == sum(1 for _ in checkpoint()) + 2  # and two buffers of the rotation
    account = found.run["Account"]
    assert set(account["silent"]) == {"Module.model.layers.ModuleList"} and account["dropped"] == 0
    assert account["silent"]["Module.model.layers.ModuleList"].startswith("a container")
    assert [graph["replays"] for graph in found.run["graphs"]] == [1]


@pytest.mark.parametrize("layer", [0, 5])
class TestLayers:
    def test_epsilon(self, tmp_path: Path, layer: int) -> None:
        found = hunted(tmp_path / "hunt", "epsilon", layer)
        norm = found.saved[-1].elements
        assert norm.cosine > 0.95 and norm.scale < 0.85, "the same direction, too short"
        assert found.verdict["first"]["operator"]["call"].startswith("Aten.add.")

    def test_transposed(self, tmp_path: Path, layer: int) -> None:
        found = hunted(tmp_path / "hunt", "transposed", layer)
        output = found.saved[-1].elements
        assert abs(output.cosine) < 0.3 and output.relative_l2 > 1, "nothing to do with golden"
        assert found.verdicts[0]["parameters_off"] == 0, "its four numbers are those of the weight as it should be"
        first = found.verdict["first"]
        assert first["operators_only_in_target"] == first["operators_only_in_golden"] == []

    def test_cache(self, tmp_path: Path, layer: int) -> None:
        found = hunted(tmp_path / "hunt", "cache", layer)
        by_token = found.saved[-1].elements.along[1]
        assert len(by_token) == PROMPT
        assert by_token[0] == pytest.approx(1), "the first token finds an empty slot: zeros"
        kinds = {name.rsplit(".", 2)[0] for name in found.verdict["first"]["operators_only_in_target"]}
        assert kinds == {"Aten.add_", "Aten.sub_"}

    def test_rebound(self, tmp_path: Path, layer: int) -> None:
        found = hunted(tmp_path / "hunt", "rebound", layer)
        assert found.saved[-1].elements.relative_l2 > 1
        (told,) = found.told
        assert told.startswith(f"msprobe: Module.model.layers.{layer}.mlp.down_proj.Linear.weight: a captured graph reads 0x")
        assert found.verdicts[0]["parameters_off"] == 0, "what the module holds is right"

    def test_frozen(self, tmp_path: Path, layer: int) -> None:
        found = hunted(tmp_path / "hunt", "frozen", layer)
        assert found.saved[-1].elements.relative_l2 > 0.1
        kinds = {name.rsplit(".", 2)[0] for name in found.verdict["first"]["operators_only_in_golden"]}
        assert "Aten.index_copy_" in kinds

    def test_padding(self, tmp_path: Path, layer: int) -> None:
        found = hunted(tmp_path / "hunt", "padding", layer)
        *before, named = found.saved
        assert named.elements.not_finite == BATCH * named.elements.shape[-1], "each live row"
        assert all(saved.not_finite_in_padding for saved in before), "it was in the padding before"
        assert "Aten.amax.0.forward" in found.verdict["first"]["operators_only_in_target"]


def test_elements_are_those_of_float64() -> None:
    random = torch.Generator().manual_seed(0)
    right = torch.randn(3, 4, generator=random)
    seen = (right * 0.5).bfloat16()
    seen[1, 2] = torch.nan
    found = compare(seen, right)
    keep = [value for index, value in enumerate(right.flatten().tolist()) if index != 6]
    other = [value for index, value in enumerate(seen.flatten().tolist()) if index != 6]
    square = sum(value * value for value in keep)
    assert found.relative_l2 == pytest.approx((sum((a - b) ** 2 for a, b in zip(other, keep)) / square) ** 0.5)
    assert found.scale == pytest.approx(sum(a * b for a, b in zip(other, keep)) / square)
    assert found.cosine == pytest.approx(1, abs=1e-4)
    assert (found.shape, found.not_finite, found.worst[0]) == ((3, 4), 1, (1, 2))
    with pytest.raises(ValueError, match=r"must have one shape to be compared, got \[3, 4\] and \[4, 3\]"):
        compare(right, right.T)


def test_points_of_a_parents_code_are_its_children() -> None:
    spot = {"call": "Module.l.3.mlp.down.Linear.forward.0", "section": "input", "path": "0", "code": "l.3.mlp"}
    links = ["Module.l.3.norm.Norm.forward.0", "Module.l.3.mlp.up.Linear.forward.0"]
    points = points_of({**spot, "before": [{"call": call} for call in links]})
    assert [point.name for point in points] == ["l.3.mlp.up.output.0", "l.3.mlp.down.input.0"]
    with pytest.raises(ValueError, match="got Aten.mm.0.forward"):
        points_of({**spot, "call": "Aten.mm.0.forward"})
