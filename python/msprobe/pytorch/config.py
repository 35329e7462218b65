# SPDX-License-Identifier: Apache-2.0
"""Reads config.json: every bad value is an error that names the key, the value and what is allowed (docs/formats.md)."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

TASKS = ("statistics", "tensor")
LEVELS = ("L0", "L1", "mix")
DATA_MODES = ("all", "forward", "backward", "input", "output")
NPU_TRANSFERS = ("captured", "callback")
NPU_ROWS = ("out", "copy")

_TOP_KEYS = {
    "task",
    "dump_path",
    "rank",
    "step",
    "level",
    "dump_enable",
    "data_mode",
    "scope",
    "parameters",
    "identity",
    "statistics",
    "tensor",
    "npu",
}
_MOVED_KEYS = {"scope", "data_mode"}  # of the whole config, or, as the original msprobe has them, of the task's section
_TASK_KEYS = {"list", "slice", "custom_api"} | _MOVED_KEYS  # of the sections "statistics" and "tensor"
_SLICE_KEYS = {"dim", "size", "begin", "end"}
_NPU_KEYS = {"transfer", "rows"}
_Value = TypeVar("_Value")
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
_MAX_RANGE = 1 << 20  # larger ranges are typing errors, and would only cost memory
_INT64 = range(-(1 << 63), 1 << 63)

# Keys of the original msprobe's config, and why they do nothing here.
_FOREIGN_KEYS = {
    "async_dump": "files are always written by other threads",
    "extra_info": "stacks are not recorded: at a replay there are none",
    "precision": "numbers are always taken in full precision",
    "seed": "the model's random numbers are left alone",
    "is_deterministic": "the model's operators are left alone",
    "enable_dataloader": "step() ends a step",
    "acl_config": "the operators' own dump is not used",
    "overflow_check": "the tasks are 'statistics' and 'tensor'",
    "free_benchmark": "the tasks are 'statistics' and 'tensor'",
    "run_ut": "the tasks are 'statistics' and 'tensor'",
    "grad_probe": "the tasks are 'statistics' and 'tensor'",
    "structure": "the tasks are 'statistics' and 'tensor'",
    "exception_dump": "the tasks are 'statistics' and 'tensor'",
    "nfs_path": "files are written to dump_path",
    "summary_mode": "the four statistics are always taken",
    "tensor_list": "task 'tensor' saves the tensors that its list lets through",
    "file_format": "tensors are saved as .pt files",
    "online_run_ut": "files are written to dump_path",
    "backward_input": "tensors of the backward pass are not recorded",
    "bench_path": "`msprobe compare` takes the path of the other dump",
    "diff_nums": "`msprobe compare` says where two runs part",
    "device": "statistics are taken where the tensor is",
}

DEFAULT_PATH = Path(__file__).parent.parent / "config.json"

_warned: set[tuple[str, str]] = set()  # unknown keys told of already, once a process


class ConfigError(ValueError):
    """A config.json that cannot be used; the message names the file, the key, the value and what is allowed."""


@dataclass(frozen=True)
class Slice:
    """`x[begin:end]` along a dimension, as in Python; with `size`, only where the dimension has that size."""

    dim: int
    size: int | None
    begin: int
    end: int


@dataclass(frozen=True)
class Config:
    """The settings of one AclGraphDumper."""

    task: str
    dump_path: str  # absolute
    ranks: frozenset[int]  # empty: all
    steps: frozenset[int]  # empty: all
    level: str
    enabled: bool
    inputs: bool
    outputs: bool
    scope: tuple[str, str] | None  # names of the first and the last module
    keywords: tuple[str, ...]  # lower case; empty: everything
    slices: tuple[Slice, ...]
    custom_apis: tuple[str, ...]
    parameters: bool
    identity: bool
    npu_copy_in_callback: bool
    npu_rows_by_copy: bool
    as_read: str  # the file's content, as JSON

    @property
    def modules(self) -> bool:
        """Whether module inputs and outputs are collected."""
        return self.level in ("L0", "mix")

    @property
    def apis(self) -> bool:
        """Whether operator (API) inputs and outputs are collected."""
        return self.level in ("L1", "mix")

    def wants(self, name: str) -> bool:
        """Whether the list's keywords let a module or API of this name through."""
        folded = name.casefold()
        return not self.keywords or any(keyword in folded for keyword in self.keywords)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class _Reader:
    """One config file being read; knows its name for messages."""

    def __init__(self, path: str) -> None:
        self._path = path

    def fail(self, key: str, value: object, allowed: str) -> NoReturn:
        shown = json.dumps(value, ensure_ascii=False, default=repr)
        raise ConfigError(f"{self._path}: key '{key}': {allowed}, got {shown}")

    def load(self) -> Mapping[str, Any]:
        try:
            text = Path(self._path).read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigError(f"{self._path}: must be UTF-8 text: byte {error.start} is not") from error
        try:
            content = json.loads(text, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise ConfigError(f"{self._path}: {place}: not valid JSON: {error.msg}") from error
        except RecursionError as error:
            raise ConfigError(f"{self._path}: not a configuration: nested too deeply") from error
        except ValueError as error:  # a number of thousands of digits
            raise ConfigError(f"{self._path}: not a configuration: {error}") from error
        if not isinstance(content, dict):
            raise ConfigError(
                f"{self._path}: must hold one JSON object with keys such as 'dump_path', got {type(content).__name__}"
            )
        return content

    def warn_unknown(self, content: Mapping[str, Any], known: set[str], prefix: str = "") -> None:
        for key in content:
            if key in known:
                continue
            reason = _FOREIGN_KEYS.get(key)
            allowed = ", ".join(sorted(known))
            self.warn(
                prefix + key, f"does nothing: {reason}" if reason else f"is unknown and does nothing; known are: {allowed}"
            )

    def warn(self, key: str, message: str) -> None:
        """Once a process for each key of a file."""
        if (self._path, key) not in _warned:
            _warned.add((self._path, key))
            warnings.warn(f"{self._path}: key '{key}' {message}", stacklevel=5)

    def switch(self, content: Mapping[str, Any], key: str) -> bool:
        value = content.get(key, True)
        if not isinstance(value, bool):
            self.fail(key, value, "must be true or false")
        return value

    def choice(self, content: Mapping[str, Any], key: str, allowed: tuple[str, ...], prefix: str = "") -> str:
        value = content.get(key, allowed[0])
        if not isinstance(value, str) or value not in allowed:
            words = " or ".join(f"'{word}'" for word in allowed)
            self.fail(prefix + key, value, f"must be {words}")
        return value

    def section(self, content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = content.get(key, {})
        if not isinstance(value, dict):
            self.fail(key, value, "must be a JSON object")
        return value

    def dump_path(self, content: Mapping[str, Any]) -> str:
        if "dump_path" not in content:
            raise ConfigError(f"{self._path}: key 'dump_path' is missing: it names the folder for the dumps")
        value = content["dump_path"]
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            self.fail("dump_path", value, "must be the path of a folder")
        try:
            os.fsencode(value)
        except UnicodeEncodeError:
            self.fail(
                "dump_path", value.encode("ascii", "backslashreplace").decode(), "must be a path that the file system can hold"
            )
        return os.path.abspath(os.path.expanduser(value))

    def numbers(self, content: Mapping[str, Any], key: str) -> frozenset[int]:
        """Ranks or steps."""
        rule = f'must be a list of {key}s (ints from 0) and ranges ("start-end", both included)'
        value = content.get(key, [])
        if value is None:
            return frozenset()
        if not isinstance(value, list):
            self.fail(key, value, rule)
        numbers: set[int] = set()
        for item in value:
            if isinstance(item, int) and not isinstance(item, bool) and item >= 0:
                numbers.add(item)
                continue
            match = _RANGE.fullmatch(item) if isinstance(item, str) else None
            if match is None:
                self.fail(key, item, rule)
            start, end = int(match[1]), int(match[2])
            if start > end or end - start >= _MAX_RANGE:
                self.fail(key, item, f"a range must not run backwards nor hold more than {_MAX_RANGE} {key}s")
            numbers.update(range(start, end + 1))
        return frozenset(numbers)

    def texts(self, section: Mapping[str, Any], key: str, prefix: str, rule: str) -> tuple[str, ...]:
        value = section.get(key, [])
        if value is None:
            return ()
        if not isinstance(value, list):
            self.fail(prefix + key, value, rule)
        for item in value:
            if not isinstance(item, str) or not item:
                self.fail(prefix + key, item, rule)
        return tuple(value)

    def data_mode(self, content: Mapping[str, Any], prefix: str = "") -> tuple[bool, bool]:
        """Whether inputs are recorded, and whether outputs are."""
        key = f"{prefix}data_mode"
        value = content.get("data_mode", ["all"])
        modes = [value] if isinstance(value, str) else value
        rule = f"must be one or a list of {', '.join(DATA_MODES)}"
        if not isinstance(modes, list) or not modes or any(mode not in DATA_MODES for mode in modes):
            self.fail(key, value, rule)
        if "all" in modes:
            return True, True
        if "backward" in modes:
            if "forward" not in modes:
                self.fail(key, value, "must have 'forward': tensors of the backward pass are not recorded")
            self.warn(key, "has 'backward', which does nothing: tensors of the backward pass are not recorded")
        both = "input" not in modes and "output" not in modes
        return both or "input" in modes, both or "output" in modes

    def scope(self, content: Mapping[str, Any], prefix: str = "") -> tuple[str, str] | None:
        rule = "must be [] or the names of two modules, the first and the last one"
        names = self.texts(content, "scope", prefix, rule)
        if not names:
            return None
        if len(names) != 2:
            self.fail(f"{prefix}scope", list(names), rule)
        return names[0], names[1]

    def one_of(self, key: str, default: _Value, whole: _Value, task: str, of_task: _Value) -> _Value:
        """The value of a key that may stand at two places: the one that is not the default. Two different ones are an error."""
        if default not in (whole, of_task) and whole != of_task:
            raise ConfigError(f"{self._path}: key '{key}' and key '{task}.{key}' say different things: keep one of them")
        return whole if of_task == default else of_task

    def slices(self, section: Mapping[str, Any], prefix: str) -> tuple[Slice, ...]:
        value = section.get("slice", [])
        if value is None:
            return ()
        if not isinstance(value, list):
            self.fail(f"{prefix}slice", value, 'must be a list of entries such as {"dim": 0, "begin": 0, "end": 8}')
        return tuple(self._slice(entry, f"{prefix}slice[{index}]") for index, entry in enumerate(value))

    def _slice(self, entry: Any, name: str) -> Slice:
        if not isinstance(entry, dict) or "dim" not in entry or not ({"begin", "end"} & entry.keys()):
            self.fail(name, entry, "must have 'dim', and 'begin' or 'end' or both")
        for key, number in entry.items():
            if key not in _SLICE_KEYS:
                self.fail(f"{name}.{key}", number, f"is unknown; known are: {', '.join(sorted(_SLICE_KEYS))}")
            optional = number is None and key != "dim"
            if not optional and (not isinstance(number, int) or isinstance(number, bool) or number not in _INT64):
                self.fail(f"{name}.{key}", number, "must be an int" + ("" if key == "dim" else " or null"))
        size = entry.get("size")
        if size is not None and size < 0:
            self.fail(f"{name}.size", size, "must not be negative")
        begin, end = entry.get("begin"), entry.get("end")
        return Slice(entry["dim"], size, 0 if begin is None else begin, _INT64[-1] if end is None else end)


def read_config(config_path: str | os.PathLike[str] | None) -> Config:
    """Reads and checks a config file; None reads the one that comes with the package.

    Raises FileNotFoundError and other OSErrors for the file, ConfigError for its content, TypeError for a path that is none.
    """
    if config_path is None:
        config_path = DEFAULT_PATH
    if not isinstance(config_path, str | os.PathLike):
        raise TypeError(f"config_path must be a path or None, got {type(config_path).__name__}")
    path = os.fspath(config_path)
    reader = _Reader(path)
    content = reader.load()
    reader.warn_unknown(content, _TOP_KEYS)
    task = reader.choice(content, "task", TASKS)
    tasks = {name: _read_task(reader, content, name) for name in TASKS}  # both: an error in either is told
    npu = reader.section(content, "npu")
    reader.warn_unknown(npu, _NPU_KEYS, "npu.")
    keywords, slices, custom_apis, scope, data_mode = tasks[task]
    inputs, outputs = reader.one_of("data_mode", (True, True), reader.data_mode(content), task, data_mode)
    return Config(
        task=task,
        dump_path=reader.dump_path(content),
        ranks=reader.numbers(content, "rank"),
        steps=reader.numbers(content, "step"),
        level=reader.choice(content, "level", LEVELS),
        enabled=reader.switch(content, "dump_enable"),
        inputs=inputs,
        outputs=outputs,
        scope=reader.one_of("scope", None, reader.scope(content), task, scope),
        keywords=keywords,
        slices=slices,
        custom_apis=custom_apis,
        parameters=reader.switch(content, "parameters"),
        identity=reader.switch(content, "identity"),
        npu_copy_in_callback=reader.choice(npu, "transfer", NPU_TRANSFERS, "npu.") == "callback",
        npu_rows_by_copy=reader.choice(npu, "rows", NPU_ROWS, "npu.") == "copy",
        as_read=json.dumps(content),
    )


def _read_task(
    reader: _Reader, content: Mapping[str, Any], name: str
) -> tuple[tuple[str, ...], tuple[Slice, ...], tuple[str, ...], tuple[str, str] | None, tuple[bool, bool]]:
    """Keywords, slices, custom APIs, scope and data mode of a task's section."""
    section = reader.section(content, name)
    prefix = f"{name}."
    reader.warn_unknown(section, _TASK_KEYS, prefix)
    keywords = reader.texts(section, "list", prefix, "must be a list of words that occur in module or API names")
    custom_apis = reader.texts(section, "custom_api", prefix, "must be a list of import paths of Python callables")
    return (
        tuple(word.casefold() for word in keywords),
        reader.slices(section, prefix),
        tuple(dict.fromkeys(custom_apis)),
        reader.scope(section, prefix),
        reader.data_mode(section, prefix),
    )


class EnableSwitch:
    """`dump_enable` of a config file while a program runs."""

    def __init__(self, config_path: str | os.PathLike[str] | None) -> None:
        self._path = os.path.abspath(config_path or DEFAULT_PATH)
        self._seen = self._stamp()

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def changed_to(self) -> bool | None:
        """The value, if the file was changed since the last look; None if it was not, or cannot be read now (then a warning says so)."""
        stamp = self._stamp()
        if stamp == self._seen:
            return None
        self._seen = stamp
        reader = _Reader(self._path)
        try:
            return reader.switch(reader.load(), "dump_enable")
        except (OSError, ConfigError) as error:
            warnings.warn(f"msprobe: dump_enable stays as it was: {error}", stacklevel=4)
            return None
