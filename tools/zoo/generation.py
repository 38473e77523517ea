"""Decoders that are told the keys and values of earlier steps, as they are used to write text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import onnx
import torch
import transformers
from onnx import TensorProto, helper
from torch import Tensor, nn

from .exporting import export


class Cached(nn.Module):
    """A language model whose keys and values are inputs and outputs of their own."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor, *past: Tensor) -> tuple:
        pairs = list(zip(past[::2], past[1::2], strict=True))
        cache = transformers.DynamicCache(pairs) if pairs else transformers.DynamicCache()
        found = self.model(
            input_ids=input_ids,
            attention_mask=attention_mask,
            past_key_values=cache,
            use_cache=True,
        )
        present = [
            value for layer in found.past_key_values.layers for value in (layer.keys, layer.values)
        ]
        return (found.logits, *present)


def export_cached(
    model: nn.Module,
    layers: int,
    heads: int,
    width: int,
    dynamo: bool,
    *,
    past: bool = True,
    fill: bool = True,
) -> onnx.ModelProto:
    """Return a decoder that takes and gives keys and values, or that only gives them."""
    tokens, before = (1, 7) if past else (5, 0)
    inputs = {
        "input_ids": torch.ones(2, tokens, dtype=torch.int64),
        "attention_mask": torch.ones(2, before + tokens, dtype=torch.int64),
    }
    together = "past_sequence + sequence" if past else "sequence"
    axes = {
        "input_ids": {0: "batch", 1: "sequence"},
        "attention_mask": {0: "batch", 1: together},
    }
    outputs = ["logits"]
    for layer in range(layers):
        for kind in ("key", "value"):
            if past:
                name = f"past_key_values.{layer}.{kind}"
                inputs[name] = torch.rand(2, heads, before, width)
                axes[name] = {0: "batch", 2: "past_sequence"}
            outputs.append(f"present.{layer}.{kind}")
    if not dynamo:
        axes["logits"] = {0: "batch", 1: "sequence"}
        axes.update({name: {0: "batch", 2: together} for name in outputs[1:]})
    return export(Cached(model), inputs, tuple(outputs), dynamo, axes, fill=fill)


def _gpt2(layers: int) -> nn.Module:
    config = transformers.GPT2Config(
        vocab_size=1000, n_positions=128, n_embd=48, n_head=4, n_layer=layers
    )
    return transformers.GPT2LMHeadModel(config)


def gpt2_past(dynamo: bool) -> onnx.ModelProto:
    return export_cached(_gpt2(12), 12, 4, 12, dynamo)


def llama_past(dynamo: bool) -> onnx.ModelProto:
    config = transformers.LlamaConfig(
        vocab_size=1000,
        hidden_size=64,
        intermediate_size=224,
        num_hidden_layers=16,
        num_attention_heads=8,
        num_key_value_heads=2,
        max_position_embeddings=128,
    )
    return export_cached(transformers.LlamaForCausalLM(config), 16, 2, 8, dynamo)


def merged_decoder() -> onnx.ModelProto:
    """Return a distilled GPT-2 of six layers: one branch with a past and one without."""
    model = _gpt2(6)
    first = export_cached(model, 6, 4, 12, False, past=False)
    later = export_cached(model, 6, 4, 12, False, fill=False)
    return merge(first, later)


def merge(first: onnx.ModelProto, later: onnx.ModelProto) -> onnx.ModelProto:
    """Return one model that asks an input which of two it is; weights stand outside of both."""
    shared: dict[tuple[int, tuple[int, ...], bytes], TensorProto] = {}
    taken: set[str] = set()
    branches = []
    for name, model in (("no_past", first), ("with_past", later)):
        renamed = {}
        for tensor in model.graph.initializer:
            before = tensor.name
            content = (tensor.data_type, tuple(tensor.dims), tensor.raw_data)
            if content not in shared:
                if before in taken:
                    tensor.name = f"{before}_{name}"
                taken.add(tensor.name)
                shared[content] = tensor
            renamed[before] = shared[content].name
        for node in model.graph.node:
            node.input[:] = [renamed.get(value, value) for value in node.input]
        branches.append(helper.make_graph(model.graph.node, name, [], model.graph.output))
    choice = helper.make_tensor_value_info("use_cache_branch", TensorProto.BOOL, [1])
    node = helper.make_node(
        "If",
        [choice.name],
        [value.name for value in later.graph.output],
        "optimum::if",
        then_branch=branches[1],
        else_branch=branches[0],
    )
    graph = helper.make_graph(
        [node],
        "merged",
        [*later.graph.input, choice],
        later.graph.output,
        list(shared.values()),
    )
    return helper.make_model(graph, opset_imports=later.opset_import, ir_version=later.ir_version)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/distilgpt2_merged.legacy": merged_decoder
}
for _build in (gpt2_past, llama_past):
    MODELS[f"exported/{_build.__name__}.legacy"] = partial(_build, dynamo=False)
    MODELS[f"exported/{_build.__name__}.dynamo"] = partial(_build, dynamo=True)
