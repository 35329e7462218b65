# SPDX-License-Identifier: Apache-2.0
"""The two runs of the hunt: golden, eager in float32 on the CPU, and the target, a captured graph in bfloat16 on the NPU."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from faults import Fault
from model import BATCH, CACHE, CONFIG, TOKENS, build, checkpoint, prompts
from transformers import Qwen3ForCausalLM, StaticCache

from msprobe.pytorch import AclGraphDumper

PADDED = BATCH + 1  # rows of the captured batch: the last one is padding

Watch = Callable[[torch.nn.Module], None]  # adds to a model, before it runs or is captured, what saves its tensors


@contextlib.contextmanager
def dumper_of(model: torch.nn.Module, folder: Path, **settings: object) -> Iterator[AclGraphDumper]:
    """A started dumper whose steps lie in `folder`/dump. Level mix: the modules say where, the operators inside say what."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {"dump_path": str(folder / "dump"), "level": "mix", "statistics": settings}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with AclGraphDumper(str(folder / "config.json")) as dumper:
        dumper.start(model)
        yield dumper


def new_cache(rows: int, device: str, dtype: torch.dtype) -> StaticCache:
    cache = StaticCache(config=CONFIG, max_cache_len=CACHE)
    cache.early_initialization(rows, CONFIG.num_key_value_heads, CONFIG.head_dim, dtype, torch.device(device))
    return cache


def following(model: torch.nn.Module, tokens: torch.Tensor, cache: StaticCache) -> torch.Tensor:
    """The likeliest next token of each row, [rows, 1]."""
    return model(input_ids=tokens, cache=cache, use_cache=True).logits[:, -1:].argmax(-1)


def end_step(dumper: AclGraphDumper | None, *, dump: bool = True) -> None:
    if dumper is not None:
        dumper.step(dump)


class Golden:
    """The run that is right: eager, float32, on the CPU, without padding.

    It reads the target's tokens, not its own: else the first token that differs, be it a tie that rounding decides, would make all later
    steps runs of other texts, which cannot be compared.
    """

    @torch.no_grad()
    def choose(self, read: torch.Tensor, folder: Path | None = None, watch: Watch | None = None) -> torch.Tensor:
        """The tokens that it would take, [BATCH, TOKENS], each after the prompt and those before it in `read`, of the same shape. With a
        folder each token is a step of a dump there."""
        model = build("cpu", torch.float32)
        model.load_state_dict(checkpoint())
        if watch is not None:
            watch(model)
        with contextlib.nullcontext() if folder is None else dumper_of(model, folder) as dumper:
            cache = new_cache(BATCH, "cpu", torch.float32)
            found = []
            for tokens in (prompts(), *read[:, :-1].split(1, 1)):
                found.append(following(model, tokens, cache))
                end_step(dumper)
        return torch.cat(found, 1)


class Target:
    """The run that is looked at. It serves as an engine does: when it starts it captures the decode step, for a batch with a row to
    spare, and then loads the weights; each request is prefilled eagerly and decoded by replays."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault

    def generate(self, folder: Path | None = None, watch: Watch | None = None) -> torch.Tensor:
        """The tokens, [BATCH, TOKENS]; with a folder each token is a step of a dump there, without the padding."""
        model: Qwen3ForCausalLM = build("npu", torch.bfloat16)
        self.fault.prepare(model)
        if folder is None:
            return self._serve(model, None, watch)
        with dumper_of(model, folder, slice=[{"dim": 0, "size": PADDED, "end": BATCH}]) as dumper:
            return self._serve(model, dumper, watch)

    def _new_cache(self, rows: int) -> StaticCache:
        cache = new_cache(rows, "npu", torch.bfloat16)
        usual = cache.layers[self.fault.layer]
        cache.layers[self.fault.layer] = self.fault.cache_layer(CACHE)
        cache.layers[self.fault.layer].lazy_initialization(usual.keys, usual.values)
        return cache

    @torch.no_grad()
    def _serve(self, model: Qwen3ForCausalLM, dumper: AclGraphDumper | None, watch: Watch | None) -> torch.Tensor:
        cache = self._new_cache(PADDED)
        for layer in cache.layers:  # memory that nobody has written to holds anything; here it holds NaN
            layer.keys.fill_(torch.nan)
            layer.values.fill_(torch.nan)
        tokens = torch.zeros(PADDED, 1, dtype=torch.long, device="npu")
        following(model, tokens, cache)  # operators set themselves up in their first run
        if watch is not None:
            watch(model)
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            next_tokens = following(model, tokens, cache)
        read = list(model.parameters())  # what the graph reads must live as long as it does
        end_step(dumper, dump=False)
        self.fault.load(model, checkpoint())
        end_step(dumper, dump=False)

        prefilled = self._new_cache(BATCH)
        tokens[:BATCH] = following(model, prompts().npu(), prefilled)
        for layer, filled in zip(cache.layers, prefilled.layers, strict=True):
            layer.keys[:BATCH] = filled.keys
            layer.values[:BATCH] = filled.values
            layer.cumulative_length.copy_(filled.cumulative_length)
        found = [tokens.cpu()]
        end_step(dumper)
        for _ in range(TOKENS - 1):
            graph.replay()
            tokens.copy_(next_tokens)
            found.append(tokens.cpu())
            end_step(dumper)
        del read
        return torch.cat(found, 1)[:BATCH]
