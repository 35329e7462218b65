# SPDX-License-Identifier: Apache-2.0
"""The matrix of docs/modes.md: every way to run x level x (inference, training). Records are those of eager code in names, order and
values, and the model's results are bit for bit those without a dumper."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import assert_dump, expected
from models import Small
from running import CPU_MODES, NPU_MODES, RATE, STEPS, Ran, assert_same, run
from torch import nn

from conftest import HAS_NPU
from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]


def make_model(device: torch.device) -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(Small(), nn.Linear(8, 8)).to(device)


def make_inputs(device: torch.device) -> list[torch.Tensor]:
    torch.manual_seed(2)
    return [torch.randn(2, 5, 8).to(device) for _ in range(STEPS)]


@functools.cache
def bare_run(mode: str, train: bool, device: torch.device) -> Ran:
    return run(make_model(device), make_inputs(device), mode, train=train)


@functools.cache
def wanted_records(mode: str, level: str, train: bool, device: torch.device) -> list[dict[str, Any]]:
    """What an eager model that msprobe never touches gives, step by step."""
    model = make_model(device)
    parameters = list(model.parameters())
    steps: list[dict[str, Any]] = []
    warm_up = bool(bare_run(mode, train, device).outputs[STEPS:]) * (len(bare_run(mode, train, device).outputs) - STEPS)
    inputs = make_inputs(device)
    warm_ups = [torch.zeros_like(inputs[0])] if mode == "graph" else [inputs[0]] * warm_up
    for index, x in enumerate(warm_ups + inputs):
        with torch.set_grad_enabled(train):
            holder: list[torch.Tensor] = []
            entries = expected(model, level, lambda m, x=x, holder=holder: holder.append(m(x)))
            if train:
                gradients = torch.autograd.grad(holder[0].pow(2).mean(), parameters)
                with torch.no_grad():
                    for parameter, gradient in zip(parameters, gradients, strict=True):
                        parameter -= RATE * gradient
        if index >= len(warm_ups):
            steps.append(entries)
    return steps


@pytest.mark.parametrize("train", [False, True], ids=["infer", "train"])
@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
@pytest.mark.parametrize("mode", NPU_MODES if HAS_NPU else CPU_MODES)
def test_records_and_results(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, mode: str, level: str, train: bool
) -> None:
    bare = bare_run(mode, train, device)
    model = make_model(device)
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(model)
        ours = run(
            model,
            make_inputs(device),
            mode,
            train=train,
            after_warm_up=lambda: dumper.step(dump=False),
            after_step=dumper.step,
        )
    assert_same(ours, bare)
    for step, wanted in enumerate(wanted_records(mode, level, train, device)):
        # Kernels that a compiler has fused round otherwise than eager ones; so do weights after steps made with them.
        assert_dump(read_dump(step), wanted, device, rounding=1e-4 if "inductor" in mode or train else 0)


class Noisy(Small):
    """Draws random numbers."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(super().forward(x), 0.5) + torch.rand_like(x)


@pytest.mark.parametrize("mode", NPU_MODES if HAS_NPU else CPU_MODES)
def test_random_numbers_are_the_same(make_config: MakeConfig, device: torch.device, mode: str) -> None:
    def make() -> nn.Module:
        torch.manual_seed(1)
        return nn.Sequential(Noisy(), nn.Linear(8, 8)).to(device)

    bare = run(make(), make_inputs(device), mode, train=True)
    model = make()
    with AclGraphDumper(make_config(level="mix")) as dumper:
        dumper.start(model)
        ours = run(model, make_inputs(device), mode, train=True, after_step=dumper.step)
    assert not torch.equal(ours.outputs[0], ours.outputs[1])
    assert_same(ours, bare)
