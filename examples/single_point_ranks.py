# SPDX-License-Identifier: Apache-2.0
"""Single-point saving on several ranks, each into a folder of its own: `single_point_ranks.py [WORLD_SIZE]` starts them itself."""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

from msprobe.pytorch import acl_save


def run(rank: int, world_size: int, store: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world_size)
    tensor = torch.full((2, 8), float(rank))
    os.makedirs(f"./dump/rank{dist.get_rank()}", exist_ok=True)
    acl_save(tensor, f"./dump/rank{dist.get_rank()}/tensor.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    world = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(run, args=(world, f"{folder}/store"), nprocs=world)
