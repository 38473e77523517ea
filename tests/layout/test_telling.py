"""How unusual blocks are, and that what every network has leaves its place to what none has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from netloupe.explorer.layout import LayoutEngine
from netloupe.explorer.layout.hidden_blocks import list_stacks, list_stacks_and_ideas
from netloupe.explorer.layout.stacks import is_another
from netloupe.explorer.layout.telling import is_ordinary, list_telling
from netloupe.explorer.model import Model
from netloupe.explorer.view import View
from tests.layout.test_shut_ideas import Scoped, draw, find_group, list_open


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
    assert ("first" in list_open(picture), "joint" in drawn) == (attends, attends)


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
