"""Networks that differ in one thing from one of a family are not said to be of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.architecture import Architecture
from netloupe.explorer.architecture import architecture as words
from netloupe.explorer.readers.load import load
from tests.architecture.networks import Network


def decoder(
    masks: Callable[[Network, int], str | None], blocks: int = 3, between: str = ""
) -> Architecture:
    """Return what is said of blocks over tokens, each with a mask."""
    net = Network()
    x = net.embed()
    for number in range(blocks):
        x = net.block(x, masks(net, number))
        if between and number == 0:
            x = net.add("Add", x, net.linear(x, 8, 8)) if between == "linear" else x
    return net.finish(net.linear(net.norm(x, 8), 8, 100)).architecture


def test_tokens_that_see_only_what_was_before_make_a_decoder() -> None:
    told = decoder(lambda net, _: net.triangle("ids"))
    assert told.family == "decoder-only transformer"
    assert told.summary.startswith(
        "Decoder-only transformer: 3 blocks (pre-norm LayerNorm; self-attention 2 heads × 4, "
        "causal; MLP 8 → 32, GELU), vocabulary 100."
    )
    expected = {"vocabulary": 100, "width": 8, "inner_width": 32, "heads": 2, "head_width": 4}
    assert {**told.facts, **expected} == told.facts
    assert "positions" not in told.facts


def test_tokens_that_see_all_make_an_encoder() -> None:
    assert decoder(lambda net, _: None).family == "encoder-only transformer"


def stored_square(net: Network, number: int) -> str:
    own = np.eye(4, dtype=np.bool_)
    return net.store(np.where(own, np.float32(0), np.float32(-1e9))[None, None])


def given_square(net: Network, number: int) -> str:
    return net.take(f"mask{number}", (1, 1, "sequence", "sequence"))


def triangle_in_first(net: Network, number: int) -> str | None:
    return net.triangle("ids") if number == 0 else None


@pytest.mark.parametrize("masks", [stored_square, given_square, triangle_in_first])
def test_where_a_mask_may_be_any_only_the_blocks_are_told(
    masks: Callable[[Network, int], str | None],
) -> None:
    told = decoder(masks)
    assert told.family == ""
    assert told.sentence == (
        "Transformer: vocabulary 100, 3 transformer blocks (pre-norm LayerNorm; "
        "self-attention 2 heads × 4; MLP 8 → 32, GELU), output over the vocabulary."
    )


def test_layers_between_blocks_that_are_of_none_leave_it_unsaid() -> None:
    assert decoder(lambda net, _: None, between="linear").family == ""


def test_a_single_block_is_no_stack() -> None:
    assert decoder(lambda net, _: None, blocks=1).family == ""


def two_stacks(join: str) -> Architecture:
    """Return what is said of an image and a text whose features are put together."""
    net = Network()
    image = net.take("image", (1, 3, 32, 32))
    patches = net.add("Conv", image, net.weight(8, 3, 8, 8), kernel_shape=[8, 8], strides=[8, 8])
    x = net.add("Reshape", patches, net.numbers(1, 8, 16))
    x = net.add("Transpose", x, perm=[0, 2, 1])
    text = net.embed()
    for _ in range(3):
        x = net.block(x)
        text = net.block(text, net.triangle("ids"))
    sides = [net.add("ReduceMean", side, net.numbers(1), keepdims=0) for side in (x, text)]
    sides = [net.add("LpNormalization", side, axis=-1, p=2) for side in sides]
    if join == "MatMul":
        sides[1] = net.add("Transpose", sides[1], perm=[1, 0])
    return net.finish(net.add(join, *sides)).architecture


def test_two_towers_are_multiplied_with_one_another() -> None:
    told = two_stacks("MatMul")
    assert told.family == "two towers: vision transformer and text transformer"
    assert "compared by cosine" in told.summary
    assert [block.count for block in told.blocks] == [3, 3]
    assert two_stacks("Add").family == ""


def translator(all_cross: bool, from_last: bool = True) -> Architecture:
    net = Network()
    x = net.embed("source")
    inner = [x := net.block(x) for _ in range(3)]
    context = inner[-1] if from_last else inner[0]
    y = net.embed("target")
    for number in range(3):
        y = net.block(y, net.triangle("target"), context if all_cross or number != 1 else None)
    return net.finish(net.linear(y, 8, 100)).architecture


def test_every_block_of_a_decoder_attends_to_what_the_encoder_gave_at_last() -> None:
    told = translator(all_cross=True)
    assert told.family == "encoder-decoder transformer"
    assert [(block.name, block.count) for block in told.blocks] == [
        ("encoder block", 3),
        ("decoder block", 3),
    ]
    assert translator(all_cross=False).family == ""
    assert translator(all_cross=True, from_last=False).family == ""


def residual(net: Network, x: str, width: int, depthwise: bool = False) -> str:
    inner = net.add("Relu", net.conv(x, width, width, group=width if depthwise else 1))
    return net.add("Relu", net.add("Add", x, net.conv(inner, width, width)))


def classifier(body: Callable[[Network, str], str], width: int = 8) -> Architecture:
    net = Network()
    x = net.add("Relu", net.conv(net.take("image", (1, 3, 32, 32)), 3, 8))
    x = net.add("Flatten", net.add("GlobalAveragePool", body(net, x)))
    x = net.add("Gemm", x, net.weight(width, 10), net.weight(10))
    return net.finish(net.add("Softmax", x), shape=(1, 10)).architecture


def test_blocks_of_a_residual_network_are_all_of_one_kind() -> None:
    def same(net: Network, x: str) -> str:
        for _ in range(4):
            x = residual(net, x, 8)
        return x

    def mixed(net: Network, x: str) -> str:
        return residual(net, residual(net, same(net, x), 8, depthwise=True), 8)

    def beside(net: Network, x: str) -> str:
        return net.add("Add", same(net, x), net.conv(x, 8, 8, 1))

    told = classifier(same)
    assert told.summary.startswith(
        "Residual CNN (basic): stages of 4 blocks, 8 → 8 channels, 10 classes."
    )
    assert told.facts["classes"] == 10
    assert classifier(mixed).family == ""
    assert classifier(beside).family == ""


def test_one_block_that_is_used_several_times_is_no_stage() -> None:
    """So does a network at equilibrium, whose first step takes a state of zeros."""

    def again(net: Network, x: str) -> str:
        one, two = net.weight(8, 8, 3, 3), net.weight(8, 8, 3, 3)

        def convolve(taken: str, weight: str) -> str:
            return net.add("Conv", taken, weight, kernel_shape=[3, 3], pads=[1, 1, 1, 1])

        for _ in range(5):
            inner = convolve(net.add("Relu", convolve(x, one)), two)
            x = net.add("Relu", net.add("Add", x, inner))
        return x

    told = classifier(again)
    assert "stage_blocks" not in told.facts
    assert "residual block of 8 channels used 5 times" in told.sentence


def test_dense_layers_grow_by_the_same() -> None:
    def dense(*growths: int) -> Callable[[Network, str], str]:
        def body(net: Network, x: str) -> str:
            width = 8
            for block in range(2):
                for growth in growths:
                    narrow = net.add("Relu", net.conv(net.add("Relu", x), width, 16, 1))
                    x = net.add("Concat", x, net.conv(narrow, 16, growth), axis=1)
                    width += growth
                if block == 0:
                    x = net.add("Relu", x)
                    x = net.conv(x, width, width // 2, 1)
                    x = net.add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
                    width //= 2
            return x

        return body

    told = classifier(dense(4, 4, 4), 22)
    assert told.summary.startswith("Densely connected CNN: blocks of 3, 3 layers")
    assert classifier(dense(4, 4, 6), 25).family == ""


def test_a_plain_network_has_no_sum() -> None:
    def row(net: Network, x: str) -> str:
        for _ in range(2):
            x = net.add("Relu", net.conv(x, 8, 8))
            x = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        return net.add("Relu", net.conv(x, 8, 8))

    assert classifier(row).summary.startswith("CNN: stages of 2, 1, 1 convolutions")
    two = classifier(lambda net, x: net.add("Mul", row(net, x), net.add("Neg", row(net, x))))
    assert two.family == ""


def unet(order: tuple[int, ...]) -> Architecture:
    net = Network()
    x = net.conv(net.take("image", (1, 3, 32, 32)), 3, 8)
    levels = []
    for _ in range(2):
        levels.append(x := net.add("Relu", net.conv(x, 8, 8)))
        x = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.add("Relu", net.conv(x, 8, 8))
    for place in order:
        x = net.add("Resize", x, "", net.store(np.array([1, 1, 2, 2], np.float32)))
        x = net.add("Relu", net.conv(net.add("Concat", x, levels[place], axis=1), 16, 8))
    return net.finish(net.conv(x, 8, 2, 1)).architecture


def test_wires_across_a_unet_are_nested() -> None:
    told = unet((1, 0))
    assert told.family == "UNet"
    assert told.facts["skips"] == 2
    assert unet((0, 1)).family == ""


def test_pixels_are_shuffled_at_the_end() -> None:
    def shuffle(is_last: bool) -> Architecture:
        net = Network()
        x = net.add("Relu", net.conv(net.take("image", (1, 1, 8, 8)), 1, 8))
        x = net.add("DepthToSpace", net.conv(x, 8, 4), blocksize=2)
        return net.finish(x if is_last else net.conv(x, 1, 1)).architecture

    assert shuffle(is_last=True).summary.startswith(
        "Super-resolution CNN: 2 convolutions 1 → 8 → 4, pixel shuffle ×2."
    )
    assert shuffle(is_last=False).family == ""


def test_a_recurrent_network_has_no_other_layers() -> None:
    def recurrent(before: str = "") -> Architecture:
        net = Network()
        x = net.take("x", (6, 1, 8))
        if before == "Conv":
            x = net.add("Conv", x, net.weight(1, 1, 3), kernel_shape=[3], pads=[1, 1])
        elif before:
            x = net.add(before, x)
        node = helper.make_node(
            "LSTM", [x, net.weight(1, 64, 8), net.weight(1, 64, 16)], ["", "last"], hidden_size=16
        )
        net.nodes.append(node)
        y = net.add("Squeeze", "last", net.numbers(0))
        return net.finish(net.linear(y, 16, 5), shape=(1, 5)).architecture

    told = recurrent()
    assert told.summary.startswith("Recurrent network: 1 LSTM layer of width 16, 5 outputs.")
    assert recurrent("Conv").family == ""
    assert recurrent("Sin").family == ""


def test_a_function_that_is_called_like_an_operator_is_not_that_operator() -> None:
    body = helper.make_function(
        "local",
        "LSTM",
        ["x"],
        ["y"],
        [helper.make_node("Neg", ["x"], ["y"])],
        [helper.make_opsetid("", 21)],
    )
    taken = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])
    given = helper.make_tensor_value_info("z", TensorProto.FLOAT, [4])
    nodes = [
        helper.make_node("LSTM", ["x"], ["y"], domain="local"),
        helper.make_node("LSTM", ["y"], ["z"], domain="local"),
    ]
    graph = helper.make_graph(nodes, "g", [taken], [given])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, functions=[body], opset_imports=opsets)
    assert not load(model.SerializeToString()).architecture


def test_names_metadata_and_documentation_say_nothing() -> None:
    graph = helper.make_graph(
        [helper.make_node("Relu", ["gpt2/h.0/attn"], ["logits"], "transformer/ResNet")],
        "GPT2LMHeadModel",
        [helper.make_tensor_value_info("gpt2/h.0/attn", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [4])],
        doc_string="BERT",
    )
    model = helper.make_model(graph, doc_string="a decoder-only transformer")
    onnx.helper.set_model_props(model, {"architectures": "LlamaForCausalLM"})
    assert not load(model.SerializeToString()).architecture


def test_a_graph_without_nodes_is_nothing() -> None:
    taken = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])
    graph = helper.make_graph([], "g", [taken], [taken])
    told = load(helper.make_model(graph).SerializeToString()).architecture
    assert not told
    assert told.summary == ""


def test_a_rule_that_fails_costs_some_of_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(model: object) -> None:
        raise IndexError

    _, by_blocks, by_operators = words._WAYS
    told = []
    for ways in ((fail, by_blocks), (fail, fail, by_operators), (fail,)):
        monkeypatch.setattr(words, "_WAYS", ways)
        told.append(decoder(lambda net, _: None).sentence)
    assert told[0] == "Network: 3 transformer blocks, embedding, linear layer."
    assert told[1].startswith("Graph of ")
    assert told[2] == ""


def test_it_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    net = Network()
    x = net.embed()
    for _ in range(3):
        x = net.block(x)
    model = net.finish(net.linear(x, 8, 100))
    first = model.architecture
    assert first
    monkeypatch.setattr(words, "tell_family", None)
    assert model.architecture == first


def stages(axes: int) -> Architecture:
    """Return what is said of blocks in stages that become wider, over so many axes of places."""
    net = Network()
    x = net.take("x", (1, 1, *[64] * axes))
    widths = (1, 8, 16)
    for taken, given in itertools.pairwise(widths):
        kernel = net.weight(given, taken, *[2] * axes)
        x = net.add("Conv", x, kernel, kernel_shape=[2] * axes, strides=[2] * axes)
        flat = net.add("Reshape", x, net.numbers(0, given, -1))
        tokens = net.add("Transpose", flat, perm=[0, 2, 1])
        for _ in range(2):
            normed = net.norm(tokens, given)
            tokens = net.add("Add", tokens, net.attend(normed, normed, given))
            tokens = net.add("Add", tokens, net.feed(net.norm(tokens, given), given, 4 * given))
        back = net.add("Transpose", tokens, perm=[0, 2, 1])
        size = 64 // (given // 4)
        x = net.add("Reshape", back, net.numbers(0, given, *[size] * axes))
    pooled = net.add("GlobalAveragePool", x)
    return net.finish(net.linear(net.add("Flatten", pooled), 16, 10)).architecture


def test_stages_over_a_wave_are_no_vision() -> None:
    assert stages(2).family == "hierarchical vision transformer"
    assert "vision" not in f"{stages(1).family} {stages(1).summary}".lower()


def test_an_mlp_names_each_of_its_activations() -> None:
    def tell(*activations: str) -> str:
        net = Network()
        x = net.take("x", (1, 8))
        for activation in activations:
            x = net.add(activation, net.linear(x, 8, 8))
        return net.finish(net.linear(x, 8, 4)).architecture.summary

    assert tell("Relu", "Relu").startswith("MLP: 8 → 8 → 8 → 4, ReLU.")
    assert tell("Relu", "Tanh", "Relu", "Elu").startswith(
        "MLP: 8 → 8 → 8 → 8 → 8 → 4, ReLU, tanh, ELU."
    )


_DELTA = "linear attention 2 heads × 4, gated delta rule"


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (
            "LLLGLLLG",
            f"in turn 3 with {_DELTA} and 1 with self-attention 2 heads × 4, all causal",
        ),
        (
            "GLGL",
            f"in turn 1 with self-attention 2 heads × 4 and 1 with {_DELTA}, all causal",
        ),
        (
            "LLGLL",
            f"4 with {_DELTA} and 1 with self-attention 2 heads × 4, all causal",
        ),
        ("LLLL", f"{_DELTA}, causal"),
        ("GGGG", "self-attention 2 heads × 4, causal"),
    ],
)
def test_layers_of_two_kinds_of_attention_are_told_apart(kinds: str, said: str) -> None:
    net = Network()
    x = net.embed()
    for kind in kinds:
        normed = net.norm(x, 8)
        if kind == "L":
            y = net.attend_linearly(normed)
        else:
            y = net.attend(normed, normed, mask=net.triangle("ids"))
        x = net.add("Add", x, y)
        x = net.add("Add", x, net.feed(net.norm(x, 8)))
    told = net.finish(net.linear(net.norm(x, 8), 8, 100), opset=27).architecture
    assert told.summary.startswith(
        f"Decoder-only transformer: {len(kinds)} blocks (pre-norm LayerNorm; {said}; "
        "MLP 8 → 32, GELU), vocabulary 100."
    )


@pytest.mark.parametrize(
    ("windows", "said"),
    [
        ([8, 8, 0, 8, 8, 0], "causal, window 8 in 2 of 3; "),
        ([8, 8, 8, 8, 8, 0], "causal, window 8 in 5 of 6; "),
        ([8, 8, 8], "causal, window 8; "),
        ([8, 9, 8, 9], "causal; "),
        ([0, 0, 0], "causal; "),
    ],
)
def test_windows_of_attention_are_told_with_how_many_layers_have_one(
    windows: list[int], said: str
) -> None:
    net = Network()
    x = net.embed()
    for window in windows:
        attended = net.attend_fused(net.norm(x, 8), left_window_size=window - 1)
        x = net.add("Add", x, attended)
        x = net.add("Add", x, net.feed(net.norm(x, 8)))
    told = net.finish(net.linear(net.norm(x, 8), 8, 100), opset=25).architecture
    assert f"self-attention 2 heads × 4, {said}MLP" in told.summary


@pytest.mark.parametrize(
    ("comparison", "is_turned", "seen"),
    [
        ("Greater", False, 5),
        ("GreaterOrEqual", False, 6),
        ("Less", True, 5),
        ("LessOrEqual", True, 6),
    ],
)
def test_a_window_is_told_by_what_positions_are_compared_with(
    comparison: str, is_turned: bool, seen: int
) -> None:
    net = Network()
    x = net.embed()
    count = net.add("Squeeze", net.add("Slice", net.add("Shape", "ids"), *map(net.numbers, (1, 2))))
    zero, one = (net.store(np.int64(number)) for number in (0, 1))
    places = net.add("Range", zero, count, one)
    keys = net.add("Unsqueeze", places, net.numbers(0))
    queries = net.add("Unsqueeze", places, net.numbers(1))
    before = net.add("Sub", queries, net.numbers(5))
    operands = (before, keys) if is_turned else (keys, before)
    near = net.add(comparison, *operands)
    seen_both = net.add("And", near, net.add("LessOrEqual", keys, queries))
    far = net.store(np.float32(-1e9))
    mask = net.add("Where", seen_both, net.store(np.float32(0)), far)
    for _ in range(2):
        normed = net.norm(x, 8)
        x = net.add("Add", x, net.attend(normed, normed, mask=mask))
        x = net.add("Add", x, net.feed(net.norm(x, 8)))
    told = net.finish(net.linear(net.norm(x, 8), 8, 100)).architecture
    assert f"self-attention 2 heads × 4, causal, window {seen}; " in told.summary


def test_norms_before_and_behind_a_branch_are_both_told() -> None:
    net = Network()
    x = net.embed()
    for _ in range(3):
        x = net.add("Add", x, net.norm(net.attend_fused(net.norm(x, 8)), 8))
        x = net.add("Add", x, net.norm(net.feed(net.norm(x, 8)), 8))
    told = net.finish(net.linear(net.norm(x, 8), 8, 100), opset=25).architecture
    assert "3 blocks (pre- and post-norm LayerNorm; " in told.summary


def test_norms_that_add_are_told_by_what_the_sums_behind_them_take() -> None:
    def tell(place: int) -> str:
        net = Network()
        x = net.embed()
        normed = net.norm(x, 8)
        sums = [normed, x]
        for number in range(3):
            for part in (net.attend_fused, net.feed):
                branch = part(normed)
                outputs = [f"n{number}{part.__name__}", "", "", f"s{number}{part.__name__}"]
                net.nodes.append(
                    helper.make_node(
                        "SkipLayerNormalization",
                        [sums[place], branch, net.weight(8)],
                        outputs,
                        domain="com.microsoft",
                    )
                )
                normed, sums = outputs[0], [outputs[0], outputs[3]]
        return net.finish(net.linear(normed, 8, 100), opset=25).architecture.summary

    assert "3 blocks (pre-norm LayerNorm; " in tell(1)
    assert "3 blocks (post-norm LayerNorm; " in tell(0)


def test_an_mlp_behind_attention_is_not_beside_it_where_a_norm_adds() -> None:
    """Attention takes the stream, and the MLP a norm that adds attention to the same stream."""
    net = Network()
    stream = net.embed()
    for step in range(3):
        stream = net.add("Add", stream, net.store(np.full((1, 12, 8), step, np.float32)))
        for part in (lambda x: net.attend(x, x), net.feed):
            branch = part(stream)
            node = helper.make_node(
                *("SkipLayerNormalization", [stream, branch, net.weight(8)]),
                [f"n{len(net.nodes)}"],
                domain="com.microsoft",
            )
            net.nodes.append(node)
            stream = node.output[0]
    told = net.finish(net.linear(stream, 8, 100), opset=25).architecture.summary
    assert "3 blocks (post-norm LayerNorm; self-attention " in told


def test_attention_without_a_better_name_is_not_told_as_a_kind() -> None:
    net = Network()
    x = net.embed()
    for number in range(4):
        normed = net.norm(x, 8)
        context = normed if number % 2 else net.add("Neg", normed)
        x = net.add("Add", x, net.attend(normed, context, mask=net.triangle("ids")))
        x = net.add("Add", x, net.feed(net.norm(x, 8)))
    told = net.finish(net.linear(net.norm(x, 8), 8, 100)).architecture
    assert " with attention" not in told.summary


@pytest.mark.parametrize("is_beside", [False, True])
def test_a_graph_beside_attention_makes_no_transformer_blocks(is_beside: bool) -> None:
    net = Network()
    x = net.embed()
    ends = [net.take(name, (30, 2), TensorProto.INT64) for name in ("from", "to")]
    for _ in range(3):
        mixed = net.attend(x, x)
        if is_beside:
            sent = net.add("GatherND", net.linear(x, 8, 8), ends[0])
            passed = net.add("ScatterND", x, ends[1], sent, reduction="add")
            mixed = net.add("Add", mixed, passed)
        x = net.norm(net.add("Add", x, mixed), 8)
        x = net.norm(net.add("Add", x, net.feed(x)), 8)
    sentence = net.finish(net.linear(x, 8, 100)).architecture.sentence
    assert ("ransformer" in sentence) != is_beside, sentence
