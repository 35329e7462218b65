# SPDX-License-Identifier: Apache-2.0
"""AclGraphDumper's own behaviour: start, step, close, paths, threads, failures."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from models import Transformer, mlp

from msprobe.pytorch import AclGraphDumper

ReadDump = Callable[[int], dict[str, Any]]
MakeConfig = Callable[..., Path]


def names(dump: dict[str, Any]) -> list[str]:
    return list(dump["data"])


def test_one_folder_a_step_and_process(make_config: MakeConfig, tmp_path: Path, device: torch.device) -> None:
    model = mlp().to(device)
    dumper = AclGraphDumper(make_config())
    dumper.start(model)
    for _ in range(3):
        model(torch.randn(2, 8).to(device))
        dumper.step()
    found = sorted(str(path.relative_to(tmp_path / "dumps")) for path in (tmp_path / "dumps").rglob("*") if path.is_file())
    assert found == [f"step{i}/pid{os.getpid()}/dump.json" for i in range(3)]
    dumper.close()


def test_step_without_dump_forgets_and_does_not_count(
    make_config: MakeConfig, read_dump: ReadDump, device: torch.device
) -> None:
    model = mlp().to(device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        model(torch.zeros(2, 8, device=device))
        dumper.step(dump=False)
        assert dumper.step_id == 0
        model(torch.full((2, 8), 5.0, device=device))
        dumper.step()
        assert dumper.step_id == 1
    data = read_dump(0)["data"]
    assert data["Module.__root__.Sequential.forward.0"]["input_args"][0]["Max"] == 5.0
    assert "Module.__root__.Sequential.forward.1" not in data


def test_call_numbers_begin_again_in_each_step(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = mlp().to(device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        for _ in range(2):
            model(torch.zeros(2, 8, device=device))
            model(torch.zeros(2, 8, device=device))
            dumper.step()
    for step in range(2):
        assert [name for name in names(read_dump(step)) if "ReLU" in name] == [
            "Module.1.ReLU.forward.0",
            "Module.1.ReLU.forward.1",
        ]


def test_step_before_start_returns_at_once(make_config: MakeConfig, tmp_path: Path) -> None:
    AclGraphDumper(make_config()).step()
    assert list((tmp_path / "dumps").iterdir()) == []


def test_step_refuses_what_is_not_a_bool(make_config: MakeConfig) -> None:
    with pytest.raises(TypeError, match="dump must be True or False, got 1"):
        AclGraphDumper(make_config()).step(1)  # type: ignore[arg-type]


def test_start_twice_changes_nothing(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = mlp().to(device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        forwards = [module.__dict__["forward"] for module in model.modules()]
        dumper.start(model, some_later_argument=3)
        assert [module.__dict__["forward"] for module in model.modules()] == forwards
        model(torch.zeros(2, 8, device=device))
        dumper.step()
    assert len(names(read_dump(0))) == 4


def test_start_on_another_model_adds_it(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    one, two = mlp().to(device), Transformer().to(device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(one)
        dumper.start(two)
        one(torch.zeros(2, 8, device=device))
        two(torch.zeros(1, 3, dtype=torch.long, device=device))
        dumper.step()
    found = names(read_dump(0))
    assert "Module.__root__.Sequential.forward.0" in found
    assert "Module.__root__.Transformer.forward.0" in found


def test_start_refuses_what_is_not_a_module(make_config: MakeConfig) -> None:
    with pytest.raises(TypeError, match="model must be a torch.nn.Module, got str"):
        AclGraphDumper(make_config()).start("model")  # type: ignore[arg-type]


def test_restart_after_close(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = mlp().to(device)
    dumper = AclGraphDumper(make_config())
    for _ in range(2):
        dumper.start(model)
        model(torch.zeros(2, 8, device=device))
        dumper.step()
        dumper.close()
    assert len(names(read_dump(0))) == len(names(read_dump(1))) == 4


def test_no_attribute_is_called_stop(make_config: MakeConfig) -> None:
    assert not hasattr(AclGraphDumper(make_config()), "stop")


def test_two_dumpers_do_not_see_each_other(tmp_path: Path, device: torch.device) -> None:
    models = [mlp().to(device), Transformer().to(device)]
    dumpers = []
    for index, model in enumerate(models):
        path = tmp_path / f"{index}.json"
        path.write_text(json.dumps({"dump_path": str(tmp_path / f"dumps{index}"), "level": "mix"}))
        dumpers.append(AclGraphDumper(path))
        dumpers[-1].start(model)
    models[0](torch.zeros(2, 8, device=device))
    models[1](torch.zeros(1, 3, dtype=torch.long, device=device))
    models[0](torch.zeros(2, 8, device=device))
    for dumper in dumpers:
        dumper.step()
        dumper.close()
    for index, (own, other) in enumerate([("Sequential", "Transformer"), ("Transformer", "Sequential")]):
        (path,) = (tmp_path / f"dumps{index}").rglob("dump.json")
        text = path.read_text()
        assert f"__root__.{own}" in text
        assert other not in text
    assert (tmp_path / "dumps0" / "step0" / f"pid{os.getpid()}" / "dump.json").read_text().count("Sequential.forward") == 2


def test_threads_keep_their_records_apart(make_config: MakeConfig, read_dump: ReadDump, device: torch.device) -> None:
    model = mlp().to(device)
    calls = 20
    barrier = threading.Barrier(3)
    failures: list[BaseException] = []

    def work(value: float) -> None:
        try:
            barrier.wait()
            for _ in range(calls):
                with torch.no_grad():
                    model(torch.full((2, 8), value, device=device))
        except BaseException as error:
            failures.append(error)

    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        threads = [threading.Thread(target=work, args=(float(i + 1),)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        dumper.step()
    assert not failures
    data = read_dump(0)["data"]
    assert len(data) == 4 * 3 * calls
    with torch.no_grad():
        outputs = {float(i + 1): model(torch.full((2, 8), float(i + 1), device=device)).max().item() for i in range(3)}
    seen = dict.fromkeys(outputs, 0)
    for index in range(3 * calls):
        entry = data[f"Module.__root__.Sequential.forward.{index}"]
        value = entry["input_args"][0]["Max"]
        seen[value] += 1
        assert entry["output"][0]["Max"] == outputs[value]
        assert entry["Order"]["last"] - entry["Order"]["first"] == 7  # nobody else's record lies between
    assert set(seen.values()) == {calls}


def test_a_full_disk_loses_nothing(make_config: MakeConfig, read_dump: ReadDump, tmp_path: Path, device: torch.device) -> None:
    model = mlp().to(device)
    with AclGraphDumper(make_config()) as dumper:
        dumper.start(model)
        model(torch.full((2, 8), 1.0, device=device))
        blocker = tmp_path / "dumps" / "step0"
        blocker.write_text("a file where the folder should go")
        with pytest.raises(OSError, match="step0") as caught:
            dumper.step()
        assert caught.value.errno == 20
        assert dumper.step_id == 0
        model(torch.full((2, 8), 2.0, device=device))
        blocker.unlink()
        dumper.step()
        assert dumper.step_id == 1
    data = read_dump(0)["data"]
    maxima = [data[f"Module.__root__.Sequential.forward.{i}"]["input_args"][0]["Max"] for i in range(2)]
    assert maxima == [1.0, 2.0]
    assert sorted(path.name for path in (tmp_path / "dumps").rglob("*") if path.is_file()) == ["dump.json"]


def test_a_relative_dump_path_stays_where_it_was(tmp_path: Path, device: torch.device, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"dump_path": "here"}))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    model = mlp().to(device)
    with AclGraphDumper("config.json") as dumper:
        dumper.start(model)
        monkeypatch.chdir(tmp_path / "elsewhere")
        model(torch.zeros(2, 8, device=device))
        dumper.step()
    assert len(list((tmp_path / "here").rglob("dump.json"))) == 1
