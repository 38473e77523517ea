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


def gemma3(dynamo: bool) -> onnx.ModelProto:
    """Return layers of which each sixth attends to all before a token, the others to a window."""
    config = transformers.Gemma3TextConfig(
        vocab_size=1000,
        hidden_size=64,
        intermediate_size=256,
        num_hidden_layers=12,
        num_attention_heads=4,
        num_key_value_heads=1,
        head_dim=16,
        sliding_window=512,
        max_position_embeddings=2048,
    )
    return export_decoder(transformers.Gemma3ForCausalLM(config), dynamo)


def deepseek_v3(dynamo: bool) -> onnx.ModelProto:
    """Return a layer with an MLP and seven of experts; keys and values of few latent features."""
    config = transformers.DeepseekV3Config(
        vocab_size=1000,
        hidden_size=64,
        intermediate_size=192,
        moe_intermediate_size=32,
        num_hidden_layers=8,
        num_attention_heads=4,
        num_key_value_heads=4,
        n_shared_experts=1,
        n_routed_experts=8,
        num_experts_per_tok=2,
        n_group=4,
        topk_group=2,
        first_k_dense_replace=1,
        q_lora_rank=48,
        kv_lora_rank=32,
        qk_rope_head_dim=8,
        qk_nope_head_dim=16,
        v_head_dim=16,
        max_position_embeddings=128,
    )
    model = transformers.DeepseekV3ForCausalLM._from_config(
        config, experts_implementation="batched_mm"
    )
    return export_decoder(model, dynamo)


def bamba(dynamo: bool) -> onnx.ModelProto:
    """Return layers of Mamba-2 with one of attention behind each three."""
    config = transformers.BambaConfig(
        vocab_size=1000,
        hidden_size=64,
        intermediate_size=192,
        num_hidden_layers=8,
        num_attention_heads=4,
        num_key_value_heads=2,
        attn_layer_indices=[3, 7],
        mamba_n_heads=8,
        mamba_d_head=16,
        mamba_n_groups=1,
        mamba_d_state=16,
        mamba_d_conv=4,
        mamba_expand=2,
        mamba_chunk_size=16,
        max_position_embeddings=128,
    )
    return export_decoder(transformers.BambaForCausalLM(config), dynamo)


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
    "bamba": bamba,
    "deepseek_v3": deepseek_v3,
    "gemma3": gemma3,
    "phi": phi,
}
MODELS: dict[str, Callable[[], onnx.ModelProto]] = {}
for _name, _build in _BOTH.items():
    MODELS[f"exported/{_name}.legacy"] = partial(_build, dynamo=False)
    MODELS[f"exported/{_name}.dynamo"] = partial(_build, dynamo=True)
