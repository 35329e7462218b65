# SPDX-License-Identifier: Apache-2.0
"""Asks the C++ core about .pt files, through build/core/tests/cpp/pt_tool (MSPROBE_PT_TOOL names another)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TOOL = Path(os.environ.get("MSPROBE_PT_TOOL", ROOT / "build" / "core" / "tests" / "cpp" / "pt_tool"))


class PtTool:
    """One process that answers a question a line; `ask` returns what it says, or raises what it refuses."""

    class Refused(Exception):  # noqa: N818  (it is an answer, not a fault)
        pass

    def __init__(self) -> None:
        if not TOOL.exists():
            raise FileNotFoundError(
                f"{TOOL} is not built: cmake --preset core && cmake --build --preset core --target pt_tool, or make test"
            )
        self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **question):
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(
            json.dumps({key: str(value) if isinstance(value, Path) else value for key, value in question.items()}) + "\n"
        )
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"pt_tool ended with {self.process.wait()} at {question}"
        answer = json.loads(line)
        if "error" in answer:
            raise PtTool.Refused(answer["error"])
        return answer

    def read(self, path: Path):
        return self.ask(read=path)

    def compare(self, target: Path, golden: Path, **options):
        return self.ask(target=target, golden=golden, **options)

    def close(self) -> None:
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0, "pt_tool did not end well"
