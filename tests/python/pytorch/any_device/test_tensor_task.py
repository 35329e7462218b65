# SPDX-License-Identifier: Apache-2.0
"""The tensor task outside graphs: which tensors are in which files, to the bit. Files are read by torch.load and compared with copies that
torch's own hooks have taken."""

from __future__ import annotations

import copy
import importlib.util
import os
import re
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import Copies, assert_dump, assert_files, bits, expected_tensors, records_of, saved_files, watch
from models import Transformer
from torch import nn

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

HAS_NPU = importlib.util.find_spec("torch_npu") is not None
EXACT = torch.device("cpu")  # whose tolerances hold: the numbers are taken from the file's bytes on the host


@pytest.fixture
def make_tensor_config(make_config: MakeConfig) -> MakeConfig:
    return lambda **settings: make_config(task="tensor", **settings)


@pytest.mark.parametrize(("level", "train"), [("L0", False), ("L1", False), ("mix", False), ("mix", True)])
def test_every_tensor_in_its_file(
    make_tensor_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, device: torch.device, level: str, train: bool
) -> None:
    model = Transformer(blocks=1).to(device)
    bare = copy.deepcopy(model)
    batches = [torch.randint(0, 30, (2, 5)).to(device) for _ in range(4)]
    with AclGraphDumper(make_tensor_config(level=level)) as dumper, torch.set_grad_enabled(train):
        dumper.start(model)
        for first, second in (batches[:2], batches[2:]):
            outputs = [model(first), model(second, extra={"unused": [1, None]})]
            dumper.step()
    for step, (first, second) in enumerate((batches[:2], batches[2:])):

        def runs(m: nn.Module, first: torch.Tensor = first, second: torch.Tensor = second) -> Any:
            return [m(first), m(second, extra={"unused": [1, None]})]

        copies = Copies()
        with torch.set_grad_enabled(train):
            wanted = watch(copies, bare, level, runs)
        dump = read_dump(step)
        folder = tmp_path / "dumps" / f"step{step}" / f"pid{os.getpid()}"
        assert (dump["task"], dump["level"], dump["dump_data_dir"]) == ("tensor", level, str(folder / "dump_tensor_data"))
        assert_dump(dump, copies.with_tensors(), EXACT)
        assert_files(dump, copies.tensors)
    assert all(torch.equal(ours["logits"], theirs["logits"]) for ours, theirs in zip(outputs, wanted, strict=True))


class Nested(nn.Module):
    def forward(self, x: torch.Tensor, *rest: Any, **kwargs: Any) -> Any:
        return {"logits": x + 10, "hidden": [None, x + 11, (x + 12,)]}


def test_places_count_as_in_the_call(make_tensor_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    x = torch.zeros(1, device=device)
    with AclGraphDumper(make_tensor_config()) as dumper:
        model = Nested()
        dumper.start(model)
        model(x, 7, None, "a", [x + 1, 3, (x + 2,)], {"k": x + 3}, mask=x + 4, key=OrderedDict(b=x + 5, a=[4, x + 6]))
        dumper.step()
    name = "Module.__root__.Nested.forward.0"
    assert {key: value.item() for key, value in saved_files(read_dump(0)).items()} == {
        f"{name}.input.0": 0.0,
        f"{name}.input.4.0": 1.0,
        f"{name}.input.4.2.0": 2.0,
        f"{name}.input.5.k": 3.0,
        f"{name}.input.mask": 4.0,
        f"{name}.input.key.b": 5.0,
        f"{name}.input.key.a.1": 6.0,
        f"{name}.output.logits": 10.0,
        f"{name}.output.hidden.1": 11.0,
        f"{name}.output.hidden.2.0": 12.0,
    }


HOSTILE = [
    "a b",
    "a_b",
    "a/b",
    "a\\b",
    "ä",
    "模块",
    "\U0001f642",
    "a\nb",
    "a\0b",
    "a|b",
    "a%b",
    "%2F",
    "'\"`$;*?",
    " ",
    "-",
    "_",
    "CON",
]
HOSTILE += ["x" * 300, "x" * 299 + "y", "y" + "x" * 299]


def hostile_names(
    make_config: MakeConfig, read_dump: ReadDump, step: int, device: torch.device
) -> dict[str, tuple[str, float]]:
    """By the entry's name, the file's, and the value in it."""
    model = nn.ModuleDict({name: nn.Identity() for name in HOSTILE})
    with AclGraphDumper(make_config(task="tensor", step=[step])) as dumper:
        dumper.start(model)
        for _ in range(step):
            dumper.step()
        for call in range(2):
            for index, module in enumerate(model.values()):
                module(torch.full((2,), 100.0 * call + index, device=device))
        dumper.step()
    dump = read_dump(step)
    files = saved_files(dump)
    found = {}
    for entry, record in records_of(dump):
        name = record["data_name"]
        plain = f"{entry}.{name.removesuffix('.pt').rsplit('.', 2)[-2]}.0"
        if re.fullmatch(r"[A-Za-z0-9._-]{1,197}", plain) and name == f"{plain}.pt":
            assert "FullName" not in record
        else:
            assert record["FullName"] == plain
        found[plain] = (name, files[name.removesuffix(".pt")][0].item())
    return found


def test_hostile_and_long_names(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    found = hostile_names(make_config, read_dump, 0, device)
    assert len(found) == len(HOSTILE) * 2 * 2
    for index, name in enumerate(HOSTILE):
        for call in range(2):
            for place in ("input", "output"):
                file, value = found[f"Module.{name}.Identity.forward.{call}.{place}.0"]
                assert value == 100.0 * call + index
                assert re.fullmatch(r"Module\.[A-Za-z0-9._-]+\.pt", file)
                assert len(file) <= 200
    names = [file for file, _ in found.values()]
    assert len(set(names)) == len(names)
    assert "Module.a_b.Identity.forward.0.input.0.pt" in names
    again = hostile_names(make_config, read_dump, 1, device)
    assert again == found  # the same model has the same names, in whichever step and dumper


def test_keys_that_look_like_other_places(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    x = torch.zeros(1, device=device)
    with AclGraphDumper(make_config(task="tensor")) as dumper:
        model = Nested()
        dumper.start(model)
        for call in range(0, 200, 100):
            nested = {"a": {"b": x + 1 + call}, "a.b": x + 2 + call, "a_b": x + 3 + call, "a b": x + 4 + call, 5: x + 5 + call}
            model(x + call, nested, **{"0": x + 6 + call, "1.a.b": x + 7 + call, "": x + 8 + call, "../../up": x + 9 + call})
        dumper.step()
    dump = read_dump(0)
    files = saved_files(dump)
    folder = Path(dump["dump_data_dir"])
    for call in range(2):
        entry = dump["data"][f"Module.__root__.Nested.forward.{call}"]
        inner = entry["input_args"][1]
        records = [entry["input_args"][0], inner["a"]["b"], *list(inner.values())[1:], *entry["input_kwargs"].values()]
        values = [files[record["data_name"].removesuffix(".pt")].item() for record in records]
        assert values == [100.0 * call + number for number in range(10)]
        assert all((folder / record["data_name"]).parent == folder for record in records)


NPU_DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool, torch.uint8, torch.int8, torch.int16]
NPU_DTYPES += [torch.int32, torch.int64]
OTHER_DTYPES = [torch.uint16, torch.uint32, torch.uint64, torch.complex32, torch.complex64, torch.complex128]
OTHER_DTYPES += [torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz, torch.float8_e8m0fnu]
DTYPES = NPU_DTYPES if HAS_NPU else [*NPU_DTYPES, *OTHER_DTYPES, torch.float4_e2m1fn_x2]


def random_bits(dtype: torch.dtype) -> torch.Tensor:
    """A tensor [4, 6] with every kind of bit pattern, NaNs with payloads included."""
    size = torch.empty(0, dtype=dtype).element_size()
    return torch.randint(0, 2 if dtype == torch.bool else 256, (24 * size,), dtype=torch.uint8).view(dtype).view(4, 6)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_exact_bits_of_every_dtype_and_layout(
    make_tensor_config: MakeConfig, read_dump: ReadDump, device: torch.device, dtype: torch.dtype
) -> None:
    base = random_bits(dtype).to(device)
    layouts = {
        "plain": base,
        "transposed": base.t(),
        "sliced": base[1:, ::2],
        "expanded": base[:, :1].expand(4, 5),
        "scalar": base[0, 0],
        "empty": base[:0],
        "offset": base.view(-1)[7:9],
    }
    if dtype.is_floating_point and dtype.itemsize > 1:
        layouts["leaf"] = base.clone().requires_grad_()
        layouts["parameter"] = nn.Parameter(base)
    if dtype.is_complex and dtype != torch.complex32:  # of which torch cannot resolve the lazy bits
        layouts |= {"conj": base.conj(), "neg": base.conj().imag, "neg_transposed": base.t().conj().imag}
    with AclGraphDumper(make_tensor_config()) as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        for x in layouts.values():
            assert identity(x) is x
        dumper.step()
    dump = read_dump(0)
    folder = Path(dump["dump_data_dir"])
    for index, (name, x) in enumerate(layouts.items()):
        for place in ("input", "output"):
            path = folder / f"Module.__root__.Identity.forward.{index}.{place}.0.pt"
            for options in ({}, {"weights_only": True, "mmap": True}):
                loaded = torch.load(path, **options)
                assert type(loaded) is torch.Tensor and loaded.is_contiguous() and not loaded.requires_grad
                assert (loaded.dtype, loaded.shape) == (x.dtype, x.shape), name
                assert bits(loaded) == bits(x), name
    if dtype != torch.float4_e2m1fn_x2:  # of which numpy knows nothing
        assert len(saved_files(dump)) == 2 * len(layouts)


def test_tensors_that_cannot_be_saved(make_tensor_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    freed = torch.ones(1000, device=device)
    freed.untyped_storage().resize_(0)
    unusual = {
        "sparse_coo": torch.eye(3).to_sparse(),
        "sparse_csr": torch.eye(3).to_sparse_csr(),
        "quantised": torch.quantize_per_channel(torch.ones(4, 3), torch.ones(4), torch.zeros(4), 0, torch.qint8),
        "nested": torch.nested.nested_tensor([torch.ones(1, 2), torch.ones(2, 2)]),
        "mkldnn": torch.eye(3).to_mkldnn(),
        "freed": freed,
    }
    with AclGraphDumper(make_tensor_config(tensor={"slice": [{"dim": 0, "begin": 0, "end": 2}]})) as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        for x in unusual.values():
            assert identity((x, torch.ones(1, device=device)))[0] is x
        dumper.step()
    dump = read_dump(0)
    for name, entry in zip(unusual, dump["data"].values(), strict=True):
        first, second = entry["input_args"][0]
        assert "not saved: " in first["Note"], name
        assert "data_name" not in first and first["Max"] is None, name
        assert second["Max"] == 1.0 and "Note" not in second, name
    assert len(saved_files(dump)) == 2 * len(unusual)


def test_zeros_without_memory(make_tensor_config: MakeConfig, read_dump: ReadDump) -> None:
    with AclGraphDumper(make_tensor_config()) as dumper:
        identity = nn.Identity()
        dumper.start(identity)
        identity(torch._efficientzerotensor((2, 3)))
        dumper.step()
    assert_files(
        read_dump(0), {f"Module.__root__.Identity.forward.0.{place}.0": torch.zeros(2, 3) for place in ("input", "output")}
    )


def test_list_lets_only_some_through(make_tensor_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = Transformer().to(device)
    ids = torch.zeros(1, 3, dtype=torch.long, device=device)
    with AclGraphDumper(make_tensor_config(level="mix", tensor={"list": ["SoftMax", "head"]})) as dumper:
        dumper.start(model)
        model(ids)
        dumper.step()
    names = saved_files(read_dump(0))
    assert {name.split(".")[1] for name in names} == {"_softmax", "head"}
    assert len(names) == 2 * 2 + 2


class Shared(nn.Module):
    """One layer under two names, called three times."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(3, 3)
        self.two = self.one

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.two(self.one(self.two(x)))
        return y


class Recursive(nn.Module):
    def forward(self, x: torch.Tensor, depth: int) -> torch.Tensor:
        return self(x + 1, depth - 1) * 2 if depth else x


@pytest.mark.parametrize(("model", "more"), [(Shared(), ()), (Recursive(), (3,))], ids=["shared", "recursive"])
def test_modules_called_several_times(
    make_tensor_config: MakeConfig, read_dump: ReadDump, device: torch.device, model: nn.Module, more: tuple[int, ...]
) -> None:
    model = copy.deepcopy(model).to(device)
    bare = copy.deepcopy(model)
    x = torch.randn(2, 3).to(device)
    with AclGraphDumper(make_tensor_config()) as dumper:
        dumper.start(model)
        for _ in range(2):
            model(x, *more)
        dumper.step()
    assert_files(read_dump(0), expected_tensors(bare, "L0", lambda m: (m(x, *more), m(x, *more))))


class Overwrites(nn.Module):
    """Changes in place what has just been recorded, and frees it."""

    def __init__(self) -> None:
        super().__init__()
        self.identity = nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(20):
            y = self.identity(x * 2)
            y.add_(1)
            x.add_(1)
        return x


def test_the_value_is_that_of_the_moment(make_tensor_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    with AclGraphDumper(make_tensor_config()) as dumper:
        model = Overwrites()
        dumper.start(model)
        model(torch.zeros(10_000, device=device)).fill_(-1)
        dumper.step()
    files = saved_files(read_dump(0))
    for call in range(20):
        for place in ("input", "output"):
            x = files[f"Module.identity.Identity.forward.{call}.{place}.0"]
            assert x.unique().tolist() == [2.0 * call]
    assert files["Module.__root__.Overwrites.forward.0.output.0"].unique().tolist() == [20.0]


def test_training_goes_as_without(make_tensor_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = Transformer().to(device)
    bare = copy.deepcopy(model)
    batches = [torch.randint(0, 30, (2, 5)).to(device) for _ in range(3)]

    def train(m: nn.Module, batch: torch.Tensor, optimiser: torch.optim.Optimizer) -> None:
        optimiser.zero_grad()
        m(batch)["logits"].pow(2).sum().backward()
        optimiser.step()  # changes the parameters in place

    ours, theirs = (torch.optim.SGD(m.parameters(), lr=0.05, momentum=0.9) for m in (model, bare))
    with AclGraphDumper(make_tensor_config(level="mix")) as dumper:
        dumper.start(model)
        for batch in batches:
            train(model, batch, ours)
            dumper.step()
    for step, batch in enumerate(batches):
        assert_files(read_dump(step), expected_tensors(bare, "mix", lambda m, batch=batch: m(batch)))
        train(bare, batch, theirs)
    for one, two in zip(model.parameters(), bare.parameters(), strict=True):
        assert torch.equal(one, two)
