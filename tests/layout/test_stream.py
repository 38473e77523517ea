"""The main stream of a level: bold is what nothing goes around."""

import random
from collections.abc import Iterator

import pytest

from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.layout.stream import MOST_BOXES, find_main_stream
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import View
from tests.onnx_text import load_text


@pytest.mark.parametrize(
    ("ends", "count", "aside", "stream"),
    [
        # a chain, and a residual around its middle
        ([(0, 1), (1, 2), (0, 2), (2, 3)], 4, (), {0, 1, 3}),
        # branches of different lengths: neither goes around the other
        ([(0, 1), (1, 2), (0, 3), (3, 4), (4, 2)], 5, (), {0, 1, 2, 3, 4}),
        # two towers
        ([(0, 2), (1, 3), (2, 4), (3, 4)], 5, (), {0, 1, 2, 3}),
        # an embedding of time that two blocks take, one after the other
        ([(0, 1), (1, 2), (3, 1), (3, 2)], 4, (), {0, 1, 2}),
        # what prepares a mask beside the stream
        ([(0, 1), (2, 1)], 3, {2}, {0}),
        # what prepares the only input
        ([(0, 1), (1, 2)], 3, {1}, {0, 1}),
        # from a port through a frame to another, and a residual of its own
        ([(-1, 0), (0, 1), (-1, 1), (1, -1)], 2, (), {0, 1, 3}),
        # a second value that comes in later
        ([(-1, 0), (0, 1), (-2, 1), (1, -1)], 2, (), {0, 1, 3}),
        # twice between the same boxes
        ([(0, 1), (0, 1), (1, 2)], 3, (), {0, 1, 2}),
        # a cycle is no stream
        ([(0, 1), (1, 2), (2, 1), (0, 3)], 4, (), {3}),
        ([(0, 0)], 1, (), set()),
        ([], 0, (), set()),
    ],
)
def test_what_goes_around_something_is_not_of_the_stream(
    ends: list[tuple[int, int]], count: int, aside: tuple[int, ...], stream: set[int]
) -> None:
    assert find_main_stream(ends, count, aside) == stream


def test_it_is_what_a_search_by_hand_finds() -> None:
    rng = random.Random(3)
    for _ in range(60):
        count = rng.randrange(2, 12)
        pairs = [(a, b) for b in range(count) for a in range(b) if rng.random() < 0.4]
        following: dict[int, set[int]] = {}
        for one, other in pairs:
            following.setdefault(one, set()).add(other)

        def reach(box: int, following: dict[int, set[int]] = following) -> set[int]:
            found = {box}
            for other in following.get(box, ()):
                found |= reach(other)
            return found

        wanted = {
            number
            for number, (one, other) in enumerate(pairs)
            if not any(other in reach(way) for way in following[one] - {other})
        }
        assert find_main_stream(pairs, count) == wanted


def test_large_levels_have_no_stream() -> None:
    ends = [(number, number + 1) for number in range(MOST_BOXES)]
    assert len(find_main_stream(ends, MOST_BOXES)) == MOST_BOXES
    assert find_main_stream(ends, MOST_BOXES + 1) == frozenset()


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def test_edges_of_a_scene_know_it(engine: LayoutEngine) -> None:
    model = load_text("""
        <ir_version: 8, opset_import: ["": 17]>
        g (float[4] x) => (float[4] y) { t = Relu(x) u = Sin(t) y = Add(u, t) }
    """)
    scene = Composer(engine).compose(View(model), Labels())
    found = {
        (scene.boxes[edge.source].item.path, scene.boxes[edge.target].item.path): edge.is_stream
        for edge in scene.edges
    }
    assert sum(found.values()) == len(found) - 1
    (residual,) = (ends for ends, is_stream in found.items() if not is_stream)
    assert [path.rsplit(":", 1)[-1] for path in residual] == ["Relu", "Add"]
