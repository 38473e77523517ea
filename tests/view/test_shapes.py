"""Hidden shape arithmetic: rows on its consumers, and real nodes when it is opened."""

from __future__ import annotations

import pytest

from netloupe.explorer.describe import describe_path
from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.model import Node
from netloupe.explorer.render.faces import make_face
from netloupe.explorer.view import View
from tests.expanding import open_view
from tests.onnx_text import load_text
from tests.trees import make_view, wrap_shape
from tests.wiring_check import check_items, find_lost_edges

TEXT = """g (float[batch, 12] x) => (float[a, b] y) <int64[1] i = {0}, int64[1] c = {12}> {
    [shape] s = Shape (x)
    [gather] d = Gather (s, i)
    [concat] t = Concat <axis = 0> (d, c)
    [relu] r = Relu (x)
    [reshape] y = Reshape (r, t)
}"""


def shape_view() -> View:
    def change(tree: GroupTree) -> None:
        nodes = [child for child in tree.root.children if isinstance(child, Node)]
        wrap_shape(
            tree.root, [node for node in nodes if node.name in ("shape", "gather", "concat")]
        )

    return make_view(load_text(TEXT), change, "none")


def test_what_a_group_in_hidden_arithmetic_gives_is_a_row_too() -> None:
    def change(tree: GroupTree) -> None:
        nodes = [child for child in tree.root.children if isinstance(child, Node)]
        hidden = wrap_shape(
            tree.root, [node for node in nodes if node.name in ("shape", "gather", "concat")]
        )
        wrap_shape(hidden, [node for node in nodes if node.name == "concat"])
        hidden.inner_groups()[0].kind = "operation"

    view = make_view(load_text(TEXT), change, "none")
    assert [item.key for item in view.root.children if item.kind == "input"] == ["main/%x"]
    assert view.items["main/reshape"].constants[0].path == "main/%t"


def links(view: View) -> set[tuple[str, str]]:
    keys = [child.key for child in view.root.children]
    return {(keys[link.source], keys[link.target]) for link in view.links(view.root)}


def test_a_folded_shape_is_a_row() -> None:
    view = shape_view()
    assert {item.key for item in view.root.children} == {
        "main/%x",
        "main/relu",
        "main/reshape",
        "main/%y output",
    }
    assert ("main/%x", "main/relu") in links(view)
    assert len(links(view)) == 3
    row = view.items["main/reshape"].constants[0]
    assert (row.index, row.path, row.is_shape, row.tensor) == (1, "main/%t", True, None)
    face = make_face(view.items["main/reshape"])
    chip = face.badges[0]
    assert chip.is_chip
    assert chip.text.startswith("[")
    assert "12" in chip.text
    assert chip.x + chip.width <= face.width
    assert len(face.targets) == 1
    assert find_lost_edges(view) == []


def test_opening_shows_the_nodes_and_closing_folds_them() -> None:
    view = shape_view()
    for path in ("main/shape/", "main/gather"):
        item = view.open(path)
        assert item.key == "main/shape/"
        assert item.is_open
        assert ("main/shape/", "main/reshape") in links(view)
        assert ("main/%x", "main/shape/") in links(view)
        assert view.items["main/reshape"].constants == ()
        assert not make_face(view.items["main/reshape"]).badges
        check_items(view)
        assert find_lost_edges(view) == []
        assert view.close("main/shape/") is view.root
        assert "main/shape/" not in view.items
        assert len(view.items["main/reshape"].constants) == 1
        check_items(view)


def test_paths_of_what_is_folded() -> None:
    view = shape_view()
    reshape = view.items["main/reshape"]
    for path in ("main/shape", "main/shape/", "main/%s", "main/%t", "main/%i"):
        assert view.shown(path) is reshape, path
    assert view.reveal("main/%t") is reshape  # a click on the row folds nothing out
    assert "main/shape/" not in view.items
    assert view.reveal("main/shape").key == "main/shape"
    assert view.items["main/shape/"].is_open


@pytest.mark.parametrize(("expand", "is_open"), [("all", True), ("auto", False), (3, False)])
def test_expanding(expand: str | int, is_open: bool) -> None:
    view = shape_view()
    open_view(view, expand)
    assert ("main/gather" in view.items) == is_open


def test_the_description_says_what_is_computed() -> None:
    view = shape_view()
    described = describe_path(view.model, "main/shape/", view)
    computes = next(section for section in described.sections if section.title == "Computes")
    assert [row.name for row in computes.rows] == ["t"]
    assert "12" in computes.rows[0].value


def test_a_result_that_only_hidden_arithmetic_takes_has_no_port() -> None:
    text = """g (bool c, float[batch, 12] x) => (float[a, b] y) <int64[1] i = {1}> {
        [if] l = If (c) <
            then_branch = then () => (float[N] p) { [neg] p = Neg (x) },
            else_branch = else () => (float[N] q) { [abs] q = Abs (x) }
        >
        [shape] t = Shape (l)
        [reshape] y = Reshape (x, t)
    }"""

    def change(tree: GroupTree) -> None:
        for child in tree.root.children:
            if isinstance(child, Node) and child.name == "shape":
                wrap_shape(tree.root, [child])

    view = make_view(load_text(text), change, "none")
    assert view.open("main/if").outputs == ()
    view.open("main/shape/")
    assert [value.name for value in view.items["main/if"].outputs] == ["l"]
    assert find_lost_edges(view) == []
    view.close("main/shape/")
    assert view.items["main/if"].outputs == ()
