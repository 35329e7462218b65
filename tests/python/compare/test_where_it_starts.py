# SPDX-License-Identifier: Apache-2.0
"""Runs with a planted fault lead to its place, healthy ones are left in peace: dumped by the product's own dumper.

On the CPU here, and on the NPU where test_on_hostnpu.py runs this file.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from compare_program import run
from study_faults import BEFORE, FAULTS, Fault, Place
from study_models import FAMILIES, build, inputs
from study_runs import CPU, DEVICE, PAIRS, compared, dump, dump_tensors, place_of, prepared


@pytest.fixture(autouse=True)
def one_thread():
    """Small models are slower on several."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def dumped(folder, family, pair, fault="", level="L0", seed=0, parameters=False):
    """The dumps of target and golden, and the place that must be named."""
    target_type, golden_type, split = PAIRS[pair]
    model = build(family, seed)
    golden = dump(
        prepared(model, golden_type, split=False), inputs(family, seed), folder / "golden", level, parameters=parameters
    )
    changed = prepared(model, target_type, split=split)
    wanted = FAULTS[fault].plant(changed, 1, family) if fault else None
    return dump(changed, inputs(family, seed), folder / "target", level, parameters=parameters), golden, wanted


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("family", FAMILIES)
def test_healthy_runs_are_left_in_peace(tmp_path, family, pair):
    target, golden, _ = dumped(tmp_path, family, pair, parameters=True)
    found, text = compared(target, golden, tmp_path)
    assert found is None
    assert "No jump above 8 x noise; noise ended at B = " in text


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("level", ["L1", "mix"])
def test_healthy_runs_are_left_in_peace_at_other_levels(tmp_path, level, pair):
    target, golden, _ = dumped(tmp_path, "llama", pair, level=level)
    assert compared(target, golden, tmp_path)[0] is None


CASES = [
    (family, pair, name)
    for name, fault in FAULTS.items()
    for family in fault.families
    for pair in (("fp32/fp32", "bf16/fp32", "fp16/fp32") if DEVICE == CPU else ("bf16/fp32",))  # time
    # What the rule cannot see: changes as small as noise, and experts that only the experts' outputs show.
    if name not in {"int8 weight", "bf16 softmax", "wrong eps", "other experts", "q turned by one", "stale output"}
]


@pytest.mark.parametrize(("family", "pair", "name"), CASES)
def test_the_planted_place_is_named(tmp_path, family, pair, name):
    fault: Fault = FAULTS[name]
    # Some weights are only found by their own numbers: a column of many makes little of an output.
    by_parameters = name in {"one column x2", "one row x2", "bias missing"}
    target, golden, wanted = dumped(tmp_path, family, pair, name, parameters=by_parameters)
    found, text = compared(target, golden, tmp_path)
    assert found is not None
    assert place_of(found["first"]) == wanted, found["sentence"]
    assert (found["first"]["where"] == "parameter") == by_parameters
    assert fault.in_weights or not by_parameters
    assert " ".join(found["sentence"].split()) in text


@pytest.mark.parametrize(
    ("name", "operator"),
    [
        ("attention scale x1.41", "Aten.mul"),
        ("residual lost", "Aten.mul"),
        ("mask missing", "Aten.add"),
        ("exchanged weights", "Aten.mm" if DEVICE == CPU else "Aten.matmul"),
    ],
)
def test_at_level_mix_the_operator_inside_is_named(tmp_path, name, operator):
    target, golden, wanted = dumped(tmp_path, "llama", "bf16/fp32", name, level="mix")
    found, _ = compared(target, golden, tmp_path)
    assert found is not None
    assert place_of(found["first"]) == wanted
    if name == "mask missing":  # the target does not add one at all
        assert any(call.startswith("Aten.add.") for call in found["first"]["operators_only_in_golden"])
    else:
        assert found["first"]["operator"]["call"].startswith(operator + ".")


def test_other_numbers_of_the_calls_do_not_mislead(tmp_path):
    """Split sums call two operators where golden calls one, from the first module on."""
    target, golden, wanted = dumped(tmp_path, "llama", "fp32/fp32", "residual twice", level="mix")
    found, _ = compared(target, golden, tmp_path)
    assert found is not None
    assert place_of(found["first"]) == wanted
    assert found["first"]["operator"]["call"].startswith("Aten.mul.")


def without_order(path: Path, *, ends: bool) -> Path:
    """The same dump as writers leave it that know no Order: a call stands where it starts, or where it ends."""
    content = json.loads(path.read_text())
    entries = sorted(content["data"].items(), key=lambda item: item[1]["Order"]["last" if ends else "first"])
    content["data"] = {name: {key: value for key, value in entry.items() if key != "Order"} for name, entry in entries}
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("name", ["residual lost", "transposed weight", "attention scale x1.41", "NaN"])
def test_without_order_names_and_places_in_the_file_do(tmp_path, name, ends):
    target, golden, wanted = dumped(tmp_path, "llama", "bf16/fp32", name)
    found, text = compared(without_order(target, ends=ends), without_order(golden, ends=ends), tmp_path)
    assert found is not None
    assert place_of(found["first"]) == wanted
    assert "has no order of execution" in text


def test_other_experts_are_told_of_as_choices(tmp_path):
    target, golden, _ = dumped(tmp_path, "experts", "fp32/fp32", "other experts")
    found, text = compared(target, golden, tmp_path)
    assert found is not None
    assert place_of(found["first"]) == Place("inside the call", "layers.1.mlp.experts", "layers.1.mlp.experts")
    assert found["discrete_choices"] > 0
    assert "first at Module.layers.1.mlp.router.Router.forward.0: no fault by itself" in text


def test_other_ids_are_the_callers(tmp_path):
    model = build("llama", 0)
    golden = dump(prepared(model, torch.float32, split=False), inputs("llama", 0), tmp_path / "golden")
    target = dump(prepared(model, torch.float32, split=False), inputs("llama", 1), tmp_path / "target")
    found, text = compared(target, golden, tmp_path)
    assert found is not None
    assert found["first"]["where"] == "caller"
    assert "look at the caller" in text


def test_the_first_step_that_parts_is_named(tmp_path):
    for step, fault in enumerate(["", "", "residual lost"]):
        target, golden, _ = dumped(tmp_path / f"run{step}", "llama", "fp32/fp32", fault)
        for side, path in (("target", target), ("golden", golden)):
            place = tmp_path / side / f"step{step}" / "rank0" / "dump.json"
            place.parent.mkdir(parents=True)
            path.rename(place)
    done = run("compare", "-tp", tmp_path / "target", "-gp", tmp_path / "golden", "-o", tmp_path / "out", "-da")
    (analysis,) = (tmp_path / "out").glob("diff_analyze_*.json")
    content = json.loads(analysis.read_text())
    (steps,) = (value for key, value in content.items() if key.startswith("across_steps"))
    assert steps["first_step"] == "step 2"
    largest = [step["largest"] for step in steps["steps"]]
    assert largest[2] > 1000 * max(largest[:2]) > 0
    assert done.stdout


def test_the_place_before_a_module_is_its_parents_code(tmp_path):
    target, golden, wanted = dumped(tmp_path, "bert", "bf16/bf16", "residual lost")
    found, _ = compared(target, golden, tmp_path)
    assert found is not None
    assert place_of(found["first"]) == wanted
    assert wanted.where == BEFORE
    assert [link["call"] for link in found["first"]["before"]][-1].startswith("Module.layers.1.attention.")
    assert [link["call"] for link in found["first"]["after"]]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("family", ["llama", "bert"])
def test_healthy_tensors_are_left_in_peace(tmp_path, family, pair):
    target_type, golden_type, split = PAIRS[pair]
    model = build(family, 0)
    golden = dump_tensors(prepared(model, golden_type, split=False), inputs(family, 0), tmp_path / "golden")
    target = dump_tensors(prepared(model, target_type, split=split), inputs(family, 0), tmp_path / "target")
    found, text = compared(target, golden, tmp_path)
    assert found is None
    assert "and no jump of the relative L2 error above 5 x" in text


@pytest.mark.parametrize("name", ["transposed weight", "residual lost", "NaN", "stale output", "q turned by one"])
def test_tensors_lead_to_the_planted_place(tmp_path, name):
    model = build("llama", 0)
    golden = dump_tensors(prepared(model, torch.float32, split=False), inputs("llama", 0), tmp_path / "golden")
    changed = prepared(model, torch.bfloat16, split=False)
    wanted = FAULTS[name].plant(changed, 1, "llama")
    found, _ = compared(dump_tensors(changed, inputs("llama", 0), tmp_path / "target"), golden, tmp_path)
    assert found is not None
    assert place_of(found["first"]) == wanted
    walk = found["by_elements"]
    assert place_of(walk["first_suspect"] or walk["first_fault"]) == wanted
