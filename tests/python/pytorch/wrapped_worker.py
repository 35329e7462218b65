# SPDX-License-Identifier: Apache-2.0
"""One rank of test_distributed_wrappers: trains a model under DDP or FSDP2 over gloo, with and without a dumper, and compares."""

from __future__ import annotations

import copy
import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from msprobe.pytorch import AclGraphDumper


def make_model() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))


def wrap(model: nn.Module, how: str) -> Any:
    if how.startswith("ddp"):
        wrapped: Any = nn.parallel.DistributedDataParallel(model)
        return torch.compile(wrapped, backend="aot_eager") if how == "ddp-compiled" else wrapped
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in (model[0], model[2]):  # type: ignore[index]
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def train(model: nn.Module, how: str, dumper: AclGraphDumper | None) -> list[torch.Tensor]:
    run = wrap(model, how)
    if dumper is not None:
        dumper.start(model)
    optimiser = torch.optim.SGD(run.parameters(), lr=0.1)
    torch.manual_seed(dist.get_rank())
    results = []
    for _ in range(2):
        output = run(torch.randn(4, 8))
        optimiser.zero_grad()
        output.pow(2).mean().backward()
        optimiser.step()
        results.append(output.detach().clone())
        if dumper is not None:
            dumper.step()
    for parameter in run.parameters():
        value = parameter.detach()
        results.append((value.to_local() if hasattr(value, "to_local") else value).clone())
    return results


def main() -> None:
    how, level, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    dist.init_process_group("gloo")
    wanted = train(make_model(), how, None)
    torch._dynamo.reset()
    config = folder / f"config{dist.get_rank()}.json"
    config.write_text(json.dumps({"dump_path": str(folder / "dumps"), "level": level}))
    with AclGraphDumper(config) as dumper:
        found = train(copy.deepcopy(make_model()), how, dumper)
    assert len(found) == len(wanted)
    assert all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True))
    dist.destroy_process_group()
    os._exit(0)  # gloo's threads may outlive the interpreter


if __name__ == "__main__":
    main()
