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
from typing import Any, NoReturn

TASKS = ("statistics",)
LEVELS = ("L0", "L1", "mix")
NPU_TRANSFERS = ("captured", "callback")
NPU_ROWS = ("out", "copy")

_TOP_KEYS = {"task", "dump_path", "rank", "level", "statistics", "npu"}
_STATISTICS_KEYS = {"list"}
_NPU_KEYS = {"transfer", "rows"}
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
_MAX_RANKS = 1 << 20  # larger ranges are typing errors, and would only cost memory

DEFAULT_PATH = Path(__file__).parent.parent / "config.json"

_warned: set[tuple[str, str]] = set()  # unknown keys told of already, once a process


class ConfigError(ValueError):
    """A config.json that cannot be used; the message names the file, the key, the value and what is allowed."""


@dataclass(frozen=True)
class Config:
    """The settings of one AclGraphDumper."""

    task: str
    dump_path: str  # absolute
    ranks: frozenset[int]  # empty: all
    level: str
    keywords: tuple[str, ...]  # lower case; empty: everything
    npu_copy_in_callback: bool
    npu_rows_by_copy: bool

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
            content = json.loads(text)
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
            if key not in known and (self._path, prefix + key) not in _warned:
                _warned.add((self._path, prefix + key))
                allowed = ", ".join(sorted(known))
                warnings.warn(
                    f"{self._path}: key '{prefix}{key}' is unknown and does nothing; known are: {allowed}", stacklevel=5
                )

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

    def ranks(self, content: Mapping[str, Any]) -> frozenset[int]:
        rule = 'must be a list of ranks (ints from 0) and ranges ("start-end", both included)'
        value = content.get("rank", [])
        if value is None:
            return frozenset()
        if not isinstance(value, list):
            self.fail("rank", value, rule)
        ranks: set[int] = set()
        for item in value:
            if isinstance(item, int) and not isinstance(item, bool) and item >= 0:
                ranks.add(item)
                continue
            match = _RANGE.fullmatch(item) if isinstance(item, str) else None
            if match is None:
                self.fail("rank", item, rule)
            start, end = int(match[1]), int(match[2])
            if start > end or end - start >= _MAX_RANKS:
                self.fail("rank", item, f"a range must not run backwards nor hold more than {_MAX_RANKS} ranks")
            ranks.update(range(start, end + 1))
        return frozenset(ranks)

    def keywords(self, section: Mapping[str, Any]) -> tuple[str, ...]:
        value = section.get("list", [])
        rule = "must be a list of words that occur in module or API names"
        if value is None:
            return ()
        if not isinstance(value, list):
            self.fail("statistics.list", value, rule)
        for item in value:
            if not isinstance(item, str) or not item:
                self.fail("statistics.list", item, rule)
        return tuple(item.casefold() for item in value)


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
    statistics = reader.section(content, "statistics")
    reader.warn_unknown(statistics, _STATISTICS_KEYS, "statistics.")
    npu = reader.section(content, "npu")
    reader.warn_unknown(npu, _NPU_KEYS, "npu.")
    return Config(
        task=reader.choice(content, "task", TASKS),
        dump_path=reader.dump_path(content),
        ranks=reader.ranks(content),
        level=reader.choice(content, "level", LEVELS),
        keywords=reader.keywords(statistics),
        npu_copy_in_callback=reader.choice(npu, "transfer", NPU_TRANSFERS, "npu.") == "callback",
        npu_rows_by_copy=reader.choice(npu, "rows", NPU_ROWS, "npu.") == "copy",
    )
