# SPDX-License-Identifier: Apache-2.0
"""AclGraphDumper: whole-net statistics, or all tensors, of a model that runs eagerly or as a captured graph."""

from __future__ import annotations

import atexit
import os
import re
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import torch

from msprobe.lib import aclgraph_dump_ext
from msprobe.pytorch import collector, compiled, custom_api, hooks, modules, ops, run, save, tags
from msprobe.pytorch.api_mode import ApiMode
from msprobe.pytorch.compiled_parts import CompiledParts
from msprobe.pytorch.config import Config, ConfigError, EnableSwitch, read_config
from msprobe.pytorch.hand_graphs import HandGraphs
from msprobe.pytorch.identity import Identity
from msprobe.pytorch.parameters import Parameters

_TENSOR_FOLDER = "dump_tensor_data"
_TENSORS_OF_APIS = 4096
_TENSORS_PER_MODULE = 4  # room reserved before captures; more is found when it is needed
_CALL = re.compile(r"\.forward(\.\d+)?$")  # what a name copied from a dump.json may end with


class AclGraphDumper:
    """Collects max, min, mean and L2 norm of the tensors of a model (and with `"task": "tensor"` the tensors themselves), at every replay
    of its graphs, and writes them step by step.

    Args:
        config_path: path of a config.json; None reads the one that comes with the package.

    Use `start(model)` before the model is captured or compiled, `step()` after each step, `close()` (or `with`) at the end.
    Raises ConfigError for a bad value, OSError if the file or `dump_path` cannot be used.
    """

    def __init__(self, config_path: str | os.PathLike[str] | None = None) -> None:
        self._config: Config = read_config(config_path)
        self._switch = EnableSwitch(config_path)
        self._enabled = self._config.enabled
        _make_folder(self._config.dump_path)
        self._handle: int | None = None
        self._rank: int | None = None
        self._step_id = 0
        self._api_mode: ApiMode | None = None
        self._sight: compiled.Sight | None = None  # of compiled regions, at a level with APIs
        self._compiled_parts: CompiledParts | None = None
        self._hand_graphs: HandGraphs | None = None
        self._scope: frozenset[str] = frozenset()
        self._hooked: list[tuple[torch.nn.Module, hooks.Site]] = []
        self._custom_apis: list[custom_api.Wrapped] = []
        self._parameters: Parameters | None = None
        self._identity: Identity | None = None
        self._sites: list[tuple[str, bool, bool, int]] = []  # name, filtered, has_forward, parent, of each module
        self._wrote_anything = False
        self._lock = threading.RLock()  # start, step and close of several threads come one after the other
        self._told_of_empty_step = False
        self._told_of_old_files = False
        _dumpers.add(self)

    @property
    def step_id(self) -> int:
        """The number of the next step that will be written."""
        return self._step_id

    def start(self, model: torch.nn.Module, **_ignored: Any) -> None:
        """Begins to collect from `model`; call it before the model is captured or compiled.

        Again with the same model this changes nothing, with another it adds that one. On a rank that the config does not list it does
        nothing. Further keyword arguments are accepted and have no effect. Of a wrapper that is no module, the model inside is taken.
        """
        model = modules.module_of(model)
        with self._lock, collector.paused():
            self._rank = _distributed_rank()
            if self._config.ranks and self._rank is not None and self._rank not in self._config.ranks:
                return
            compiled.tell_of_rounding(model)
            model = modules.uncompiled(model)
            opened = self._handle is None
            if self._handle is None:
                self._handle = self._open(model)
            try:
                self._hook(model, self._handle)
                if opened:
                    self._place_step(self._handle)
                if self._parameters is not None:
                    self._parameters.record()
                if not self._custom_apis:
                    for path in self._config.custom_apis:
                        self._custom_apis.append(custom_api.wrap(path, self._handle, modules.main_device(model)))
            except BaseException:  # nothing of a start that failed must stay in the model
                self.close()
                raise

    def step(self, dump: bool = True) -> None:
        """Ends a step: writes what was collected since the last one to `step{N}/rank{R}` (or `pid{P}`) and forgets it.

        Waits for the devices, and with `"task": "tensor"` for the files. With `dump=False` everything is forgotten, tensors that were saved
        are removed, nothing is written and the number does not advance. If the write fails (OSError), the number stays and the records
        wait for the next call. Reads `dump_enable` anew if the config file was changed. Returns at once if nothing was started.
        """
        if not isinstance(dump, bool):
            raise TypeError(f"AclGraphDumper.step: dump must be True or False, got {dump!r}")
        with self._lock:
            if self._handle is None:
                return
            recording = self._records_in(self._step_id)
            enabled = self._switch.changed_to()
            self._enabled = self._enabled if enabled is None else enabled
            if dump:
                following = self._step_id + 1
                try:
                    entries = aclgraph_dump_ext.write(
                        self._handle,
                        empty=recording,
                        next_folder=self._step_folder(following),
                        next_recording=self._records_in(following),
                    )
                except BaseException:
                    aclgraph_dump_ext.set_recording(self._handle, self._records_in(self._step_id))
                    raise
                self._wrote_anything = self._wrote_anything or entries > 0
                if entries == 0 and recording:
                    self._tell_of_empty_step()
                self._step_id = following
                self._look_at_tensor_folder()
            else:
                aclgraph_dump_ext.discard(self._handle)
                aclgraph_dump_ext.set_recording(self._handle, self._records_in(self._step_id))
            if self._parameters is not None and self._records_in(self._step_id):
                self._parameters.record()
            if self._identity is not None:
                self._identity.captured(aclgraph_dump_ext.captured_forwards(self._handle))
                self._identity.check()
        aclgraph_dump_ext.raise_save_error()

    def enable(self) -> None:
        """Records from here on, as `dump_enable` true in the config file does. Holds until that file is changed, or `disable()`."""
        self._set_enabled(True)

    def disable(self) -> None:
        """Records nothing from here on, graphs captured long ago included. Nothing is copied to files and steps write nothing."""
        self._set_enabled(False)

    def _set_enabled(self, enabled: bool) -> None:
        with self._lock:
            self._enabled = enabled
            if self._handle is not None:
                aclgraph_dump_ext.set_recording(self._handle, self._records_in(self._step_id))

    def _records_in(self, step: int) -> bool:
        return self._enabled and (not self._config.steps or step in self._config.steps)

    def _place_step(self, handle: int) -> None:
        """Tells the operators where the step at hand is written, and whether it is."""
        aclgraph_dump_ext.set_folder(handle, self._step_folder(self._step_id))
        aclgraph_dump_ext.set_recording(handle, self._records_in(self._step_id))
        self._look_at_tensor_folder()

    def _look_at_tensor_folder(self) -> None:
        """Clears away what killed processes have left half-written, and tells of an earlier run's files."""
        if self._config.task != "tensor":
            return
        folder = os.path.join(self._step_folder(self._step_id), _TENSOR_FOLDER)
        if os.path.isdir(folder) and save.remove_leftovers(folder) and not self._told_of_old_files:
            self._told_of_old_files = True
            warnings.warn(
                f"msprobe: files of an earlier run lie in {folder}: those of the same names will be replaced", stacklevel=4
            )

    def _forked(self) -> None:
        """In the child: what the parent recorded is the parent's, and locks may be held by threads that are not here."""
        self._lock = threading.RLock()
        self._wrote_anything = True  # whether a child writes is its own affair
        if self._handle is not None:
            aclgraph_dump_ext.renew(self._handle)
            for site in self._sites:
                aclgraph_dump_ext.add_site(self._handle, *site)
            self._place_step(self._handle)

    def backend(self, name: str, **options: Any) -> Callable[..., Any]:
        """A backend that sees the APIs of its regions by itself: `torch.compile(model, backend=dumper.backend("inductor"))`.

        Only for a torch where msprobe cannot see them otherwise; it says so then. `name` and `options` (mode, options, dynamic) are those
        of torch.compile. At level L0, and before start(), it is the backend of that name itself.
        """
        inner = compiled.backend_named(name, options)
        return inner if self._sight is None else self._sight.backend(inner)

    def close(self) -> None:
        """Takes all hooks away and leaves the models as they were. What was not written by step() is forgotten.

        Graphs captured meanwhile stay valid and go on replaying.
        """
        with self._lock:
            for module, site in reversed(self._hooked):
                hooks.remove(module, site)
            self._hooked.clear()
            for wrapped in reversed(self._custom_apis):
                wrapped.restore()
            self._custom_apis.clear()
            if self._hand_graphs is not None:
                self._hand_graphs.close()
            if self._compiled_parts is not None:
                self._compiled_parts.close()
            if self._sight is not None:
                self._sight.close()
            if self._handle is not None:
                aclgraph_dump_ext.close(self._handle)
                ops.forget(self._handle)
                self._tell_if_useless()
                self._handle = None
                self._parameters = None
                self._identity = None
                self._sites.clear()

    def __enter__(self) -> AclGraphDumper:
        return self

    def __exit__(self, *_error: type[BaseException] | BaseException | types.TracebackType | None) -> None:
        self.close()

    def _tell_of_empty_step(self) -> None:
        if self._told_of_empty_step:
            return
        self._told_of_empty_step = True
        reason = (
            "start() came after the model was captured or compiled, the list lets nothing through, or the model did not run"
        )
        if self._config.scope:
            reason += ", or the first module of the scope has no tensors"
        if self._config.apis:
            reason += "; or it ran in regions compiled before start(): call torch.compiler.reset() after start()"
        warnings.warn(f"msprobe: nothing was recorded in step {self._step_id}: {reason}", stacklevel=4)

    def _tell_if_useless(self) -> None:
        """At the end: a dumper that was started and has written nothing."""
        if self._handle is not None and not self._wrote_anything:
            hooked = sum(not filtered for _, filtered, _, _ in self._sites)
            sys.stderr.write(
                f"msprobe: an AclGraphDumper was started and wrote no entry, {hooked} modules collected from, "
                f"dump_path {self._config.dump_path}: step() was not called, or nothing was recorded in its steps\n"
            )

    def _step_folder(self, step: int) -> str:
        process = f"rank{self._rank}" if self._rank is not None else f"pid{os.getpid()}"
        return os.path.join(self._config.dump_path, f"step{step}", process)

    def _add_site(self, handle: int, name: str, module: torch.nn.Module, parent: int) -> int:
        """Counts a module in the dumper's account, an end of the scope that the list leaves out as filtered; returns its number there."""
        if not self._config.modules:
            return -1  # level L1 has none to count
        self._sites.append((name, not self._config.wants(name), hooks.has_forward(module), parent))
        return aclgraph_dump_ext.add_site(handle, *self._sites[-1])

    def _open(self, model: torch.nn.Module) -> int:
        config = self._config
        handle = aclgraph_dump_ext.open_dumper(
            config.level,
            tensors=config.task == "tensor",
            scope=(scope := self._scope_of(model)),
            scope_wanted=(config.wants(scope[0]), config.wants(scope[1])),
            modules=config.modules,
            inputs=config.inputs,
            outputs=config.outputs,
            slices=[(entry.dim, entry.size, entry.begin, entry.end) for entry in config.slices],
            npu_copy_in_callback=config.npu_copy_in_callback,
            npu_rows_by_copy=config.npu_rows_by_copy,
            identity=config.identity,
            run=run.describe(modules.main_device(model), self._rank, config.as_read),
        )
        ops.name_tokens(handle)
        self._api_mode = ApiMode(handle, config.wants) if config.apis else None
        self._sight = compiled.Sight(self._api_mode) if self._api_mode is not None else None
        if self._sight is not None:
            self._sight.open()
        self._compiled_parts = CompiledParts(handle, self._api_mode, self._sight, self._part_compiled)
        self._compiled_parts.open()
        self._hand_graphs = HandGraphs(handle, modules.main_device(model))
        self._hand_graphs.open()
        self._parameters = Parameters(handle) if config.parameters and config.modules else None
        self._identity = Identity() if config.identity else None
        if config.task == "tensor":
            save.flush_at_exit()
        return handle

    def _scope_of(self, model: torch.nn.Module) -> tuple[str, str]:
        """The names of the entries between which is recorded; empty without a scope."""
        if self._config.scope is None:
            return "", ""
        names = {}
        for name, module in model.named_modules():
            if not modules.is_compiled(module):
                entry = modules.entry_name(name, module)
                names.update({entry: entry, entry.removeprefix("Module."): entry, modules.plain_name(name): entry})
        found = []
        for given in self._config.scope:
            plain = _CALL.sub("", given)
            if plain not in names:
                some = ", ".join(list(dict.fromkeys(names.values()))[:3])
                raise ConfigError(f"key 'scope': must name modules of the model, such as {some}, got \"{given}\"")
            found.append(names[plain])
        self._scope = frozenset(found)
        return found[0], found[1]

    def _hook(self, model: torch.nn.Module, handle: int) -> None:
        named = [(name, module) for name, module in model.named_modules() if not modules.is_compiled(module)]
        new = [(name, module) for name, module in named if not hooks.is_hooked(module, handle)]
        scripted = [name or modules.ROOT_NAME for name, module in new if isinstance(module, torch.jit.ScriptModule)]
        if scripted:
            shown = ", ".join(scripted[:3]) + (", ..." if len(scripted) > 3 else "")
            warnings.warn(f"msprobe: {len(scripted)} TorchScript modules cannot be collected from: {shown}", stacklevel=3)
        devices = modules.devices_of(model)
        device = modules.main_device(model)
        entries = self._compiled_parts.prepare(model, device) if self._compiled_parts is not None else set()
        collected = 0
        numbers: dict[str, int] = {}
        for name, module in new:
            if isinstance(module, torch.jit.ScriptModule):
                continue
            full_name = modules.entry_name(name, module)
            # The ends of the scope must mark it even where they are not recorded themselves.
            wanted = (self._config.modules and self._config.wants(full_name)) or full_name in self._scope
            root = module is model
            entry = root or module in entries
            numbers[name] = self._add_site(handle, full_name, module, numbers.get(name.rpartition(".")[0], -1))
            if self._identity is not None:
                self._identity.add(module, full_name)
            if not wanted and not entry:
                continue
            collected += wanted
            if wanted and self._parameters is not None:
                self._parameters.add(module, tags.escape(full_name))
            site = hooks.install(
                module,
                handle=handle,
                name=full_name,
                collected=wanted,
                root=root,
                device=device,
                site_number=numbers[name],
                identity=self._identity,
                api_mode=self._api_mode if entry else None,
                sight=self._sight if entry else None,
            )
            self._hooked.append((module, site))
        room = collected * _TENSORS_PER_MODULE + (_TENSORS_OF_APIS if self._config.apis else 0)
        for device in devices:
            ops.prepare(handle, device, room)

    def _part_compiled(self, part: torch.nn.Module) -> None:
        """A module was compiled by itself after start()."""
        with self._lock:
            if self._compiled_parts is not None:
                self._compiled_parts.add(part, self._hooked)


_dumpers: weakref.WeakSet[AclGraphDumper] = weakref.WeakSet()  # for forks and the end


def _forget_in_child() -> None:
    for dumper in list(_dumpers):
        dumper._forked()


def _tell_at_exit() -> None:
    for dumper in list(_dumpers):
        dumper._tell_if_useless()


os.register_at_fork(after_in_child=_forget_in_child)
atexit.register(_tell_at_exit)


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
