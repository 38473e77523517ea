"""Streams, heads and conditions are told as they join, each with its own counts."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from onnx import TensorProto

from netloupe.explorer.architecture.calls import Called
from netloupe.explorer.architecture.clause import Clause
from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.architecture.pieces import list_pieces
from netloupe.explorer.architecture.reach import Reach
from tests.architecture.networks import Network
from tests.architecture.test_modules import Named

_WIDTH = 8


class Joined(Network):
    """Parts that join."""

    def recur(self, x: str, count: int) -> str:
        for _ in range(count):
            form = self.weight(1, 4 * _WIDTH, _WIDTH), self.weight(1, 4 * _WIDTH, _WIDTH)
            y = self.add("LSTM", x, *form, hidden_size=_WIDTH)
            x = self.add("Squeeze", y, self.numbers(1))
        return x

    def residual(self, x: str, condition: str = "", width: int = _WIDTH) -> str:
        inner = self.add("Relu", self.conv(x, width, width))
        if condition:
            scale = self.add(
                "Reshape", self.linear(condition, width, width), self.numbers(1, -1, 1, 1)
            )
            inner = self.add("Mul", inner, scale)
        return self.add("Relu", self.add("Add", x, self.conv(inner, width, width)))

    def tell(self, *outputs: str, names: Sequence[str] = ()) -> str:
        """Return the sentence of a network with such outputs, which have names."""
        given = (
            [self._name(*pair) for pair in zip(outputs, names, strict=True)] if names else outputs
        )
        return self.finish(*given).architecture.sentence

    def _name(self, output: str, name: str) -> str:
        self.nodes[[node.output[0] for node in self.nodes].index(output)].output[0] = name
        return name


def _transduce(*, is_chain: bool = False, names: tuple[str, str] = ("frames", "labels")) -> str:
    net = Joined()
    frames = net.take(names[0], (6, 1, _WIDTH))
    labels = net.take(names[1], (6, 1), TensorProto.INT64)
    encoded = net.recur(frames, 3)
    y = net.add("Gather", net.weight(20, _WIDTH), labels)
    predicted = net.recur(net.add("Add", y, encoded) if is_chain else y, 2)
    joint = predicted if is_chain else net.add("Add", encoded, predicted)
    return net.tell(net.linear(net.add("Tanh", joint), _WIDTH, 20))


def test_layers_of_streams_are_counted_apart() -> None:
    told = _transduce()
    assert "two streams (frames: 3 LSTM layers of width 8; labels: " in told
    assert "2 LSTM layers of width 8) added" in told
    assert "5 LSTM" not in told


def test_names_that_say_nothing_are_no_names_of_streams() -> None:
    told = _transduce(names=("t1", "input.3"))
    assert "two streams (3 LSTM layers of width 8; " in told
    assert "t1" not in told
    assert "input" not in told


def test_what_enters_a_chain_at_its_middle_is_no_stream() -> None:
    assert "streams" not in _transduce(is_chain=True)


def test_streams_that_meet_in_the_end_may_be_one_layer() -> None:
    net = Joined()
    wide = net.linear(net.take("wide", (1, 20)), 20, 1)
    x = net.take("deep", (1, 12))
    for taken, given in ((12, 32), (32, 16)):
        x = net.add("Relu", net.linear(x, taken, given))
    told = net.tell(net.add("Sigmoid", net.add("Add", wide, net.linear(x, 16, 1))))
    assert "two streams (wide: linear layer 20 → 1; deep: MLP 12 → 32 → 16 → 1, ReLU) added" in told
    assert "sum of" not in told


@pytest.mark.parametrize(
    ("op_type", "word"), [("Add", "added"), ("Mul", "multiplied"), ("Concat", "concatenated")]
)
def test_the_way_of_the_join_is_told(op_type: str, word: str) -> None:
    net = Joined()
    image = net.take("image", (1, _WIDTH, 16, 16))
    depth = net.take("depth", (1, _WIDTH, 16, 16))
    for _ in range(2):
        image = net.residual(image)
    for _ in range(3):
        depth = net.residual(depth)
    axis = {"axis": 1} if op_type == "Concat" else {}
    taken = _WIDTH * (1 + bool(axis))
    told = net.tell(net.conv(net.add(op_type, image, depth, **axis), taken, 3))
    streams = "two streams (image: 2 residual blocks of 8 channels; depth: 3 residual blocks of 8"
    assert f"{streams} channels) {word}, " in told


def _steer(*, names: bool) -> str:
    net = Named()
    x = net.take("x", (1, _WIDTH, 16, 16))
    y = net.take("context", (1, _WIDTH))
    for number in range(3):
        start = len(net.nodes)
        scale = net.add("Reshape", net.linear(y, _WIDTH, _WIDTH), net.numbers(1, -1, 1, 1))
        for _ in range(2):
            x = net.add("Relu", net.add("Mul", net.conv(x, _WIDTH, _WIDTH), scale))
        if names:
            net.within(start, f"layers.{number}")
    return net.finish(net.conv(x, _WIDTH, 3)).architecture.sentence


@pytest.mark.parametrize("names", [True, False])
def test_layers_that_each_block_has_for_another_input_are_no_stream(*, names: bool) -> None:
    assert "streams" not in _steer(names=names)


@pytest.mark.parametrize("names", [True, False])
def test_heads_that_an_author_named_are_told_by_their_names(*, names: bool) -> None:
    net = Named()
    x = net.take("x", (1, 32))
    for _ in range(4):
        x = net.add("Relu", net.linear(x, 32, 32))
    ends = []
    for name, width in (("policy_head", 6), ("value_head", 1)):
        start = len(net.nodes)
        ends.append(net.linear(net.add("Relu", net.linear(x, 32, 16)), 16, width))
        if names:
            net.within(start, name)
    told = net.finish(*ends).architecture.sentence
    assert ("policy head (MLP 32 → 16 → 6, ReLU), value head (MLP" in told) == names
    assert ("two heads (MLP 32 → 16 → 6, ReLU; MLP 32 → 16 → 1, ReLU)" in told) != names


def _match(names: Sequence[str], *, is_loop: bool = False) -> str:
    net = Joined()
    kernels = [net.weight(_WIDTH, _WIDTH, 3, 3) for _ in range(5)]
    results = []
    for name in names[:1] if is_loop else names:
        x = net.take(name, (1, _WIDTH, 16, 16))
        for _ in range(1 + is_loop):
            for kernel in kernels:
                x = net.add("Relu", net.add("Conv", x, kernel, kernel_shape=[3, 3], pads=[1] * 4))
        results.append(x)
    return net.tell(results[0] if is_loop else net.add("Sub", *results))


def test_what_is_used_on_inputs_names_them() -> None:
    assert "five 3×3 convolutions of 8 channels used on left and right" in _match(("left", "right"))


def test_what_is_used_on_inputs_without_names_is_counted() -> None:
    assert " used twice" in _match(("t1", "t2"))


def test_what_is_used_again_on_one_input_is_counted() -> None:
    assert " used twice" in _match(("left",), is_loop=True)


def _part(counts: Sequence[tuple[int, int]], *, leak: bool = False) -> str:
    net = Joined()
    x = net.take("x", (1, _WIDTH, 16, 16))
    x = net.add("Relu", net.conv(x, _WIDTH, _WIDTH, 5))
    for one, other in counts:
        left = right = x
        for _ in range(one):
            left = net.residual(left)
        if leak:
            right = net.add("Add", right, left)
        for _ in range(other):
            right = net.residual(right)
        x = net.conv(net.add("Concat", left, right, axis=1), 2 * _WIDTH, _WIDTH, 1)
    return net.tell(net.conv(x, _WIDTH, 3))


def test_branches_between_a_split_and_a_join_are_counted_apart() -> None:
    told = _part([(2, 4)])
    branches = "two branches (2 residual blocks of 8 channels; 4 residual blocks of 8 channels)"
    assert f"5×5 convolution of 8 channels, {branches} concatenated, " in told


def test_branches_of_each_block_of_a_stack_are_none_of_the_network() -> None:
    assert "branches" not in _part([(1, 2)] * 4)


def test_a_step_beside_all_else_is_no_branch() -> None:
    assert "branches" not in _part([(1, 12)])


def test_a_branch_that_takes_what_the_other_gives_is_none() -> None:
    assert "branches" not in _part([(2, 4)], leak=True)


def _predict(*, trunk: int = 3, policy: int = 0, names: Sequence[str] = ()) -> str:
    net = Joined()
    x = net.take("board", (1, _WIDTH, 4, 4))
    for _ in range(trunk):
        x = net.residual(x)
    y = x
    for _ in range(policy):
        y = net.residual(y)
    flat = net.add("Flatten", net.add("Relu", net.conv(y, _WIDTH, 2, 1)))
    moves = net.linear(flat, 32, 17)
    flat = net.add("Flatten", net.add("Relu", net.conv(x, _WIDTH, 1, 1)))
    hidden = net.add("Relu", net.linear(flat, 16, 12))
    value = net.add("Tanh", net.linear(hidden, 12, 1))
    return net.tell(moves, value, names=names)


def test_heads_are_told_side_by_side() -> None:
    told = _predict()
    assert "3 residual blocks of 8 channels, two heads (1×1 convolution 8 → 2 channels" in told
    assert (
        "linear layer 32 → 17; 1×1 convolution 8 → 1 channel, MLP 16 → 12 → 1, ReLU, tanh)." in told
    )


def test_heads_have_the_names_of_their_outputs() -> None:
    told = _predict(names=("policy", "worth"))
    assert "(policy: 1×1 convolution" in told
    assert "; worth: 1×1 convolution" in told


def test_what_is_more_than_all_that_heads_share_is_no_head() -> None:
    assert "heads" not in _predict(trunk=1, policy=6)


def test_equal_heads_are_told_once() -> None:
    net = Joined()
    x = net.take("x", (1, _WIDTH, 4, 4))
    for _ in range(3):
        x = net.residual(x)
    ends = [net.conv(net.add("Relu", net.conv(x, _WIDTH, 4)), 4, 2, 1) for _ in range(2)]
    told = net.tell(*ends, names=("left", "right"))
    assert "two heads, left and right (each 3×3 convolution 8 → 4 channels, 1×1 convolution" in told


def test_an_output_of_the_trunk_makes_no_heads() -> None:
    net = Joined()
    x = net.take("x", (1, _WIDTH, 4, 4))
    for _ in range(3):
        x = net.residual(x)
    middle = x
    for _ in range(2):
        x = net.residual(x)
    assert "heads" not in net.tell(middle, net.conv(x, _WIDTH, 2))


def _condition(count: int, *, name: str = "speaker") -> str:
    net = Joined()
    x = net.take("noise", (1, _WIDTH, 8, 8))
    y = net.take(name, (1, _WIDTH))
    y = net.linear(net.add("Relu", net.linear(y, _WIDTH, 24)), 24, _WIDTH)
    for _ in range(count):
        x = net.residual(x, y)
    return net.tell(net.conv(x, _WIDTH, 3))


def test_what_enters_each_block_conditions_the_stack() -> None:
    told = _condition(5)
    assert "5 residual blocks" in told
    assert " conditioned on speaker (MLP 8 → 24, ReLU)" in told
    assert (
        told.index("5 residual") < told.index("conditioned") < told.index("3×3 convolution 8 → 3")
    )


def test_a_condition_without_a_name_is_told_by_its_size() -> None:
    assert " conditioned on a vector of 8 (MLP" in _condition(5, name="t12")


def test_what_enters_two_blocks_conditions_no_stack() -> None:
    assert "conditioned" not in _condition(2)


def test_what_goes_on_itself_is_no_condition() -> None:
    net = Joined()
    x = net.take("left", (1, _WIDTH, 8, 8))
    y = net.take("right", (1, _WIDTH, 8, 8))
    for _ in range(5):
        y = net.residual(y)
        x = net.add("Add", net.residual(x), y)
    assert "conditioned" not in net.tell(net.conv(x, _WIDTH, 3))


def test_what_enters_each_step_of_a_loop_conditions_no_stack() -> None:
    net = Joined()
    x = net.take("state", (1, _WIDTH))
    y = net.linear(net.take("seen", (1, _WIDTH)), _WIDTH, _WIDTH)
    weight, bias = net.weight(_WIDTH, _WIDTH), net.weight(_WIDTH)
    for _ in range(6):
        moved = net.add("Add", net.add("MatMul", x, weight), bias)
        x = net.add("Tanh", net.add("Add", moved, y))
    assert "conditioned" not in net.tell(net.linear(x, _WIDTH, 3))


def test_parts_of_noise_are_named_as_such() -> None:
    net = Joined()
    noise = net.take("noise", (1, 6 * _WIDTH))
    label = net.take("label", (1,), TensorProto.INT64)
    parts = [f"part{number}" for number in range(6)]
    split = net.add("Split", noise, axis=1, num_outputs=6)
    node = net.nodes[-1]
    assert node.output[0] == split
    del node.output[:]
    node.output.extend(parts)
    row = net.add("Gather", net.weight(10, _WIDTH), label)
    x = net.add("Reshape", net.linear(parts[0], _WIDTH, 64 * _WIDTH), net.numbers(1, _WIDTH, 8, 8))
    for part in parts[1:]:
        x = net.residual(x, net.linear(net.add("Concat", row, part, axis=1), 2 * _WIDTH, _WIDTH))
    told = net.tell(net.conv(x, _WIDTH, 3))
    assert " conditioned on a part of noise and label (embedding of 10 × 8)" in told


def test_of_a_row_it_is_told_how_many_blocks_something_enters() -> None:
    def tell(entered: int) -> str:
        net = Network()
        x, style = net.take("image", (1, 8, 16, 16)), net.take("style", (1, 8))
        for number in range(8):
            inner = net.add("Relu", net.conv(x, 8, 8))
            if number < entered:
                scale = net.add("Reshape", net.linear(style, 8, 8), net.numbers(1, 8, 1, 1))
                inner = net.add("Mul", inner, scale)
            x = net.add("Add", x, net.conv(inner, 8, 8))
        return net.finish(net.conv(x, 8, 3), shape=(1, 3, 16, 16)).architecture.sentence

    assert " conditioned on style" in tell(8)
    assert "of them" not in tell(8)
    assert "8 residual blocks of 8 channels, 4 of them conditioned on style" in tell(4)


def _go_beside(way: str, *, is_chain: bool = True, count: int = 5) -> str:
    """Return what is said of a chain of blocks that another input enters again and again."""
    net = Joined()
    x = net.take("image", (1, _WIDTH, 16, 16))
    y = net.take("clip", (1, _WIDTH, 16, 16))
    if not is_chain:
        y = net.residual(net.residual(y))
    for _ in range(count):
        if is_chain:
            y = net.residual(y)
        own = net.add("Relu", net.conv(y, _WIDTH, _WIDTH, 1))
        if way == "Concat":
            x = net.conv(net.add("Concat", x, own, axis=1), 2 * _WIDTH, _WIDTH)
        else:
            x = net.add(way, x, own)
        x = net.residual(x)
    return net.tell(net.conv(x, _WIDTH, 3))


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("Concat", "concatenated 5 times with clip"),
        ("Add", "summed 5 times with clip"),
        ("Mul", "modulated by clip"),
    ],
)
def test_a_path_of_blocks_that_enters_another_one_conditions_it_not(way: str, told: str) -> None:
    said = _go_beside(way)
    assert told in said
    assert "conditioned" not in said


@pytest.mark.parametrize("way", ["Concat", "Mul"])
def test_what_is_made_of_one_value_for_each_block_conditions_them(way: str) -> None:
    assert "conditioned on clip" in _go_beside(way, is_chain=False)


def _imagine(*, is_side: bool = True) -> str:
    """Return what is said of two streams, of one of which something is given besides."""
    net = Joined()
    image = net.take("image", (1, 1, 16, 16))
    for taken, given in ((1, 4), (4, 8)):
        image = net.add("Relu", net.conv(image, taken, given, strides=[2, 2]))
    image = net.add("Flatten", image)
    x = net.take("state", (1, 24))
    for _ in range(2):
        x = net.add("Relu", net.linear(x, 24, 24))
    prior = net.linear(net.add("Tanh", net.linear(x, 24, 20)), 20, 12)
    ends = [x, prior] if is_side else [net.add("Concat", x, prior, axis=1)]
    joined = net.add("Concat", image, ends[0], axis=1)
    width = 128 + 24 + 12 * (not is_side)
    y = net.add("Relu", net.linear(joined, width, 16))
    y = net.linear(net.add("Relu", net.linear(y, 16, 16)), 16, 5)
    return net.tell(*[y, *ends[1:]], names=["policy", "prior"][: len(ends)])


def test_what_leads_from_a_stream_to_an_output_alone_is_told_beside_it() -> None:
    told = _imagine()
    assert "MLP (24 → 24, ReLU), beside it prior (MLP 24 → 20 → 12, tanh), " in told
    assert "concatenated with image (two 3×3 convolutions 1 → 4 → 8 channels), MLP (152" in told


def test_what_goes_into_the_join_as_well_is_of_the_stream() -> None:
    assert "prior (" not in _imagine(is_side=False)


def test_streams_of_which_one_comes_later_are_not_said_to_meet_as_the_first_do() -> None:
    net = Joined()
    ends = []
    for name in ("left", "middle", "right"):
        x = net.take(name, (1, _WIDTH, 16, 16))
        for _ in range(3):
            x = net.residual(x)
        ends.append(x)
    x = net.add("Add", *ends[:2])
    told = net.tell(net.conv(net.add("Concat", x, ends[2], axis=1), 2 * _WIDTH, 3))
    assert "three streams" in told
    assert not re.search(r"\) (added|concatenated)", told)


def test_a_network_of_which_some_results_are_not_convolved_is_not_convolutional() -> None:
    assert _imagine().startswith("Network with convolutions: ")
    assert _imagine(is_side=False).startswith("Convolutional network: ")


def _translate(*, joins: bool, masks: bool = False) -> str:
    """Return what is said of blocks between which the tokens of another input join, or do not."""
    net = Joined()
    x = net.add("Gather", net.weight(30, _WIDTH), net.take("t0", (1, 8, 8), TensorProto.INT64))
    x = net.add("Transpose", x, perm=[0, 3, 1, 2])
    for _ in range(3):
        x = net.residual(x)
    if joins:
        ids = net.take("t1", (1, 8, 8), TensorProto.INT64)
        y = net.add("Transpose", net.add("Gather", net.weight(20, _WIDTH), ids), perm=[0, 3, 1, 2])
        x = net.conv(net.add("Concat", x, y, axis=1), 2 * _WIDTH, _WIDTH, 1)
    if masks:
        x = net.add("Mul", x, net.take("t1", (1, 1, 8, 8)))
    for _ in range(4):
        x = net.residual(x)
    return net.tell(net.conv(x, _WIDTH, 3))


def test_blocks_are_counted_on_both_sides_of_where_another_input_joins() -> None:
    told = _translate(joins=True)
    order = ["3 residual blocks", "embedding of 20 × 8", "1×1 convolution 16", "4 residual blocks"]
    assert [*map(told.index, order)] == sorted(map(told.index, order))
    assert "7 residual blocks" in _translate(joins=False)
    assert "7 residual blocks" in _translate(joins=False, masks=True)


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_table_that_both_streams_look_up_is_told_once(*, is_shared: bool) -> None:
    net = Joined()
    table, other = net.weight(20, _WIDTH), net.store(np.full((20, _WIDTH), 0.25, np.float32))
    ends = []
    for name, rows in (("question", table), ("document", table if is_shared else other)):
        ids = net.take(name, (6, 1), TensorProto.INT64)
        ends.append(net.recur(net.add("Gather", rows, ids), 2 + len(ends)))
    told = net.tell(net.linear(net.add("Tanh", net.add("Add", *ends)), _WIDTH, 3))
    streams = "two streams (question: 2 LSTM layers of width 8; document: 3 LSTM layers of width 8)"
    assert (f"vocabulary 20, {streams} added" in told) == is_shared
    assert ("embedding of 20 × 8" in told) != is_shared


def _imagine_more(outputs: Sequence[str], modules: Sequence[str]) -> str:
    """Return what is said of more modules behind a trunk than are told as its heads."""
    net = Named()
    x = net.take("x", (1, 32))
    for _ in range(6):
        x = net.add("Relu", net.linear(x, 32, 32))
    for number, (output, module) in enumerate(zip(outputs, modules, strict=True)):
        start = len(net.nodes)
        y = x
        if number % 2:  # by turns, so that they are no row
            y = net.add("Reshape", net.linear(y, 32, 64), net.numbers(1, 4, 4, 4))
            y = net.add("Flatten", net.add("Relu", net.conv(y, 4, 2, 3)))
        net.linear(net.add("Relu", y), 32, 2 + number)
        net.nodes[-1].output[0] = output
        net.within(start, module)
    return net.finish(*outputs).architecture.sentence


def test_modules_of_one_name_are_told_by_what_they_give() -> None:
    modules = [f"{part}.head" for part in "abcde"]
    told = _imagine_more(["reward", "worth", "action", "image", "end"], modules)
    assert "reward head (linear layer 32 → 2), " in told
    assert " action head (linear layer 32 → 4), image head (" in told
    assert " end head (linear layer 32 → 6)" in told
    told = _imagine_more([f"t{number}" for number in range(5)], modules)
    assert "five heads (linear layer 32 → 2; " in told


@pytest.mark.parametrize(("name", "told"), [("head", "worth head"), ("2 blocks", "2 blocks")])
def test_rows_of_modules_are_not_told_by_what_they_give(name: str, told: str) -> None:
    net = Joined()
    x = net.add("Relu", net.linear(net.take("x", (1, 8)), 8, 8))
    ends = ["reward", "worth"]
    for end in ends:
        net.linear(x, 8, 2)
        net.nodes[-1].output[0] = end
    model = net.finish(*ends)
    outline = Outline(model.graph, [*model.graph.nodes])
    pieces = list_pieces(outline, [])[-2:]
    called = Called(Reach(outline), [], [])
    clauses = [Clause("linear layer", (piece,), name) for piece in pieces]
    assert called.name_apart(clauses)[1].name == told
