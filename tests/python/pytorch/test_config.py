# SPDX-License-Identifier: Apache-2.0
"""config.json: defaults, every rule, and messages that name the key, the value and what is allowed."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import msprobe
from msprobe.pytorch import AclGraphDumper
from msprobe.pytorch.config import ConfigError, EnableSwitch, Slice, read_config


def write(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "config.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_defaults(tmp_path: Path) -> None:
    config = read_config(write(tmp_path, {"dump_path": str(tmp_path / "d")}))
    assert config.task == "statistics"
    assert config.level == "L0"
    assert config.ranks == frozenset()
    assert config.keywords == ()
    assert config.dump_path == str(tmp_path / "d")
    assert not config.npu_copy_in_callback
    assert not config.npu_rows_by_copy
    assert config.enabled and config.inputs and config.outputs
    assert config.steps == frozenset() and config.scope is None and config.slices == () and config.custom_apis == ()


def test_everything_set(tmp_path: Path) -> None:
    config = read_config(
        write(
            tmp_path,
            {
                "task": "statistics",
                "dump_path": "./L0_dump",
                "rank": [0, "2-4", 9],
                "level": "mix",
                "step": ["10-12", 3],
                "dump_enable": False,
                "data_mode": ["forward", "output"],
                "scope": ["layers.0", "layers.3"],
                "statistics": {
                    "list": ["Linear", "attention"],
                    "slice": [{"dim": 0, "end": -1}, {"dim": -1, "size": 8, "begin": 2, "end": None}],
                    "custom_api": ["a.b", "c.d", "a.b"],
                },
                "tensor": {"list": ["not this task"]},
                "npu": {"transfer": "callback", "rows": "copy"},
            },
        )
    )
    assert config.ranks == {0, 2, 3, 4, 9}
    assert config.modules and config.apis
    assert config.keywords == ("linear", "attention")
    assert config.dump_path == os.path.abspath("./L0_dump")
    assert config.steps == {3, 10, 11, 12} and not config.enabled
    assert not config.inputs and config.outputs
    assert config.scope == ("layers.0", "layers.3")
    assert config.slices == (Slice(0, None, 0, -1), Slice(-1, 8, 2, 2**63 - 1))
    assert config.custom_apis == ("a.b", "c.d")
    assert config.npu_copy_in_callback and config.npu_rows_by_copy
    assert config.wants("Module.0.LINEAR") and not config.wants("Module.0.ReLU")


def test_none_reads_the_packaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = json.loads((Path(msprobe.__file__).parent / "config.json").read_text())
    monkeypatch.chdir(tmp_path)
    assert read_config(None).dump_path == os.path.abspath(packaged["dump_path"])
    AclGraphDumper()
    assert Path(packaged["dump_path"]).is_dir()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "key 'dump_path' is missing"),
        ({"dump_path": 3}, "key 'dump_path': must be the path of a folder, got 3"),
        ({"dump_path": " "}, "key 'dump_path': must be the path of a folder, got \" \""),
        ({"dump_path": "\ud800"}, "key 'dump_path': must be a path that the file system can hold"),
        ({"dump_path": "d", "task": "tensors"}, "key 'task': must be 'statistics' or 'tensor', got \"tensors\""),
        ({"dump_path": "d", "task": None}, "key 'task': must be 'statistics' or 'tensor', got null"),
        ({"dump_path": "d", "step": 1}, "key 'step': must be a list of steps"),
        ({"dump_path": "d", "step": [-1]}, "key 'step': must be a list of steps (ints from 0)"),
        ({"dump_path": "d", "step": ["5-1"]}, "key 'step': a range must not run backwards"),
        ({"dump_path": "d", "dump_enable": "true"}, "key 'dump_enable': must be true or false, got \"true\""),
        (
            {"dump_path": "d", "data_mode": []},
            "key 'data_mode': must be one or a list of all, forward, backward, input, output",
        ),
        ({"dump_path": "d", "data_mode": ["inputs"]}, "key 'data_mode': must be one or a list of all"),
        ({"dump_path": "d", "data_mode": {"a": 1}}, "key 'data_mode': must be one or a list of all"),
        ({"dump_path": "d", "data_mode": ["backward"]}, "key 'data_mode': must have 'forward'"),
        ({"dump_path": "d", "scope": ["a"]}, "key 'scope': must be [] or the names of two modules"),
        ({"dump_path": "d", "scope": ["a", 3]}, "key 'scope': must be [] or the names of two modules"),
        ({"dump_path": "d", "tensor": []}, "key 'tensor': must be a JSON object"),
        ({"dump_path": "d", "tensor": {"slice": {}}}, "key 'tensor.slice': must be a list of entries"),
        ({"dump_path": "d", "tensor": {"slice": [{"dim": 0}]}}, "key 'tensor.slice[0]': must have 'dim', and 'begin' or 'end'"),
        ({"dump_path": "d", "statistics": {"slice": [{"end": 0}]}}, "key 'statistics.slice[0]': must have 'dim'"),
        ({"dump_path": "d", "statistics": {"slice": [{"dim": 0, "end": 1}, 3]}}, "key 'statistics.slice[1]': must have"),
        (
            {"dump_path": "d", "statistics": {"slice": [{"dim": True, "end": 1}]}},
            "key 'statistics.slice[0].dim': must be an int",
        ),
        (
            {"dump_path": "d", "statistics": {"slice": [{"dim": None, "end": 1}]}},
            "key 'statistics.slice[0].dim': must be an int",
        ),
        (
            {"dump_path": "d", "statistics": {"slice": [{"dim": 0, "end": 1.5}]}},
            "slice[0].end': must be an int or null, got 1.5",
        ),
        ({"dump_path": "d", "statistics": {"slice": [{"dim": 0, "end": 2**63}]}}, "slice[0].end': must be an int or null"),
        (
            {"dump_path": "d", "statistics": {"slice": [{"dim": 0, "end": 1, "size": -2}]}},
            "slice[0].size': must not be negative",
        ),
        ({"dump_path": "d", "statistics": {"slice": [{"dim": 0, "end": 1, "step": 2}]}}, "slice[0].step': is unknown"),
        (
            {"dump_path": "d", "statistics": {"custom_api": "torch.x"}},
            "key 'statistics.custom_api': must be a list of import paths",
        ),
        ({"dump_path": "d", "level": "L2"}, "key 'level': must be 'L0' or 'L1' or 'mix', got \"L2\""),
        ({"dump_path": "d", "level": ["L0"]}, "key 'level': must be 'L0' or 'L1' or 'mix', got [\"L0\"]"),
        (
            {"dump_path": "d", "rank": 0},
            "key 'rank': must be a list of ranks (ints from 0) and ranges (\"start-end\", both included), got 0",
        ),
        ({"dump_path": "d", "rank": [-1]}, "key 'rank': must be a list of ranks"),
        ({"dump_path": "d", "rank": [True]}, "key 'rank': must be a list of ranks"),
        ({"dump_path": "d", "rank": [1.0]}, "key 'rank': must be a list of ranks"),
        ({"dump_path": "d", "rank": ["3"]}, 'got "3"'),
        ({"dump_path": "d", "rank": ["3-"]}, 'got "3-"'),
        ({"dump_path": "d", "rank": ["4-3"]}, "a range must not run backwards"),
        ({"dump_path": "d", "rank": ["0-999999999"]}, "nor hold more than"),
        ({"dump_path": "d", "statistics": []}, "key 'statistics': must be a JSON object, got []"),
        ({"dump_path": "d", "statistics": {"list": "linear"}}, "key 'statistics.list': must be a list of words"),
        (
            {"dump_path": "d", "statistics": {"list": [1]}},
            "key 'statistics.list': must be a list of words that occur in module or API names, got 1",
        ),
        ({"dump_path": "d", "statistics": {"list": [""]}}, "key 'statistics.list'"),
        ({"dump_path": "d", "npu": {"transfer": "x"}}, "key 'npu.transfer': must be 'captured' or 'callback', got \"x\""),
        ([], "must hold one JSON object"),
        ("", "line 1, column 1: not valid JSON"),
        ('{"dump_path": "d",\n  "level": L0}', "line 2, column 12: not valid JSON"),
        ('{"dump_path": "d"', "line 1, column 18: not valid JSON"),
        ("[" * 100000, "nested too deeply"),
    ],
)
def test_bad_values(tmp_path: Path, content: Any, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_bytes_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b'{"dump_path": "\xff"}')
    with pytest.raises(ConfigError, match="must be UTF-8 text: byte 15 is not"):
        read_config(path)


def test_a_byte_order_mark_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"dump_path": "d"}).encode())
    assert read_config(path).dump_path == os.path.abspath("d")


def test_unknown_keys_warn_once(tmp_path: Path) -> None:
    path = write(tmp_path, {"dump_path": "d", "dumppath": "e", "statistics": {"lists": []}})
    with pytest.warns(UserWarning) as caught:
        read_config(path)
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 2
    assert "key 'dumppath' is unknown and does nothing; known are: data_mode, dump_enable, dump_path" in texts[0]
    assert "key 'statistics.lists' is unknown" in texts[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_config(path)


def test_keys_of_the_original_config_are_told_why_they_do_nothing(tmp_path: Path) -> None:
    content = {"dump_path": "d", "async_dump": True, "extra_info": True, "statistics": {"summary_mode": "md5"}, "tensor": {}}
    with pytest.warns(UserWarning) as caught:
        read_config(write(tmp_path, content))
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 3
    assert "key 'async_dump' does nothing: files are always written by other threads" in texts[0]
    assert "key 'extra_info' does nothing: stacks are not recorded" in texts[1]
    assert "key 'statistics.summary_mode' does nothing: the four statistics" in texts[2]


def test_backward_beside_forward_is_told_of(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="key 'data_mode' has 'backward', which does nothing"):
        config = read_config(write(tmp_path, {"dump_path": "d", "data_mode": ["forward", "backward"]}))
    assert config.inputs and config.outputs


def test_the_switch_sees_changes_and_survives_broken_files(tmp_path: Path) -> None:
    path = write(tmp_path, {"dump_path": "d"})
    switch = EnableSwitch(path)
    assert switch.changed_to() is None
    path.write_text(json.dumps({"dump_path": "d", "dump_enable": False}))
    assert switch.changed_to() is False
    assert switch.changed_to() is None
    other = tmp_path / "other"  # replaced as editors do, with the same size and time
    other.write_text(json.dumps({"dump_path": "e", "dump_enable": False}))
    status = path.stat()
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.rename(path)
    assert switch.changed_to() is False
    for broken in ("{", "", '{"dump_enable": 1}', "[]"):
        path.write_text(broken)
        with pytest.warns(UserWarning, match="dump_enable stays as it was"):
            assert switch.changed_to() is None
    path.unlink()
    with pytest.warns(UserWarning, match="dump_enable stays as it was: .*No such file"):
        assert switch.changed_to() is None
    write(tmp_path, {"dump_path": "d"})
    assert switch.changed_to() is True


def test_a_missing_file_and_a_wrong_type(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no_such.json"):
        read_config(tmp_path / "no_such.json")
    with pytest.raises(TypeError, match="config_path must be a path or None, got dict"):
        read_config({})  # type: ignore[arg-type]


def test_a_dump_path_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="dump_path cannot be made: Not a directory") as caught:
        AclGraphDumper(write(tmp_path, {"dump_path": str(tmp_path / "file" / "dumps")}))
    assert caught.value.filename == str(tmp_path / "file" / "dumps")


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_any_json_gives_a_config_or_a_config_error(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    path = tmp_path_factory.mktemp("any") / "config.json"
    for whole in (
        content,
        {"dump_path": "d", "rank": content},
        {"dump_path": "d", "statistics": {"list": content}},
        {"dump_path": content},
    ):
        path.write_text(json.dumps(whole))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read_config(path)
            except ConfigError as error:
                assert str(path) in str(error)


def test_scope_and_data_mode_may_stand_where_the_original_has_them(tmp_path: Path) -> None:
    section = {"scope": ["layers.0", "layers.3"], "list": [], "data_mode": ["output"]}
    other = {"scope": [], "list": [], "data_mode": ["all"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config = read_config(write(tmp_path, {"dump_path": "d", "task": "tensor", "statistics": other, "tensor": section}))
        assert (config.scope, config.inputs, config.outputs) == (("layers.0", "layers.3"), False, True)
        config = read_config(write(tmp_path, {"dump_path": "d", "statistics": other, "tensor": section}))
        assert (config.scope, config.inputs, config.outputs) == (None, True, True)
        # A section with the original's defaults leaves the others as they are.
        config = read_config(
            write(tmp_path, {"dump_path": "d", "scope": ["a", "b"], "data_mode": "input", "statistics": other})
        )
        assert (config.scope, config.inputs, config.outputs) == (("a", "b"), True, False)
        config = read_config(write(tmp_path, {"dump_path": "d", "data_mode": "input", "statistics": {"data_mode": ["input"]}}))
        assert (config.inputs, config.outputs) == (True, False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"data_mode": "input", "tensor": {"data_mode": ["output"]}},
            "key 'data_mode' and key 'tensor.data_mode' say different",
        ),
        ({"scope": ["a", "b"], "tensor": {"scope": ["a", "c"]}}, "key 'scope' and key 'tensor.scope' say different things"),
        ({"tensor": {"scope": ["a"]}}, "key 'tensor.scope': must be [] or the names of two modules"),
        ({"statistics": {"data_mode": ["inputs"]}}, "key 'statistics.data_mode': must be one or a list of all"),
    ],
)
def test_scope_and_data_mode_that_contradict(tmp_path: Path, content: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_config(write(tmp_path, {"dump_path": "d", "task": "tensor", **content}))
    assert message in str(caught.value)
