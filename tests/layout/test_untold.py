"""What closed boxes leave untold, and how a first view makes that less."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.layout.idea_insets import is_frame_of_one
from netloupe.explorer.layout.shown_items import list_closed
from netloupe.explorer.layout.untold import list_untold, rate_face
from netloupe.explorer.model import Model
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import View, ViewOptions
from tests.layout.test_shut_ideas import Scoped, draw, find_group, list_open, make_mixers


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


class Branching(Scoped):
    """Writes blocks of branches that no name tells."""

    def branch(self, x: str, count: int = 3) -> str:
        """Write convolutions in a row of which all are joined."""
        rows = [self.convolve(x)]
        for _ in range(count):
            rows.append(self.convolve(rows[-1]))
        return self.convolve(self.add("Concat", *rows, axis=0))

    def convolve(self, x: str) -> str:
        return self.add("Relu", self.add("Conv", x, self.weight(size=4)))


def make_branches() -> Model:
    """Return three blocks of joined branches called differently, resized between each other."""
    builder = Branching()
    x = builder.within("stem", partial(builder.convolve, "x"))
    x = builder.within("pool", partial(builder.add, "MaxPool", x, kernel_shape=[2]))
    for name in ("e", "h", "g"):
        x = builder.within(name, partial(builder.branch, x))
        x = builder.within(f"to_{name}", partial(builder.add, "MaxPool", x, kernel_shape=[2]))
    return builder.load(builder.convolve(x)).model


def test_a_list_is_left_untold_and_a_name_or_a_chain_is_not() -> None:
    model = make_mixers()
    assert rate_face(find_group(model, "layers.0/mixer/")) == 1
    assert rate_face(find_group(model, "layers.0/mlp/")) == 0


def test_blocks_of_the_same_parts_leave_untold_together_what_each_does() -> None:
    model = make_branches()
    blocks = list_untold(model, list(list_closed(View(model).root)))
    assert {block.group.label for block in blocks} == {"e", "h", "g"}
    assert len({block.untold for block in blocks}) == 1
    assert 0.4 < blocks[0].untold <= 0.5  # their parts are in a row, and joined besides


def test_one_of_several_blocks_of_the_same_parts_is_drawn_open(engine: LayoutEngine) -> None:
    """As of a backbone of blocks that join all convolutions in them, called by stage."""
    picture = draw(make_branches(), engine)
    opened = [name for name in list_open(picture) if name in ("e", "h", "g")]
    assert len(opened) == 1


def test_what_is_in_a_closed_chain_is_drawn_beside_it(engine: LayoutEngine) -> None:
    """A pooling by learned weights behind convolutions is no chain, and the stem is."""
    builder = Branching()

    def pool(x: str) -> str:
        weights = builder.add("Softmax", builder.add("Conv", x, builder.weight()))
        both = builder.add("Mul", x, weights)
        return builder.add("ReduceSum", builder.add("Mul", both, builder.add("Conv", both, x)))

    x = builder.add("Conv", "x", builder.weight())
    for number in range(4):

        def stage(x: str = x) -> str:
            x = builder.within("conv", lambda: builder.convolve(builder.convolve(x)))
            return builder.within("pool", partial(pool, x))

        x = builder.within(f"stage{'abcd'[number]}", stage)
    picture = draw(builder.load(builder.convolve(x)).model, engine)
    opened = list_open(picture)
    assert "pool" in opened
    # it is a part of what its box stands for, and drawn with the little that is around it
    (stage,) = {*opened} & {"stagea", "stageb", "stagec", "staged"}
    (frame,) = [
        box.item for box in picture.scene.boxes if box.item.label == stage and box.item.is_open
    ]
    assert [child.label for child in frame.children if child.is_open] == ["pool"]


def test_of_a_box_with_much_in_it_a_part_is_drawn_alone(engine: LayoutEngine) -> None:
    builder = Branching()

    def stage(x: str) -> str:
        for letter in "abcdef":
            x = builder.within(letter, lambda x=x: builder.convolve(builder.convolve(x)))
            x = builder.add("MaxPool", x, kernel_shape=[2])
        return builder.within("branches", partial(builder.branch, x))

    x = builder.add("Conv", "x", builder.weight())
    x = builder.within("stage", partial(stage, x))
    opened = list_open(draw(builder.load(builder.convolve(x)).model, engine))
    assert "branches" in opened
    assert "stage" not in opened


def make_pairs_of_mixers() -> Model:
    """Return a stack whose blocks hold two layers with a mixer each, and an attention layer."""
    builder = Scoped()
    x = builder.add("Gather", builder.weight(), "x")
    for number in range(9):
        layer = builder.layer if number % 3 == 2 else builder.mixer_layer
        x = builder.within(f"layers.{number}", partial(layer, x))
    return builder.load(builder.linear(x)).model


def test_of_two_alike_with_an_idea_one_is_open_with_what_it_is_about(
    engine: LayoutEngine,
) -> None:
    picture = draw(make_pairs_of_mixers(), engine)
    opened = list_open(picture)
    assert "layers.3" in opened
    assert "layers.4" not in opened
    assert opened.count("mixer") == 1


def test_a_residual_block_of_branches_does_not_say_what_it_is() -> None:
    """Its name says that something is added; what it adds is a difference of two branches."""
    builder = Branching()

    def mix(x: str) -> str:
        mixed = builder.add("Add", builder.convolve(x), builder.convolve(x))
        return builder.add("Add", x, builder.add("Sub", mixed, builder.convolve(x)))

    def plain(x: str) -> str:
        return builder.add("Add", x, builder.add("Conv", builder.convolve(x), builder.weight()))

    x = builder.within("stem", partial(builder.convolve, "x"))
    x = builder.within("mixer", partial(mix, x))
    x = builder.within("plain", partial(plain, x))
    x = builder.within("head", partial(builder.convolve, x))
    model = builder.load(x).model
    assert rate_face(find_group(model, "main/mixer/")) > 0
    assert rate_face(find_group(model, "main/plain/")) == 0


@pytest.mark.parametrize("works", [False, True])
def test_a_frame_does_not_show_what_is_all_that_works_in_it(works: bool) -> None:
    builder = Scoped()

    def shift(x: str) -> str:
        x = builder.add("Concat", builder.linear(x) if works else x, x, axis=0)
        return builder.within("mixer", partial(builder.mix, x))

    x = builder.within("stem", partial(builder.mlp, "x"))
    x = builder.within("shifted", partial(shift, x))
    x = builder.within("head", partial(builder.mlp, x))
    view = View(builder.load(x).model)
    (frame,) = (item for item in view.root.children if item.label == "shifted")
    view.open_item(frame)
    assert is_frame_of_one(frame) is not works
    view.open_item(next(child for child in frame.children if child.label == "mixer"))
    assert not is_frame_of_one(frame)


def test_a_picture_of_what_names_tell_has_no_inset_for_more(engine: LayoutEngine) -> None:
    builder = Scoped()
    x = builder.add("Gather", builder.weight(), "x")
    for number in range(6):
        x = builder.within(f"layers.{number}", partial(builder.layer, x))
    model = builder.load(builder.linear(x)).model
    picture = make_picture(model, ViewOptions.parse({}), composer=Composer(engine), deadline=600)
    assert len(picture.scene.zooms) <= 1


def test_blocks_with_names_one_behind_the_other_are_told_by_a_list_of_these() -> None:
    """As of a backbone whose stages give their maps besides: no block is joined with another."""
    builder = Scoped()
    maps: list[str] = []

    def encode(x: str) -> str:
        for name, activation in (("early", "Relu"), ("late", "Tanh")):
            x = builder.within(name, partial(builder.layer, x, activation=activation))
            maps.append(builder.within(f"norm_{name}", partial(builder.norm, x)))
        return x

    x = builder.within("stem", partial(builder.linear, "x"))
    builder.within("encoder", partial(encode, x))
    x = builder.within("head", lambda: builder.linear(builder.add("Concat", *maps, axis=0)))
    model = builder.load(x).model
    assert rate_face(find_group(model, "main/encoder/")) == 0


def test_a_stack_in_a_block_that_is_little_more_is_drawn_instead() -> None:
    builder = Scoped()
    x = builder.within("stem", lambda: builder.linear("x"))

    def mix_often(x: str) -> str:
        x = builder.add("Mul", builder.linear(x), builder.linear(x))
        for number in range(8):
            x = builder.within(f"step{number}", partial(builder.mix, x))
        return x

    x = builder.within("cell", partial(mix_often, x))
    model = builder.load(builder.within("head", lambda: builder.linear(x))).model
    blocks = list_untold(model, list(list_closed(View(model).root)))
    assert [block.group.kind for block in blocks] == ["repeat"]


def test_what_an_open_block_shows_is_not_new_in_one_of_the_same_parts() -> None:
    """As of a backbone of joined branches, and a small mixer behind it that nothing else shows."""
    builder = Branching()
    x = builder.within("stem", partial(builder.convolve, "x"))
    for name, count in (("e", 7), ("h", 8)):
        x = builder.within(name, partial(builder.branch, x, count))
        x = builder.within(f"to_{name}", partial(builder.add, "MaxPool", x, kernel_shape=[2]))
    x = builder.within("late", partial(builder.mix, x))
    view = View(builder.load(builder.linear(x)).model)
    closed = [*list_closed(view.root)]
    assert [block.group.label for block in list_untold(view.model, closed)][-1] == "late"
    opened = next(item for item in closed if item.label == "e")
    view.open_item(opened)
    blocks = list_untold(view.model, [*list_closed(view.root)], [opened])
    assert [block.group.label for block in blocks] == ["late", "h"]
    assert [block.novelty for block in blocks] == [1, 1 / 3]


def make_towers() -> Model:
    """Return a tower of ordinary blocks behind branches, which one of mixers takes up."""
    builder = Branching()

    def encode() -> str:
        x = builder.within("branches", partial(builder.branch, "x", 5))
        for number in range(6):
            x = builder.within(f"part_{'abcdef'[number]}", partial(builder.branch, x, 2 + number))
        return builder.add("Relu", x)

    def decode(x: str) -> str:
        for number in range(5):
            x = builder.within(f"layers.{number}", partial(builder.mixer_layer, x))
        return builder.linear(x)

    x = builder.within("encoder", encode)
    x = builder.within("decoder", partial(decode, builder.linear(x)))
    return builder.load(builder.linear(x)).model


def test_what_leaves_most_untold_is_open_beside_what_is_open(engine: LayoutEngine) -> None:
    picture = draw(make_towers(), engine)
    assert {"encoder", "decoder"} <= {*list_open(picture)}
