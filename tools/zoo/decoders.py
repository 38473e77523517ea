"""Decoders of text as they are built since 2024, as transformers builds them.

Widths are small, and there are fewer layers than in the networks that are published: as many as
show which layers take turns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import onnx
import transformers

from .text import export_decoder


def phi(dynamo: bool) -> onnx.ModelProto:
    """Return blocks whose attention and MLP stand side by side, behind one norm."""
    config = transformers.PhiConfig(
        vocab_size=1000,
        hidden_size=64,
        intermediate_size=256,
        num_hidden_layers=12,
        num_attention_heads=4,
        partial_rotary_factor=0.5,
        max_position_embeddings=128,
    )
    return export_decoder(transformers.PhiForCausalLM(config), dynamo)


_BOTH: dict[str, Callable[..., onnx.ModelProto]] = {
    "phi": phi,
}
MODELS: dict[str, Callable[[], onnx.ModelProto]] = {}
for _name, _build in _BOTH.items():
    MODELS[f"exported/{_name}.legacy"] = partial(_build, dynamo=False)
    MODELS[f"exported/{_name}.dynamo"] = partial(_build, dynamo=True)
