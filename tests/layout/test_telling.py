"""How unusual blocks are, and that what every network has leaves its place to what none has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.layout import LayoutEngine
from netloupe.explorer.layout.hidden_blocks import list_stacks, list_stacks_and_ideas
from netloupe.explorer.layout.shown_items import count_boxes, list_closed
from netloupe.explorer.layout.stacks import is_another
from netloupe.explorer.layout.telling import is_ordinary, list_telling
from netloupe.explorer.layout.untold import list_untold
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.view import View
from tests.layout.test_shut_ideas import Scoped, draw, find_group, list_open
from tests.layout.test_untold import Branching


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


class Bridging(Scoped):
    """Writes blocks that attend to what another part of a model gives."""

    def block(self, x: str, to: str = "") -> str:
        """Write a transformer block whose keys and values are of some value."""
        x = self.add("Add", x, self.within("attention", lambda: self.attend(self.norm(x), to)))
        return self.add("Add", x, self.within("mlp", lambda: self.mlp(self.norm(x))))

    def attend(self, x: str, to: str) -> str:
        q, k, v = self.linear(x), self.linear(to or x), self.linear(to or x)
        scores = self.add("MatMul", q, self.add("Transpose", k))
        return self.linear(self.add("MatMul", self.add("Softmax", scores), v))


def make_bridge(*, attends: bool) -> Model:
    """Return a tower of blocks, and a stack of pairs of blocks of which one may attend to it."""
    builder = Bridging()
    tower = builder.linear(builder.add("Gather", builder.weight(), "x"))
    for number in range(14):
        tower = builder.within(f"tower/layers.{number}", partial(builder.block, tower))
    x = builder.linear(builder.add("Gather", builder.weight(), "y"))
    for number in range(5):

        def pair(x: str = x) -> str:
            x = builder.within("first", partial(builder.block, x, tower if attends else ""))
            return builder.within("second", partial(builder.block, x))

        x = builder.within(f"joint.{number}", pair)
    if not attends:
        x = builder.add("Concat", x, tower, axis=0)
    return builder.load(builder.linear(builder.norm(x))).model


@pytest.mark.parametrize("is_gated", [False, True])
def test_norms_activations_and_pools_in_a_row_are_in_every_network(is_gated: bool) -> None:
    builder = Scoped()
    statistics = [builder.weight(size=4) for _ in range(4)]

    def finish(x: str) -> str:
        x = builder.add("BatchNormalization", x, *statistics)
        gate = builder.add("Sigmoid", builder.linear(x)) if is_gated else ""
        x = builder.add("Relu", x)
        return builder.add("Mul", x, gate) if is_gated else x

    x = builder.within("post", partial(finish, builder.linear("x")))
    model = builder.load(builder.linear(x)).model
    assert is_ordinary(find_group(model, "post/")) is not is_gated


@pytest.mark.parametrize("attends", [True, False])
def test_blocks_that_attend_to_another_part_come_before_a_larger_stack_of_ordinary_ones(
    attends: bool, engine: LayoutEngine
) -> None:
    model = make_bridge(attends=attends)
    view = View(model)
    stacks = list_stacks_and_ideas(view, list_stacks(view))
    assert stacks[0].group.label.startswith("joint" if attends else "tower")
    joint, tower = find_group(model, "joint.0-4/"), find_group(model, "tower/layers.0-13/")
    assert is_ordinary(tower)
    assert list_telling(joint) == (frozenset({"Cross-attention"}) if attends else frozenset())
    picture = draw(model, engine)
    drawn = {inset.item.label.split(".")[0] for inset in picture.insets}
    assert ("joint" in drawn) == attends
    assert "first" in list_open(picture)  # of ordinary blocks, one is seen in its place


def test_an_ordinary_stack_is_not_drawn_beside_one_that_is_none() -> None:
    model = make_bridge(attends=True)
    joint, tower = find_group(model, "joint.0-4/"), find_group(model, "tower/layers.0-13/")
    assert not is_another(tower, joint)


@pytest.mark.parametrize("by", ["weights", "mask"])
def test_a_product_with_weights_of_a_softmax_is_telling_and_one_with_a_mask_is_not(by: str) -> None:
    builder = Scoped()

    def pool(x: str) -> str:
        weights = builder.add("Softmax", builder.add("Conv", x, builder.weight()))
        picked = builder.add("Mul", x, weights if by == "weights" else "mask")
        return builder.linear(builder.add("ReduceSum", picked))

    x = builder.add("Relu", builder.add("Conv", "x", builder.weight()))
    x = builder.within("pool", lambda: pool(x))
    for part in ("head", "tail"):
        x = builder.within(part, partial(builder.mlp, x))
    group = find_group(builder.load(builder.linear(x)).model, "pool/")
    assert is_ordinary(group) == (by == "mask")


def make_row(larger: int = 0) -> Model:
    """Return a neck of cells that are called alike, of which one joins one value more."""
    builder = Branching()
    x = builder.within("stem", partial(builder.branch, "x", 1))

    def write(x: str) -> str:
        first = x
        for number, between in enumerate(("Neg", "Abs", "Exp")):
            branches = 4 if number == larger else 3
            x = builder.within(f"cell.{number}", partial(builder.branch, x, branches))
            x = builder.add(between, x)
        return builder.convolve(builder.add("Concat", x, first, axis=0))

    x = builder.within("neck", lambda: write(x))

    def chain(x: str) -> str:
        for _ in range(20):
            x = builder.convolve(x)
        return x

    x = builder.within("tail", lambda: chain(builder.add("MaxPool", x, kernel_shape=[2])))
    return builder.load(x).model


def test_of_a_row_of_blocks_one_that_most_are_like_comes_before_the_row() -> None:
    view = View(make_row())
    ideas = [block.group.label for block in list_stacks_and_ideas(view, [])]
    assert ideas.index("cell.1") < ideas.index("cell.0") < ideas.index("neck")


def test_of_blocks_that_are_alike_the_first_and_the_last_are_shown_last() -> None:
    model = make_row(2)
    blocks = list_untold(model, [*list_closed(View(model).root)])
    cells = [block.group.label for block in blocks if block.group.label.startswith("cell")]
    assert cells.index("cell.1") < cells.index("cell.0")


def count_with_inputs(count: int) -> tuple[int, int]:
    """Return how many boxes count of a model of so many inputs, and how many it has."""
    values = [helper.make_tensor_value_info(f"in{n}", TensorProto.FLOAT, [4]) for n in range(count)]
    joined = helper.make_node("Concat", [value.name for value in values], ["joined"], axis=0)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    nodes = [joined, helper.make_node("Softmax", ["joined"], ["y"])]
    graph = helper.make_graph(nodes, "", values, [output])
    boxes = [*list_closed(View(load(helper.make_model(graph).SerializeToString())).root)]
    return count_boxes(boxes), len(boxes)


def test_of_many_inputs_and_outputs_few_count_as_boxes() -> None:
    few, all_few = count_with_inputs(3)
    many, all_many = count_with_inputs(12)
    assert few == all_few
    assert (many, all_many) == (few + 4, all_few + 9)


def make_core(*, goes_on: bool) -> Model:
    """Return a mixer that gives shares beside what a head takes, or what it gives itself."""
    builder = Branching()
    x = builder.within("stem", partial(builder.branch, "x", 1))
    given: list[str] = []

    def write(x: str) -> str:
        mixed = builder.mix(x)
        shares = builder.add("Softmax", builder.linear(mixed))
        shares = builder.add("Mul", shares, builder.weight())
        given.append(builder.add("Log", builder.add("Add", shares, builder.weight())))
        return builder.linear(builder.add("Tanh", mixed))

    y = builder.within("core", lambda: write(x))
    if goes_on:
        y = builder.within("head", partial(builder.mlp, y))
    names = ("x", given[0], y)
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]
    graph = helper.make_graph(builder.nodes, "", values[:1], values[1:], builder.initializers)
    return load(helper.make_model(graph).SerializeToString())


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_block_with_an_output_of_its_own_is_no_end_where_others_take_from_it(
    goes_on: bool,
) -> None:
    model = make_core(goes_on=goes_on)
    core = find_group(model, "core/")
    assert any(inner.kind == "postprocessing" for inner in core.inner_groups())
    blocks = list_untold(model, [*list_closed(View(model).root)])
    assert ("core" in {block.group.label for block in blocks}) == goes_on
