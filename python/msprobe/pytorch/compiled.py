# SPDX-License-Identifier: Apache-2.0
"""The API level in regions of torch.compile: marks in Dynamo's graph, set by hooks, say where APIs are to be seen, and before the backend
gets the graph, each operation between them is made to run under the API level's dispatch mode. (Custom operators stay as they are, with
what records them beside them: compiled_operators.py.)

The backend then records what eager code would: AOTAutograd runs the graph's operations under tracing modes of its own, ours stands
before them, sees every operator by its eager name and in order, and puts the recording operators there. A backend that runs the graph as
it is does the same at each call. Each operation enters and leaves the mode by itself, so that nothing stays behind where one raises, or
where the graph is split. Regions without marks are left alone.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor

from msprobe.pytorch import tags
from msprobe.pytorch.api_mode import ApiMode
from msprobe.pytorch.compiled_operators import record_beside
from msprobe.pytorch.patches import Patches

Mark = Callable[[torch.Tensor], None]
Backend = Callable[..., Any]

_ADVICE = 'compile it with backend=dumper.backend("inductor") (or the name of another backend), or use level L0'

# Run under the mode they would only be slowed down: they are no operators, or tell the tracer something about those that follow.
_NOT_OPERATIONS = {
    torch.amp.autocast_mode._enter_autocast,
    torch.amp.autocast_mode._exit_autocast,
    torch._C._set_grad_enabled,
}


class Sight:
    """What one dumper sees of compiled regions: the marks that its hooks set, and what is done with them."""

    def __init__(self, mode: ApiMode) -> None:
        self._mode = mode
        self._told = False
        self.begin: Mark = torch.compiler.allow_in_graph(self._mark("begin"))
        self.end: Mark = torch.compiler.allow_in_graph(self._mark("end"))
        self._patches = Patches()

    def open(self) -> None:
        """From here on Dynamo hands graphs with this dumper's marks to `rewrite` by itself, whatever the backend."""
        self._patches.make(  # where there is nothing to patch, the marks tell of it when they run
            ("torch._dynamo.output_graph", "OutputGraph", "call_user_compiler", self._call_compiler),
            ("torch._dynamo.eval_frame", None, "set_fullgraph_compiled_frame_count", self._count_frames),
        )

    def close(self) -> None:
        """Regions that are compiled from here on are none of this dumper's business."""
        self._patches.restore()
        self._mode.close()

    def _call_compiler(self, below: Backend, output_graph: Any, graph_module: fx.GraphModule, *args: Any) -> Any:
        self.rewrite(graph_module)
        return below(output_graph, graph_module, *args)

    def _count_frames(self, below: Callable[[int], int], value: int) -> int:
        """How many frames a `fullgraph=True` call has compiled. None is an error in the end, but under the mode they run as they are."""
        count = below(value)
        return 1 if count == 0 and self._mode.is_active() else count

    def backend(self, inner: Backend) -> Backend:
        """A backend for torch.compile that sees the APIs of its regions itself and passes on to `inner`."""

        @functools.wraps(inner, updated=())
        def compile_seen(graph_module: fx.GraphModule, example_inputs: Any, **options: Any) -> Any:
            self.rewrite(graph_module)
            return inner(graph_module, example_inputs, **options)

        return compile_seen

    def rewrite(self, graph_module: fx.GraphModule) -> None:
        """Makes the operations between this dumper's marks record, and takes the marks out."""
        graph = graph_module.graph
        open_tokens: list[Any] = []
        marks: list[fx.Node] = []
        for node in list(graph.nodes):
            if node.op == "call_function" and node.target is self.begin:
                marks.append(node)
                open_tokens.append(node.args[0])
            elif node.op == "call_function" and node.target is self.end:
                marks.append(node)
                if not open_tokens:
                    _give_up()
                open_tokens.pop()
            elif open_tokens and _is_operation(node) and not record_beside(node, self._mode, open_tokens[-1]):
                _record(node, self._mode, open_tokens[-1])
        if not marks:
            return
        if open_tokens:
            _give_up()
        for node in marks:
            graph.erase_node(node)
        graph_module.recompile()

    def _mark(self, name: str) -> Mark:
        def mark(token: torch.Tensor) -> None:
            # Dynamo runs it on a fake token. Whoever runs it otherwise has got the graph without `rewrite`.
            if not isinstance(token, FakeTensor):
                self._tell_of_unseen_region()

        mark.__name__ = mark.__qualname__ = f"msprobe_{name}"
        return mark

    def _tell_of_unseen_region(self) -> None:
        if not self._told:
            self._told = True
            warnings.warn(f"msprobe: the APIs of a compiled region are not recorded: {_ADVICE}", stacklevel=3)


# Higher-order operators whose bodies AOTAutograd, and Dynamo itself where there are gradients, trace by themselves.
_BRANCHING = {"cond", "while_loop", "scan", "associative_scan", "map_impl"}

_told_of_branches: set[str] = set()  # told of already, once a process
_told_of_rounding: set[str] = set()  # the same
_told_of_vmap: set[str] = set()  # the same


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def in_branch() -> bool:
    """Asked while Dynamo traces a hooked forward: whether that lies in a branch or loop body that cannot hold our operators."""
    translator = _translator()
    _tell_of_rounding_in(translator.output)
    tracer = translator.output.current_tracer
    name = ""
    while tracer is not None and name not in _BRANCHING:
        target = getattr(tracer, "source_target", None)
        name = target.name() if isinstance(target, torch._ops.HigherOrderOperator) else ""
        tracer = tracer.parent
    if name not in _BRANCHING:
        return False
    if name not in _told_of_branches:
        _told_of_branches.add(name)
        warnings.warn(
            f"msprobe: what runs inside torch.{name} is not recorded: it is always compiled, and a compiler takes no operator with an "
            "effect there. Call the branches by an `if` to see them",
            stacklevel=2,
        )
    return True


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def in_vmap() -> bool:
    """Asked while Dynamo traces a hooked forward: whether that lies in a vmap, where the tensors of modules cannot be recorded."""
    levels = torch._C._functorch.get_interpreter_stack() or []
    if all(level.key() != torch._C._functorch.TransformType.Vmap for level in levels):
        return False
    if not _told_of_vmap:
        _told_of_vmap.add("vmap")
        warnings.warn(f"msprobe: {tags.IN_TRANSFORMS}", stacklevel=2)
    return True


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def is_outermost(handle: str) -> bool:
    """Asked while Dynamo traces a hooked forward: whether the region has no other of this dumper's around it."""
    translator = getattr(_translator().output, "current_tx", None)
    while (translator := getattr(translator, "parent", None)) is not None:
        site = translator.symbolic_locals.get("_msprobe_site")
        if site is not None and getattr(getattr(site.realize(), "value", None), "handle", None) == handle:
            return False
    return True  # also where Dynamo does not tell: a commit too many costs a callback


def _translator() -> Any:
    """Dynamo's, of the frame in which the region begins; its output knows that of the frame at hand."""
    return importlib.import_module("torch._dynamo.symbolic_convert").InstructionTranslator.current_tx()


def tell_of_rounding(model: torch.nn.Module) -> None:
    """At start(): of a model, or of parts or methods of it, that Inductor is known to compile. Others tell at their first run."""
    if "inductor" in _told_of_rounding or not any(_is_half(x) for x in (*model.parameters(), *model.buffers())):
        return
    for module in model.modules():
        for value in module.__dict__.values():
            if type(value) is types.FunctionType and _innermost_name(_compiler_of(value)) == "inductor":
                _warn_of_rounding()
                return


def _compiler_of(function: types.FunctionType) -> Any:
    """What torch.compile's wrapper passes frames to; None: it is no such wrapper."""
    if not hasattr(function, "_torchdynamo_orig_callable") or "callback" not in function.__code__.co_freevars:
        return None
    return inspect.getclosurevars(function).nonlocals["callback"]


def _tell_of_rounding_in(output_graph: Any) -> None:
    """The same while Dynamo traces a region."""
    if "inductor" in _told_of_rounding or _innermost_name(output_graph.compiler_fn) != "inductor":
        return
    inputs = [getattr(tracked, "fake", None) for tracked in getattr(output_graph, "tracked_fakes", [])]
    if any(isinstance(x, torch.Tensor) and _is_half(x) for x in inputs):
        _warn_of_rounding()


def _is_half(x: torch.Tensor) -> bool:
    return x.dtype in (torch.float16, torch.bfloat16)


def _warn_of_rounding() -> None:
    """Inductor rounds half-precision results where they are stored; that a tensor is recorded may store it."""
    _told_of_rounding.add("inductor")
    warnings.warn(
        "msprobe: Inductor keeps half-precision results in float32 until they are stored, and recording can make it store one: results "
        "may differ from those without msprobe in the last bit (docs/modes.md, Rounding)",
        stacklevel=4,
    )


def _innermost_name(backend: Any) -> str:
    while (inner := getattr(backend, "_torchdynamo_orig_backend", None)) is not None:
        backend = inner
    return str(getattr(backend, "compiler_name", getattr(backend, "__name__", "")))


def _give_up() -> None:
    """The model's own graph break lies between the marks: the hook's frame then runs as it is, with the mode around what it calls."""
    skip: type[Exception] = importlib.import_module("torch._dynamo.exc").SkipFrame
    raise skip("msprobe: a graph break between the marks of the API level")


def _is_operation(node: fx.Node) -> bool:
    if node.op == "call_method":
        return True
    if node.op != "call_function" or node.target in _NOT_OPERATIONS:
        return False
    return not _is_ours(node.target)


def _is_ours(target: Any) -> bool:
    return isinstance(target, torch._ops.OpOverload | torch._ops.OpOverloadPacket) and str(target).startswith("msprobe.")


def _record(node: fx.Node, mode: ApiMode, token: Any) -> None:
    """Puts the mode around what a node of a graph does."""
    original: Any = node.target
    name = original if isinstance(original, str) else getattr(original, "__name__", "operation")
    if node.op == "call_method":
        original = functools.partial(_call_method, name)

    def recorded(token: torch.Tensor, /, *args: Any, **kwargs: Any) -> Any:
        with mode.in_region(token, name):
            return original(*args, **kwargs)

    recorded.__name__ = recorded.__qualname__ = f"recorded_{name}".replace(".", "_")
    node.op, node.target, node.args = "call_function", recorded, (token, *node.args)


def _call_method(name: str, receiver: Any, /, *args: Any, **kwargs: Any) -> Any:
    return getattr(receiver, name)(*args, **kwargs)


def backend_named(name: str, options: dict[str, Any]) -> Backend:
    """The backend that torch.compile takes for a name and for its arguments mode, options and dynamic."""
    if name == "inductor":
        inductor: Any = torch._TorchCompileInductorWrapper
        wrapped: Backend = inductor(options.get("mode"), options.get("options"), options.get("dynamic"))
        return wrapped
    inner: Backend = importlib.import_module("torch._dynamo.backends.registry").lookup_backend(name)
    return functools.partial(inner, **options) if options else inner
