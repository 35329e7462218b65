# SPDX-License-Identifier: Apache-2.0
"""The examples run as a user would run them, and leave what the documents promise."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(sysconfig.get_paths()["scripts"]) / "msprobe"


def run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False)


def run_quick_start(folder: Path) -> list[dict]:
    """The quick start on hostnpu; its dumps in the order of the steps."""
    for name in ("quick_start.py", "acl_config.json"):
        shutil.copy(ROOT / "examples" / name, folder)
    answer = run(folder, PROGRAM, "hostnpu", "run", "quick_start.py")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    files = sorted((folder / "L0_dump").rglob("*.json"))
    assert len(files) == 10
    return [json.loads(next((folder / "L0_dump" / f"step{step}").glob("pid*/dump.json")).read_text()) for step in range(10)]


@pytest.fixture(scope="module")
def dumps(tmp_path_factory) -> list[dict]:
    return run_quick_start(tmp_path_factory.mktemp("quick_start"))


def test_quick_start_dumps_the_two_linear_layers_at_each_step(dumps):
    for dump in dumps:
        assert {key: dump[key] for key in ("task", "level", "framework", "dump_data_dir")} == {
            "task": "statistics",
            "level": "L0",
            "framework": "pytorch",
            "dump_data_dir": None,
        }
        # "linear" of the configuration's keywords matches the class; ReLU and the container have neither word.
        assert list(dump["data"]) == ["Module.0.Linear.forward.0", "Module.2.Linear.forward.0"]
        shapes = [[entry["input_args"][0]["shape"], entry["output"][0]["shape"]] for entry in dump["data"].values()]
        assert shapes == [[[640, 4096], [640, 2048]], [[640, 2048], [640, 1024]]]


def test_quick_start_numbers_are_those_of_uniform_inputs(dumps):
    """rand_like gives values evenly spread over [0, 1): mean 1/2, mean square 1/3, known to a few standard errors."""
    count = 640 * 4096
    for dump in dumps:
        record = dump["data"]["Module.0.Linear.forward.0"]["input_args"][0]
        assert 0 <= record["Min"] < 1e-4
        assert 1 - 1e-4 < record["Max"] <= 1
        assert record["Mean"] == pytest.approx(1 / 2, abs=6 * (1 / 12 / count) ** 0.5)
        assert record["Norm"] ** 2 / count == pytest.approx(1 / 3, abs=6 * (4 / 45 / count) ** 0.5)


def test_quick_start_sees_each_replay_anew(dumps):
    means = {dump["data"]["Module.0.Linear.forward.0"]["input_args"][0]["Mean"] for dump in dumps}
    assert len(means) == 10


def test_relu_between_the_layers_shows(dumps):
    for dump in dumps:
        assert dump["data"]["Module.2.Linear.forward.0"]["input_args"][0]["Min"] == 0
        assert dump["data"]["Module.0.Linear.forward.0"]["output"][0]["Min"] < 0


def kinds(value: object) -> object:
    """Keys in their order and types, without the values."""
    if isinstance(value, dict):
        return [(key, kinds(inner)) for key, inner in value.items()]
    return [kinds(inner) for inner in value] if isinstance(value, list) else type(value).__name__


def test_readme_shows_real_output(dumps):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("<!-- begin: output of make demo -->\n```text\n")[1].split("```")[0]
    tree, dump = shown.split("/dump.json:\n")
    assert re.findall(r"step\d+(?=\n)", tree) == [f"step{step}" for step in range(10)]
    assert kinds(json.loads(dump)) == kinds(dumps[0])


def test_cpu_eager(tmp_path):
    answer = run(tmp_path, sys.executable, ROOT / "examples" / "cpu_eager.py")
    assert answer.returncode == 0, answer.stderr
    assert "Module.__root__.Sequential.forward.0" in answer.stdout
    assert "Module.2.LayerNorm.forward.0" in answer.stdout
    assert "Aten.addmm.0.forward" in answer.stdout
    assert len(list(tmp_path.glob("mix_dump/step*/pid*/dump.json"))) == 3


def test_show_dumps(tmp_path):
    folder = tmp_path / "dump"
    for step in (0, 2, 10):
        (folder / f"step{step}" / "pid1").mkdir(parents=True)
        (folder / f"step{step}" / "pid1" / "dump.json").write_text(f'{{"step": {step}}}\n', encoding="utf-8")
    answer = run(tmp_path, sys.executable, ROOT / "tools" / "show_dumps.py", "dump")
    assert answer.returncode == 0, answer.stderr
    lines = answer.stdout.splitlines()
    assert [line.split()[-1] for line in lines if "step" in line and "──" in line] == ["step0", "step2", "step10"]
    assert lines[-1] == '{"step": 0}'
    assert run(tmp_path, sys.executable, ROOT / "tools" / "show_dumps.py", "nothing").returncode == 1


def test_single_point(tmp_path):
    (tmp_path / "dump").mkdir()
    answer = run(tmp_path, PROGRAM, "hostnpu", "run", ROOT / "examples" / "single_point.py")
    assert answer.returncode == 0, answer.stderr
    (path,) = (tmp_path / "dump").iterdir()
    assert path.name == "linear_out_0.pt"
    saved = torch.load(path, weights_only=True)
    assert saved.shape == (2, 4)
    assert saved.dtype == torch.float32
    assert saved.abs().max() > 0


def test_single_point_tells_that_its_folder_is_missing(tmp_path):
    answer = run(tmp_path, PROGRAM, "hostnpu", "run", ROOT / "examples" / "single_point.py")
    assert answer.returncode == 1
    assert "the folder of './dump/linear_out.pt' does not exist; make it first" in answer.stderr


def test_single_point_ranks(tmp_path):
    answer = run(tmp_path, sys.executable, ROOT / "examples" / "single_point_ranks.py", "2")
    assert answer.returncode == 0, answer.stderr
    for rank in range(2):
        assert torch.load(tmp_path / "dump" / f"rank{rank}" / "tensor_0.pt").unique().tolist() == [float(rank)]
    assert sorted(path.name for path in (tmp_path / "dump").iterdir()) == ["rank0", "rank1"]


# --- comparing two runs -------------------------------------------------------------------------------------------


def test_compare_two_runs_leads_to_the_wrong_weight(tmp_path):
    """The README's screen, as far as it does not change from run to run."""
    assert run(tmp_path, sys.executable, ROOT / "examples" / "compare_two_runs.py", tmp_path).returncode == 0
    told = run(tmp_path, PROGRAM, "compare", "-tp", "target_dump", "-gp", "golden_dump", "-o", "output", "--step", "0")
    assert (told.returncode, told.stderr) == (0, "")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("<!-- begin: output of msprobe compare -->\n```text\n")[1].split("```")[0]
    for text in (told.stdout, shown):
        assert "first visible at output 0 of Module.layers.2.up.Linear.forward.0" in " ".join(text.split())
        assert [line for line in text.splitlines() if line in ("Where it starts", "Worst rows", "Files")] == [
            "Where it starts",
            "Worst rows",
            "Files",
        ]
