# SPDX-License-Identifier: Apache-2.0
"""What models and their surroundings do: freed memory, copies, patches, odd keys, transforms, failures in threads. None of it may break
a model, change a result or lose a record."""

from __future__ import annotations

import copy
import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from models import mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper, acl_save

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]


def test_freed_memory(make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, device: torch.device) -> None:
    freed = torch.ones(1000, device=device)
    freed.untyped_storage().resize_(0)
    with AclGraphDumper(make_config()) as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        identity(freed)
        dumper.step()
    leaf = read_dump(0)["data"]["Module.__root__.Identity.forward.0"]["input_args"][0]
    assert leaf["shape"] == [1000]
    assert leaf["Max"] is None
    assert "freed" in leaf["Note"]
    with pytest.raises(RuntimeError, match="its memory has been freed"):
        acl_save(freed, str(tmp_path / "x.pt"))


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
def test_forward_mode_gradients(make_config: MakeConfig, level: str) -> None:
    model = nn.Linear(3, 2)
    x, tangent = torch.randn(3), torch.randn(3)
    wanted = torch.func.jvp(model, (x,), (tangent,))
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(model)
        found = torch.func.jvp(model, (x,), (tangent,))
        dumper.step()
    assert all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_the_fast_path_of_a_transformer(make_config: MakeConfig) -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, batch_first=True), 2).eval()
    x, mask = torch.randn(2, 4, 8), torch.tensor([[False] * 4, [False, False, True, True]])
    with torch.no_grad():
        wanted = model(x, src_key_padding_mask=mask)
        with AclGraphDumper(make_config(level="mix")) as dumper:
            dumper.start(model)
            assert torch.equal(model(x, src_key_padding_mask=mask), wanted)
            dumper.step()


def test_interpolation_in_inference_mode_is_the_same(make_config: MakeConfig) -> None:
    model = nn.Upsample(scale_factor=1.7, mode="bicubic")
    x = torch.randn(1, 2, 6, 6)
    with torch.inference_mode():
        wanted = model(x)
        with AclGraphDumper(make_config(level="L1")) as dumper:
            dumper.start(model)
            assert torch.equal(model(x), wanted)


def test_a_deep_copy_of_an_overridden_forward_uses_its_own_weights(make_config: MakeConfig, device: torch.device) -> None:
    model = nn.Linear(2, 2).to(device)
    model.forward = functools.partial(nn.Linear.forward, model)  # type: ignore[method-assign]
    x = torch.ones(1, 2, device=device)
    with AclGraphDumper(make_config()) as dumper, torch.no_grad():
        dumper.start(model)
        twin = copy.deepcopy(model)
        for parameter in twin.parameters():
            parameter.zero_()
        assert twin(x).tolist() == [[0.0, 0.0]]


def test_a_class_patched_after_start_is_used(make_config: MakeConfig, device: torch.device) -> None:
    class Patched(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    model = Patched()
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        Patched.forward = lambda self, x: x * 5  # type: ignore[method-assign]
        assert model(torch.ones(1, device=device)).item() == 5.0


@dataclass
class Unset:
    value: torch.Tensor
    later: torch.Tensor = field(init=False)


class Raises(Mapping[str, torch.Tensor]):
    def __getitem__(self, key: str) -> torch.Tensor:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(["x"])

    def __len__(self) -> int:
        return 1


def test_objects_that_are_hard_to_look_at(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    x = torch.ones(1, device=device)
    ring: list[Any] = [x]
    ring.append(ring)
    with AclGraphDumper(make_config()) as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        with pytest.warns(UserWarning, match="looking at them raised KeyError"):
            identity((x, Raises()))
        identity((Unset(x), ring, {1: x, "1": x + 1, x: x + 2, "\ud800": x + 3}))
        dumper.step()
    data = read_dump(0)["data"]
    assert len(data) == 2
    first, second, third = data["Module.__root__.Identity.forward.1"]["input_args"][0]
    assert list(first) == ["value"]
    assert len(second) == 1
    assert [record["Max"] for record in third.values()] == [1.0, 2.0, 3.0, 4.0]
    assert list(third) == ["1", "1_1", "Tensor_2", "?"]


class PlainSubclass(torch.Tensor):
    """Says no to every function that it does not know."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if "msprobe" in str(func):
            raise TypeError("unknown function")
        return super().__torch_function__(func, types, args, kwargs or {})


def test_a_subclass_that_refuses_unknown_functions(make_config: MakeConfig, read_dump: ReadDump) -> None:
    x = torch.full((2,), 3.0).as_subclass(PlainSubclass)
    with AclGraphDumper(make_config(level="mix")) as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        assert identity(x) is x
        dumper.step()
    assert read_dump(0)["data"]["Module.__root__.Identity.forward.0"]["output"][0]["Max"] == 3.0


def test_a_dumper_used_under_a_fake_mode_first(make_config: MakeConfig, read_dump: ReadDump) -> None:
    model = mlp()
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(nn.Identity())  # no token is made for the model's device yet
        dumper.start(model)
        with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True):
            model(torch.ones(2, 8))
        model(torch.ones(2, 8))
        dumper.step()
    assert read_dump(0)["data"]["Module.1.ReLU.forward.0"]["output"][0]["Min"] == 0.0


@pytest.mark.parametrize(("level", "strict"), [("L0", False), ("mix", False), ("mix", True)])
def test_an_exported_program_holds_no_operators_of_ours(make_config: MakeConfig, level: str, strict: bool) -> None:
    model = mlp().eval()
    x = torch.ones(2, 8)
    with AclGraphDumper(make_config(level=level)) as dumper, torch.no_grad():
        dumper.start(model)
        program = torch.export.export(model, (x,), strict=strict).run_decompositions()
        assert "msprobe" not in str(program.graph)
        assert torch.equal(program.module()(x), model(x))


def test_a_forward_that_raised_in_another_thread_belongs_to_this_step(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device
) -> None:
    class Breaks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Identity()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.inner(x)
            raise ValueError("broken")

    model = Breaks()

    def work() -> None:
        with pytest.raises(ValueError, match="broken"):
            model(torch.full((1,), 7.0, device=device))

    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        dumper.step()
        dumper.step(dump=False)
    data = read_dump(0)["data"]
    assert data["Module.inner.Identity.forward.0"]["output"][0]["Max"] == 7.0
    assert data["Module.__root__.Breaks.forward.0"]["output"] == []


@pytest.mark.parametrize("level", ["L0", "L1"])
def test_a_step_while_another_thread_is_in_a_forward(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, level: str
) -> None:
    inside, go_on = threading.Event(), threading.Event()

    class Waits(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x + 1
            inside.set()
            assert go_on.wait(60)
            return y * 2

    model = Waits()
    with AclGraphDumper(make_config(level=level)) as dumper:
        dumper.start(model)
        thread = threading.Thread(target=lambda: model(torch.ones(1, device=device)))
        thread.start()
        assert inside.wait(60)
        with pytest.warns(UserWarning, match="nothing was recorded in step 0"):
            dumper.step()
        go_on.set()
        thread.join()
        dumper.step()
    assert read_dump(0)["data"] == {}
    found = list(read_dump(1)["data"])
    assert found == (["Module.__root__.Waits.forward.0"] if level == "L0" else ["Aten.add.0.forward", "Aten.mul.0.forward"])


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
@pytest.mark.parametrize("task", ["statistics", "tensor"])
def test_another_thread_closes_while_a_forward_runs(
    make_config: MakeConfig, device: torch.device, level: str, task: str
) -> None:
    dumper = AclGraphDumper(make_config(level=level, task=task))

    class Closes(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.inner(x)
            thread = threading.Thread(target=dumper.close)
            thread.start()
            thread.join()
            return self.inner(y)

    model = Closes()
    model.inner = mlp()
    model.to(device)
    x = torch.ones(2, 8, device=device)
    expected = model.inner(model.inner(x))
    dumper.start(model)
    assert torch.equal(model(x), expected)
    assert "forward" not in model.__dict__


def test_start_step_and_close_from_many_threads(make_config: MakeConfig, device: torch.device) -> None:
    models = [mlp().to(device) for _ in range(4)]
    failures: list[BaseException] = []
    dumper = AclGraphDumper(make_config())

    def work(model: nn.Module) -> None:
        try:
            for _ in range(10):
                dumper.start(model)
                dumper.start(models[0])
                model(torch.ones(2, 8, device=device))
                dumper.step(dump=False)
                dumper.close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    dumper.close()
    assert not failures
    assert all("forward" not in module.__dict__ for model in models for module in model.modules())


def test_a_call_with_thousands_of_tensors(make_config: MakeConfig, read_dump: ReadDump) -> None:
    with AclGraphDumper(make_config()) as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        identity([torch.ones(1)] * 20_000)
        dumper.step()
    assert len(read_dump(0)["data"]["Module.__root__.Identity.forward.0"]["input_args"][0]) == 20_000
