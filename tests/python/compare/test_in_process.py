# SPDX-License-Identifier: Apache-2.0
"""msprobe.compare(): the comparison inside a Python process."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cli_runs import entry, healthy, pair, tensor, write_dump

import msprobe


def two_dumps(folder: Path) -> tuple[str, str]:
    target = healthy()
    target["Module.layers.1.Linear.forward.0"] = entry(tensor(2.0), tensor(30.0))
    words = pair(folder, target | {"Module.more.Linear.forward.0": entry(tensor(), tensor())})
    return words[1], words[3]


def test_result(tmp_path):
    target, golden = two_dumps(tmp_path)
    found = msprobe.compare(target, golden, output=tmp_path / "out")
    assert isinstance(found, msprobe.CompareResult)
    assert found.counts == {"pass": 5, "warning": 0, "error": 1, "unmatched": 2}
    assert [Path(path).suffix for path in found.files] == [".csv"]
    assert Path(found.files[0]).parent == tmp_path / "out"
    (only,) = found.pairs
    assert (only.step, only.rank, only.label, only.mode, only.error) == (None, None, "", "statistics", "")
    assert (only.target, only.golden) == (target, golden)
    assert only.counts == found.counts
    assert only.largest_relative_error == 9.0
    assert found.first_divergence is only.divergence
    assert found.first_divergence.grade == "fault"
    assert found.first_divergence.call == "Module.layers.1.Linear.forward.0"
    assert "layers.1" in found.first_divergence.sentence
    assert found.worst[0].target_name == "Module.layers.1.Linear.forward.0.output.0"
    assert found.worst[0].relative_error == 9.0
    assert found.seconds > 0


def test_options(tmp_path):
    for side in ("t", "g"):
        for rank in range(4):
            write_dump(tmp_path / side / f"rank{rank}" / "dump.json", healthy())
    write_dump(tmp_path / "t" / "rank9" / "dump.json", healthy())
    found = msprobe.compare(
        tmp_path / "t",
        tmp_path / "g",
        output=tmp_path / "out",
        formats=["parquet", "jsonl"],
        rank=[1, 3, 9],
        threads=2,
        diff_analyze=True,
        fuzzy_match=True,
        rtol=1e-3,
        atol=0,
    )
    assert [one.rank for one in found.pairs] == [1, 3]
    assert sorted({Path(path).suffix for path in found.files}) == [".json", ".jsonl", ".parquet"]
    assert found.unpaired[0][0] == "target"
    assert found.unpaired[0][1].endswith("t/rank9/dump.json")
    assert found.first_divergence is None
    one = msprobe.compare(tmp_path / "t", tmp_path / "g", output=tmp_path / "out", rank=2)
    assert [pair.rank for pair in one.pairs] == [2]


def test_mappings(tmp_path):
    words = pair(
        tmp_path,
        {"Cell.a.Linear.forward.0": entry(tensor(), tensor())},
        {"Module.b.Linear.forward.0": entry(tensor(), tensor())},
    )
    mapping = tmp_path / "map.yaml"
    mapping.write_text("a.Linear: b.Linear\n")
    assert msprobe.compare(words[1], words[3], output=tmp_path / "out").counts["pass"] == 0
    found = msprobe.compare(words[1], words[3], output=tmp_path / "out", cell_mapping=mapping)
    assert found.counts["pass"] == 2
    by_row = tmp_path / "rows.yaml"
    by_row.write_text("Cell.a.Linear.forward.0.output.0: Module.b.Linear.forward.0.output.0\n")
    assert msprobe.compare(words[1], words[3], output=tmp_path / "out", data_mapping=by_row).counts["pass"] == 1


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        (("{t}", "nowhere"), OSError, "nowhere"),
        (("{t}", "{g}", {"formats": "ods"}), ValueError, "got 'ods'"),
        (("{t}", "{g}", {"threads": 0}), ValueError, "--threads"),
        (("{t}", "{g}", {"rtol": math.nan}), ValueError, "--rtol"),
        (("{t}", "{g}", {"output": "/proc/nowhere"}), OSError, "/proc/nowhere"),
        (("{t}", "a\0b"), ValueError, "zero byte"),
        (("{t}", "{bad}"), ValueError, "bad.json"),
    ],
)
def test_errors_are_exceptions(tmp_path, arguments, kind, said):
    target, golden = two_dumps(tmp_path)
    (tmp_path / "bad.json").write_text("[1, 2")
    options = arguments[2] if len(arguments) > 2 else {}
    places = [word.format(t=target, g=golden, bad=tmp_path / "bad.json") for word in arguments[:2]]
    with pytest.raises(kind, match=said.replace("[", r"\[")):
        msprobe.compare(*places, **{"output": tmp_path / "out"} | options)


def test_odd_paths(tmp_path):
    """Blanks, Chinese, dashes, equal signs and bytes that are no UTF-8."""
    for name in ("a b", "模块", "--xlsx", "x=y", "byte\udcff"):
        folder = tmp_path / name
        target, golden = two_dumps(folder)
        found = msprobe.compare(target, golden, output=folder / "out")
        assert len(list((folder / "out").iterdir())) == 1
        if "\udcff" not in name:
            assert Path(found.files[0]).is_file()


def test_threads_have_their_own_answers(tmp_path):
    places = []
    for number in range(4):
        data = healthy(number + 1)
        places.append(pair(tmp_path / str(number), data, data)[1::2])

    def rows(number: int) -> int:
        return msprobe.compare(*places[number % 4], output=tmp_path / "out").counts["pass"]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(rows, range(40))) == [2 * (number % 4 + 1) for number in range(40)]


def test_other_threads_run_meanwhile(tmp_path):
    data = healthy(20000)
    words = pair(tmp_path, data, data)
    worker = threading.Thread(target=lambda: msprobe.compare(words[1], words[3], output=tmp_path / "out"))
    worker.start()
    turns = 0
    while worker.is_alive():
        turns += 1
    assert turns > 1000


def test_it_prints_nothing_and_imports_no_torch(tmp_path):
    target, golden = two_dumps(tmp_path)
    code = (
        "import sys, msprobe\n"
        f"msprobe.compare({target!r}, {golden!r}, output={str(tmp_path / 'out')!r})\n"
        "sys.exit(any(name in sys.modules for name in ('torch', 'numpy', 'pandas')))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")


def test_import_stays_light():
    heavy = "{'msprobe', 'ctypes', 'json', 'typing'}"
    code = f"import sys, msprobe; print(*sorted(name for name in sys.modules if name.split('.')[0] in {heavy}))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["msprobe", "msprobe._name_clash"]


def test_what_msprobe_has():
    assert {"compare", "CompareResult"} <= set(msprobe.__all__)
    with pytest.raises(AttributeError, match="no attribute 'compares'"):
        _ = msprobe.compares
