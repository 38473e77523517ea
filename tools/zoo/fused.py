"""Decoders of operators that stand for whole parts of them, wired node by node.

Those of com.microsoft are wired as the model builder of onnxruntime-genai does it: keys, values
and states of earlier steps are inputs, norms add the stream, rotations are inside of attention.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
VOCABULARY = 1000
WIDTH = 64
INNER_WIDTH = 192
HEADS = 4
SHARED = 2
HEAD_WIDTH = 16
POSITIONS = 128


class Builder:
    """Nodes and weights of a graph that grows from its inputs to its outputs."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, onnx.TensorProto] = {}
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self._chance = np.random.default_rng(0)

    def take(self, name: str, kind: int, shape: list[Any]) -> str:
        """Return a new input."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def give(self, name: str, kind: int, shape: list[Any]) -> str:
        """Name a new output."""
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def weigh(self, name: str, *dims: int) -> str:
        """Return a weight of floats."""
        values = self._chance.normal(0, 0.05, dims).astype(np.float32)
        self.weights[name] = numpy_helper.from_array(values, name)
        return name

    def list_numbers(self, *numbers: int) -> str:
        """Return a stored list of numbers."""
        name = f"/model/constants/INT64/[{', '.join(map(str, numbers))}]"
        self.weights[name] = numpy_helper.from_array(np.array(numbers, np.int64), name)
        return name

    def add(
        self,
        name: str,
        op_type: str,
        inputs: list[str],
        outputs: int | list[str] = 1,
        domain: str = "",
        **attributes: Any,
    ) -> str:
        """Add a node and return its first output; "" among ``outputs`` is one that is left out."""
        names = [f"{name}/output_{number}" for number in range(outputs)] if isinstance(
            outputs, int
        ) else outputs  # fmt: skip
        self.nodes.append(
            helper.make_node(op_type, inputs, names, name, domain=domain, **attributes)
        )
        return names[0]

    def multiply(self, name: str, value: str, taken: int, given: int) -> str:
        """Add a product with a weight of floats."""
        weight = self.weigh(f"{name[1:].replace('/', '.')}.weight", taken, given)
        return self.add(name, "MatMul", [value, weight])

    def finish(self, opset: int) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes, "main_graph", self.inputs, self.outputs, [*self.weights.values()]
        )
        opsets = [helper.make_opsetid("", opset)]
        if any(node.domain == MICROSOFT for node in self.nodes):
            opsets.append(helper.make_opsetid(MICROSOFT, 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


class Generating(Builder):
    """A decoder that onnxruntime-genai runs."""

    def __init__(self, layers: int, *, is_quantized: bool) -> None:
        super().__init__()
        self.layers, self.is_quantized = layers, is_quantized
        self.tokens = self.take("input_ids", TensorProto.INT64, ["batch_size", "sequence_length"])
        self.mask = self.take(
            "attention_mask", TensorProto.INT64, ["batch_size", "total_sequence_length"]
        )
        self.give("logits", TensorProto.FLOAT, ["batch_size", "sequence_length", VOCABULARY])

    def count_tokens(self) -> tuple[str, str]:
        """Return how many tokens each sequence has, less one, and how many the longest has."""
        root = "/model/attn_mask_reformat/attn_mask_subgraph"
        total = self.add(
            f"{root}/ReduceSum", "ReduceSum", [self.mask, self.list_numbers(1)], keepdims=0
        )
        less = self.add(f"{root}/Sub", "Sub", [total, self.list_numbers(1)])
        lengths = self.add(f"{root}/Sub/Cast", "Cast", [less], to=TensorProto.INT32)
        shape = self.add(f"{root}/Shape", "Shape", [self.mask])
        place = "/model/constants/INT64/1"
        self.weights[place] = numpy_helper.from_array(np.array(1, np.int64), place)
        longest = self.add(f"{root}/Gather", "Gather", [shape, place], axis=0)
        return lengths, self.add(
            f"{root}/Gather/Cast", "Cast", [longest], to=TensorProto.INT32
        )  # fmt: skip

    def project(self, name: str, value: str, taken: int, given: int) -> str:
        """Add a product with a weight, of four bits each in blocks of 32 if wanted."""
        if not self.is_quantized:
            return self.multiply(f"{name}/MatMul", value, taken, given)
        parts = f"{name[1:].replace('/', '.')}.MatMul"
        blocks = taken // 32
        packed = self._chance.integers(0, 256, (given, blocks, 16), np.uint8)
        self.weights[parts] = numpy_helper.from_array(packed, f"{parts}.weight_Q4")
        scales = self.weigh(f"{parts}.weight_scales", given * blocks)
        attributes = {"K": taken, "N": given, "bits": 4, "block_size": 32, "accuracy_level": 4}
        return self.add(
            f"{name}/MatMul_Q4",
            "MatMulNBits",
            [value, f"{parts}.weight_Q4", scales],
            domain=MICROSOFT,
            **attributes,
        )

    def embed(self) -> str:
        table = self.weigh("model.embed_tokens.weight", VOCABULARY, WIDTH)
        return self.add("/model/embed_tokens/Gather", "Gather", [table, self.tokens])

    def normalize(self, name: str, value: str, stream: str, *, is_last: bool = False) -> list[str]:
        """Return the norm of a sum, and the sum; of a value alone where there is no stream."""
        weight = self.weigh(f"{name[1:].replace('/', '.')}.weight", WIDTH)
        if not stream:
            node = f"{name}/LayerNorm"
            normal = self.add(
                node, "SimplifiedLayerNormalization", [value, weight], epsilon=1e-6, axis=-1
            )
            return [normal, value]
        node = f"{name}/SkipLayerNorm"
        outputs = [f"{node}/output_0", "", "", f"{node}/output_3"][: 1 if is_last else 4]
        self.add(
            node,
            "SkipSimplifiedLayerNormalization",
            [stream, value, weight],
            outputs,
            MICROSOFT,
            epsilon=1e-6,
        )
        return [outputs[0], outputs[-1]]

    def normalize_heads(self, name: str, value: str, heads: int) -> str:
        """Add a norm of each head."""
        split = self.add(
            f"{name}/Reshape_1", "Reshape", [value, self.list_numbers(0, -1, HEAD_WIDTH)]
        )
        weight = self.weigh(f"{name[1:].replace('/', '.')}.weight", HEAD_WIDTH)
        normal = self.add(
            f"{name}/SimplifiedLayerNormalization",
            "SimplifiedLayerNormalization",
            [split, weight],
            epsilon=1e-6,
            axis=-1,
        )
        whole = self.list_numbers(0, -1, heads * HEAD_WIDTH)
        return self.add(f"{name}/Reshape_2", "Reshape", [normal, whole])

    def attend(self, layer: int, operands: list[str], counts: tuple[str, str], rotated: int) -> str:
        """Add attention over what is new and what is kept."""
        kept, shown = [], []
        for kind in ("key", "value"):
            shape = ["batch_size", SHARED, "past_sequence_length", HEAD_WIDTH]
            kept.append(self.take(f"past_key_values.{layer}.{kind}", TensorProto.FLOAT, shape))
            shape = ["batch_size", SHARED, "total_sequence_length", HEAD_WIDTH]
            shown.append(self.give(f"present.{layer}.{kind}", TensorProto.FLOAT, shape))
        if "cos_cache" not in self.weights:
            for cache in ("cos_cache", "sin_cache"):
                self.weigh(cache, POSITIONS, rotated // 2)
        node = f"/model/layers.{layer}/attn/GroupQueryAttention"
        return self.add(
            node,
            "GroupQueryAttention",
            [*operands, *kept, *counts, "cos_cache", "sin_cache"],
            [f"{node}/output_0", *shown],
            MICROSOFT,
            num_heads=HEADS,
            kv_num_heads=SHARED,
            scale=HEAD_WIDTH**-0.5,
            do_rotary=1,
            rotary_interleaved=0,
            local_window_size=-1,
            softcap=0.0,
        )

    def feed(self, layer: int, value: str) -> str:
        """Add an MLP whose gate is a SiLU."""
        root = f"/model/layers.{layer}/mlp"
        gate = self.project(f"{root}/gate_proj", value, WIDTH, INNER_WIDTH)
        up = self.project(f"{root}/up_proj", value, WIDTH, INNER_WIDTH)
        squashed = self.add(f"{root}/act_fn/Sigmoid", "Sigmoid", [gate])
        active = self.add(f"{root}/act_fn/Mul", "Mul", [gate, squashed])
        product = self.add(f"{root}/Mul", "Mul", [active, up])
        return self.project(f"{root}/down_proj", product, INNER_WIDTH, WIDTH)

    def stack(self, mix: Callable[[int, str], str]) -> None:
        """Add all layers, each of what ``mix`` makes of its number and a value, and an MLP."""
        value, stream = self.embed(), ""
        for layer in range(self.layers):
            root = f"/model/layers.{layer}"
            normal, stream = self.normalize(f"{root}/input_layernorm", value, stream)
            mixed = mix(layer, normal)
            normal, stream = self.normalize(f"{root}/post_attention_layernorm", mixed, stream)
            value = self.feed(layer, normal)
        last = f"/model/layers.{self.layers}/final_norm_layernorm"
        normal, _ = self.normalize(last, value, stream, is_last=True)
        self.project("/lm_head", normal, WIDTH, VOCABULARY)
        self.nodes[-1].output[0] = "logits"


def genai_llama() -> onnx.ModelProto:
    """Return twelve layers whose queries, keys and values are one product, in four bits."""
    built = Generating(12, is_quantized=True)
    counts = built.count_tokens()

    def mix(layer: int, value: str) -> str:
        root = f"/model/layers.{layer}/attn"
        packed = (HEADS + 2 * SHARED) * HEAD_WIDTH
        joint = built.project(f"{root}/qkv_proj", value, WIDTH, packed)
        attended = built.attend(layer, [joint, "", ""], counts, HEAD_WIDTH)
        return built.project(f"{root}/o_proj", attended, HEADS * HEAD_WIDTH, WIDTH)

    built.stack(mix)
    return built.finish(21)


#: of linear attention: heads of keys and of values, the width of both, and of its convolution
_KEY_HEADS, _VALUE_HEADS, _STATE_WIDTH, _KERNEL = 4, 4, 8, 4


def genai_hybrid() -> onnx.ModelProto:
    """Return eight layers of which each fourth has gated full attention, others a delta rule."""
    built = Generating(8, is_quantized=False)
    counts = built.count_tokens()

    def mix(layer: int, value: str) -> str:
        return (_attend_gated if layer % 4 == 3 else _mix_linear)(built, layer, value, counts)

    built.stack(mix)
    return built.finish(21)


def _attend_gated(built: Generating, layer: int, value: str, counts: tuple[str, str]) -> str:
    """Add attention whose result is gated by what the queries' projection gives besides."""
    root = f"/model/layers.{layer}/attn"
    both = built.project(f"{root}/q_proj", value, WIDTH, 2 * HEADS * HEAD_WIDTH)
    split = built.add(
        f"{root}/q_proj/Reshape", "Reshape", [both, built.list_numbers(0, 0, HEADS, 2 * HEAD_WIDTH)]
    )
    halves = [f"{root}/q_gate/Split/output_{number}" for number in range(2)]
    sizes = built.list_numbers(HEAD_WIDTH, HEAD_WIDTH)
    built.add(f"{root}/q_gate/Split", "Split", [split, sizes], halves, axis=-1)
    whole = built.list_numbers(0, 0, HEADS * HEAD_WIDTH)
    query = built.add(f"{root}/q_gate/query/Reshape", "Reshape", [halves[0], whole])
    gate = built.add(f"{root}/q_gate/gate/Reshape", "Reshape", [halves[1], whole])
    key = built.project(f"{root}/k_proj", value, WIDTH, SHARED * HEAD_WIDTH)
    content = built.project(f"{root}/v_proj", value, WIDTH, SHARED * HEAD_WIDTH)
    query = built.normalize_heads(f"{root}/q_norm", query, HEADS)
    key = built.normalize_heads(f"{root}/k_norm", key, SHARED)
    attended = built.attend(layer, [query, key, content], counts, HEAD_WIDTH)
    open_ = built.add(f"{root}/gate/Sigmoid", "Sigmoid", [gate])
    gated = built.add(f"{root}/gate/Mul", "Mul", [attended, open_])
    return built.project(f"{root}/o_proj", gated, HEADS * HEAD_WIDTH, WIDTH)


def _mix_linear(built: Generating, layer: int, value: str, counts: tuple[str, str]) -> str:
    """Add linear attention with a gated delta rule (S. Yang and others, 2024, figure 1)."""
    root = f"/model/layers.{layer}/linear_attn"
    keys, values = _KEY_HEADS * _STATE_WIDTH, _VALUE_HEADS * _STATE_WIDTH
    channels = 2 * keys + values
    joint = built.project(f"{root}/in_proj_qkv", value, WIDTH, channels)
    gate = built.project(f"{root}/in_proj_z", value, WIDTH, values)
    rate = built.project(f"{root}/in_proj_b", value, WIDTH, _VALUE_HEADS)
    step = built.project(f"{root}/in_proj_a", value, WIDTH, _VALUE_HEADS)

    kept = ["batch_size", channels, _KERNEL - 1]
    before = built.take(f"past_key_values.{layer}.conv_state", TensorProto.FLOAT, kept)
    after = built.give(f"present.{layer}.conv_state", TensorProto.FLOAT, kept)
    turned = built.add(f"{root}/conv1d/Transpose_1", "Transpose", [joint], perm=[0, 2, 1])
    node = f"{root}/conv1d/CausalConvWithState"
    weight = built.weigh(f"model.layers.{layer}.linear_attn.conv1d.weight", channels, 1, _KERNEL)
    convolved = built.add(
        node,
        "CausalConvWithState",
        [turned, weight, "", before],
        [f"{node}/output_0", after],
        MICROSOFT,
        activation="silu",
    )
    back = built.add(f"{root}/conv1d/Transpose_2", "Transpose", [convolved], perm=[0, 2, 1])
    parts = [f"{root}/Split/output_{number}" for number in range(3)]
    sizes = built.list_numbers(keys, keys, values)
    built.add(f"{root}/Split", "Split", [back, sizes], parts, axis=-1)
    unit = []
    for kind, part in zip("qk", parts[:2], strict=True):
        form = built.list_numbers(0, 0, _KEY_HEADS, _STATE_WIDTH)
        split = built.add(f"{root}/{kind}_norm/Reshape_1", "Reshape", [part, form])
        norm = built.add(
            f"{root}/{kind}_norm/LpNormalization", "LpNormalization", [split], axis=-1, p=2
        )
        form = built.list_numbers(0, 0, keys)
        unit.append(built.add(f"{root}/{kind}_norm/Reshape_2", "Reshape", [norm, form]))

    bias = built.weigh(f"model.layers.{layer}.linear_attn.dt_bias", _VALUE_HEADS)
    factor = built.weigh(f"model.layers.{layer}.linear_attn.neg_exp_A", _VALUE_HEADS)
    shifted = built.add(f"{root}/decay/Add", "Add", [step, bias])
    positive = built.add(f"{root}/decay/Softplus", "Softplus", [shifted])
    decay = built.add(f"{root}/decay/Mul", "Mul", [positive, factor])
    beta = built.add(f"{root}/beta/Sigmoid", "Sigmoid", [rate])
    kept = ["batch_size", _VALUE_HEADS, _STATE_WIDTH, _STATE_WIDTH]
    before = built.take(f"past_key_values.{layer}.recurrent_state", TensorProto.FLOAT, kept)
    after = built.give(f"present.{layer}.recurrent_state", TensorProto.FLOAT, kept)
    node = f"{root}/LinearAttention"
    attended = built.add(
        node,
        "LinearAttention",
        [*unit, parts[2], before, decay, beta],
        [f"{node}/output_0", after],
        MICROSOFT,
        q_num_heads=_KEY_HEADS,
        kv_num_heads=_VALUE_HEADS,
        update_rule="gated_delta",
        scale=1 / math.sqrt(_STATE_WIDTH),
    )
    form = built.list_numbers(0, 0, _VALUE_HEADS, _STATE_WIDTH)
    split = built.add(f"{root}/norm/Reshape_1", "Reshape", [attended, form])
    weight = built.weigh(f"model.layers.{layer}.linear_attn.norm.weight", _STATE_WIDTH)
    normal = built.add(
        f"{root}/norm/SimplifiedLayerNormalization",
        "SimplifiedLayerNormalization",
        [split, weight],
        epsilon=1e-6,
        axis=-1,
    )
    form = built.list_numbers(0, 0, values)
    normal = built.add(f"{root}/norm/Reshape_2", "Reshape", [normal, form])
    squashed = built.add(f"{root}/gate/Sigmoid", "Sigmoid", [gate])
    active = built.add(f"{root}/gate/Mul_1", "Mul", [gate, squashed])
    gated = built.add(f"{root}/gate/Mul_2", "Mul", [normal, active])
    return built.project(f"{root}/out_proj", gated, values, WIDTH)


#: how many tokens before each are seen in a window
WINDOW = 512


def windowed_decoder() -> onnx.ModelProto:
    """Return twelve layers of ONNX's own operators; each sixth sees all, the others a window."""
    built = Builder()
    shape: list[Any] = ["batch", "sequence"]
    tokens = built.take("input_ids", TensorProto.INT64, shape)
    places = built.take("position_ids", TensorProto.INT64, shape)
    built.give("logits", TensorProto.FLOAT, [*shape, VOCABULARY])
    caches = [built.weigh(name, POSITIONS, HEAD_WIDTH // 2) for name in ("cos", "sin")]
    table = built.weigh("embed.weight", VOCABULARY, WIDTH)
    stream = built.add("/embed/Gather", "Gather", [table, tokens])

    def normalize(name: str, value: str) -> str:
        weight = built.weigh(f"{name[1:].replace('/', '.')}.weight", WIDTH)
        return built.add(f"{name}/RMSNormalization", "RMSNormalization", [value, weight])

    for layer in range(12):
        root = f"/layers.{layer}"
        normal = normalize(f"{root}/attention_norm", stream)
        widths = {"q": HEADS * HEAD_WIDTH, "k": SHARED * HEAD_WIDTH, "v": SHARED * HEAD_WIDTH}
        query, key, value = (
            built.multiply(f"{root}/attention/{kind}_proj", normal, WIDTH, width)
            for kind, width in widths.items()
        )
        query, key = (
            built.add(
                f"{root}/attention/{kind}_rotary",
                "RotaryEmbedding",
                [operand, *caches, places],
                num_heads=heads,
            )
            for kind, operand, heads in (("q", query, HEADS), ("k", key, SHARED))
        )
        kept, shown = [], []
        for kind in ("key", "value"):
            kept.append(
                built.take(
                    f"past.{layer}.{kind}",
                    TensorProto.FLOAT,
                    ["batch", SHARED, "past_sequence", HEAD_WIDTH],
                )
            )
            shown.append(
                built.give(
                    f"present.{layer}.{kind}",
                    TensorProto.FLOAT,
                    ["batch", SHARED, "past_sequence + sequence", HEAD_WIDTH],
                )
            )
        node = f"{root}/attention/Attention"
        window = {} if layer % 6 == 5 else {"left_window_size": WINDOW - 1}
        attended = built.add(
            node,
            "Attention",
            [query, key, value, "", *kept],
            [f"{node}/output_0", *shown],
            is_causal=1,
            q_num_heads=HEADS,
            kv_num_heads=SHARED,
            **window,
        )
        mixed = built.multiply(f"{root}/attention/o_proj", attended, HEADS * HEAD_WIDTH, WIDTH)
        stream = built.add(f"{root}/Add_1", "Add", [stream, mixed])
        normal = normalize(f"{root}/mlp_norm", stream)
        gate = built.multiply(f"{root}/mlp/gate_proj", normal, WIDTH, INNER_WIDTH)
        up = built.multiply(f"{root}/mlp/up_proj", normal, WIDTH, INNER_WIDTH)
        gated = built.add(f"{root}/mlp/SwiGLU", "SwiGLU", [gate, up])
        fed = built.multiply(f"{root}/mlp/down_proj", gated, INNER_WIDTH, WIDTH)
        stream = built.add(f"{root}/Add_2", "Add", [stream, fed])
    built.multiply("/lm_head", normalize("/norm", stream), WIDTH, VOCABULARY)
    built.nodes[-1].output[0] = "logits"
    return built.finish(28)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "built/genai_hybrid": genai_hybrid,
    "built/genai_llama.matmulnbits_int4": genai_llama,
    "built/windowed_decoder.opset28": windowed_decoder,
}
