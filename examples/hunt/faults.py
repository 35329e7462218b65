# SPDX-License-Identifier: Apache-2.0
"""The faults that the hunt plants into one layer of the target: three of arithmetic, three that only a captured graph can have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from transformers import Qwen3ForCausalLM
from transformers.cache_utils import StaticLayer


class Fault:
    """Nothing is wrong: the model and its cache as they should be."""

    story = "nothing: a healthy run"
    cache_layer: type[StaticLayer] = StaticLayer  # what the cache of the layer is

    def __init__(self, layer: int) -> None:
        self.layer = layer

    def prepare(self, model: Qwen3ForCausalLM) -> None:
        """Changes the model before it is captured."""

    def load(self, model: Qwen3ForCausalLM, weights: dict[str, torch.Tensor]) -> None:
        """Brings the checkpoint into the captured model, in place: the graph reads these very tensors."""
        model.load_state_dict(weights)


class WrongEpsilon(Fault):
    story = "input_layernorm of layer {layer} has epsilon 1e-2, not 1e-6"

    def prepare(self, model: Qwen3ForCausalLM) -> None:
        model.model.layers[self.layer].input_layernorm.variance_epsilon = 1e-2


class TransposedWeight(Fault):
    story = "the square weight of o_proj of layer {layer} is loaded transposed"

    def load(self, model: Qwen3ForCausalLM, weights: dict[str, torch.Tensor]) -> None:
        name = f"model.layers.{self.layer}.self_attn.o_proj.weight"
        super().load(model, {**weights, name: weights[name].T})


class ShiftedCacheLayer(StaticLayer):
    """Writes a slot further than it should."""

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        self.cumulative_length.add_(1)
        updated = super().update(key_states, value_states, *args, **kwargs)
        self.cumulative_length.sub_(1)
        return updated


class CacheOffByOne(Fault):
    story = "the cache of layer {layer} writes keys and values one slot too far"
    cache_layer = ShiftedCacheLayer


class ReboundWeight(Fault):
    story = "down_proj of layer {layer} gets a weight of its own after the capture; the others are written to in place"

    def load(self, model: Qwen3ForCausalLM, weights: dict[str, torch.Tensor]) -> None:
        name = f"model.layers.{self.layer}.mlp.down_proj.weight"
        others = {other: weight for other, weight in weights.items() if other != name}
        model.load_state_dict(others, strict=False)
        held = model.get_parameter(name)
        model.load_state_dict({name: weights[name].to(held)}, strict=False, assign=True)


class HostLengthCacheLayer(StaticLayer):
    """Counts its tokens in a Python number. A capture takes the number as it is then, and every replay writes to that slot."""

    length = 0

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *_args: Any, **_kwargs: Any) -> Any:
        end = self.length + key_states.shape[-2]
        self.keys[:, :, self.length : end] = key_states
        self.values[:, :, self.length : end] = value_states
        self.length = end
        self.cumulative_length.add_(key_states.shape[-2])  # what positions and mask are made from
        return self.keys, self.values


class FrozenLength(Fault):
    story = "the cache of layer {layer} counts its tokens in a Python number, which the capture freezes"
    cache_layer = HostLengthCacheLayer


def _in_eight_bits(_module: torch.nn.Module, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
    """Rounds to 8-bit numbers with one scale for the whole batch, as an operator does that quantises its input by itself."""
    (x,) = inputs
    scale = x.abs().amax() / 127
    return ((x / scale).round() * scale,)


class NanInPadding(Fault):
    story = "down_proj of layer {layer} scales its 8-bit input by the maximum of the whole batch, padding included"

    def prepare(self, model: Qwen3ForCausalLM) -> None:
        model.model.layers[self.layer].mlp.down_proj.register_forward_pre_hook(_in_eight_bits)


FAULTS: dict[str, Callable[[int], Fault]] = {
    "healthy": Fault,
    "epsilon": WrongEpsilon,
    "transposed": TransposedWeight,
    "cache": CacheOffByOne,
    "rebound": ReboundWeight,
    "frozen": FrozenLength,
    "padding": NanInPadding,
}
