"""Stacks of which the last block breaks off: what only a next block would take is not there."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from onnx import numpy_helper

from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.grouping.stack_changes import list_changes
from netloupe.explorer.model import Model
from tests.corpus import shared_model
from tests.unrolled import WIDTH, Writer


def list_repeats(model: Model) -> list[Group]:
    """Return the repeats right below the root."""
    groups = find_tree(model, model.graph).root.inner_groups()
    return [group for group in groups if group.kind == "repeat"]


def count_members(repeat: Group) -> list[int]:
    """Return how many nodes each member of a repeat has."""
    return [child.node_count if isinstance(child, Group) else 1 for child in repeat.children]


def add_residual(writer: Writer, scope: str, stream: str) -> str:
    """Add a residual block of two layers; return what it gives."""
    weights = [writer.weight(f"{scope}.{name}", WIDTH, WIDTH) for name in "ab"]
    inner = writer.add(scope, "Relu", writer.add(f"{scope}/a", "MatMul", stream, weights[0]))
    return writer.add(scope, "Add", stream, writer.add(f"{scope}/b", "MatMul", inner, weights[1]))


def make_tapped(stages: int = 5, *, depths: tuple[int, ...] = ()) -> Model:
    """Return stages of residual blocks, each with a head that feeds a Concat and the next stage.

    Parameters
    ----------
    stages
        How many.
    depths
        How many residual blocks each has; three where empty.
    """
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    stream, given = "x", []
    for stage in range(stages):
        inner = stream
        for block in range(depths[stage] if depths else 3):
            inner = add_residual(writer, f"stages.{stage}/blocks.{block}", inner)
        head = writer.weight(f"heat.{stage}", WIDTH, WIDTH)
        given.append(writer.add(f"heat.{stage}", "MatMul", inner, head))
        if stage < stages - 1:
            back = writer.weight(f"back.{stage}", WIDTH, WIDTH)
            back = writer.add(f"back.{stage}", "MatMul", given[-1], back)
            stream = writer.add("", "Add", stream, back)
    writer.outputs = [writer.add("", "Concat", *given, axis=0)]
    return writer.load()


def test_stages_that_each_give_a_result_are_one_stack_to_the_last() -> None:
    (repeat,) = list_repeats(make_tapped())
    assert count_members(repeat) == [15, 15, 15, 15, 13]
    assert list_changes(repeat) == ["the last gives 1 of 2 results"]


def test_stages_of_other_depths_are_no_stack() -> None:
    assert list_repeats(make_tapped(depths=(3, 3, 3, 3, 2))) == []


def make_graph_network(blocks: int, *, lacking: str) -> Model:
    """Return nameless blocks that each update features of nodes and of edges.

    Parameters
    ----------
    lacking
        What the last block has not: its sum for ``edges``, or ``all`` sums.
    """
    writer = Writer("plain")
    writer.inputs = {"nodes": [1, WIDTH], "edges": [1, WIDTH]}
    nodes, edges = "nodes", "edges"

    def mlp(value: str, width: int) -> str:
        sizes = (width, WIDTH), (WIDTH, WIDTH), (WIDTH, WIDTH)
        for place, size in enumerate(sizes):
            value = writer.add("", "MatMul", value, writer.weight(f"w{len(writer.tensors)}", *size))
            value = writer.add("", "Relu", value) if place < 2 else value
        return value

    for block in range(blocks):
        is_last = block == blocks - 1
        update = mlp(writer.add("", "Concat", edges, nodes, axis=1), 2 * WIDTH)
        both = writer.add("", "Concat", nodes, update, axis=1)
        change = writer.add("", "Tanh", mlp(both, 2 * WIDTH))
        nodes = change if is_last and lacking == "all" else writer.add("", "Add", nodes, change)
        if not is_last:
            edges = writer.add("", "Add", edges, update)
    writer.outputs = [writer.add("", "Exp", nodes)]
    return writer.load()


def test_a_last_nameless_block_need_not_update_what_no_block_takes() -> None:
    (repeat,) = list_repeats(make_graph_network(5, lacking="edges"))
    assert count_members(repeat) == [15, 15, 15, 15, 14]
    assert list_changes(repeat) == ["the last gives 1 of 2 results"]


def test_a_nameless_block_that_breaks_off_before_its_result_is_no_last_one() -> None:
    (repeat,) = list_repeats(make_graph_network(5, lacking="all"))
    assert count_members(repeat) == [15] * 4


def make_split_stack(blocks: int = 5, *, is_split_alike: bool = True) -> Model:
    """Return blocks that split what they give; of the last the split has no name of its module.

    Parameters
    ----------
    is_split_alike
        Whether it splits what the others split.
    """
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    stream, total = "x", ""
    for block in range(blocks):
        scope, is_last = f"blocks.{block}", block == blocks - 1
        inner = stream
        for layer in range(3):
            weight = writer.weight(f"in.{layer}.{block}", WIDTH, WIDTH)
            inner = writer.add(f"{scope}/in.{layer}", "MatMul", inner, weight)
            inner = writer.add(scope, "Tanh", inner)
        both = writer.weight(f"out.{block}", WIDTH, 2 * WIDTH)
        both = writer.add(f"{scope}/out", "MatMul", inner, both)
        halves = [f"half{block}", f"rest{block}"]
        writer.add(
            "" if is_last else scope,
            "Split",
            both if is_split_alike or not is_last else inner,
            axis=1,
            num_outputs=2,
        )
        del writer.nodes[-1].output[:]
        writer.nodes[-1].output.extend(halves)
        if not is_last:
            stream = writer.add(scope, "Add", stream, halves[0])
        own = "" if is_last else scope
        total = writer.add(own, "Add", total, halves[1]) if total else halves[1]
    writer.outputs = [writer.add("head", "Exp", writer.add("head", "Neg", total))]
    return writer.load()


@pytest.mark.parametrize(("is_split_alike", "last"), [(True, 9), (False, 7)])
def test_what_an_exporter_left_without_a_name_behind_a_last_block_is_its_end(
    is_split_alike: bool, last: int
) -> None:
    (repeat,) = list_repeats(make_split_stack(is_split_alike=is_split_alike))
    assert count_members(repeat) == [9, 10, 10, 10, last]


def make_equivariant(blocks: int = 5) -> Model:
    """Return nameless blocks that move positions and update features, which the last one need not.

    The distances of the positions that come in are preparation.
    """
    writer = Writer("plain")
    writer.inputs = {"features": [4, WIDTH], "positions": [4, 3]}
    features, positions = "features", "positions"

    def mlp(value: str, *sizes: int) -> str:
        for taken, given in pairwise(sizes):
            weight = writer.weight(f"w{len(writer.tensors)}", taken, given)
            value = writer.add("", "Tanh", writer.add("", "MatMul", value, weight))
        return value

    ends = [
        numpy_helper.from_array(np.array(places), name)
        for name, places in (("from", [0, 1, 2, 3]), ("to", [1, 2, 3, 0]))
    ]
    writer.tensors += ends
    for block in range(blocks):
        one, other = (writer.add("", "Gather", positions, end.name) for end in ends)
        between = writer.add("", "Sub", one, other)
        distance = writer.add("", "ReduceL2", between, axes=[1], keepdims=1)
        message = writer.add("", "Concat", features, distance, axis=1)
        message = mlp(message, WIDTH + 1, *[WIDTH] * 4)
        move = writer.add("", "Mul", between, mlp(message, WIDTH, 1))
        positions = writer.add("", "Add", positions, move)
        if block < blocks - 1:
            update = writer.add("", "Concat", features, message, axis=1)
            features = writer.add("", "Add", features, mlp(update, 2 * WIDTH, WIDTH, WIDTH))
    writer.outputs = [positions]
    return writer.load()


def test_the_first_nameless_block_may_find_prepared_what_others_compute() -> None:
    (repeat,) = list_repeats(make_equivariant())
    assert count_members(repeat) == [23, 23, 23, 23, 17]


def add_layer(writer: Writer, scope: str, value: str) -> str:
    """Add a layer; return what it gives."""
    return writer.add(scope, "MatMul", value, writer.weight(scope, WIDTH, WIDTH))


def make_two_streams(blocks: int = 4, *, last_width: int = WIDTH) -> Model:
    """Return blocks that mix two streams, each shifted by a condition; the last ends one of them.

    Parameters
    ----------
    last_width
        What the last block shifts its second stream by has so many features in all.
    """
    writer = Writer()
    writer.inputs = {"image": [1, WIDTH], "text": [1, WIDTH], "condition": [1, 3]}
    image, text = "image", "text"
    for block in range(blocks):
        scope, is_last = f"blocks.{block}", block == blocks - 1
        width = last_width if is_last else 2 * WIDTH
        shift = writer.weight(f"{scope}.shift", 3, width)
        shift = writer.add(f"{scope}/shift", "MatMul", "condition", shift)
        parts = writer.add(scope, "Split", shift, axis=1, num_outputs=1 if is_last else 2)
        if not is_last:
            writer.nodes[-1].output.append(f"{parts}_more")
        steered = add_layer(writer, f"{scope}/a", writer.add(scope, "Add", text, parts))
        both = writer.add(scope, "Mul", image, steered)
        mixed = writer.add(scope, "Relu", add_layer(writer, f"{scope}/b", both))
        image = writer.add(scope, "Add", image, add_layer(writer, f"{scope}/c", mixed))
        if not is_last:
            more = writer.add(scope, "Mul", mixed, f"{parts}_more")
            text = writer.add(scope, "Add", text, add_layer(writer, f"{scope}/d", more))
    writer.outputs = [writer.add("head", "Exp", writer.add("head", "Neg", image))]
    return writer.load()


@pytest.mark.parametrize(
    ("last_width", "told"),
    [(WIDTH, ["the last gives 1 of 2 results"]), (3 * WIDTH, [])],
)
def test_a_last_block_may_steer_the_stream_that_ends_less(last_width: int, told: list[str]) -> None:
    (repeat,) = list_repeats(make_two_streams(last_width=last_width))
    assert count_members(repeat) == [12, 12, 12, 9]
    assert list_changes(repeat) == told


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (0.0, ["the first from zeros"]),
        (0.5, []),
        (None, []),  # it comes in
    ],
)
def test_a_first_block_whose_stream_is_stored_says_so(start: float | None, told: list[str]) -> None:
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    if start is None:
        writer.inputs["state"] = [1, WIDTH]
    else:
        stored = np.full((1, WIDTH), start, np.float32)
        writer.tensors.append(numpy_helper.from_array(stored, "state"))
    state = "state"
    for step in range(5):
        scope = f"steps.{step}"
        taken = writer.add(scope, "Tanh", add_layer(writer, f"{scope}/a", "x"))
        both = writer.add(scope, "Add", taken, state)
        state = add_layer(writer, f"{scope}/b", writer.add(scope, "Relu", both))
    writer.outputs = [writer.add("head", "Exp", writer.add("head", "Neg", state))]
    (repeat,) = list_repeats(writer.load())
    assert list_changes(repeat) == told


@pytest.mark.parametrize("exporter", ["dynamo", "legacy"])
def test_a_decoder_of_stored_queries_tells_how_many_there_are(exporter: str) -> None:
    """What its first block's queries attend to is stored, and so that attention is no work."""
    model = shared_model(f"exported/detr.{exporter}.onnx")
    groups = find_tree(model, model.graph).groups
    decoder = next(
        group
        for path, group in groups.items()
        if "decoder" in path and group.kind == "repeat" and len(group.children) == 6
    )
    assert list_changes(decoder, None) == ["the first from 100 learned queries"]


@pytest.mark.parametrize("use", ["", "Shape"])
def test_what_is_only_measured_is_no_result(use: str) -> None:
    """Each block hands a sum on besides; of what is inside of it the size is read."""
    writer = Writer()
    writer.inputs = {"x": [1, WIDTH]}
    stream, total, sizes = "x", "", []
    for number in range(5):
        scope = f"blocks.{number}"
        inner = writer.add(
            f"{scope}/a", "MatMul", stream, writer.weight(f"a{number}", WIDTH, WIDTH)
        )
        if use:
            sizes.append(writer.add("", use, inner))
        skip = writer.add(scope, "Sin", writer.add(scope, "Relu", inner))
        total = writer.add(scope, "Add", total, skip) if total else skip
        if number < 4:
            inner = writer.add(
                f"{scope}/b", "MatMul", inner, writer.weight(f"b{number}", WIDTH, WIDTH)
            )
            stream = writer.add(scope, "Add", stream, inner)
    writer.outputs = [writer.add("head", "Cos", total), *sizes]
    repeat = list_repeats(writer.load())[0]
    assert "the last gives 1 of 2 results" in list_changes(repeat)
