# SPDX-License-Identifier: Apache-2.0
"""The hunt, as a user runs it and fault by fault, and other models of transformers: on hostnpu, which a process of its own has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))

from run_on_hostnpu import run_on_hostnpu  # noqa: E402


@pytest.mark.parametrize("name", ["test_hunts.py", "test_other_models.py"])
def test_file(name: str, tmp_path: Path) -> None:
    run_on_hostnpu(HERE / "inside" / name, tmp_path)


def hunt(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "msprobe.hostnpu", "run", str(ROOT / "examples" / "hunt" / "hunt.py"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_a_hunt_fits_one_screen(tmp_path: Path) -> None:
    answer = hunt(tmp_path, "healthy", "rebound", "--layer", "4")
    assert answer.returncode == 0, answer.stderr
    healthy, rebound = answer.stdout.strip().split("\n\n")
    assert "No step parts. No jump above 8 x noise" in healthy
    assert "elements" not in healthy
    told = " ".join(rebound.split())
    assert (
        "Step 1 is the first that parts. First fault: first visible at output 0 of Module.model.layers.4.mlp.down_proj." in told
    )
    assert "msprobe: Module.model.layers.4.mlp.down_proj.Linear.weight: a captured graph reads 0x" in told
    assert "* golden takes" in rebound and "*" not in healthy, "tokens that differ are marked"
    for text in (healthy, rebound):
        lines = text.splitlines()
        assert len(lines) <= 40
        assert max(map(len, lines)) <= 120
        (page,) = [line.split()[1] for line in lines if line.startswith("page ")]
        assert (tmp_path / page).read_text(encoding="utf-8").rstrip().endswith("</html>")


def test_unknown_faults_and_layers_are_refused(tmp_path: Path) -> None:
    answer = hunt(tmp_path, "epsilom")
    assert answer.returncode == 2
    assert "there is no fault epsilom; there are healthy, epsilon, " in answer.stderr
    assert hunt(tmp_path, "epsilon", "--layer", "8").returncode == 2
    assert not (tmp_path / "out").exists()
