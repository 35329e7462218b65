# SPDX-License-Identifier: Apache-2.0
"""Serves a few requests and dumps every batch: `msprobe hostnpu run examples/serving/run.py --help`. Started by torchrun it is one rank of
several that share the requests."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401
from engine import Engine, Request, Step
from model import Sizes


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Serves requests with a small random decoder and dumps every batch.")
    parser.add_argument("--graphs", choices=["pieces", "whole", "none"], default="pieces", help="what is captured (pieces)")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[1, 2, 4], metavar="N", help="rows with a graph (1 2 4)")
    parser.add_argument(
        "--budget", type=int, default=6, metavar="N", help="rows of a batch at most; above the largest size: eager (6)"
    )
    parser.add_argument("--pad", action="store_true", help="without graphs: pad as if there were some, to compare the two")
    parser.add_argument(
        "--requests",
        nargs="+",
        default=["3:6", "9:4", "1:8", "5:5", "2:6"],
        metavar="P:N",
        help="prompts of P random tokens to which N are added (3:6 9:4 1:8 5:5 2:6)",
    )
    parser.add_argument("--dump", metavar="CONFIG", help="configuration of the dumper")
    parser.add_argument(
        "--journal", metavar="FILE", help="which requests each step had, a line of JSON each; .rankN is put behind it"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if min(given.batch_sizes) < 1 or given.budget < max(given.batch_sizes):
        parser.error("--batch-sizes: must be 1 or more and at most --budget")
    return given


def requests(texts: list[str], words: int, seed: int) -> list[Request]:
    random = torch.Generator().manual_seed(seed)
    found = []
    for number, text in enumerate(texts):
        length, new_tokens = (int(part) for part in text.split(":"))
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
def serve(given: argparse.Namespace, rank: int, world: int) -> None:
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
    log: list[str] = []
    try:
        for request in mine:
            engine.add(request)
        engine.warm_up()
        engine.capture()
        while somebody_has_work(engine):
            step = engine.step() or engine.dummy_step()
            log.append(json.dumps(asdict(step)))
            print(line(rank, step), flush=True)
    finally:
        engine.close()
        if given.journal is not None:
            Path(f"{given.journal}.rank{rank}").write_text("".join(f"{entry}\n" for entry in log), encoding="utf-8")
    for request in mine:
        print(f"rank {rank}  request {request.number}: {request.prompt} -> {request.answer}", flush=True)


def main() -> None:
    given = arguments()
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    torch.npu.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    if world > 1:
        dist.init_process_group("gloo")  # before the engine is made: start() asks for the rank
    try:
        serve(given, rank, world)
    except ValueError as error:
        sys.exit(f"run.py: {error}")
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
