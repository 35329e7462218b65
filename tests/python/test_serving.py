# SPDX-License-Identifier: Apache-2.0
"""examples/serving on hostnpu: each step's dump is what the model computes on that step's rows, whatever graph has run them."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import msprobe

ROOT = Path(__file__).resolve().parents[2]
SERVING = ROOT / "examples" / "serving"
sys.path[:0] = [str(Path(__file__).parent / "pytorch")]

from expect import assert_dump, expected  # noqa: E402

CPU = torch.device("cpu")
SIZES = (1, 2, 4)
PROMPTS = (3, 9, 1, 5, 2)  # lengths
ANSWERS = (6, 4, 8, 5, 6)
REQUESTS = ("--requests", *(f"{prompt}:{answer}" for prompt, answer in zip(PROMPTS, ANSWERS)))
ROUNDING = 2e-5  # float32; other numbers of rows take other ways through a matrix product


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def command(*options: str | Path, ranks: int = 1) -> list[str]:
    return [
        sys.executable,
        "-m",
        "msprobe.hostnpu",
        "run",
        "--devices",
        str(ranks),
        str(SERVING / "run.py"),
        *map(str, options),
    ]


def start(folder: Path, *options: str | Path, ranks: int = 1, **config: Any) -> list[subprocess.Popen[str]]:
    """The ranks of an engine, as torchrun starts them. It dumps into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"dump_path": str(folder / "dumps"), **config}))
    words = command("--dump", folder / "config.json", "--journal", folder / "journal", *REQUESTS, *options, ranks=ranks)
    several = {"WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    return [
        subprocess.Popen(
            words,
            env=os.environ | several | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]


class Run:
    """What a run has left: output, log of steps, dumps. By rank, and by step."""

    def __init__(self, folder: Path, *options: str | Path, ranks: int = 1, **config: Any) -> None:
        self.output = ""
        for process in start(folder, *options, ranks=ranks, **config):
            output, errors = process.communicate(timeout=300)
            assert process.returncode == 0, output + errors
            assert "Warning: msprobe" not in errors, errors
            self.output += output
        self.folder = folder
        self.steps = [
            [json.loads(line) for line in (folder / f"journal.rank{rank}").read_text().splitlines()] for rank in range(ranks)
        ]

    def dumps(self, rank: int = 0) -> dict[int, dict[str, Any]]:
        ranks = "rank" if len(self.steps) > 1 else "pid"
        found = {}
        for path in (self.folder / "dumps").glob(f"step*/{ranks}*/dump.json"):
            if ranks == "pid" or path.parent.name == f"rank{rank}":
                found[int(path.parent.parent.name.removeprefix("step"))] = json.loads(path.read_text())
        return found

    @property
    def answers(self) -> list[str]:
        return sorted(re.findall(r"request \d+: .*", self.output))


def of_the_engine(name: str) -> Any:
    sys.path.insert(0, str(SERVING))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(SERVING))


@pytest.fixture(scope="module")
def options() -> Any:
    """The command line of run.py, which needs no torch_npu."""
    return of_the_engine("options")


@pytest.fixture(scope="module")
def models() -> Iterator[Callable[[], Any]]:
    """A new one as the engine has it on each rank, with an empty cache, on the CPU and without graphs, dumper, or compiler."""
    module = of_the_engine("model")

    def make() -> Any:
        torch.manual_seed(0)
        made = module.Model(module.Sizes()).eval()
        made.make_cache(CPU)
        return made

    with torch.inference_mode():
        yield make


def columns(rows: list[list[int]], size: int, scratch: int) -> list[torch.Tensor]:
    """Tokens, slots and positions of a step, with the padding as the engine promises it."""
    padded = [(token, slot, position) for _, slot, position, token in rows] + [(0, scratch, 0)] * (size - len(rows))
    return [torch.tensor(column) for column in zip(*padded)]


def asked(rows: list[list[int]]) -> list[int]:
    """The rows whose next token is drawn: those of an answer, and the last of a prompt."""
    return [index for index, (request, _, position, _) in enumerate(rows) if position + 1 >= PROMPTS[request]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """Runs of the engine, each made once."""
    made: dict[tuple[str, ...], Run] = {}

    def run(*options: str, level: str = "L0", **config: Any) -> Run:
        key = (*options, level, repr(config))
        if key not in made:
            made[key] = Run(tmp_path_factory.mktemp("serving"), *options, level=level, **config)
        return made[key]

    return run


@pytest.mark.parametrize("graphs", ["pieces", "whole", "none"])
def test_every_step_is_what_the_model_computes(runs: Callable[..., Run], models: Callable[[], Any], graphs: str) -> None:
    """All rows, padding included; names, order, one record a call; nothing of warm-up and captures."""
    run = runs("--graphs", graphs)
    steps, dumps = run.steps[0], run.dumps()
    assert list(range(len(steps))) == sorted(dumps) == [step["dump_step"] for step in steps]
    if graphs != "none":
        assert {(step["graph"], step["size"]) for step in steps} >= {(True, 4), (True, 1)}
        assert any(step["size"] > len(step["rows"]) for step in steps), "some are padded"
    assert any(step["size"] > max(SIZES) and not step["graph"] for step in steps), "some fit no graph"
    model = models()
    # Captured forwards: each piece; of a whole model the compiled region in it, and what is around.
    captured = {"pieces": model.sizes.layers + 1, "whole": 2, "none": 0}[graphs]
    for number, step in enumerate(steps):
        inputs = columns(step["rows"], step["size"], model.sizes.slots)
        assert_dump(dumps[number], expected(model, "L0", served(inputs, asked(step["rows"]))), CPU, rounding=ROUNDING)
        account = dumps[number]["Run"]["Account"]
        assert list(account["silent"]) == ["Module.model.layers.ModuleList"] and account["dropped"] == 0
        replays = [graph["replays"] for graph in dumps[number]["Run"]["graphs"]]
        assert len(replays) == captured * len(SIZES)
        assert sum(replays) == (captured if step["graph"] else 0)


def served(inputs: list[torch.Tensor], last: list[int]) -> Callable[[Any], None]:
    """What the engine asks of its model in a step."""

    def run(model: Any) -> None:
        hidden = model(*inputs)
        if last:
            model.compute_logits(hidden[last])

    return run


def test_operators_are_those_of_eager_code(runs: Callable[..., Run]) -> None:
    """Level mix: the graphs are cut at the same places, and record what the same engine does without any."""
    run, eager = runs("--graphs", "pieces", level="mix"), runs("--graphs", "none", "--pad", level="mix")
    modules, dumps, wanted = runs("--graphs", "pieces").dumps(), run.dumps(), eager.dumps()
    assert run.answers == eager.answers and len(dumps) == len(wanted) == len(modules)
    for step in range(len(wanted)):
        assert len(dumps[step]["Run"]["graphs"]) == 3 * len(SIZES), "pieces"
        entries = {
            name: {section: entry[section] for section in ("input_args", "input_kwargs", "output")}
            for name, entry in wanted[step]["data"].items()
        }
        assert sum(name.startswith("Torch.serving.attend") for name in entries) == 2
        assert_dump(dumps[step], entries, CPU, rounding=ROUNDING)
        assert [name for name in entries if name.startswith("Module")] == list(modules[step]["data"])


def test_the_first_row_is_that_of_its_request_alone(runs: Callable[..., Run], models: Callable[[], Any]) -> None:
    """With a slice that leaves padding and the other requests out: what each request's own sequence gives at that position, computed at
    once and by itself."""
    run = runs("--graphs", "pieces", statistics={"slice": [{"dim": 0, "end": 1}]})
    dumps = run.dumps()
    tokens: dict[int, dict[int, int]] = {}
    for step in run.steps[0]:
        for request, _, position, token in step["rows"]:
            assert tokens.setdefault(request, {}).setdefault(position, token) == token
    assert {request: len(found) for request, found in tokens.items()} == {
        request: prompt + answer - 1 for request, (prompt, answer) in enumerate(zip(PROMPTS, ANSWERS))
    }
    for number, step in enumerate(run.steps[0]):
        request, slot, position, _ = step["rows"][0]
        model = models()
        sequence = [[request, slot, place, tokens[request][place]] for place in range(position + 1)]
        model(*columns(sequence[:position], position, 0)) if position else None
        calls = expected(model, "L0", served(columns(sequence[position:], 1, 0), [0] if asked(sequence[position:]) else []))
        if "Module.head.Linear.forward.0" in dumps[number]["data"] and "Module.head.Linear.forward.0" not in calls:
            del dumps[number]["data"]["Module.head.Linear.forward.0"]  # asked for other rows
        assert_dump(dumps[number], calls, CPU, rounding=ROUNDING)


def test_graphs_and_eager_code_compare_without_a_finding(runs: Callable[..., Run]) -> None:
    graphs, eager = runs("--graphs", "pieces"), runs("--graphs", "none", "--pad")
    assert graphs.answers == eager.answers
    found = msprobe.compare(
        str(graphs.folder / "dumps"), str(eager.folder / "dumps"), output=str(graphs.folder / "compared"), formats=["csv"]
    )
    assert set(found.counts) == {"pass", "warning", "error", "unmatched"}
    assert found.counts["pass"] > 500 and found.counts["pass"] == sum(found.counts.values()), found.counts
    assert found.first_divergence is None


def test_the_dumper_changes_no_answer(tmp_path: Path, runs: Callable[..., Run]) -> None:
    """Nor does the way to run it."""
    answer = subprocess.run(command("--graphs", "pieces", *REQUESTS), cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert answer.returncode == 0, answer.stderr
    bare = sorted(re.findall(r"request \d+: .*", answer.stdout))
    assert len(bare) == len(PROMPTS)
    for run in (runs("--graphs", "pieces"), runs("--graphs", "whole"), runs("--graphs", "none")):
        assert run.answers == bare


def test_a_rank_without_requests_ends_its_steps_early(tmp_path: Path, models: Callable[[], Any]) -> None:
    """Two ranks share three requests; the second one has less to do, goes along with dummy batches, and its numbers stay."""
    run = Run(tmp_path, "--requests", "3:7", "2:2", "1:5", ranks=2)
    assert [sum(not step["rows"] for step in steps) > 0 for steps in run.steps] == [False, True]
    assert len(run.steps[0]) == len(run.steps[1]), "in step with each other"
    for rank, steps in enumerate(run.steps):
        batches = [step for step in steps if step["rows"]]
        dumps = run.dumps(rank)
        assert sorted(dumps) == list(range(len(batches))) == [step["dump_step"] for step in batches]
        assert all(step["dump_step"] is None for step in steps if not step["rows"])
        model = models()
        prompts = (3, 2, 1)
        for number, step in enumerate(batches):
            rows = step["rows"]
            assert {row[0] % 2 for row in rows} == {rank}
            last = [index for index, row in enumerate(rows) if row[2] + 1 >= prompts[row[0]]]
            wanted = expected(model, "L0", served(columns(rows, step["size"], model.sizes.slots), last))
            assert_dump(dumps[number], wanted, CPU, rounding=ROUNDING)
            assert dumps[number]["Run"]["rank"] == rank


def test_a_rank_that_dies(tmp_path: Path) -> None:
    """The other one ends with an error, and does not hang; what has been dumped is whole."""
    ranks = start(tmp_path, "--requests", *["2:29"] * 16, ranks=2)
    first = tmp_path / "dumps" / "step0" / "rank1" / "dump.json"
    journals = [tmp_path / f"journal.rank{rank}" for rank in range(2)]
    while not (first.exists() and journals[1].read_text()):
        assert all(rank.poll() is None for rank in ranks)
        time.sleep(0.01)
    os.kill(json.loads(first.read_text())["Run"]["pid"], signal.SIGKILL)
    errors = [rank.communicate(timeout=120)[1] for rank in ranks]
    assert ranks[0].returncode == 1 and "all_reduce" in errors[0], errors[0]
    assert ranks[1].returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    steps = [[json.loads(line)["dump_step"] for line in journal.read_text().splitlines()] for journal in journals]
    found = [len(list((tmp_path / "dumps").glob(f"step*/rank{rank}/dump.json"))) for rank in range(2)]
    assert steps == [list(range(len(of_rank))) for of_rank in steps]
    assert len(steps[0]) == found[0] > 0
    assert found[1] - 1 <= len(steps[1]) <= found[1] and steps[1], "killed, and all steps are told but perhaps the last"
    for path in (tmp_path / "dumps").rglob("*"):
        assert path.is_dir() or json.loads(path.read_text())["data"], path


def test_what_cannot_be_served_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("[]")
    for words, told in (
        (["--requests", "3:3", "30:3"], "request 1: must fit into a slot of 32 tokens, needs 33"),
        (["--dump", "config.json"], "config.json: must hold one JSON object with keys such as 'dump_path', got list"),
        (["--dump", "nope.json"], "argument --dump: cannot open 'nope.json': No such file or directory"),
    ):
        answer = subprocess.run(command(*words), cwd=tmp_path, capture_output=True, text=True, timeout=300)
        errors = re.sub(r"^\[W.*\n", "", answer.stderr, flags=re.MULTILINE)  # torch_npu on its memory
        assert (answer.returncode, answer.stdout, errors) == (2, "", f"run.py: {told}\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--requests", "3:6", "3"], "argument --requests: must be P:N with numbers from 1, such as 3:6, got '3'"),
        (["--requests", "a:b"], "argument --requests: must be P:N with numbers from 1, such as 3:6, got 'a:b'"),
        (["--requests", "0:1"], "argument --requests: must be P:N with numbers from 1, such as 3:6, got '0:1'"),
        (["--requests"], "argument --requests: expected at least one argument"),
        (["--pad"], "--pad: is for --graphs none, got --graphs pieces, which pads by itself"),
        (["--dump", "."], "argument --dump: cannot open '.': Is a directory"),
        (["--batch-sizes", "8"], "--batch-sizes: must be 1 or more and at most --budget"),
        (["--loud"], "unrecognized arguments: --loud"),
    ],
)
def test_wrong_options_are_named(options: Any, capsys: pytest.CaptureFixture[str], words: list[str], told: str) -> None:
    with pytest.raises(SystemExit) as end:
        options.arguments(words)
    assert (end.value.code, *capsys.readouterr()) == (2, "", f"run.py: {told}\n")
    assert options.arguments(["--graphs", "none", "--pad", "--requests", "3:6", "12:1"]).requests == [(3, 6), (12, 1)]


def test_a_journal_has_each_line_at_once(options: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with options.open_journal(str(tmp_path / "journal"), 3) as journal:
        journal.write("{}\n")
        assert (tmp_path / "journal.rank3").read_text() == "{}\n", "before it is closed"
    with pytest.raises(SystemExit) as end:
        options.open_journal(str(tmp_path / "none" / "journal"), 0)
    told = f"run.py: --journal: cannot write '{tmp_path}/none/journal.rank0': No such file or directory\n"
    assert (end.value.code, *capsys.readouterr()) == (2, "", told)


BATCHES_AT_ONCE = """
import json, sys, threading, time
sys.path.insert(0, {serving!r})
import torch, torch_npu
from engine import Engine, Request
from model import Sizes

with torch.inference_mode():
    engine = Engine(Sizes(), graphs="pieces", batch_sizes=[2], budget=4, pads=True, dump_config=sys.argv[1])
    engine.warm_up()
    engine.capture()
    engine.add(Request(0, [1, 2], 20))
    refused = []

    def serve():
        with torch.inference_mode():
            while engine.has_work:
                try:
                    engine.step()
                except RuntimeError as error:
                    refused.append(str(error))
                    time.sleep(0.001)

    threads = [threading.Thread(target=serve) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for prompt, tokens in (([], 3), ([1] * 30, 3), ([1], 0)):
        try:
            engine.add(Request(9, prompt, tokens))
        except ValueError:
            continue
        raise AssertionError(prompt)
    engine.add(Request(1, [3], 1))
    engine.dumper.disable()
    engine.step()  # counts, and writes nothing
    engine.dumper.enable()
    engine.add(Request(2, [3], 1))
    engine.step()
    engine.close()
assert set(refused) <= {{"a batch is running: an engine runs one at a time"}}, refused
"""


def test_batches_at_once_and_a_switch_that_is_thrown(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"dump_path": str(tmp_path / "dumps")}))
    program = tmp_path / "program.py"
    program.write_text(BATCHES_AT_ONCE.format(serving=str(SERVING)))
    words = [sys.executable, "-m", "msprobe.hostnpu", "run", str(program), str(tmp_path / "config.json")]
    answer = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert answer.returncode == 0, answer.stderr
    dumps = {int(path.parent.parent.name[4:]): json.loads(path.read_text()) for path in (tmp_path / "dumps").rglob("dump.json")}
    assert sorted(dumps) == [*range(20), 21], "step 20 was switched off"
    for dump in dumps.values():
        assert [name for name in dump["data"] if "__root__" in name or "head" in name] == [
            "Module.__root__.Model.forward.0",
            "Module.head.Linear.forward.0",
        ]


def test_the_page_shows_what_it_prints(runs: Callable[..., Run]) -> None:
    page = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    shown = page.split("<!-- begin: output of examples/serving -->\n```text\n")[1].split("```")[0]
    assert shown in runs("--graphs", "pieces").output
