"""Labels beside edges: they stand where one who looks at every pair of areas would put them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.layout.areas import AreaIndex, ProximityFilter
from netloupe.explorer.layout.composed import Composed
from netloupe.explorer.layout.labels import COUNT_SPOTS, HEIGHT, LEAST_LEFT, SIZE_SPOTS
from netloupe.explorer.model import Model
from netloupe.explorer.options import Direction
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.render.sizes import TEXT_STYLES
from netloupe.explorer.render.text import measure_text
from netloupe.explorer.view import View, ViewOptions, expand_view
from tests.corpus import shared_model
from tests.graph_strategies import random_models
from tests.layout.test_geometry import sample_curve
from tests.layout.test_renewal import list_composed
from tests.onnx_text import load_text

Area = tuple[float, float, float, float]


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def meet(first: Area, second: Area) -> bool:
    return (
        first[0] < second[2]
        and second[0] < first[2]
        and first[1] < second[3]
        and second[1] < first[3]
    )


def find_arrow(points: Sequence[float]) -> Area:
    """Return the area of the arrow in which a curve ends, with a little around it."""
    x, y = points[-2:]
    for at in (-4, -6, -8):  # control points may lie where the curve ends
        dx, dy = x - points[at], y - points[at + 1]
        if (length := math.hypot(dx, dy)) > 0.01:
            break
    dx, dy = dx / max(length, 0.01), dy / max(length, 0.01)
    back_x, back_y = x - 8 * dx, y - 8 * dy
    wide, high = 4 * abs(dy), 4 * abs(dx)
    return (
        min(x, back_x) - wide,
        min(y, back_y) - high,
        max(x, back_x) + wide,
        max(y, back_y) + high,
    )


def list_size_places(points: tuple[float, ...], half: float) -> Iterator[tuple[float, float, Area]]:
    """Yield where a size may stand: right of the longest piece of an edge, or above it."""
    pieces = [points[at : at + 8] for at in range(0, len(points) - 7, 6)]
    longest = max(
        pieces, key=lambda piece: round(math.hypot(piece[6] - piece[0], piece[7] - piece[1]), 3)
    )
    is_level = abs(longest[6] - longest[0]) > abs(longest[7] - longest[1])
    is_long = is_level and abs(longest[6] - longest[0]) >= 200
    for share, side in SIZE_SPOTS:
        if abs(side) > 1 and not is_long:
            continue
        left = 1 - share
        weights = (left**3, 3 * left**2 * share, 3 * left * share**2, share**3)
        x = sum(weight * at for weight, at in zip(weights, longest[::2], strict=True))
        y = sum(weight * at for weight, at in zip(weights, longest[1::2], strict=True))
        if is_level:
            y -= side * (HEIGHT / 2 + 3)
        else:
            x += side * (half + 7)
        yield x, y, (x - half, y - HEIGHT / 2, x + half, y + HEIGHT / 2)


def place_one_by_one(composed: Composed, direction: Direction) -> np.ndarray:
    """Place the labels of an open item: each edge in turn, at the first place where nothing is.

    Numbers of values come first; one that finds no such place on a long edge stands beside it.
    """
    layer, texts = composed.level, composed.plan.texts
    axis = 1 if direction == "TB" else 0
    inside = layer.inside
    right, bottom = inside.width, inside.height
    taken: list[tuple[Area, int]] = [
        *((tuple(area), -1) for area in inside.titles.tolist()),
        ((0, -2, right, 2), -1),
        ((0, bottom - 2, right, bottom + 2), -1),
        ((-2, 0, 2, bottom), -1),
        ((right - 2, 0, right + 2, bottom), -1),
    ]
    for (x, y, width, height), child in zip(inside.boxes.tolist(), layer.children, strict=True):
        wall = 2 if child.is_open else 0
        taken.append(((x - wall, y - wall, x + width + wall, y + height + wall), -1))
    points = inside.curves.tuples()
    curves = [sample_curve(curve, 8) if curve else [] for curve in points]
    for number, curve in enumerate(curves):
        for (x0, y0), (x1, y1) in pairwise(curve):
            area = (min(x0, x1) - 1, min(y0, y1) - 1, max(x0, x1) + 1, max(y0, y1) + 1)
            taken.append((area, number))
    taken += [(find_arrow(curve), -1) for curve in inside.curves.tuples() if curve]
    found = np.full((len(curves), 2), np.nan)
    done = set()
    wanted = [number for number, curve in enumerate(curves) if texts.wanted[number] and curve]
    counted = [number for number in wanted if texts.counted[number]]

    def list_places(number: int, *, beside: bool) -> Iterator[tuple[float, float, Area]]:
        curve = curves[number]
        half = float(texts.widths[number]) / 2 + 5
        if not texts.counted[number]:
            yield from list_size_places(points[number], half)
            return
        length = abs(curve[-1][axis] - curve[0][axis])
        is_long = length >= 40 and not texts.named[number]  # else a number on it would hide it
        for share, side in COUNT_SPOTS:
            is_free = not side and length * (1 - share) >= LEAST_LEFT
            if side if beside or not is_long else is_free:
                x, y = curve[min(int(share * len(curve)), len(curve) - 1)]
                if direction == "TB":
                    x += side * (half + 5)
                else:
                    y += side * (HEIGHT / 2 + 5)
                yield x, y, (x - half, y - HEIGHT / 2, x + half, y + HEIGHT / 2)

    def place(numbers: list[int], *, beside: bool = False) -> None:
        for number in numbers:
            flow = int(texts.flows[number])
            for x, y, area in list_places(number, beside=beside) if flow not in done else ():
                others = [*taken, *written]
                own = number if texts.counted[number] else -2
                if not any(owner != own and meet(area, other) for other, owner in others):
                    written.append((area, -1))
                    found[number] = np.round((x, y), 2)
                    done.add(flow)
                    break

    written: list[tuple[Area, int]] = []
    place(counted)
    place(counted, beside=True)
    place([number for number in wanted if not texts.counted[number]])
    return found


def check_places(view: View, engine: LayoutEngine, direction: Direction) -> int:
    composer = Composer(engine)
    scene = composer.compose(view, Labels(), direction, deadline=600)
    count = 0
    for composed in list_composed(composer, view):
        places = composed.level.places
        np.testing.assert_array_equal(places, place_one_by_one(composed, direction))
        count += int(np.sum(~np.isnan(places[:, 0])))
    assert count == sum(bool(edge.label) for edge in scene.edges)
    return count


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("expand", ["auto", "all"])
@pytest.mark.parametrize(
    "name",
    ["exported/unet.dynamo.onnx", "exported/vit.dynamo.onnx", "quantized/bert.qdq.onnx"],
)
def test_labels_of_real_models(
    engine: LayoutEngine, name: str, expand: str, direction: Direction
) -> None:
    model = shared_model(name)
    view, _ = make_view(model, ViewOptions.parse({"expand": expand}))
    found = check_places(view, engine, direction)
    assert found or expand == "auto"  # in a first view most edges are too short


@settings(max_examples=60, deadline=None)
@given(random_models(), st.sampled_from(["TB", "LR"]))
def test_labels_of_random_models(engine: LayoutEngine, model: Model, direction: Direction) -> None:
    view = View(model)
    expand_view(view, "all")
    check_places(view, engine, direction)


@pytest.mark.parametrize("name", ["dlrm.legacy", "tacotron2.legacy", "hrnet.legacy"])
def test_numbers_stand_on_the_edges_that_they_count(engine: LayoutEngine, name: str) -> None:
    model = shared_model(f"exported/{name}.onnx")
    scene = make_picture(
        model, ViewOptions.parse({}), composer=Composer(engine), deadline=600
    ).scene
    edges = [edge for edge in scene.edges if edge.kind != "loop"]
    counted = [edge for edge in edges if edge.label.startswith("×")]
    assert counted
    for edge in counted:
        away = [
            max(abs(x - edge.label_x), abs(y - edge.label_y))
            for x, y in sample_curve(edge.points, 200)
        ]
        if abs(edge.points[-1] - edge.points[1]) < 40:
            continue  # beside what is so short
        assert min(away) < 3, edge
        # where the arrow is the edge itself is seen
        assert away[-1] >= HEIGHT / 2 + 8, edge


@pytest.mark.parametrize("name", ["unet.legacy", "unet.dynamo"])
def test_stubs_say_their_numbers_themselves(engine: LayoutEngine, name: str) -> None:
    model = shared_model(f"exported/{name}.onnx")
    picture = make_picture(model, ViewOptions.parse({}), composer=Composer(engine), deadline=600)
    scene = picture.scene
    stubs = [edge for edge in scene.edges if scene.boxes[edge.source].item.kind == "stub"]
    assert stubs
    assert not any(edge.label for edge in stubs)


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize(
    "name",
    ["exported/bart.legacy", "exported/unet.dynamo", "exported/gru_cells.dynamo"],
)
def test_no_label_covers_an_arrow(engine: LayoutEngine, name: str, direction: Direction) -> None:
    """Whether its own or that of another edge: it says where values go."""
    options = ViewOptions.parse({"direction": direction, "wrap": False})
    model = shared_model(f"{name}.onnx")
    picture = make_picture(model, options, composer=Composer(engine), deadline=600)
    arrows = [find_arrow(edge.points) for edge in picture.scene.edges if edge.arrow]
    labelled = [edge for edge in picture.scene.edges if edge.label]
    assert labelled
    for edge in labelled:
        half = measure_text(edge.label, *TEXT_STYLES["label"]) / 2 + 4
        area = (
            edge.label_x - half,
            edge.label_y - HEIGHT / 2 + 0.5,
            edge.label_x + half,
            edge.label_y + HEIGHT / 2 - 0.5,
        )
        assert not any(meet(area, arrow) for arrow in arrows), edge


SHARED = """
g (float[N] x) => (float[N] {outputs}) {{
    [cast] c = Cast <to = 10> (x)
    {nodes}
}}"""


def test_one_label_for_each_value(engine: LayoutEngine) -> None:
    outputs = [f"y{number}" for number in range(6)]
    nodes = "\n".join(f"[n{number}] y{number} = Relu (c)" for number in range(6))
    text = SHARED.format(outputs=", float[N] ".join(outputs), nodes=nodes)
    head, body = text.split("=>")
    model = load_text(f"{head}=>{body.replace('{', '<float16[N] c> {', 1)}")
    view = View(model)
    scene = Composer(engine).compose(view, Labels())
    labelled = [edge for edge in scene.edges if edge.label]
    assert [edge.label for edge in labelled if edge.path == "main/%c"] == ["float16"]
    check_places(view, engine, "TB")


areas = st.lists(
    st.tuples(
        st.integers(-500, 3000),
        st.integers(-500, 3000),
        st.sampled_from([1, 20, 119, 120, 900, 5000, 40000]),
        st.sampled_from([1, 20, 119, 120, 900, 5000]),
    ),
    min_size=1,
    max_size=40,
).map(lambda rows: np.array([(x, y, x + w, y + h) for x, y, w, h in rows], float))


@given(areas, areas, st.integers(1, 6))
def test_areas_that_meet_are_found(taken: np.ndarray, asked: np.ndarray, owners: int) -> None:
    ours, theirs = np.arange(len(taken)) % owners, np.arange(len(asked)) % owners
    found = AreaIndex(taken, ours).meets(asked, theirs)
    expected = [
        any(
            meet(tuple(area), tuple(other)) and owner != mine
            for other, owner in zip(taken.tolist(), ours, strict=True)
        )
        for area, mine in zip(asked.tolist(), theirs, strict=True)
    ]
    assert found.tolist() == expected
    for axis in (0, 1):
        near = ProximityFilter(asked, axis).near(taken)
        for area, is_near in zip(taken.tolist(), near, strict=True):
            assert is_near or not any(meet(tuple(area), tuple(a)) for a in asked.tolist())


def test_where_very_much_is_there_is_no_room() -> None:
    lines = np.tile(np.array([(10.0, 10.0, 12.0, 12.0)]), (500, 1))
    index = AreaIndex(lines, np.arange(500))
    asked = np.array([(60.0, 60.0, 80.0, 70.0), (300.0, 300.0, 320.0, 310.0)])
    assert index.meets(asked, np.array([-1, -1])).tolist() == [True, False]
