# SPDX-License-Identifier: Apache-2.0
"""Serves a few requests and dumps every batch: `msprobe hostnpu run examples/serving/run.py --help`. Started by torchrun it is one rank of
several that share the requests."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import TextIO

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401
from engine import Engine, Request, Step
from model import Sizes
from options import arguments, open_journal


def requests(lengths: Sequence[tuple[int, int]], words: int, seed: int) -> list[Request]:
    random = torch.Generator().manual_seed(seed)
    found = []
    for number, (length, new_tokens) in enumerate(lengths):
        found.append(Request(number, torch.randint(1, words, (length,), generator=random).tolist(), new_tokens))
    return found


def somebody_has_work(engine: Engine) -> bool:
    """Asked at the beginning of each step by all ranks together."""
    mine = torch.tensor([int(engine.has_work)])
    if dist.is_initialized():
        dist.all_reduce(mine, dist.ReduceOp.MAX)
    return bool(mine)


def line(rank: int, step: Step) -> str:
    way = f"graph of {step.size}" if step.graph else f"eager, {step.size}"
    if step.dump_step is None and not step.rows:
        return f"rank {rank}  no dump  {way:<11}  dummy batch"
    number = "no dump" if step.dump_step is None else f"step {step.dump_step:<2}"
    positions: dict[int, list[int]] = {}
    for request, _, position, _ in step.rows:
        positions.setdefault(request, []).append(position)
    spans = (f"{number}:{min(at)}-{max(at)}" if len(at) > 1 else f"{number}:{at[0]}" for number, at in positions.items())
    return f"rank {rank}  {number}  {way:<11}  {len(step.rows)} rows, request:positions {' '.join(spans)}"


@torch.inference_mode()
def serve(given: argparse.Namespace, rank: int, world: int, journal: TextIO | None) -> None:
    torch.manual_seed(given.seed)  # the same weights on every rank
    sizes = Sizes()
    engine = Engine(
        sizes,
        graphs=given.graphs,
        batch_sizes=given.batch_sizes,
        budget=given.budget,
        pads=given.pad,
        dump_config=given.dump,
    )
    mine = requests(given.requests, sizes.words, given.seed)[rank::world]
    try:
        for request in mine:
            engine.add(request)
        engine.warm_up()
        engine.capture()
        while somebody_has_work(engine):
            step = engine.step() or engine.dummy_step()
            if journal is not None:
                journal.write(json.dumps(asdict(step)) + "\n")
            print(line(rank, step), flush=True)
    finally:
        engine.close()
    for request in mine:
        print(f"rank {rank}  request {request.number}: {request.prompt} -> {request.answer}", flush=True)


def main() -> None:
    given = arguments()
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    journal = open_journal(given.journal, rank) if given.journal is not None else None
    torch.npu.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    if world > 1:
        dist.init_process_group("gloo")  # before the engine is made: start() asks for the rank
    try:
        with journal or nullcontext():
            serve(given, rank, world, journal)
    except ValueError as error:  # a request that can never be served, a configuration that cannot be used
        print(f"run.py: {error}", file=sys.stderr)
        sys.exit(2)
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
