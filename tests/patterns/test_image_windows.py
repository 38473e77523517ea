"""Windows of an image are told from grids of far places, and from patches and heads."""

from __future__ import annotations

import pytest

from netloupe.explorer.patterns import Operations, find_graph_context
from netloupe.explorer.patterns.image_windows import read_image_part
from tests.onnx_text import load_text

_LAST, _FIRST = "1, 2, 4, 2, 4, 32", "1, 32, 2, 4, 2, 4"


@pytest.mark.parametrize(
    ("dims", "perm", "told"),
    [
        (_LAST, "0, 1, 3, 2, 4, 5", "windows 4×4"),
        (_LAST, "0, 2, 4, 1, 3, 5", "grid 2×2"),  # the other way around
        (_FIRST, "0, 2, 4, 3, 5, 1", "windows 4×4"),
        (_FIRST, "0, 3, 5, 2, 4, 1", "grid 2×2"),
        ("1, 2, 4, 2, 3, 32", "0, 1, 3, 2, 4, 5", ""),  # no squares
        ("1, 8, 1, 8, 1, 32", "0, 1, 3, 2, 4, 5", ""),  # one place each
        (_LAST, "0, 1, 2, 3, 4, 5", ""),  # nothing is moved
        (_LAST, "0, 5, 1, 3, 2, 4", ""),  # places behind features, as pixels that are shuffled
        (_FIRST, "0, 1, 3, 5, 2, 4", ""),  # features of each place, as pixels that are unshuffled
    ],
)
def test_what_attends_to_one_another_follows_from_where_axes_go(
    dims: str, perm: str, told: str
) -> None:
    assert (
        tell(f"r = Reshape (x, d)  t = Transpose <perm = [{perm}]> (r)  y = Relu (t)", dims) == told
    )


def test_windows_that_change_places_with_their_places_are_a_grid() -> None:
    text = """
        r = Reshape (x, d)  t = Transpose <perm = [0, 2, 4, 3, 5, 1]> (r)
        w = Reshape (t, e)  s = Transpose <perm = [0, 2, 1, 3]> (w)  y = Relu (s)
    """
    assert tell(text, _FIRST) == "grid 2×2"
    assert tell(text.replace("[0, 2, 1, 3]", "[0, 1, 3, 2]"), _FIRST) == "windows 4×4"


@pytest.mark.parametrize(
    ("perm", "told"),
    [
        ("0, 1, 3, 5, 2, 4, 6, 7", "windows 2×4×4"),
        ("0, 2, 4, 6, 1, 3, 5, 7", "grid 2×2×2"),
        ("0, 1, 3, 5, 4, 2, 6, 7", ""),  # rows and frames of windows in another order
    ],
)
def test_windows_of_a_video_have_frames_too(perm: str, told: str) -> None:
    dims = "1, 2, 2, 2, 4, 2, 4, 8"
    found = tell(f"r = Reshape (x, d)  t = Transpose <perm = [{perm}]> (r)  y = Relu (t)", dims)
    assert found == told


@pytest.mark.parametrize(
    ("perm", "given", "told"),
    [
        ("0, 2, 4, 1, 3, 5", "4, 32, 4, 4", "windows 4×4"),
        ("0, 2, 4, 1, 3, 5", "4, 32, 16", "windows 4×4"),
        ("0, 3, 5, 1, 2, 4", "16, 32, 2, 2", "grid 2×2"),
        ("0, 2, 4, 1, 3, 5", "1, 4, 512", ""),  # each patch is a token
        ("0, 3, 5, 1, 2, 4", "1, 512, 4", ""),
    ],
)
def test_features_may_stand_between_windows_and_places(perm: str, given: str, told: str) -> None:
    text = f"r = Reshape (x, d)  t = Transpose <perm = [{perm}]> (r)  y = Reshape (t, e)"
    assert tell(text, _FIRST, given) == told


def tell(text: str, dims: str, given: str = "1, 4, 16, 32") -> str:
    header = '<ir_version: 10, opset_import: ["": 21]>'
    stored = ", ".join(
        f"int64[{len(sizes.split(','))}] {name} = {{{sizes}}}"
        for name, sizes in (("d", dims), ("e", given))
    )
    graph = load_text(f"{header} g (float[1, 8, 8, 32] x) => (y) <{stored}> {{ {text} }}").graph
    part = read_image_part(Operations(graph.nodes, find_graph_context(graph)))
    return part.fact if part is not None else ""
