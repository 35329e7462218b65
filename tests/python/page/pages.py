# SPDX-License-Identifier: Apache-2.0
"""Chromium for the tests of pages, and the dumps that the pages show."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests" / "python" / "compare"))

import cli_runs  # noqa: E402

PLAYWRIGHT = ROOT / "web" / "node_modules" / "playwright-core"
PICTURES = ROOT / "out" / "pages"
LAYERS = 24
PARTS = (
    ("", "DecoderLayer"),
    (".norm1", "RMSNorm"),
    (".attn", "Attention"),
    (".attn.q", "Linear"),
    (".attn.o", "Linear"),
    (".mlp", "MLP"),
    (".mlp.up", "Linear"),
    (".mlp.down", "Linear"),
)


class Browser:
    """One Chromium; `open` shows a page and returns the seconds until its rows were there."""

    def __init__(self) -> None:
        chromium = shutil.which("chromium")
        assert chromium, "chromium is missing: tools/install_debian_packages.sh test"
        assert PLAYWRIGHT.is_dir(), "playwright-core is missing: tools/page.sh --tools"
        self._process = subprocess.Popen(
            ["node", str(Path(__file__).with_name("browser.mjs")), str(PLAYWRIGHT), chromium],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __getattr__(self, method: str) -> Any:
        def call(**given: Any) -> Any:
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.write(json.dumps({"method": method} | given) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            assert line, "the browser ended"
            answer = json.loads(line)
            assert "error" not in answer, answer["error"]
            return answer["value"]

        return call

    def show(self, page: Path, fragment: str = "", **settings: Any) -> float:
        seconds: float = self.open(url=page.resolve().as_uri() + fragment, settings=settings)
        return seconds

    def picture_of(self, name: str) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.picture(path=str(PICTURES / f"{name}.png"), full=True)

    def rows(self) -> list[list[str]]:
        """The cells of the rows that are drawn."""
        code = "[...document.querySelectorAll('.row')].map(row => [...row.children].map(cell => cell.textContent))"
        found: list[list[str]] = self.evaluate(code=code)
        return found

    def fragment(self) -> dict[str, str]:
        found: dict[str, str] = self.evaluate(code="Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")
        return found

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=20)


def model(side: str, *, fault_at: int | None, nan_at: int | None = None, seed: int = 0) -> dict[str, Any]:
    """A decoder's dump: noise that grows with the layers, a fault from one layer on, NaN in one output."""
    numbers = random.Random(seed)
    data = {}

    def tensor(error: float) -> dict[str, Any]:
        size = numbers.uniform(20, 40)
        sign = numbers.choice((-1, 1))  # drawn on both sides, so that they stay in step
        factor = 1 + error * (1 if error > 0.1 else sign) * numbers.uniform(0.5, 1)
        high, low, mean = numbers.uniform(2, 4), numbers.uniform(2, 4), numbers.uniform(0.01, 0.1)
        statistics = {"Min": -low * factor, "Mean": mean * factor, "shape": [8, 128]}
        counts = {"Counts": {"nan": 0, "pos_inf": 0, "neg_inf": 0, "zero": 3}}
        return cli_runs.tensor(size * factor, maximum=high * factor, **statistics, **counts)

    for layer in range(LAYERS):
        noise = 1e-7 * (1 + layer / 5) if side == "target" else 0
        for number, (part, kind) in enumerate(PARTS):
            faulty = side == "target" and fault_at is not None and (layer, number) >= (fault_at, 2)
            given, result = tensor(noise), tensor(noise + (1.5 if faulty else 0))
            if side == "target" and layer == nan_at and part == ".mlp.down":
                special = {"Max": "nan", "Mean": "nan", "Norm": "nan"}
                result |= {"Max": None, "Mean": None, "Norm": None, "Special": special}
                result["Counts"] = {"nan": 17, "pos_inf": 0, "neg_inf": 0, "zero": 0}
            if layer == 5 and part == ".mlp":
                result |= {"Max": 0.0, "Min": 0.0, "Mean": 0.0, "Norm": 0.0}
            if not (side == "golden" and layer == 3 and part == ".mlp"):
                data[f"Module.layers.{layer}{part}.{kind}.forward.0"] = cli_runs.entry(given, result)
    return data


def write_sides(folder: Path, place: str, **given: Any) -> None:
    for side in ("target", "golden"):
        cli_runs.write_dump(folder / side / place / "dump.json", model(side, **given))


def compared(folder: Path, *words: str) -> Path:
    """The page of target and golden in the folder."""
    output = folder / "output"
    done = cli_runs.compare("-tp", folder / "target", "-gp", folder / "golden", "-o", output, "--format", "html", *words)
    assert done.returncode == 0, done.stderr
    return cli_runs.only_file(output, "*.html")


def viewed(folder: Path, dump: Path) -> Path:
    done = cli_runs.run("view", dump, "-o", folder / "view")
    assert done.returncode == 0, done.stderr
    return cli_runs.only_file(folder / "view", "*.html")
