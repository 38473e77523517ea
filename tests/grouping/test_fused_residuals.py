"""Sums of residuals that an optimizer fused with the norms behind them, and lost the names of."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.member_nodes import list_member_nodes
from netloupe.explorer.model import Model
from tests.unrolled import WIDTH, Writer


def add_fused(writer: Writer, value: str, stream: str, *, gives_sum: bool) -> tuple[str, str]:
    """Add a norm with the sum before it; return what it gives: the norm, and the sum if asked."""
    scale, shift = (writer.weight(name, WIDTH) for name in ("scale", "shift"))
    operands = value, stream, scale, shift
    normed = writer.add("", "SkipLayerNormalization", *operands, domain="com.microsoft")
    node = writer.nodes[-1]
    node.name = f"SkipLayerNorm_{len(writer.nodes)}" if writer.naming == "legacy" else ""
    if not gives_sum:
        return normed, normed
    total = f"{normed}_sum"
    node.output.extend(["", "", total])
    return normed, total


def make_encoder(layers: int, *, naming: str, is_before: bool) -> Model:
    """Return an encoder whose sums are fused with norms.

    Parameters
    ----------
    is_before
        Whether norms come before attention and MLP, so that the last sum is fused with the norm
        behind all layers; else behind them.
    """
    writer = Writer(naming)
    writer.inputs = {"x": [1, WIDTH]}
    stem = writer.add("stem", "MatMul", "x", writer.weight("stem", WIDTH, WIDTH))
    stream = writer.add("stem", "Tanh", stem)
    scale, shift = (writer.weight(name, WIDTH) for name in ("scale", "shift"))
    norm = writer.add("norm", "LayerNormalization", stream, scale, shift) if is_before else stream
    for layer in range(layers):
        for part, act in (("attention", "Softmax"), ("mlp", "Relu")):
            scope, value = f"layer.{layer}/{part}", norm
            for number in range(2):
                weight = writer.weight(f"{layer}.{part}.{number}", WIDTH, WIDTH)
                value = writer.add(f"{scope}/dense{number}", "MatMul", value, weight)
                value = writer.add(scope, act, value) if not number else value
            is_end = layer == layers - 1 and part == "mlp"
            norm, stream = add_fused(writer, value, stream, gives_sum=is_before and not is_end)
    value = writer.add("head", "MatMul", norm, writer.weight("head", WIDTH, WIDTH))
    writer.outputs = [writer.add("head", "Sigmoid", value)]
    return writer.load()


@pytest.mark.parametrize("is_before", [True, False])
def test_a_fused_sum_ends_the_layer_whose_sum_it_is(is_before: bool) -> None:
    model = make_encoder(4, naming="legacy", is_before=is_before)
    root = build_group_tree(model.graph).root
    (repeat,) = [group for group in root.inner_groups() if group.kind == "repeat"]
    sizes = [len(list_member_nodes(one, 99)) for one in repeat.inner_groups()]
    assert sizes == [8] * 4
    beside = [node.op_type for node in root.children if not isinstance(node, Group)]
    assert "SkipLayerNormalization" not in beside


def make_written_encoder(layers: int) -> Model:
    """Return an encoder without names of which only the last sum was fused with a norm."""
    writer = Writer("plain")
    writer.inputs = {"x": [1, WIDTH]}
    scale, shift = (writer.weight(name, WIDTH) for name in ("scale", "shift"))
    stream = "x"
    for layer in range(layers):
        for part, act in (("attention", "Softmax"), ("mlp", "Relu")):
            value = writer.add("", "LayerNormalization", stream, scale, shift)
            for number in range(2):
                weight = writer.weight(f"{layer}.{part}.{number}", WIDTH, WIDTH)
                value = writer.add("", "MatMul", value, weight)
                value = writer.add("", act, value) if not number else value
            if layer < layers - 1 or part == "attention":
                stream = writer.add("", "Add", stream, value)
    norm, _ = add_fused(writer, value, stream, gives_sum=False)
    writer.outputs = [writer.add("", "MatMul", norm, writer.weight("head", WIDTH, WIDTH))]
    return writer.load()


def test_the_last_block_may_end_in_a_fused_sum() -> None:
    root = build_group_tree(make_written_encoder(5).graph).root
    (repeat,) = [group for group in root.inner_groups() if group.kind == "repeat"]
    assert len(repeat.children) == 5
    assert len(root.children) == 2
