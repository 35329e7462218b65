# SPDX-License-Identifier: Apache-2.0
"""AclGraphDumper: whole-net statistics of a model that runs eagerly or as a captured graph."""

from __future__ import annotations

import os
import threading
import types
import warnings
from typing import Any

import torch

from msprobe.lib import aclgraph_dump_ext
from msprobe.pytorch import hooks, ops
from msprobe.pytorch.api_mode import ApiMode
from msprobe.pytorch.config import Config, read_config

_ROOT_NAME = "__root__"
_DUMP_FILE = "dump.json"
_TENSORS_OF_APIS = 4096
_TENSORS_PER_MODULE = 4  # room reserved before captures; more is found when it is needed
_COMPILED_PREFIX = "_orig_mod"  # what torch.compile puts before the names of the module it wraps


class AclGraphDumper:
    """Collects max, min, mean and L2 norm of the tensors of a model, at every replay of its graphs, and writes them step by step.

    Args:
        config_path: path of a config.json; None reads the one that comes with the package.

    Use `start(model)` before the model is captured or compiled, `step()` after each step, `close()` (or `with`) at the end.
    Raises ConfigError for a bad value, OSError if the file or `dump_path` cannot be used.
    """

    def __init__(self, config_path: str | os.PathLike[str] | None = None) -> None:
        self._config: Config = read_config(config_path)
        _make_folder(self._config.dump_path)
        self._handle: int | None = None
        self._rank: int | None = None
        self._step_id = 0
        self._api_mode: ApiMode | None = None
        self._hooked: list[tuple[torch.nn.Module, hooks.Site]] = []
        self._lock = threading.RLock()  # start, step and close of several threads come one after the other
        self._pid = os.getpid()
        self._told_of_empty_step = False

    @property
    def step_id(self) -> int:
        """The number of the next step that will be written."""
        return self._step_id

    def start(self, model: torch.nn.Module, **_ignored: Any) -> None:
        """Begins to collect from `model`; call it before the model is captured or compiled.

        Again with the same model this changes nothing, with another it adds that one. On a rank that the config does not list it does
        nothing. Further keyword arguments are accepted and have no effect.
        """
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"AclGraphDumper.start: model must be a torch.nn.Module, got {type(model).__name__}")
        with self._lock:
            self._rank = _distributed_rank()
            if self._config.ranks and self._rank is not None and self._rank not in self._config.ranks:
                return
            if self._handle is None:
                self._handle = aclgraph_dump_ext.open_dumper(
                    self._config.task,
                    self._config.level,
                    npu_copy_in_callback=self._config.npu_copy_in_callback,
                    npu_rows_by_copy=self._config.npu_rows_by_copy,
                )
                self._api_mode = ApiMode(self._handle, self._config.wants) if self._config.apis else None
            self._hook(_uncompiled(model), self._handle)

    def step(self, dump: bool = True) -> None:
        """Ends a step: writes what was collected since the last one to `step{N}/rank{R}` (or `pid{P}`) and forgets it.

        Waits for the devices. With `dump=False` everything is forgotten, nothing is written and the number does not advance. If the
        write fails (OSError), no file is left behind, the number stays and the records wait for the next call. Returns at once if
        nothing was started.
        """
        if not isinstance(dump, bool):
            raise TypeError(f"AclGraphDumper.step: dump must be True or False, got {dump!r}")
        with self._lock:
            if self._handle is None:
                return
            if self._pid != os.getpid():  # a forked child: what its parent recorded is its parent's
                self._pid = os.getpid()
                aclgraph_dump_ext.discard(self._handle)
            if dump:
                entries = aclgraph_dump_ext.write(self._handle, os.path.join(self._step_folder(), _DUMP_FILE))
                if entries == 0:
                    self._tell_of_empty_step()
                self._step_id += 1
            else:
                aclgraph_dump_ext.discard(self._handle)
        aclgraph_dump_ext.raise_save_error()

    def close(self) -> None:
        """Takes all hooks away and leaves the models as they were. What was not written by step() is forgotten.

        Graphs captured meanwhile stay valid and go on replaying.
        """
        with self._lock:
            for module, site in reversed(self._hooked):
                hooks.remove(module, site)
            self._hooked.clear()
            if self._handle is not None:
                aclgraph_dump_ext.close(self._handle)
                ops.forget(self._handle)
                self._handle = None

    def __enter__(self) -> AclGraphDumper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        self.close()

    def _tell_of_empty_step(self) -> None:
        if self._told_of_empty_step:
            return
        self._told_of_empty_step = True
        reason = (
            "start() came after the model was captured or compiled, the list lets nothing through, or the model did not run"
        )
        if self._config.apis:
            reason += "; the API level does not see inside torch.compile"
        warnings.warn(f"msprobe: nothing was recorded in step {self._step_id}: {reason}", stacklevel=4)

    def _step_folder(self) -> str:
        process = f"rank{self._rank}" if self._rank is not None else f"pid{os.getpid()}"
        return os.path.join(self._config.dump_path, f"step{self._step_id}", process)

    def _hook(self, model: torch.nn.Module, handle: int) -> None:
        modules = [(name, module) for name, module in model.named_modules() if not _is_compiled(module)]
        new = [(name, module) for name, module in modules if not hooks.is_hooked(module, handle)]
        scripted = [name or _ROOT_NAME for name, module in new if isinstance(module, torch.jit.ScriptModule)]
        if scripted:
            shown = ", ".join(scripted[:3]) + (", ..." if len(scripted) > 3 else "")
            warnings.warn(f"msprobe: {len(scripted)} TorchScript modules cannot be collected from: {shown}", stacklevel=3)
        devices = _devices_of(model)
        device = next((device for device in devices if device.type != "cpu"), torch.device("cpu"))
        collected = 0
        for name, module in new:
            if isinstance(module, torch.jit.ScriptModule):
                continue
            full_name = f"Module.{_plain_name(name)}.{type(module).__name__}"
            wanted = self._config.modules and self._config.wants(full_name)
            root = module is model
            if not wanted and not root:
                continue
            collected += wanted
            site = hooks.install(
                module,
                handle=handle,
                name=full_name,
                collected=wanted,
                root=root,
                device=device,
                api_mode=self._api_mode if root else None,
            )
            self._hooked.append((module, site))
        if self._config.apis and any(_is_compiled(module) for module in model.modules()):
            warnings.warn("msprobe: while APIs are collected, compiled parts of the model run uncompiled", stacklevel=3)
        room = collected * _TENSORS_PER_MODULE + (_TENSORS_OF_APIS if self._config.apis else 0)
        for device in devices:
            ops.prepare(handle, device, room)


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except RecursionError as error:
        raise OSError(36, "dump_path cannot be made: it has too many parts", path) from error
    except OSError as error:
        raise type(error)(error.errno, f"dump_path cannot be made: {error.strerror}", path) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(13, "dump_path cannot be written to: Permission denied", path)


def _distributed_rank() -> int | None:
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank()
    return None


def _is_compiled(module: torch.nn.Module) -> bool:
    return hasattr(module, _COMPILED_PREFIX) and type(module).__name__ == "OptimizedModule"


def _uncompiled(model: torch.nn.Module) -> torch.nn.Module:
    """The module inside torch.compile(module): its hooks are traced with it at the first call."""
    while _is_compiled(model):
        model = getattr(model, _COMPILED_PREFIX)
    return model


def _plain_name(name: str) -> str:
    parts = [part for part in name.split(".") if part and part != _COMPILED_PREFIX]
    return ".".join(parts) or _ROOT_NAME


def _devices_of(model: torch.nn.Module) -> tuple[torch.device, ...]:
    found = {tensor.device: None for tensor in (*model.parameters(), *model.buffers()) if not tensor.is_meta}
    return tuple(found)
