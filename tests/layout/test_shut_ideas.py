"""What a first view opens before all that has a name: blocks whose closed box can only list."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from onnx import NodeProto

from netloupe.explorer.grouping import Group
from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.layout.first_view_search import Search
from netloupe.explorer.layout.hidden_blocks import list_stacks
from netloupe.explorer.layout.inset_scene import compose_with_insets, open_inset
from netloupe.explorer.layout.opening_worth import is_told_by_face, is_worth_a_frame
from netloupe.explorer.layout.shut_ideas import is_shut_idea
from netloupe.explorer.model import Model
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.picture import Picture, make_picture
from netloupe.explorer.view import View, ViewOptions
from tests.grouping.test_repeats import Builder
from tests.onnx_text import load_text
from tests.scene_check import find_geometry_faults


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


class Scoped(Builder):
    """Writes models whose nodes are in modules."""

    def within(self, scope: str, write: Callable[[], str]) -> str:
        first = len(self.nodes)
        output = write()
        for number, node in enumerate(self.nodes[first:]):
            assert isinstance(node, NodeProto)
            inner = node.name if node.name.startswith("/") else f"/n{number}"
            node.name = f"/{scope}{inner}"
        return output

    def mix(self, x: str) -> str:
        """Write a gated mixer: what is mixed along a sequence, times a gate of the same."""
        mixed = self.add("Conv", self.linear(x), self.weight())
        gate = self.add("Sigmoid", self.linear(x))
        return self.linear(self.add("Mul", mixed, gate))

    def mixer_layer(self, x: str) -> str:
        mixed = self.within("mixer", lambda: self.mix(x))
        x = self.add("Add", x, mixed)
        x = self.add("Add", x, self.within("mlp", lambda: self.mlp(x)))
        return x


def make_mixers(count: int = 5) -> Model:
    builder = Scoped()
    x = builder.add("Gather", builder.weight(), "x")
    for number in range(count):
        x = builder.within(f"layers.{number}", partial(builder.mixer_layer, x))
    return builder.load(builder.linear(x)).model


def draw(model: Model, engine: LayoutEngine) -> Picture:
    return make_picture(model, ViewOptions.parse({}), composer=Composer(engine), deadline=600)


def list_open(picture: Picture) -> list[str]:
    return [box.item.label for box in picture.scene.boxes if box.item.is_open]


def find_group(model: Model, end: str) -> Group:
    tree = View(model).borders(model.graph).tree
    return next(g for path, g in tree.groups.items() if path.endswith(end))


def test_of_a_repetition_what_has_no_name_is_open_and_the_rest_closed(
    engine: LayoutEngine,
) -> None:
    picture = draw(make_mixers(), engine)
    assert list_open(picture) == ["layers.0 … layers.4", "mixer"]
    (mlp,) = [box.item for box in picture.scene.boxes if box.item.label == "mlp"]
    assert not mlp.is_open


def test_a_chain_and_a_named_block_are_no_shut_ideas() -> None:
    model = make_mixers()
    assert is_shut_idea(find_group(model, "layers.0/mixer/"))
    assert not is_shut_idea(find_group(model, "layers.0/mlp/"))
    builder = Scoped()
    x = builder.within(
        "head", lambda: builder.linear(builder.add("Conv", builder.linear("x"), "x"))
    )
    assert not is_shut_idea(find_group(builder.load(x).model, "head/"))


def test_what_has_the_name_of_the_block_around_it_is_its_idea(engine: LayoutEngine) -> None:
    """A residual block of residual blocks, as one inside of another, says what the inner one is."""
    builder = Scoped()
    x = builder.add("Conv", "x", builder.weight())

    def residual(x: str) -> str:
        inner = builder.add("Relu", builder.add("Conv", x, builder.weight()))
        return builder.add("Add", x, builder.add("Conv", inner, builder.weight()))

    for number in range(4):

        def write(x: str = x) -> str:
            inner = x
            for part in "abc":
                inner = builder.within(part, partial(residual, inner))
            return builder.add("Add", x, builder.add("Mul", inner, builder.weight()))

        x = builder.within(f"blocks.{number}", write)
    picture = draw(builder.load(builder.add("Conv", x, builder.weight())).model, engine)
    assert len(list_open(picture)) == 2


def make_backbone_with_head() -> Model:
    """Return a stack of transformer blocks, and a head that pools in several ways behind it."""
    builder = Scoped()
    x = builder.add("Gather", builder.weight(), "x")
    for number in range(4):
        x = builder.within(f"backbone/layers.{number}", partial(builder.layer, x))

    def pool(x: str) -> str:
        paths = [builder.linear(builder.add("Abs", builder.linear(x))) for _ in range(3)]
        gate = builder.add("Sigmoid", builder.linear(x))
        return builder.linear(builder.add("Mul", builder.add("Concat", *paths, axis=0), gate))

    return builder.load(builder.within("head", lambda: pool(x))).model


def test_a_head_without_a_name_comes_before_blocks_with_one(engine: LayoutEngine) -> None:
    picture = draw(make_backbone_with_head(), engine)
    assert "head" in list_open(picture)


def test_what_only_picks_and_arranges_stays_closed(engine: LayoutEngine) -> None:
    builder = Scoped()
    x = builder.add("Gather", builder.weight(), "x")

    def pick(x: str) -> str:
        x = builder.add("Transpose", builder.add("Transpose", x, perm=[0]), perm=[0])
        return builder.add("Add", builder.add("Conv", x, x), x)

    for number in range(5):
        inner = builder.within(f"layers.{number}/pick", partial(pick, x))
        x = builder.within(f"layers.{number}", partial(builder.layer, builder.add("Add", x, inner)))
    picture = draw(builder.load(x).model, engine)
    assert "pick" not in list_open(picture)


def test_of_what_is_called_alike_beside_each_other_none_is_open_alone(
    engine: LayoutEngine,
) -> None:
    """The other two are a chain, of which their boxes say all."""
    builder = Scoped()
    x = builder.add("Neg", "x")
    for number in range(3):

        def write(x: str = x, number: int = number) -> str:
            mixed = builder.mix(x) if number == 1 else x
            return builder.linear(builder.add("Conv", builder.linear(mixed), builder.weight()))

        x = builder.within(f"steps.{number}", write)
    picture = draw(builder.load(builder.add("Abs", x)).model, engine)
    inside = {item.is_open for item in picture.view.root.children if "steps" in item.label}
    assert inside == {False}


def make_deep_mixers() -> Model:
    """Return blocks whose mixer is an attention with a gate, written out."""
    builder = Scoped()
    x = builder.add("Gather", builder.weight(), "x")

    def mix(x: str) -> str:
        q, k, v, g = (builder.linear(x) for _ in "qkvg")
        q, k = builder.add("Transpose", q), builder.add("Transpose", builder.add("Tanh", k))
        decayed = builder.add("Mul", builder.add("MatMul", q, k), builder.weight(size=4))
        mixed = builder.add("MatMul", decayed, v)
        gated = builder.add("Mul", mixed, builder.add("Sigmoid", g))
        return builder.linear(gated)

    for number in range(5):

        def write(x: str = x) -> str:
            x = builder.add("Add", x, builder.within("mixer", lambda: mix(builder.norm(x))))
            return builder.add("Add", x, builder.within("mlp", lambda: builder.mlp(x)))

        x = builder.within(f"layers.{number}", write)
    return builder.load(builder.linear(x)).model


def test_an_inset_of_a_block_in_an_inset_stands_behind_it(engine: LayoutEngine) -> None:
    view = View(make_deep_mixers())
    (stack,) = [item for item in view.root.children if item.repeat is not None]
    first = open_inset(view, stack)
    (mixer,) = [item for item in first.item.children if item.label == "mixer"]
    insets = [first, open_inset(first.view, mixer)]
    scene = compose_with_insets(Composer(engine), view, insets, Labels(), "TB")
    outer, inner = scene.zooms
    assert inner.side == outer.side == 1
    assert inner.near > outer.far
    assert find_geometry_faults(scene, view, insets) == []


def test_a_frame_of_a_stack_and_what_prepares_for_it_stays_closed(engine: LayoutEngine) -> None:
    builder = Scoped()

    def write() -> str:
        start = builder.add("Expand", builder.weight(), builder.add("Shape", "x"))
        x = "x"
        for _ in range(2):
            x = builder.add("Add", builder.add("MatMul", x, builder.weight()), start)
        return x

    x = builder.within("tail", write)
    picture = draw(builder.load(builder.add("Abs", builder.add("Neg", x))).model, engine)
    assert "tail" not in list_open(picture)


@pytest.mark.parametrize("layers", [1, 2])
def test_a_linear_layer_with_what_joins_and_turns_its_features_is_no_frame(layers: int) -> None:
    """As the lifting of a neural operator, to whose values their places are put."""
    builder = Scoped()

    def lift(x: str) -> str:
        x = builder.add("Concat", x, "x", axis=0)
        for _ in range(layers):
            x = builder.add("Add", builder.linear(x), builder.weight())
        return builder.add("Transpose", x)

    x = builder.within("lift", lambda: lift("x"))
    x = builder.within("head", lambda: builder.mlp(x))
    model = builder.load(x).model
    assert is_worth_a_frame(find_group(model, "lift/")) == (layers > 1)


@pytest.mark.parametrize(("computing", "is_told"), [((), True), (("Relu",), False)])
def test_a_group_in_which_one_node_computes_is_told_by_its_face(
    computing: tuple[str, ...], *, is_told: bool
) -> None:
    """All others lay out what it takes, or what it gives."""
    builder = Scoped()

    start = builder.within("body", lambda: builder.linear(builder.linear("x")))

    def pool() -> str:
        x = builder.add("Transpose", start)
        for op_type in ("ReduceMax", *computing):
            x = builder.add(op_type, x)
        return builder.add("Transpose", x)

    pooled = builder.within("pool", pool)
    x = builder.within("head", lambda: builder.linear(builder.linear(pooled)))
    group = find_group(builder.load(x).model, "pool/")
    assert group.recognised is None
    assert is_told_by_face(group) is is_told


@pytest.mark.parametrize("chooses", [True, False])
def test_what_decides_by_logic_alone_is_not_drawn_in_place_of_layers(
    chooses: bool,
) -> None:
    builder = Scoped()

    def decide(x: str) -> str:
        high = builder.add("MaxPool", x, kernel_shape=[1])
        same = builder.add("Equal", high, x)
        if chooses:
            same = builder.add("And", builder.add("Not", same), builder.add("Greater", x, high))
        kept = builder.add("Where", same, x, builder.add("Relu", high))
        return builder.add("Sub", kept, builder.add("Abs", x))

    x = builder.within("head", partial(builder.mlp, "x"))
    for number in range(4):
        x = builder.within(f"passes.{number}", partial(decide, x))
    stacks = list_stacks(View(builder.load(builder.linear(x)).model))
    assert any(stack.group.label.startswith("passes") for stack in stacks) is not chooses


@pytest.mark.parametrize(
    ("second", "is_worth"), [("Cast <to: int = 1> (e)", False), ("Elu (e)", True)]
)
def test_a_frame_needs_two_boxes_that_do_more_than_move_a_value(
    second: str, *, is_worth: bool
) -> None:
    model = load_text(f"""
        g (int64[4, 2] x, float[10, 8] table) => (y)
        <int64 first = {{0}}, int64[2] dims = {{1, -1}}>
        {{ p = Gather <axis: int = 1> (x, first)  e = Gather (table, p)
           z = {second}  y = Reshape (z, dims) }}
    """)
    group = Group("scope", model.graph, "main/m/", "m", "M", None)
    group.children = [*model.graph.nodes]
    assert is_worth_a_frame(group) == is_worth


def test_of_ideas_that_are_called_alike_none_is_opened_alone_in_its_place(
    engine: LayoutEngine,
) -> None:
    builder = Scoped()
    x = "x"
    for number in range(3):

        def write(x: str = x, number: int = number) -> str:
            x = builder.mix(x)
            for kind in ("Sin", "Neg", "Exp")[: number + 1]:  # no two are one stack
                x = builder.add(kind, x)
            return x

        x = builder.within(f"block{number}", write)
    x = builder.within("last", partial(builder.mix, x))
    view = View(builder.load(x).model)
    ideas = [item.label for item in view.root.children if is_shut_idea(item.element)]
    end = time.monotonic() + 600
    search = Search(Composer(engine), Labels(), lambda *_: 1.0, view, "TB", end)
    search.open_stack()
    assert {"block0", "block1", "block2"} <= {*ideas}
    assert not any(item.is_open for item in view.root.children if item.label in ideas[:3])
