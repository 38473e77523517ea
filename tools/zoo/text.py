"""Networks of text: encoders, decoders and both together, as transformers builds them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import onnx
import torch
import transformers
from torch import nn

from .exporting import Named, Outputs, export

TOKENS = {0: "batch", 1: "sequence"}


def export_encoder(model: nn.Module, dynamo: bool, outputs: tuple[str, ...]) -> onnx.ModelProto:
    """Return a network of token numbers and a mask of padding."""
    names = ("input_ids", "attention_mask")
    ids = torch.ones(2, 16, dtype=torch.int64)
    axes = dict.fromkeys(names, TOKENS)
    return export(Named(model, names), dict.fromkeys(names, ids), outputs, dynamo, axes)


def export_decoder(model: nn.Module, dynamo: bool, *, length: int = 16) -> onnx.ModelProto:
    """Return a language model that keeps nothing of earlier steps."""
    names = ("input_ids", "attention_mask")
    ids = torch.ones(2, length, dtype=torch.int64)
    axes = dict.fromkeys(names, TOKENS)
    network = Outputs(model, names, ("logits",), use_cache=False)
    return export(network, dict.fromkeys(names, ids), ("logits",), dynamo, axes)


def bert(dynamo: bool) -> onnx.ModelProto:
    config = transformers.BertConfig(
        vocab_size=1000, hidden_size=48, num_attention_heads=4, intermediate_size=192
    )
    outputs = ("last_hidden_state", "pooler_output")
    return export_encoder(transformers.BertModel(config), dynamo, outputs)


def distilbert(dynamo: bool) -> onnx.ModelProto:
    config = transformers.DistilBertConfig(
        vocab_size=1000, dim=48, n_heads=4, hidden_dim=192, num_labels=2
    )
    model = transformers.DistilBertForSequenceClassification(config)
    return export_encoder(model, dynamo, ("logits",))


def albert(dynamo: bool) -> onnx.ModelProto:
    """Return twelve layers that share their weights."""
    config = transformers.AlbertConfig(
        vocab_size=1000,
        embedding_size=16,
        hidden_size=48,
        num_hidden_layers=12,
        num_attention_heads=4,
        intermediate_size=192,
    )
    outputs = ("last_hidden_state", "pooler_output")
    return export_encoder(transformers.AlbertModel(config), dynamo, outputs)


def deberta(dynamo: bool) -> onnx.ModelProto:
    config = transformers.DebertaV2Config(
        vocab_size=1000,
        hidden_size=48,
        num_hidden_layers=12,
        num_attention_heads=4,
        intermediate_size=192,
        relative_attention=True,
        position_buckets=32,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
    )
    return export_encoder(transformers.DebertaV2Model(config), dynamo, ("last_hidden_state",))


def gpt2() -> onnx.ModelProto:
    config = transformers.GPT2Config(
        vocab_size=1000, n_positions=128, n_embd=48, n_head=4, use_cache=False
    )
    names = ("input_ids", "attention_mask")
    model = Named(transformers.GPT2LMHeadModel(config), names, use_cache=False)
    ids = torch.ones(2, 16, dtype=torch.int64)
    return export(
        model, dict.fromkeys(names, ids), ("logits",), False, dict.fromkeys(names, TOKENS)
    )


def opt(dynamo: bool) -> onnx.ModelProto:
    config = transformers.OPTConfig(
        vocab_size=1000,
        hidden_size=48,
        word_embed_proj_dim=48,
        num_hidden_layers=12,
        num_attention_heads=4,
        ffn_dim=192,
        max_position_embeddings=128,
    )
    return export_decoder(transformers.OPTForCausalLM(config), dynamo)


def bloom(dynamo: bool) -> onnx.ModelProto:
    config = transformers.BloomConfig(vocab_size=1000, hidden_size=64, n_layer=24, n_head=8)
    return export_decoder(transformers.BloomForCausalLM(config), dynamo)


def pythia(dynamo: bool) -> onnx.ModelProto:
    """Return blocks whose attention and MLP stand side by side."""
    config = transformers.GPTNeoXConfig(
        vocab_size=1000,
        hidden_size=64,
        num_hidden_layers=6,
        num_attention_heads=4,
        intermediate_size=256,
        max_position_embeddings=128,
    )
    return export_decoder(transformers.GPTNeoXForCausalLM(config), dynamo)


def llama(dynamo: bool) -> onnx.ModelProto:
    config = transformers.LlamaConfig(
        vocab_size=1000,
        hidden_size=64,
        intermediate_size=224,
        num_hidden_layers=16,
        num_attention_heads=8,
        num_key_value_heads=2,
        max_position_embeddings=128,
    )
    return export_decoder(transformers.LlamaForCausalLM(config), dynamo)


def gemma(dynamo: bool) -> onnx.ModelProto:
    config = transformers.GemmaConfig(
        vocab_size=1000,
        hidden_size=64,
        intermediate_size=256,
        num_hidden_layers=18,
        num_attention_heads=8,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=128,
    )
    return export_decoder(transformers.GemmaForCausalLM(config), dynamo)


def qwen3(dynamo: bool) -> onnx.ModelProto:
    config = transformers.Qwen3Config(
        vocab_size=1000,
        hidden_size=64,
        intermediate_size=192,
        num_hidden_layers=28,
        num_attention_heads=8,
        num_key_value_heads=4,
        head_dim=16,
        tie_word_embeddings=True,
        max_position_embeddings=128,
    )
    return export_decoder(transformers.Qwen3ForCausalLM(config), dynamo)


def mixtral(dynamo: bool) -> onnx.ModelProto:
    config = transformers.MixtralConfig(
        vocab_size=1000,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=32,
        num_attention_heads=8,
        num_key_value_heads=2,
        num_local_experts=8,
        num_experts_per_tok=2,
        max_position_embeddings=128,
    )
    model = transformers.MixtralForCausalLM._from_config(
        config, experts_implementation="batched_mm"
    )
    return export_decoder(model, dynamo)


def mamba(dynamo: bool) -> onnx.ModelProto:
    """Return blocks whose scan stands written out for eight tokens."""
    config = transformers.MambaConfig(
        vocab_size=1000, hidden_size=32, state_size=8, num_hidden_layers=24
    )
    network = Outputs(
        transformers.MambaForCausalLM(config), ("input_ids",), ("logits",), use_cache=False
    )
    inputs = {"input_ids": torch.ones(1, 8, dtype=torch.int64)}
    return export(network, inputs, ("logits",), dynamo)


def t5(dynamo: bool, layers: int = 8) -> onnx.ModelProto:
    config = transformers.T5Config(
        vocab_size=1000,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=layers,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        use_cache=False,
    )
    model = transformers.T5ForConditionalGeneration(config)
    return export_translator(model, dynamo)


def bart(dynamo: bool) -> onnx.ModelProto:
    config = transformers.BartConfig(
        vocab_size=1000,
        d_model=48,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=192,
        decoder_ffn_dim=192,
        max_position_embeddings=128,
        use_cache=False,
    )
    model = transformers.BartForConditionalGeneration(config)
    return export_translator(model, dynamo)


def export_translator(model: nn.Module, dynamo: bool) -> onnx.ModelProto:
    """Return an encoder and a decoder, each with tokens of its own."""
    names = ("input_ids", "decoder_input_ids")
    network = Named(model, names, use_cache=False)
    inputs = {
        "input_ids": torch.ones(2, 16, dtype=torch.int64),
        "decoder_input_ids": torch.ones(2, 7, dtype=torch.int64),
    }
    return export(network, inputs, ("logits",), dynamo)


def clip(dynamo: bool) -> onnx.ModelProto:
    """Return a tower of text and one of images, whose outputs are compared."""
    config = transformers.CLIPConfig(
        text_config={
            "vocab_size": 1000,
            "hidden_size": 48,
            "intermediate_size": 192,
            "num_hidden_layers": 12,
            "num_attention_heads": 4,
            "bos_token_id": 0,
            "eos_token_id": 999,
            "pad_token_id": 1,
        },
        vision_config={
            "hidden_size": 64,
            "intermediate_size": 256,
            "num_hidden_layers": 12,
            "num_attention_heads": 4,
            "patch_size": 32,
        },
        projection_dim=40,
    )
    names = ("input_ids", "pixel_values", "attention_mask")
    outputs = ("logits_per_image", "logits_per_text", "text_embeds", "image_embeds")
    model = Outputs(transformers.CLIPModel(config), names, outputs)
    ids = torch.ones(2, 16, dtype=torch.int64)
    inputs = {
        "input_ids": ids,
        "pixel_values": torch.rand(3, 3, 224, 224),
        "attention_mask": ids,
    }
    axes = {
        "input_ids": {0: "text_batch", 1: "sequence"},
        "pixel_values": {0: "image_batch"},
        "attention_mask": {0: "text_batch", 1: "sequence"},
    }
    return export(model, inputs, outputs, dynamo, axes)


_BOTH: dict[str, Callable[..., onnx.ModelProto]] = {
    "albert": albert,
    "bart": bart,
    "bert": bert,
    "bloom": bloom,
    "clip": clip,
    "deberta": deberta,
    "distilbert": distilbert,
    "gemma": gemma,
    "llama": llama,
    "mamba": mamba,
    "mixtral": mixtral,
    "opt": opt,
    "pythia": pythia,
    "qwen3": qwen3,
}
MODELS: dict[str, Callable[[], Any]] = {
    "exported/gpt2.legacy": gpt2,
    "exported/t5.legacy": partial(t5, dynamo=False),
}
for _name, _build in _BOTH.items():
    MODELS[f"exported/{_name}.legacy"] = partial(_build, dynamo=False)
    MODELS[f"exported/{_name}.dynamo"] = partial(_build, dynamo=True)
