"""Networks of speech, as transformers builds them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import onnx
import torch
import transformers

from .exporting import Named, Outputs, export


def whisper(dynamo: bool) -> onnx.ModelProto:
    config = transformers.WhisperConfig(
        vocab_size=1000,
        d_model=32,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_source_positions=100,
        max_target_positions=64,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        use_cache=False,
    )
    inputs = {
        "input_features": torch.ones(1, 80, 200),
        "decoder_input_ids": torch.ones(1, 7, dtype=torch.int64),
    }
    if not dynamo:  # without a mask operators are traced that the older exporter does not know
        inputs["decoder_attention_mask"] = inputs["decoder_input_ids"]
    network = transformers.WhisperForConditionalGeneration(config)
    model = Named(network, tuple(inputs), use_cache=False)
    return export(model, inputs, ("logits",), dynamo)


def _export_wave(model: torch.nn.Module, dynamo: bool) -> onnx.ModelProto:
    network = Outputs(model, ("input_values",), ("logits",))
    return export(network, {"input_values": torch.rand(1, 16000)}, ("logits",), dynamo)


def wav2vec2(dynamo: bool) -> onnx.ModelProto:
    config = transformers.Wav2Vec2Config(
        vocab_size=32,
        hidden_size=48,
        num_hidden_layers=12,
        num_attention_heads=4,
        intermediate_size=192,
        conv_dim=[16] * 7,
        num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=4,
    )
    return _export_wave(transformers.Wav2Vec2ForCTC(config), dynamo)


def conformer(dynamo: bool) -> onnx.ModelProto:
    """Return as many Conformer blocks as the small one of its paper has, over a wave encoder."""
    config = transformers.Wav2Vec2ConformerConfig(
        vocab_size=32,
        hidden_size=48,
        num_hidden_layers=16,
        num_attention_heads=4,
        intermediate_size=192,
        conv_dim=[16] * 7,
        conv_depthwise_kernel_size=31,
        position_embeddings_type="rotary",
        num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=4,
    )
    return _export_wave(transformers.Wav2Vec2ConformerForCTC(config), dynamo)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {}
for _build in (whisper, wav2vec2, conformer):
    MODELS[f"exported/{_build.__name__}.legacy"] = partial(_build, dynamo=False)
    MODELS[f"exported/{_build.__name__}.dynamo"] = partial(_build, dynamo=True)
