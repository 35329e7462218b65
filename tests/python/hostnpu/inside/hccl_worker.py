# SPDX-License-Identifier: Apache-2.0
"""One rank of test_torch_hccl.py: computes every collective and compares with what all ranks' inputs give."""

from __future__ import annotations

import os
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401

RANK, WORLD, DEVICES = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), 2


def inputs(dtype: torch.dtype, count: int = 6) -> list[torch.Tensor]:
    """Every rank's input, which all of them can compute."""
    values = [torch.randn(count, generator=torch.Generator().manual_seed(rank)) * 4 for rank in range(WORLD)]
    return [value.to(dtype) for value in values]


def close(got: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(got.cpu(), expected, rtol=1e-2 if expected.dtype.itemsize == 2 else 1e-5, atol=1e-3)


def reductions() -> None:
    operations = {
        dist.ReduceOp.SUM: lambda stack: stack.sum(0),
        dist.ReduceOp.MAX: lambda stack: stack.amax(0),
        dist.ReduceOp.MIN: lambda stack: stack.amin(0),
        dist.ReduceOp.PRODUCT: lambda stack: stack.prod(0),
    }
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.int8):
        everyone = inputs(dtype)
        stack = torch.stack(everyone)
        for operation, reference in operations.items():
            if dtype == torch.int8 and operation == dist.ReduceOp.PRODUCT:
                continue  # overflows
            mine = everyone[RANK].npu()
            dist.all_reduce(mine, operation)
            exact = stack.double() if dtype.is_floating_point else stack
            close(mine, reference(exact).to(dtype))


def large_all_reduce() -> None:
    """More than a chunk of shared memory."""
    mine = torch.full((3_000_001,), float(RANK + 1)).npu()
    dist.all_reduce(mine)
    assert torch.equal(mine.cpu(), torch.full((3_000_001,), WORLD * (WORLD + 1) / 2))


def gathers() -> None:
    everyone = inputs(torch.float32)
    out = [torch.empty(6).npu() for _ in range(WORLD)]
    dist.all_gather(out, everyone[RANK].npu())
    for got, expected in zip(out, everyone, strict=True):
        assert torch.equal(got.cpu(), expected)
    flat = torch.empty(6 * WORLD).npu()
    dist.all_gather_into_tensor(flat, everyone[RANK].npu())
    assert torch.equal(flat.cpu(), torch.cat(everyone))


def broadcasts() -> None:
    everyone = inputs(torch.bfloat16)
    for root in range(WORLD):
        data = everyone[RANK].npu()
        dist.broadcast(data, root)
        assert torch.equal(data.cpu(), everyone[root])


def scatters() -> None:
    everyone = inputs(torch.float32, 4 * WORLD)
    out = torch.empty(4).npu()
    dist.reduce_scatter_tensor(out, everyone[RANK].npu())
    close(out, torch.stack(everyone).sum(0).view(WORLD, 4)[RANK])


def exchanges() -> None:
    everyone = inputs(torch.float32, 2 * WORLD)
    out = torch.empty(2 * WORLD).npu()
    dist.all_to_all_single(out, everyone[RANK].npu())
    assert torch.equal(out.cpu(), torch.cat([value.view(WORLD, 2)[RANK] for value in everyone]))


def point_to_point() -> None:
    following, preceding = (RANK + 1) % WORLD, (RANK - 1) % WORLD
    big = 200_000  # several messages
    send, receive = torch.full((big,), float(RANK)).npu(), torch.empty(big).npu()
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, send, following), dist.P2POp(dist.irecv, receive, preceding)])
    for work in works:
        work.wait()
    assert torch.equal(receive.cpu(), torch.full((big,), float(preceding)))


def captured() -> None:
    """A collective in a graph: every replay meets the other ranks again."""
    data, total = torch.empty(4).npu(), torch.empty(4).npu()
    dist.all_reduce(torch.zeros(1).npu())
    torch.npu.synchronize()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        total.copy_(data)
        dist.all_reduce(total)
    for step in range(3):
        data.fill_(RANK + step)
        graph.replay()
        torch.npu.synchronize()
        assert total.cpu().tolist() == [sum(rank + step for rank in range(WORLD))] * 4


def main() -> int:
    torch.npu.set_device(RANK % DEVICES)
    dist.init_process_group("hccl", timeout=timedelta(seconds=120))
    if sys.argv[1:] == ["end_early"]:
        dist.all_reduce(torch.ones(1).npu())
        torch.npu.synchronize()
        if RANK == 1:
            os._exit(0)
        dist.all_reduce(torch.ones(1).npu())
        try:
            torch.npu.synchronize()
        except RuntimeError as error:
            print("error:", error)
            os._exit(3)
        return 1
    for check in (reductions, large_all_reduce, gathers, broadcasts, scatters, exchanges, point_to_point, captured):
        check()
    dist.barrier()
    dist.destroy_process_group()
    print("all right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
