# SPDX-License-Identifier: Apache-2.0
"""Experts and encoders of transformers: captured in bfloat16 against eager float32 on the CPU. Records are complete, healthy runs quiet."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

import msprobe
from msprobe.pytorch import AclGraphDumper

os.environ["HF_HUB_OFFLINE"] = "1"

from transformers import (
    BertConfig,
    BertModel,
    ModernBertConfig,
    ModernBertModel,
    PreTrainedModel,
    Qwen3MoeConfig,
    Qwen3MoeForCausalLM,
)

ROWS, LENGTH, WORDS, LAYERS = 2, 8, 128, 4
SIZES = {
    "vocab_size": WORDS,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "max_position_embeddings": 32,
    "attn_implementation": "eager",
}
EXPERTS = {
    "num_key_value_heads": 2,
    "head_dim": 16,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 48,
    "use_cache": False,
}
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}


class Kind(NamedTuple):
    make: Callable[[], PreTrainedModel]
    causal: bool
    square: str  # a weight of 64 x 64 in layer 2, to be transposed
    captured: bool = True


KINDS = {
    "experts": Kind(
        lambda: Qwen3MoeForCausalLM(Qwen3MoeConfig(**SIZES, **EXPERTS, experts_implementation="batched_mm")),
        True,
        "model.layers.2.self_attn.o_proj",
    ),
    # Each expert takes the tokens that are its own: how many is only known on the host, which no graph can ask.
    "experts one by one": Kind(
        lambda: Qwen3MoeForCausalLM(Qwen3MoeConfig(**SIZES, **EXPERTS, experts_implementation="eager")),
        True,
        "model.layers.2.self_attn.o_proj",
        captured=False,
    ),
    "bert": Kind(lambda: BertModel(BertConfig(**SIZES)), False, "encoder.layer.2.attention.output.dense"),
    "modernbert": Kind(
        lambda: ModernBertModel(ModernBertConfig(**SIZES, **TOKENS, local_attention=4)), False, "layers.2.attn.Wo"
    ),
}


def calls(causal: bool) -> Iterator[dict[str, torch.Tensor]]:
    """Two batches; with an additive mask, since transformers looks at the values of a mask of truth values to see if it can be left out."""
    lowest = torch.finfo(torch.bfloat16).min
    mask = torch.zeros(ROWS, 1, LENGTH, LENGTH)
    if causal:
        mask = torch.full_like(mask, lowest).triu(1)
    else:
        mask[1, :, :, 5:] = lowest  # the second text is shorter
    for seed in range(2):
        ids = torch.randint(3, WORDS, (ROWS, LENGTH), generator=torch.Generator().manual_seed(seed))
        yield {"input_ids": ids, "attention_mask": mask}


def weights(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    random = torch.Generator().manual_seed(3)
    values = {}
    for name, parameter in model.named_parameters():
        value = torch.randn(parameter.shape, generator=random)
        values[name] = (
            value / parameter.shape[-1] ** 0.5 if value.dim() > 1 else 0.1 * value + (1 if name.endswith("weight") else 0)
        )
    return values


@torch.no_grad()
def dump(model: PreTrainedModel, folder: Path, kind: Kind, captured: bool) -> Path:
    folder.mkdir()
    config = folder / "config.json"
    config.write_text(json.dumps({"dump_path": str(folder / "dump"), "level": "mix"}), encoding="utf-8")
    device = model.device
    with AclGraphDumper(config) as dumper:
        dumper.start(model)
        fed = [
            {name: (value.to(model.dtype) if value.is_floating_point() else value).to(device) for name, value in call.items()}
            for call in calls(kind.causal)
        ]
        static = {name: value.clone() for name, value in fed[0].items()}
        if captured:
            model(**static)
            dumper.step(dump=False)
            graph = torch.npu.NPUGraph()
            with torch.npu.graph(graph):
                model(**static)
        for call in fed:
            for name, value in call.items():
                static[name].copy_(value)
            if captured:
                graph.replay()
            else:
                model(**static)
            dumper.step()
    return folder / "dump"


def both(folder: Path, kind: Kind, dtype: torch.dtype, *, fault: bool) -> tuple[Path, Path]:
    golden, target = kind.make().eval(), kind.make().eval()
    values = weights(golden)
    golden.load_state_dict(values, strict=False)
    if fault:
        name = f"{kind.square}.weight"
        values = {**values, name: values[name].T}
    target.load_state_dict(values, strict=False)
    golden_dump = dump(golden, folder / "golden", kind, captured=False)
    return dump(target.to("npu", dtype), folder / "target", kind, kind.captured), golden_dump


def read(folder: Path, step: int) -> dict[str, Any]:
    (path,) = folder.glob(f"step{step}/*/dump.json")
    return json.loads(path.read_text(encoding="utf-8"))


def modules(dumped: dict[str, Any]) -> dict[str, Any]:
    """Calls of modules in their order, each with the shapes of all its tensors, and of its parameters."""
    return {name: shapes(call) for name, call in dumped["data"].items() if name.startswith("Module.")}


def shapes(recorded: Any) -> Any:
    if isinstance(recorded, list):
        return [shapes(value) for value in recorded]
    return recorded["shape"] if "shape" in recorded else {key: shapes(v) for key, v in recorded.items() if key != "Order"}


@pytest.mark.parametrize("name", KINDS)
def test_records_are_complete_and_a_healthy_run_is_quiet(tmp_path: Path, name: str) -> None:
    kind = KINDS[name]
    target, golden = both(tmp_path, kind, torch.bfloat16, fault=False)
    for step in range(2):
        seen, right = read(target, step), read(golden, step)
        assert list(modules(seen)) == list(modules(right))
        if kind.captured:  # else an expert's rows are those that noise sends to it
            assert modules(seen) == modules(right)
        account = seen["Run"]["Account"]
        assert account["recorded"] == len({entry.rsplit(".", 2)[0] for entry in modules(seen)})
        assert account["dropped"] == account["filtered"] == 0
        # What is silent says why: containers, and what the architecture has and does not run.
        silent = account["silent"]
        for site, reason in silent.items():
            unused = "dropout" in site and reason.startswith("not called through its forward")
            assert site.endswith(("ModuleList", "ModuleDict")) == reason.startswith("a container") and (
                reason.startswith("a container") or unused
            ), (site, reason)
        assert len(seen["Run"]["graphs"]) == kind.captured
    found = msprobe.compare(target, golden, output=tmp_path / "out")
    assert [pair.divergence.grade for pair in found.pairs] == ["none", "none"], found.first_divergence


@pytest.mark.parametrize("name", KINDS)
def test_a_transposed_weight_is_named(tmp_path: Path, name: str) -> None:
    """Experts in float32: in bfloat16 noise sends tokens to other experts, and behind these nothing small can be seen."""
    kind = KINDS[name]
    dtype = torch.float32 if name.startswith("experts") else torch.bfloat16
    target, golden = both(tmp_path, kind, dtype, fault=True)
    found = msprobe.compare(target, golden, output=tmp_path / "out")
    assert found.first_diverging_step == 0
    assert found.first_divergence.call == f"Module.{kind.square}.Linear.forward.0", found.first_divergence.sentence
