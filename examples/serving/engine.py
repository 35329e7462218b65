# SPDX-License-Identifier: Apache-2.0
"""A serving engine in small: requests wait, share batches, and leave; each batch is a step of the dumper."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from graphs import Graphs, WholeGraph, piecewise
from model import Model, Sizes

from msprobe.pytorch import AclGraphDumper


@dataclass
class Request:
    number: int
    prompt: list[int]
    new_tokens: int
    tokens: list[int] = field(default_factory=list)  # of prompt and answer
    done: int = 0  # tokens whose keys and values are in the cache
    slot: int = -1

    @property
    def answer(self) -> list[int]:
        return self.tokens[len(self.prompt) :]

    @property
    def is_finished(self) -> bool:
        return len(self.answer) >= self.new_tokens


@dataclass(frozen=True)
class Row:
    """A token of a request in a batch."""

    request: Request
    position: int


@dataclass(frozen=True)
class Step:
    """What a step ran, for a log: by this a dump is found again."""

    dump_step: int | None  # of the dump; None if there is none
    size: int  # rows, padding included
    graph: bool
    rows: list[tuple[int, int, int, int]]  # request, slot, position, token


class Engine:
    """`graphs`: of the "pieces" between attentions, of the "whole" model, or "none": everything runs eagerly.

    Rows are padded to the next of `batch_sizes`, which have graphs; more than the largest run eagerly, as they are. `pads`: without graphs,
    too, so that both ways run the same rows. `budget`: rows that a step has at most. `dump_config`: of the dumper; None: there is none.
    """

    def __init__(
        self, sizes: Sizes, *, graphs: str, batch_sizes: Sequence[int], budget: int, pads: bool, dump_config: str | None
    ) -> None:
        self.sizes = sizes
        self.batch_sizes = sorted(batch_sizes)
        self.budget = budget
        self.pads = pads or graphs != "none"
        self.device = torch.device("npu", torch.npu.current_device())
        self.graphs = Graphs() if graphs != "none" else None
        backend = {"pieces": lambda: piecewise(self.graphs), "whole": lambda: "eager", "none": lambda: None}[graphs]()
        self.model: Any = Model(sizes, backend).to(self.device).eval()
        self.model.make_cache(self.device)
        if graphs == "whole" and self.graphs is not None:
            self.model = WholeGraph(self.graphs, self.model)
        # The model is loaded, and nothing has run or been captured: the place for start().
        self.dumper = AclGraphDumper(dump_config) if dump_config is not None else None
        if self.dumper is not None:
            self.dumper.start(self.model)
        # Graphs read their inputs here.
        self.buffers = [torch.zeros(budget, dtype=torch.int64, device=self.device) for _ in range(3)]
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []
        self.free = list(range(sizes.slots))
        self._busy = threading.Lock()

    def warm_up(self) -> None:
        """Runs each size once as it is, so that nothing is compiled or allocated later; none of it belongs to a request."""
        with self._alone():
            for size in reversed(self.batch_sizes):
                self._forward([], size, graph=False)
            self._forget()

    def capture(self) -> None:
        """The largest first: the smaller ones find room in its part of the pool."""
        if self.graphs is None:
            return
        with self._alone():
            for size in reversed(self.batch_sizes):
                with self.graphs.of_size(size, captures=True):
                    self.model(*self._fill([], size))
            self._forget()

    def add(self, request: Request) -> None:
        """Raises ValueError for a request that can never be served."""
        room = len(request.prompt) + request.new_tokens
        if not request.prompt or request.new_tokens < 1:
            raise ValueError(f"request {request.number}: must have a prompt and ask for a token or more")
        if room > self.sizes.length:
            raise ValueError(f"request {request.number}: must fit into a slot of {self.sizes.length} tokens, needs {room}")
        request.tokens = list(request.prompt)
        self.waiting.append(request)

    @property
    def has_work(self) -> bool:
        return bool(self.waiting or self.running)

    def step(self) -> Step | None:
        """Runs one batch. Each request in it gives its next token, or a part of its prompt."""
        with self._alone():
            rows = self._schedule()
            if not rows:
                return None
            size, graph = self._size_of(len(rows))
            hidden = self._forward(rows, size, graph=graph)
            self._sample(rows, hidden[: len(rows)])  # without the padding
            told = [(row.request.number, row.request.slot, row.position, row.request.tokens[row.position]) for row in rows]
            self._leave()
            return Step(self._end_step(dump=True), size, graph, told)

    def dummy_step(self) -> Step:
        """A rank that has no requests goes along with those that have: their forwards wait for it where ranks talk to each other. Nothing
        is dumped and its step number stays, so that a rank's step N is its Nth batch of requests."""
        with self._alone():
            size, graph = self._size_of(1)
            self._forward([], size, graph=graph)
            self._end_step(dump=False)
            return Step(None, size, graph, [])

    def close(self) -> None:
        if self.dumper is not None:
            self.dumper.close()

    def _alone(self) -> _Alone:
        return _Alone(self._busy)

    def _schedule(self) -> list[Row]:
        while self.waiting and self.free:
            request = self.waiting.popleft()
            request.slot = self.free.pop(0)
            self.running.append(request)
        rows: list[Row] = []
        # Answers first, then what fits of the prompts.
        for request in sorted(self.running, key=lambda request: len(request.tokens) - request.done):
            end = min(len(request.tokens), request.done + self.budget - len(rows))
            rows += [Row(request, position) for position in range(request.done, end)]
        return rows

    def _size_of(self, rows: int) -> tuple[int, bool]:
        """The rows that run, and whether a graph runs them."""
        fitting = next((size for size in self.batch_sizes if size >= rows), None)
        if fitting is None or not self.pads:
            return rows, False
        return fitting, self.graphs is not None

    def _forward(self, rows: list[Row], size: int, *, graph: bool) -> torch.Tensor:
        inputs = self._fill(rows, size)
        if self.graphs is None or not graph:
            return self.model(*inputs)
        with self.graphs.of_size(size):
            return self.model(*inputs)

    def _fill(self, rows: list[Row], size: int) -> list[torch.Tensor]:
        """Tokens, slots and positions. Padding gets constants, and the slot that nobody has: what a step computes must not depend on
        what stood in the buffers before."""
        padding = size - len(rows)
        columns = (
            [row.request.tokens[row.position] for row in rows] + [0] * padding,
            [row.request.slot for row in rows] + [self.sizes.slots] * padding,
            [row.position for row in rows] + [0] * padding,
        )
        for buffer, column in zip(self.buffers, columns, strict=True):
            buffer[:size].copy_(torch.tensor(column))
        return [buffer[:size] for buffer in self.buffers]

    def _sample(self, rows: list[Row], hidden: torch.Tensor) -> None:
        """The most likely word for each request whose last known token has run."""
        for row in rows:
            row.request.done = row.position + 1
        last = [index for index, row in enumerate(rows) if row.position + 1 == len(row.request.tokens)]
        if last:
            words = self.model.compute_logits(hidden[last]).argmax(-1).tolist()
            for index, word in zip(last, words, strict=True):
                rows[index].request.tokens.append(word)

    def _leave(self) -> None:
        for request in [request for request in self.running if request.is_finished]:
            self.running.remove(request)
            self.free.append(request.slot)

    def _forget(self) -> None:
        """Ends what was no request's: no dump. A capture computes nothing, so that attentions between pieces have stored what they found in
        memory."""
        self.model.clear_cache()
        self._end_step(dump=False)

    def _end_step(self, *, dump: bool) -> int | None:
        if self.dumper is None:
            return None
        number = self.dumper.step_id
        self.dumper.step(dump=dump)
        return number if dump else None


class _Alone:
    """Refuses a second batch while one runs: they would write each other's buffers."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("a batch is running: an engine runs one at a time")

    def __exit__(self, *_: object) -> None:
        self._lock.release()
