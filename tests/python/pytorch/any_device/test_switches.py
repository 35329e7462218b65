# SPDX-License-Identifier: Apache-2.0
"""When, and which side of a call, is recorded: dump_enable, enable() and disable(), step, data_mode. Without graphs; both tasks."""

from __future__ import annotations

import copy
import json
import os
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from expect import assert_dump, expected, saved_files
from models import Transformer, mlp
from torch import nn

from msprobe.pytorch import AclGraphDumper
from msprobe.pytorch.config import ConfigError, read_config

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]

TASKS = pytest.mark.parametrize("task", ["statistics", "tensor"])
CPU = torch.device("cpu")


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def steps_written(folder: Path) -> list[int]:
    return sorted(int(path.parent.parent.name.removeprefix("step")) for path in folder.rglob("dump.json"))


def maxima(dump: dict[str, Any]) -> list[float]:
    """Of the inputs of nn.Identity, call by call."""
    if dump["task"] == "tensor":
        saved_files(dump)  # are all there, and no others
    return [entry["input_args"][0]["Max"] for entry in dump["data"].values()]


@pytest.fixture
def run(device: torch.device) -> Callable[[nn.Module, float], None]:
    return lambda model, value: model(torch.full((3,), value, device=device))


@TASKS
def test_nothing_is_written_while_off(
    make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, run: Callable[..., None], task: str
) -> None:
    with AclGraphDumper(make_config(task=task, dump_enable=False)) as dumper, warnings.catch_warnings():
        warnings.simplefilter("error")  # an empty step is not worth a word while off
        model = nn.Identity()
        dumper.start(model)
        for value in (0.0, 1.0):
            run(model, value)
            dumper.step()
        assert list((tmp_path / "dumps").iterdir()) == []
        assert dumper.step_id == 2
        dumper.enable()
        run(model, 2.0)
        dumper.step()
        dumper.disable()
        run(model, 3.0)
        dumper.step()
        dumper.enable()
        run(model, 4.0)
        dumper.step()
    assert steps_written(tmp_path / "dumps") == [2, 4]
    assert [maxima(read_dump(step)) for step in (2, 4)] == [[2.0], [4.0]]


@TASKS
def test_switching_in_the_middle_of_a_step(
    make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, run: Callable[..., None], task: str
) -> None:
    with AclGraphDumper(make_config(task=task)) as dumper:
        model = nn.Identity()
        dumper.disable()  # before start() too
        dumper.start(model)
        run(model, 0.0)
        dumper.enable()
        run(model, 1.0)
        dumper.disable()
        run(model, 2.0)
        dumper.enable()
        run(model, 3.0)
        dumper.disable()
        dumper.step()  # off at its end: what was recorded is written
        dumper.enable()
        run(model, 4.0)
        dumper.step()
    assert [maxima(read_dump(step)) for step in range(2)] == [[1.0, 3.0], [4.0]]


@TASKS
def test_a_forward_is_recorded_as_a_whole_or_not_at_all(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, task: str
) -> None:
    class Switches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.after = nn.Identity(), nn.ReLU()
            self.switch: Callable[[], None] = lambda: None

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.before(x)
            self.switch()
            y: torch.Tensor = self.after(x)
            return y

    model = Switches().to(device)
    x = torch.ones(2, device=device)
    with AclGraphDumper(make_config(task=task)) as dumper:
        dumper.start(model)
        model.switch = dumper.disable
        model(x)
        model.switch = dumper.enable
        model(x)
        model.switch = lambda: None
        model(x)
        dumper.step()
    names = [f"Module.{name}.forward.{i}" for i in range(2) for name in ("__root__.Switches", "before.Identity", "after.ReLU")]
    dump = read_dump(0)
    assert list(dump["data"]) == names
    assert all(len(entry["input_args"]) == len(entry["output"]) == 1 for entry in dump["data"].values())
    if task == "tensor":
        assert len(saved_files(dump)) == 2 * len(names)


def rewrite(path: Path, how: str, text: str) -> None:
    """Changes a config file as editors and programs do."""
    if how == "rename":
        fresh = path.with_suffix(".new")
        fresh.write_text(text)
        os.replace(fresh, path)
    else:
        path.write_text(text)


def with_switch(text: str, enabled: Any) -> str:
    return json.dumps(json.loads(text) | {"dump_enable": enabled})


@pytest.mark.parametrize("how", ["rename", "in place"])
@TASKS
def test_the_file_is_read_again_at_each_step(
    make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, run: Callable[..., None], how: str, task: str
) -> None:
    path = make_config(task=task)
    with AclGraphDumper(path) as dumper:
        model = nn.Identity()
        dumper.start(model)
        for step, enabled in enumerate([False, False, True, True]):  # from the step after
            rewrite(path, how, with_switch(path.read_text(), enabled))
            run(model, float(step))
            dumper.step()
        run(model, 4.0)
        dumper.step()
    assert steps_written(tmp_path / "dumps") == [0, 3, 4]
    assert [maxima(read_dump(step)) for step in (0, 3, 4)] == [[0.0], [3.0], [4.0]]


def test_a_change_that_keeps_size_and_time_is_seen_by_its_inode(
    make_config: MakeConfig, tmp_path: Path, run: Callable[..., None]
) -> None:
    path = make_config(dump_enable=True)
    path.write_text(path.read_text().replace("true", "true "))
    before = path.stat()
    with AclGraphDumper(path) as dumper:
        model = nn.Identity()
        dumper.start(model)
        fresh = path.with_suffix(".new")
        fresh.write_text(path.read_text().replace("true ", "false"))
        assert fresh.stat().st_size == before.st_size
        os.utime(fresh, ns=(before.st_atime_ns, before.st_mtime_ns))
        os.replace(fresh, path)
        for value in (0.0, 1.0):
            run(model, value)
            dumper.step()
    assert steps_written(tmp_path / "dumps") == [0]


BROKEN = {
    "half": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "not text": lambda text: "\udcff",
    "a list": lambda text: "[]",
    "a word": lambda text: with_switch(text, "yes"),
    "a number": lambda text: with_switch(text, 0),
    "null": lambda text: with_switch(text, None),
}


@pytest.mark.parametrize("kind", [*BROKEN, "gone", "a folder"])
@pytest.mark.parametrize("enabled", [True, False])
def test_a_broken_file_leaves_the_switch_as_it_was(
    make_config: MakeConfig, tmp_path: Path, run: Callable[..., None], kind: str, enabled: bool
) -> None:
    path = make_config(dump_enable=enabled)
    good = path.read_text()
    with AclGraphDumper(path) as dumper:
        model = nn.Identity()
        dumper.start(model)
        path.unlink()
        if kind == "a folder":
            path.mkdir()
        elif kind != "gone":
            path.write_bytes(BROKEN[kind](good).encode(errors="surrogateescape"))
        with pytest.warns(UserWarning, match=r"dump_enable stays as it was: .*config\.json"):
            dumper.step()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # told once
            run(model, 1.0)
            dumper.step()
        assert steps_written(tmp_path / "dumps") == ([0, 1] if enabled else [])
        path.rmdir() if kind == "a folder" else path.unlink(missing_ok=True)
        path.write_text(with_switch(good, not enabled))
        dumper.step()
        run(model, 3.0)
        dumper.step()
    assert steps_written(tmp_path / "dumps") == ([0, 1, 2] if enabled else [3])


def test_the_last_word_counts(make_config: MakeConfig, tmp_path: Path, run: Callable[..., None]) -> None:
    path = make_config()
    with AclGraphDumper(path) as dumper:
        model = nn.Identity()
        dumper.start(model)
        rewrite(path, "rename", with_switch(path.read_text(), True))
        dumper.disable()  # step() below looks at the file after it
        dumper.step()
        run(model, 1.0)
        dumper.step()
        dumper.disable()
        for value in (2.0, 3.0):
            run(model, value)
            dumper.step()
    assert steps_written(tmp_path / "dumps") == [1]


def test_switching_from_other_threads(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = mlp().to(device)
    stop = threading.Event()
    with AclGraphDumper(make_config(task="tensor")) as dumper:
        dumper.start(model)

        def switch() -> None:
            while not stop.is_set():
                dumper.disable()
                dumper.enable()

        thread = threading.Thread(target=switch)
        thread.start()
        for _ in range(100):
            model(torch.ones(2, 8, device=device))
        stop.set()
        thread.join()
        dumper.enable()
        dumper.step()
    dump = read_dump(0)
    assert len(dump["data"]) % 4 == 0
    assert len(saved_files(dump)) == 2 * len(dump["data"])  # never half a forward


@pytest.mark.parametrize(
    ("value", "steps"),
    [([], range(6)), (None, range(6)), ([2], [2]), ([0, "3-4"], [0, 3, 4]), (["1-2", 2, "2-3"], [1, 2, 3]), ([100], [])],
    ids=str,
)
@TASKS
def test_steps_that_are_listed(
    make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, run: Callable[..., None], value: Any, steps: Any, task: str
) -> None:
    with AclGraphDumper(make_config(task=task, step=value)) as dumper:
        model = nn.Identity()
        dumper.start(model)
        for step in range(6):
            run(model, float(step))
            if step == 3:
                dumper.step(dump=False)
                run(model, 30.0)
            dumper.step()
    assert steps_written(tmp_path / "dumps") == list(steps)
    assert all(maxima(read_dump(step)) == [30.0 if step == 3 else float(step)] for step in steps)
    assert all(int(name.split("/")[0].removeprefix("step")) in steps for name in files_in(tmp_path / "dumps"))


@pytest.mark.parametrize("value", [1, "1", ["a"], [-1], [1.5], [True], ["3-1"], ["1-"], {"a": 1}], ids=str)
def test_wrong_steps(make_config: MakeConfig, value: Any) -> None:
    with pytest.raises(ConfigError, match="key 'step': "):
        read_config(make_config(step=value))


@pytest.mark.parametrize(
    ("value", "sections"),
    [
        ("all", "io"),
        (["all"], "io"),
        ("forward", "io"),
        (["forward"], "io"),
        ("input", "i"),
        (["input"], "i"),
        (["forward", "input"], "i"),
        ("output", "o"),
        (["output"], "o"),
        (["output", "input"], "io"),
        (["input", "all"], "io"),
        (["forward", "backward"], "io"),
    ],
    ids=str,
)
@TASKS
def test_data_mode(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, value: Any, sections: str, task: str
) -> None:
    model = Transformer(blocks=1).to(device)
    bare = copy.deepcopy(model)
    batches = [torch.randint(0, 30, (2, 5)).to(device) for _ in range(2)]
    level = "mix" if value in ("input", "output") else "L0"
    with AclGraphDumper(make_config(task=task, data_mode=value, level=level)) as dumper, torch.no_grad():
        dumper.start(model)
        for batch in batches:
            model(batch)
        dumper.step()
    with torch.no_grad():
        entries = expected(bare, level, lambda m: [m(batch) for batch in batches])
    for entry in entries.values():
        if "i" not in sections:
            entry |= {"input_args": [], "input_kwargs": {}}
        if "o" not in sections:
            entry["output"] = []
    wanted = {name: entry for name, entry in entries.items() if any(entry.values())}
    dump = read_dump(0)
    if sections == "o":  # entries stand where their first tensor does, and that of a module is its result
        assert sorted(dump["data"]) == sorted(wanted)
        dump["data"] = {name: dump["data"][name] for name in sorted(wanted, key=lambda n: dump["data"][n]["Order"]["first"])}
        wanted = {name: wanted[name] for name in dump["data"]}
    assert_dump(dump, wanted, CPU if task == "tensor" else device)
    if task == "tensor":
        places = {name.split(".forward", 1)[1] for name in saved_files(dump)}
        assert any(".input." in place for place in places) == ("i" in sections)
        assert any(".output." in place for place in places) == ("o" in sections)


class Recursive(nn.Module):
    def forward(self, x: torch.Tensor, depth: int) -> torch.Tensor:
        return self(x + 1, depth - 1) * 2 if depth else x


@pytest.mark.parametrize("mode", ["all", "input"])
def test_call_numbers_are_the_same_in_each_data_mode(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device, mode: str
) -> None:
    with AclGraphDumper(make_config(data_mode=mode)) as dumper:
        model = Recursive()
        dumper.start(model)
        model(torch.zeros(1, device=device), 2)
        dumper.step()
    data = read_dump(0)["data"]
    for call, (given, result) in enumerate([(0.0, 8.0), (1.0, 4.0), (2.0, 2.0)]):
        entry = data[f"Module.__root__.Recursive.forward.{call}"]
        assert [record["Max"] for record in entry["input_args"]] == ([given] if mode != "output" else [])
        assert [record["Max"] for record in entry["output"]] == ([result] if mode != "input" else [])


@pytest.mark.parametrize("value", [[], 3, "sideways", ["input", 3], ["backward"], "backward", [["input"]], {}, None], ids=str)
def test_wrong_data_modes(make_config: MakeConfig, value: Any) -> None:
    with pytest.raises(ConfigError, match="key 'data_mode': must "):
        read_config(make_config(data_mode=value))
