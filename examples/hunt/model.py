# SPDX-License-Identifier: Apache-2.0
"""The model of the hunt: a decoder of transformers' Qwen3 classes, small, with weights from a seed in place of a download."""

from __future__ import annotations

import math

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

LAYERS = 8
BATCH = 3  # requests
PROMPT = 6  # tokens of each request
TOKENS = 5  # that are generated for each request
CACHE = 16  # tokens that the static cache has room for

CONFIG = Qwen3Config(
    vocab_size=192,
    hidden_size=128,
    intermediate_size=256,
    num_hidden_layers=LAYERS,
    num_attention_heads=8,
    num_key_value_heads=2,
    head_dim=16,
    max_position_embeddings=64,
    tie_word_embeddings=False,
    attn_implementation="eager",
)
SEED = 19


def build(device: str, dtype: torch.dtype) -> Qwen3ForCausalLM:
    """The model with weights that mean nothing, as an engine makes it before it loads any."""
    torch.manual_seed(1)
    return Qwen3ForCausalLM(CONFIG).to(device, dtype).eval().requires_grad_(False)


def checkpoint() -> dict[str, torch.Tensor]:
    """The weights, in float32 on the CPU, by name; of scales as training leaves them.

    Rows of a projection have a norm of about 1, gains of norms are around 1, and what a block adds to the residual stream is as
    small as the embeddings are.
    """
    random = torch.Generator().manual_seed(SEED)
    weights = {}
    for name, parameter in build("cpu", torch.float32).named_parameters():
        values = torch.randn(parameter.shape, generator=random)
        if "norm" in name:
            values = 1 + 0.1 * values
        elif "embed_tokens" in name:
            values *= 0.05
        else:
            values *= 1 / math.sqrt(parameter.shape[-1])
            values *= 0.05 if "o_proj" in name or "down_proj" in name else 1
        weights[name] = values
    return weights


def prompts() -> torch.Tensor:
    """The requests' tokens, [BATCH, PROMPT]."""
    return torch.randint(CONFIG.vocab_size, (BATCH, PROMPT), generator=torch.Generator().manual_seed(SEED))
