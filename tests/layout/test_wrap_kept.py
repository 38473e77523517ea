"""Columns stay while something in them is opened and closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from onnx import helper

from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.layout import Composer, LayoutEngine, Scene
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import View
from tests.trees import make_view, wrap


def make_long(breadth: int, length: int = 130) -> View:
    """Return a chain with one group at its end that is broad once it is open."""
    nodes, last = [], "x"
    for number in range(length):
        nodes.append(helper.make_node("Relu", [last], [f"r{number}"], name=f"r{number}"))
        last = f"r{number}"
    taken = [f"n{number}" for number in range(breadth)]
    nodes += [helper.make_node("Neg", [last], [name], name=name) for name in taken]
    nodes.append(helper.make_node("Sum", taken, ["y"], name="sum"))
    x, y = (helper.make_tensor_value_info(name, 1, [4]) for name in "xy")
    proto = helper.make_model(helper.make_graph(nodes, "g", [x], [y]))

    def change(tree: GroupTree) -> None:
        wrap(tree.root, "scope", length, length + breadth + 1, "wide")

    return make_view(load(proto.SerializeToString()), change, "none")


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


@pytest.fixture
def compose(engine: LayoutEngine) -> Callable[[View], Scene]:
    composer, labels = Composer(engine), Labels()
    return lambda view: composer.compose(view, labels, wrap=True)


def columns(scene: Scene) -> int:
    assert scene.root is not None
    return scene.root.inside.columns


def test_columns_stay_when_a_group_in_them_is_opened(compose: Callable[[View], Scene]) -> None:
    view = make_long(breadth=16)
    assert columns(compose(view)) > 1
    view.open("main/wide/")
    assert columns(compose(view)) > 1
    view.close("main/wide/")
    assert columns(compose(view)) > 1


def test_what_was_never_extreme_is_not_cut(engine: LayoutEngine) -> None:
    view = make_long(breadth=16)
    view.open("main/wide/")
    assert columns(Composer(engine).compose(view, Labels(), wrap=True)) == 1


def test_columns_end_where_the_picture_is_a_page_already(
    compose: Callable[[View], Scene],
) -> None:
    view = make_long(breadth=70)
    assert columns(compose(view)) > 1
    view.open("main/wide/")
    assert columns(compose(view)) == 1
