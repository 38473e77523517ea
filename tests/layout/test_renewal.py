"""Opening one of many siblings: what is renewed equals what is made anew, and costs no more."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloupe.explorer.layout import Composer, LayoutEngine, Scene
from netloupe.explorer.layout.assembly import Assembly, divide_level
from netloupe.explorer.layout.compose import Frame, _put_together
from netloupe.explorer.layout.composed import Composed
from netloupe.explorer.layout.labels import place_labels
from netloupe.explorer.layout.place import Placer
from netloupe.explorer.layout.plan import Placed, plan_item
from netloupe.explorer.model import Model, Value
from netloupe.explorer.options import Direction, Wrap
from netloupe.explorer.progress import Cancelled, watched
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.wire import SceneEncoder
from netloupe.explorer.view import Item, View
from tests.graph_strategies import random_models
from tests.layout.test_geometry import CountingEngine, chain_of_layers
from tests.scene_check import find_geometry_faults
from tests.trees import Change, make_view, random_changes, take_random_step
from tests.wire_reader import SceneReader


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def list_composed(composer: Composer, view: View) -> list[Composed]:
    """Return what a composer remembers of every open item of a view."""
    root = composer.recall(view)
    assert root is not None
    found = [root]
    for composed in found:
        found += composed.inner.values()
    return found


def check_renewed(composer: Composer, view: View, labels: Labels, wrap: Wrap) -> None:
    """Make everything that a composer has made anew, from the placements of pieces; compare."""
    for composed in list_composed(composer, view):
        layer, renewed = composed.level, composed.plan
        inner = {
            number: Placed(each.level.inside, each.plan.borders)
            for number, each in composed.inner.items()
        }
        plan = plan_item(view, layer.item, labels, renewed.level.direction, inner)
        assert renewed.level == plan.level
        for name in ("sizes", "sources", "targets", "leaving", "entering"):
            arrays = (getattr(each.level.arrays(), name) for each in (renewed, plan))
            np.testing.assert_array_equal(*arrays)
        assert layer.edges == plan.edges
        assert layer.ports == plan.ports
        assert renewed.borders == plan.borders
        assert layer.texts == plan.texts.strings
        np.testing.assert_array_equal(renewed.texts.wanted, plan.texts.wanted)
        assert layer.revisions == [child.revision for child in layer.children]

        arranged, inside = composed.arranged, layer.inside
        assert inside is arranged.inside
        is_mirrored = arranged.is_mirrored
        division, pieces = divide_level(plan.level.mirrored() if is_mirrored else plan.level)
        assert [piece.level for piece in arranged.assembly.pieces] == [p.level for p in pieces]
        title = None if layer.item is view.root else labels.title(layer.item)
        assembly = Assembly(division, pieces, arranged.assembly.placements)
        frame = Frame(title, wrap, inside.columns > 1)
        fresh = _put_together(assembly, plan.level, frame, is_mirrored=is_mirrored).inside
        assert (inside.width, inside.height) == (fresh.width, fresh.height)
        assert (inside.inputs, inside.outputs) == (fresh.inputs, fresh.outputs)
        np.testing.assert_array_equal(inside.boxes, fresh.boxes)
        np.testing.assert_array_equal(inside.ports, fresh.ports)
        np.testing.assert_array_equal(inside.curves.points, fresh.curves.points)
        np.testing.assert_array_equal(inside.curves.starts, fresh.curves.starts)
        opened = np.flatnonzero([child.is_open for child in layer.children])
        places = place_labels(fresh, plan.level.direction, opened, plan.texts)
        np.testing.assert_array_equal(layer.places, places)


class Screen:
    """A browser that is told what is new, checked against one that is told everything."""

    def __init__(self, labels: Labels) -> None:
        self._labels = labels
        self._encoder = SceneEncoder(labels.faces)
        self._reader = SceneReader()

    def check(self, scene: Scene) -> None:
        self._reader.read(*self._encoder.encode(scene))
        whole = SceneReader()
        whole.read(*SceneEncoder(self._labels.faces).encode(scene, whole=True))
        assert self._reader.boxes() == whole.boxes()
        assert self._reader.edges() == whole.edges()
        for reader in (self._reader, whole):
            assert reader.header["counts"]["boxes"] == len(scene.boxes)


@settings(max_examples=60, deadline=None)
@given(random_models(), random_changes(), st.sampled_from(["TB", "LR"]), st.data())
def test_renewed_layers_equal_those_made_anew(
    engine: LayoutEngine, model: Model, change: Change, direction: Direction, data: st.DataObject
) -> None:
    view = make_view(model, change)
    composer, labels = Composer(engine), Labels()
    screen = Screen(labels)
    for _ in range(data.draw(st.integers(2, 6))):
        take_random_step(view, data)
        scene = composer.compose(view, labels, direction, deadline=600)
        check_renewed(composer, view, labels, False)
        screen.check(scene)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 59), min_size=1, max_size=8),
    st.sampled_from(["TB", "LR"]),
    st.sampled_from([False, "auto", 3]),
)
def test_a_long_row_of_layers_is_the_same_by_any_way(
    engine: LayoutEngine, numbers: list[int], direction: Direction, wrap: Wrap
) -> None:
    view = View(chain_of_layers(60))
    view.unroll("main/layer0-59/")
    composer, labels = Composer(engine), Labels()
    screen = Screen(labels)
    scene = composer.compose(view, labels, direction, wrap=wrap)
    for number in numbers:  # what is named twice is closed again
        path = f"main/layer{number}/"
        (view.close if view.items[path].is_open else view.open)(path)
        scene = composer.compose(view, labels, direction, wrap=wrap)
        check_renewed(composer, view, labels, wrap)
        screen.check(scene)
    assert find_geometry_faults(scene, view) == []
    fresh = Composer(engine).compose(view, labels, direction, wrap=wrap)
    assert fresh.is_extreme == scene.is_extreme
    for box, other in zip(scene.boxes, fresh.boxes, strict=True):
        assert box == other
    for edge, other_edge in zip(scene.edges, fresh.edges, strict=True):
        assert edge == other_edge


class CountingLabels(Labels):
    """Counts what the layout asks for."""

    sizes = 0
    texts = 0

    def size(self, item: Item) -> tuple[float, float]:
        self.sizes += 1
        return super().size(item)

    def label(self, value: Value) -> tuple[str, float]:
        self.texts += 1
        return super().label(value)


def count_calls(action: Callable[[], object]) -> int:
    """Return how many functions, of Python or of C, an action calls."""
    count = 0

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("wrap", [False, 4])
@pytest.mark.parametrize("opened", [[], ["main/layer9/", "main/layer20/"]])
def test_opening_one_of_many_costs_what_changes(
    engine: LayoutEngine, monkeypatch: pytest.MonkeyPatch, wrap: Wrap, opened: list[str]
) -> None:
    placed: list[int] = []
    place = Placer._place_piece

    def count_pieces(self: Placer, layer: object, budget: object) -> object:
        placed[-1] += 1
        return place(self, layer, budget)  # type: ignore[arg-type]

    monkeypatch.setattr(Placer, "_place_piece", count_pieces)
    work = []
    for count in (160, 320, 640):
        view = View(chain_of_layers(count))
        view.unroll(f"main/layer0-{count - 1}/")
        composer, labels = Composer(engine), CountingLabels()
        encoder = SceneEncoder(labels.faces)
        placed.append(0)
        for path in opened:
            view.open(path)
        encoder.encode(composer.compose(view, labels, wrap=wrap))
        view.open("main/layer13/")  # so that the faces are known
        encoder.encode(composer.compose(view, labels, wrap=wrap))
        placed.append(0)
        labels.sizes = labels.texts = 0

        def open_one(
            view: View = view,
            composer: Composer = composer,
            labels: Labels = labels,
            encoder: SceneEncoder = encoder,
        ) -> None:
            view.open("main/layer27/")
            encoder.encode(composer.compose(view, labels, wrap=wrap))

        calls = count_calls(open_one)
        work.append((placed[-1], labels.sizes, labels.texts, calls))
    pieces, sizes, texts, few = work[0]
    assert pieces <= 8  # the layer, what it touches, and what is around it
    assert sizes <= 12
    assert texts <= 8
    for other in work[1:]:
        assert other[:3] == (pieces, sizes, texts)
        assert other[3] <= 1.05 * few  # whatever is done for all is done by one call


def test_the_first_opening_divides_nothing_again(
    engine: LayoutEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = View(chain_of_layers(50))
    view.unroll("main/layer0-49/")
    composer, labels = Composer(engine), Labels()
    composer.compose(view, labels)
    divided: list[int] = []

    def count_division(layer: object) -> object:
        divided.append(len(layer.children))  # type: ignore[attr-defined]
        return divide_level(layer)  # type: ignore[arg-type]

    monkeypatch.setattr("netloupe.explorer.layout.place.divide_level", count_division)
    view.open("main/layer20/")
    composer.compose(view, labels)
    assert divided == [3]  # what is in the layer


def test_what_was_prepared_needs_no_engine() -> None:
    counting = CountingEngine()
    try:
        view = View(chain_of_layers(30))
        view.unroll("main/layer0-29/")
        composer, labels = Composer(counting), Labels()
        before = composer.compose(view, labels).root
        item = view.items["main/layer7/"]
        composer.prepare(view, item, labels, counting, deadline=600)
        assert composer.compose(view, labels).root is before
        asked = counting.count
        view.open(item.key)
        scene = composer.compose(view, labels)
        assert counting.count == asked
        check_renewed(composer, view, labels, False)
        fresh = Composer(counting).compose(view, labels)
        assert [(box.x, box.y) for box in scene.boxes] == [(b.x, b.y) for b in fresh.boxes]
    finally:
        counting.stop()


def test_a_cancelled_layout_leaves_no_trace(engine: LayoutEngine) -> None:
    view = View(chain_of_layers(30))
    view.unroll("main/layer0-29/")
    composer, labels = Composer(engine), Labels()
    composer.compose(view, labels)
    asked = 0

    def cancel_late(_what: str, _share: float | None) -> None:
        nonlocal asked
        asked += 1
        if asked > 2:
            raise Cancelled

    view.open("main/layer7/")
    with pytest.raises(Cancelled), watched(cancel_late):
        composer.compose(view, labels)
    view.close("main/layer7/")
    view.open("main/layer21/")
    scene = composer.compose(view, labels)
    check_renewed(composer, view, labels, False)
    assert find_geometry_faults(scene, view) == []
