# SPDX-License-Identifier: Apache-2.0
"""On an NPU or hostnpu: what the dumper adds to a replay, on a decode step of 24 layers (hidden 64, 4 heads, batch 1, one token):
time, device operators, callbacks."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from timing import against, interleaved, show
from torch import nn

from msprobe.pytorch import AclGraphDumper

CALLBACK = "host function"  # the kind of such a task in the list
HIDDEN, HEADS, LAYERS, CACHE = 64, 4, 24, 32
BARS = {"L0": 4.0, "mix": 30.0}  # milliseconds more on hostnpu, 2 cores


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(HIDDEN))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)

    def forward(self, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).view(1, 1, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
        keys.index_copy_(2, position, k)
        values.index_copy_(2, position, v)
        weights = (q @ keys.transpose(-1, -2) / (HIDDEN // HEADS) ** 0.5).softmax(-1)
        return self.out((weights @ values).transpose(1, 2).reshape(1, 1, HIDDEN))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attention, self.norm2 = Norm(), Attention(), Norm()
        self.up, self.activation, self.down = nn.Linear(HIDDEN, 4 * HIDDEN), nn.SiLU(), nn.Linear(4 * HIDDEN, HIDDEN)

    def forward(self, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x), keys, values, position)
        return x + self.down(self.activation(self.up(self.norm2(x))))


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(LAYERS, 1, HEADS, CACHE, HIDDEN // HEADS))

    def forward(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        for index, layer in enumerate(self.layers):
            x = layer(x, self.keys[index], self.values[index], position)
        return x


def capture(model: nn.Module, *inputs: torch.Tensor) -> tuple[Any, torch.Tensor]:
    model(*inputs)
    torch.npu.synchronize()
    graph = torch.npu.NPUGraph()
    graph.enable_debug_mode()
    with torch.npu.graph(graph):
        output = model(*inputs)
    return graph, output


def tasks(graph: Any, path: Path) -> Counter[str]:
    """How many tasks of each kind a graph holds, by CANN's own list of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that such a list may be long
        graph.debug_dump(str(path))
    return Counter("callback" if task["args"]["kind"] == CALLBACK else "operator" for task in json.loads(path.read_text()))


def replay(graph: Any) -> None:
    graph.replay()
    torch.npu.synchronize()


def main() -> None:
    torch.manual_seed(0)
    device = torch.device("npu:0")
    x, position = torch.randn(1, 1, HIDDEN).to(device), torch.zeros(1, dtype=torch.long, device=device)
    states = Decoder().state_dict()
    models, graphs, dumpers, lines = {}, {}, {}, {}
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        for level in ("bare", "L0", "mix"):
            model = models[level] = Decoder()  # kept: a graph does not keep the weights that it reads
            model.load_state_dict(states)
            model.to(device)
            if level != "bare":
                config = Path(folder) / f"{level}.json"
                config.write_text(json.dumps({"dump_path": f"{folder}/{level}", "level": level}))
                dumpers[level] = AclGraphDumper(config)
                dumpers[level].start(model)
            graphs[level] = capture(model, x, position)
        for level, dumper in dumpers.items():
            dumper.step(dump=False)
            replay(graphs[level][0])
            replay(graphs["bare"][0])
            assert torch.equal(graphs[level][1], graphs["bare"][1]), f"{level} changes the model's result"
        times = interleaved({name: lambda graph=graph: replay(graph) for name, (graph, _) in graphs.items()}, rounds=51)
        lines["bare"] = f"{times['bare'] * 1e3:.2f} ms"
        for level, dumper in dumpers.items():
            dumper.step(dump=False)
            replay(graphs[level][0])
            dumper.step()
            (path,) = Path(folder, level).rglob("dump.json")
            tensors = path.read_text().count('"dtype"')
            added = times[level] - times["bare"]
            more = tasks(graphs[level][0], Path(folder, f"{level}.tasks"))
            more.subtract(tasks(graphs["bare"][0], Path(folder, "bare.tasks")))
            lines[level] = (
                f"{against(added * 1e3, ' ms more', at_most=BARS[level])}, {tensors} tensors, {added / tensors * 1e6:.2f} us each; "
                f"{against(more['operator'] / tensors, ' operators a tensor', at_most=5)}, "
                f"{against(more['callback'], ' callbacks a forward', at_most=1)}"
            )
            dumper.close()
    show("replay of a decode step", lines)


if __name__ == "__main__":
    main()
