"""What exporters write out or store is told from its wiring and numbers, and not from less."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from netloupe.explorer.architecture import Architecture
from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load
from tests.architecture.networks import Network
from tests.corpus import corpus_file


def write_lstm(net: Network, steps: int, weights: Callable[[int], tuple[str, str]]) -> str:
    """Add steps of an LSTM of width 4; return the result of the last."""
    x = net.take("x", (steps, 1, 3))
    hidden = held = net.store(np.zeros((1, 4), np.float32))
    for number in range(steps):
        taken, kept = weights(number)
        step = net.add("Gather", x, net.store(np.int64(number)), axis=0)
        gates = net.add("Add", net.add("MatMul", step, taken), net.add("MatMul", hidden, kept))
        name = f"gate{number}_"
        net.nodes.append(
            onnx.helper.make_node(
                "Split", [gates], [f"{name}{i}" for i in range(4)], axis=1, num_outputs=4
            )
        )
        enter, forget, give = (net.add("Sigmoid", f"{name}{i}") for i in range(3))
        fresh = net.add("Tanh", f"{name}3")
        held = net.add("Add", net.add("Mul", forget, held), net.add("Mul", enter, fresh))
        hidden = net.add("Mul", give, net.add("Tanh", held))
    return hidden


def unrolled(steps: int, is_shared: bool = True) -> Architecture:
    net = Network()
    shared = net.weight(3, 16), net.weight(4, 16)

    def weights(number: int) -> tuple[str, str]:
        return shared if is_shared else (net.weight(3, 16), net.weight(4, 16))

    y = write_lstm(net, steps, weights)
    return net.finish(net.linear(y, 4, 5), shape=(1, 5)).architecture


def test_steps_that_share_their_weights_are_a_layer_written_out() -> None:
    told = unrolled(3)
    assert told.sentence == (
        "Recurrent network: 1 LSTM layer of width 4 written out in 3 steps, 5 outputs."
    )
    assert [(block.name, block.count) for block in told.blocks] == [("LSTM step", 3)]
    assert unrolled(1).family == ""
    assert unrolled(3, is_shared=False).family == ""


def stream(is_given: bool = True, is_joined: bool = False) -> Architecture:
    """Return what is said of one step of an LSTM that takes its state, and gives the new one."""
    net = Network()
    x, hidden, held = net.take("x", (1, 3)), net.take("h", (1, 4)), net.take("c", (1, 4))
    if not is_given:
        held = net.store(np.zeros((1, 4), np.float32))
    if is_joined:
        joined = net.add("Concat", x, hidden, axis=1)
        gates = net.add("MatMul", joined, net.weight(7, 16))
    else:
        taken = net.add("MatMul", x, net.weight(3, 16))
        gates = net.add("Add", taken, net.add("MatMul", hidden, net.weight(4, 16)))
    names = [f"gate{number}" for number in range(4)]
    net.nodes.append(onnx.helper.make_node("Split", [gates], names, axis=1, num_outputs=4))
    enter, forget, give = (net.add("Sigmoid", name) for name in names[:3])
    kept = net.add("Mul", forget, held)
    held = net.add("Add", kept, net.add("Mul", enter, net.add("Tanh", names[3])))
    hidden = net.add("Mul", give, net.add("Tanh", held))
    return net.finish(net.linear(hidden, 4, 5), shape=(1, 5)).architecture


@pytest.mark.parametrize("is_joined", [False, True])
def test_a_layer_that_is_run_step_by_step_is_told_as_recurrent(is_joined: bool) -> None:
    expected = "Recurrent network: 1 LSTM layer of width 4, 5 outputs."
    assert stream(is_joined=is_joined).sentence == expected
    assert "LSTM" not in stream(is_given=False, is_joined=is_joined).sentence


def test_steps_that_convolve_input_and_state_are_a_conv_lstm() -> None:
    net = Network()
    frames = net.take("frames", (3, 1, 2, 8, 8))
    kernel = net.weight(16, 6, 3, 3)
    hidden = held = net.store(np.zeros((1, 4, 8, 8), np.float32))
    starts = []
    for number in range(3):
        starts.append(len(net.nodes))
        x = net.add("Gather", frames, net.store(np.int64(number)), axis=0)
        x = net.add("Concat", x, hidden, axis=1)
        gates = net.add("Conv", x, kernel, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        names = [f"gate{number}_{gate}" for gate in range(4)]
        net.nodes.append(onnx.helper.make_node("Split", [gates], names, axis=1, num_outputs=4))
        enter, forget, give = (net.add("Sigmoid", name) for name in names[:3])
        kept = net.add("Mul", forget, held)
        held = net.add("Add", kept, net.add("Mul", enter, net.add("Tanh", names[3])))
        hidden = net.add("Mul", give, net.add("Tanh", held))
    end = len(net.nodes)
    model = net.finish(net.conv(hidden, 4, 1, 1), shape=(1, 1, 8, 8))
    assert model.architecture.sentence.startswith(
        "Network of convolutions and recurrent layers: "
        "ConvLSTM layer of width 4 written out in 3 steps,"
    )
    found = recognise(model.graph.nodes[starts[2] : end])
    assert found is not None
    assert (found.name, found.facts) == ("ConvLSTM cell", ("3×3",))


def project(net: Network, x: str) -> str:
    """Return queries, keys and values of two heads, one behind another."""
    parts = net.add("Reshape", net.linear(x, 8, 24), net.numbers(1, 6, 3, 2, 4))
    return net.add("Transpose", parts, perm=[2, 0, 3, 1, 4])


def attend(other: str = "", equation: str = "bhqd,qkd->bhqk") -> Architecture:
    """Return what is said of blocks whose queries meet a table of positions.

    Queries, keys and values are cut out of one projection; with ``other`` keys and values of
    another value instead.
    """
    net = Network()
    x = net.take("x", (1, 6, 8))
    beside = net.take("other", (1, 6, 8)) if other else x
    table = net.store(np.full((6, 6, 4)[-len(equation.split(",")[1].split("->")[0]) :], 0.5, "f4"))
    for _ in range(3):
        normed = net.norm(x, 8)
        own = project(net, normed)
        context = project(net, beside) if other else own
        heads = [
            net.add("Gather", source, net.store(np.int64(place)), axis=0)
            for place, source in enumerate((own, context, context))
        ]
        scores = net.add("MatMul", heads[0], net.add("Transpose", heads[1], perm=[0, 1, 3, 2]))
        scores = net.add("Mul", scores, net.store(np.float32(0.5)))
        scores = net.add("Add", scores, net.add("Einsum", heads[0], table, equation=equation))
        mixed = net.add("MatMul", net.add("Softmax", scores, axis=-1), heads[2])
        mixed = net.add("Transpose", mixed, perm=[0, 2, 1, 3])
        mixed = net.linear(net.add("Reshape", mixed, net.numbers(1, 6, 8)), 8, 8)
        x = net.add("Add", x, mixed)
        x = net.add("Add", x, net.feed(net.norm(x, 8)))
    return net.finish(net.linear(x, 8, 5)).architecture


def test_queries_that_meet_an_entry_for_each_pair_have_relative_positions() -> None:
    told = attend()
    assert "self-attention 2 heads × 4, relative positions" in told.summary
    plain = attend(equation="bhqd,kd->bhqk")
    assert "self-attention 2 heads × 4" in plain.summary
    assert "relative" not in plain.summary


def test_keys_of_another_value_make_no_self_attention() -> None:
    assert "self-attention" not in attend(other="other").summary


def masked(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Architecture:
    """Return what is said of a skeleton with a triangle for its mask, changed in some way."""
    model = onnx.load(corpus_file(name))
    found = [t for t in model.graph.initializer if tuple(t.dims)[-2:] == (7, 7)]
    assert len(found) == 1
    triangle = np.triu(np.full((7, 7), np.finfo(np.float32).min, np.float32), 1)
    mask = change(np.broadcast_to(triangle, tuple(found[0].dims)).copy())
    found[0].CopyFrom(numpy_helper.from_array(mask, found[0].name))
    return load(model.SerializeToString()).architecture


@pytest.mark.parametrize("name", ["exported/bart.dynamo.onnx", "exported/whisper.dynamo.onnx"])
def test_a_stored_mask_is_causal_by_its_numbers(name: str) -> None:
    def see_next(mask: np.ndarray) -> np.ndarray:
        mask[..., 2, 3] = 0
        return mask

    def see_all(mask: np.ndarray) -> np.ndarray:
        return np.zeros_like(mask)

    def hide_first(mask: np.ndarray) -> np.ndarray:
        mask[..., 0] = -1e9
        return mask

    told = masked(name, lambda mask: mask)
    assert told.blocks[1].facts["causal"] is True
    assert "causal, cross-attention" in told.summary
    for change in (see_next, see_all, hide_first):
        assert "causal" not in masked(name, change).summary


def sampled(change: Callable[[onnx.NodeProto], None]) -> Architecture:
    """Return what is said of a detector whose attention samples maps, with its nodes changed."""
    model = onnx.load(corpus_file("exported/rtdetr.legacy.onnx"))
    for node in model.graph.node:
        if "/decoder/layers.3/encoder_attn/" in node.name:
            change(node)
    return load(model.SerializeToString()).architecture


def test_sampled_attention_has_weights_places_and_maps_of_another_value() -> None:
    def leave(node: onnx.NodeProto) -> None:
        pass

    def forget_weights(node: onnx.NodeProto) -> None:
        if node.op_type == "Softmax":
            node.op_type = "Relu"
            del node.attribute[:]

    def sample_queries(node: onnx.NodeProto) -> None:
        if node.name.endswith("value_proj/MatMul"):
            node.input[0] = "/model/model/decoder/layers.3/encoder_attn/Add_output_0"

    told = sampled(leave)
    assert "6 decoder blocks (post-norm LayerNorm; self-attention 4 heads × 8, deformable" in (
        told.summary
    )
    assert told.blocks[-1].facts["deformable"] is True
    for change in (forget_weights, sample_queries):
        changed = sampled(change).summary
        assert "6 blocks, 5 of them transformer blocks" in changed
        assert sampled(change).family == ""


def called(change: Callable[[onnx.FunctionProto], None]) -> Architecture:
    """Return what is said of layers that are functions, with these changed."""
    model = onnx.load(corpus_file("exported/lstm.legacy-functions.onnx"))
    for function in model.functions:
        change(function)
    return load(model.SerializeToString()).architecture


def test_layers_that_are_functions_are_told_by_their_bodies() -> None:
    def rename(function: onnx.FunctionProto) -> None:
        function.doc_string = "GRU"

    def oscillate(function: onnx.FunctionProto) -> None:
        for node in function.node:
            if node.op_type == "GRU":
                node.op_type = "Sin"
                del node.attribute[:], node.input[1:], node.output[1:]

    def add_linear(function: onnx.FunctionProto) -> None:
        if function.name == "Linear":
            double = function.node.add(op_type="MatMul", output=["more"])
            double.input.extend([function.output[0], function.input[1]])

    plain = load(corpus_file("exported/lstm.legacy.onnx")).architecture
    assert called(rename).sentence == plain.sentence
    assert called(oscillate).family == ""
    assert called(add_linear).family == ""


def test_a_sink_behind_the_scores_of_each_head_is_of_the_attention() -> None:
    net = Network()
    x = net.embed()
    for _ in range(3):
        normed = net.norm(x, 8)
        split = net.numbers(0, -1, 2, 4)
        query, key, value = (net.add("Reshape", net.linear(normed, 8, 8), split) for _ in range(3))
        query, value = (net.add("Transpose", one, perm=[0, 2, 1, 3]) for one in (query, value))
        scores = net.add("MatMul", query, net.add("Transpose", key, perm=[0, 2, 3, 1]))
        scores = net.add("Mul", scores, net.store(np.float32(0.5)))
        scores = net.add("Add", scores, net.triangle("ids"))
        sinks = net.add("Reshape", net.weight(2), net.numbers(1, -1, 1, 1))
        rows = net.add("Shape", net.add("ReduceMax", scores, net.numbers(3), keepdims=1))
        both = net.add("Concat", scores, net.add("Expand", sinks, rows), axis=-1)
        both = net.add("Sub", both, net.add("ReduceMax", both, net.numbers(3), keepdims=1))
        weights = net.add("Softmax", both, axis=-1)
        weights = net.add("Slice", weights, *map(net.numbers, (0, -1, 3)))
        joined = net.add("Transpose", net.add("MatMul", weights, value), perm=[0, 2, 1, 3])
        x = net.add("Add", x, net.linear(net.add("Reshape", joined, net.numbers(0, -1, 8)), 8, 8))
        x = net.add("Add", x, net.feed(net.norm(x, 8)))
    told = net.finish(net.linear(net.norm(x, 8), 8, 100)).architecture
    assert "3 blocks (pre-norm LayerNorm; self-attention 2 heads × 4, causal; MLP" in told.summary
