"""How differences are painted: by colour and by sign."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from onnx import helper

import netloupe
from netloupe.explorer.errors import NetloupeError, OutputError
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.layout import Composer, FirstView
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.differences import (
    paint_count,
    paint_differences,
    title_difference,
)
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.paint import Paint
from netloupe.explorer.render.side_differences import paint_sides
from netloupe.explorer.render.theme import load_theme
from netloupe.explorer.review import make_review
from netloupe.explorer.view import View
from tests.compare.networks import make_layers, make_nested
from tests.compare.test_merging import CHAIN, WITHOUT, take_out
from tests.corpus import CASES, corpus_file
from tests.onnx_text import load_text

_DEMOS = Path(__file__).parents[2] / "demo_notebooks" / "models"
ADDED = Paint(ring="added", mark="+")
REMOVED = Paint("removed", ring="removed", mark="−", dashed=True)
CHANGED = Paint(ring="changed", mark="Δ")


def test_each_kind_has_a_tone_and_a_sign() -> None:
    left = load_text(CHAIN)
    right = load_text(
        "g (float[n] x) => (float[n] y) { [a] p = Relu (x) [c] r = Neg (p) [d] y = Sin (r) }"
    )
    paints = netloupe.diff(left, right).paints
    assert paints["main/d"] == ADDED
    assert paints["main/b"] == REMOVED
    assert "main/a" not in paints
    assert paints["main/%q"].dashed
    assert "main/%y" not in paints  # the output is there as before, whatever computes it


def test_outputs_are_new_gone_or_changed_by_their_names() -> None:
    left = load_text("g (float[n] x) => (float[n] y, float[n] z) { y = Relu (x) z = Neg (x) }")
    right = load_text("g (float[n] x) => (float[m] y, float[n] w) { y = Relu (x) w = Neg (x) }")
    paints = netloupe.diff(left, right).paints
    assert paints["main/%y"] == CHANGED  # its type
    assert paints["main/%w"] == CHANGED  # its name
    fewer = load_text("g (float[n] x) => (float[n] y) { y = Relu (x) }")
    assert netloupe.diff(fewer, left).paints["main/%z"] == ADDED
    assert netloupe.diff(left, fewer).paints["main/%z"] == REMOVED


def test_a_changed_attribute_and_a_changed_weight_are_changes() -> None:
    left, right = make_layers(2), make_layers(2)
    right.graph.initializer[1].raw_data = bytes(64)
    found = netloupe.diff(load(left), load(right))
    paints = found.paints
    assert paints["main/layers.0/fc/MatMul"] == CHANGED
    assert paints["main/layers.0/"] == Paint(mark="1", mark_tone="changed")
    assert "main/layers.1/" not in paints
    assert found.counts[:6] == (9, 1, 0, 0, 0, 1)


def test_names_alone_are_no_changes() -> None:
    right = make_layers(2)
    for number, node in enumerate(right.graph.node):
        node.name = f"n{number}"
    assert not netloupe.diff(load(make_layers(2)), load(right)).paints


def test_a_group_of_which_all_is_gone_is_painted_as_a_whole() -> None:
    right = make_layers(4)
    nodes = right.graph.node
    for node in [node for node in nodes if node.name.startswith("/layers.2/")]:
        nodes.remove(node)
    for node in nodes:
        node.input[:] = ["h2" if i == "h3" else i for i in node.input]
    paints = netloupe.diff(load(make_layers(4)), load(right)).paints
    assert paints["main/layers.2/"] == REMOVED
    (repeat,) = [path for path, paint in paints.items() if paint.mark == "4"]
    assert repeat.endswith("/")


def test_what_is_inside_of_calls_is_painted_where_it_occurs() -> None:
    right = make_nested()
    body = right.functions[0]
    body.node.insert(1, helper.make_node("Tanh", [body.node[0].output[0]], ["t"]))
    body.node[2].input[0] = "t"
    body.node.insert(3, helper.make_node("Abs", ["t"], ["u"]))
    paints = netloupe.diff(load(make_nested()), load(right)).paints
    ends = {path: paint.mark for path, paint in paints.items() if "%" not in path}
    assert ends["main/call"] == "2"
    assert "main/call()/#1:Tanh" in ends
    assert "functions/local::Scaled/#1:Tanh" in ends


def test_the_first_view_opens_where_the_differences_are() -> None:
    left = make_layers(9)
    found = netloupe.diff(load(left), load(take_out(left, "/layers.6/act/Tanh")))
    view = View(found.merged)
    FirstView(Composer(), Labels()).open(view)
    shown = view.shown("main/layers.6/act/Tanh")
    assert shown is not None
    assert shown.path == "main/layers.6/act/Tanh"


def test_the_title_says_how_much_differs() -> None:
    found = netloupe.diff(load_text(CHAIN), load_text(WITHOUT))
    assert title_difference(found).endswith(
        ": kept 2 · changed 0 · added 0 · removed 1 · same inputs and outputs"
    )
    assert "kept 2" in found.to_svg()
    assert "kept 2" not in found.to_svg(title="mine")


def test_what_is_painted_by_hand_lies_over_the_differences() -> None:
    found = netloupe.diff(load_text(CHAIN), load_text(WITHOUT))
    svg = found.to_svg(paint={"main/a": Paint("note", "look here")})
    assert "look here" in svg
    assert ">−<" in svg


def test_kinds_differ_without_colour() -> None:
    right = load_text(
        "g (float[n] x) => (float[n] y) { [a] p = Relu (x) [c] r = Neg (p) [d] y = Sin (r) }"
    )
    svg = netloupe.diff(load_text(CHAIN), right).to_svg()
    assert ">+<" in svg
    assert ">−<" in svg
    assert re.search(r'stroke-dasharray="[\d. ]+"', svg)


def test_a_page_holds_the_paints(tmp_path: Path) -> None:
    found = netloupe.diff(load_text(CHAIN), load_text(WITHOUT))
    page = found.to_html(tmp_path / "diff.html")
    assert (tmp_path / "diff.html").read_text() == page
    assert "main/b" in page
    with pytest.raises(OutputError):
        found.to_html(tmp_path / "diff.svg")


def test_painting_many_calls_ends() -> None:
    found = netloupe.diff(load(make_nested()), load(make_layers(3)))
    assert paint_differences(found, "none")


def test_the_legend_says_what_the_signs_mean() -> None:
    found = netloupe.diff(load_text(CHAIN), load_text(WITHOUT))
    svg = found.to_svg()
    assert "only in the older model" in svg
    assert "only in the newer model" not in svg
    assert "input or output of the graph" not in svg  # of all else only where it is asked for
    whole = found.to_svg(legend=True)
    assert "input or output of the graph" in whole
    assert "taken in the older model alone" in whole
    assert "order without a value" not in whole
    assert "painted: removed" not in whole


def test_what_was_taken_before_is_another_kind_of_edge() -> None:
    found = netloupe.diff(load_text(CHAIN), load_text(WITHOUT))
    view = View(found.merged)
    kinds = {link.value.name: link.kind for link in view.links(view.root)}
    assert kinds["q"] == "former"
    assert "dotted" in found.to_dot().source


_BEFORE = """
    g (float[2] x, float[2] m) => (float[2] y, float[2] z)
    { [a] p = Abs (x) [b] q = Neg (p) [s] y = Sum (q, m) [o] z = Exp (m) }
"""
_REWIRED = """
    g (float[2] x, float[2] m) => (float[2] y, float[2] z)
    { [a] p = Abs (x) [b] q = Neg (p) [t] r = Tanh (p) [s] y = Sum (q, p) [o] z = Exp (r) }
"""


def test_edges_that_one_model_alone_has_are_told_of_both_kinds() -> None:
    found = netloupe.diff(load_text(_BEFORE), load_text(_REWIRED))
    merging, merged = found.merging, found.merged
    kept = merged.node("s")
    assert [value.name for value in merging.latter[kept]] == ["p"]
    assert [value.name for value in merging.former[kept]] == ["m"]
    assert merged.list_taken(merged.node("t")) == ((), merged.node("t").inputs)
    assert merged.list_taken(merged.node("b")) == ((), ())
    view = View(merged)
    children = view.root.children
    kinds = {
        (link.value.name, children[link.target].element.name): link.kind
        for link in view.links(view.root)
        if link.target >= 0 and children[link.target].kind == "node"
    }
    assert kinds["p", "b"] == "data"
    assert kinds["q", "s"] == "data"
    assert kinds["p", "s"] == kinds["p", "t"] == "newer"
    assert "former" in kinds.values()
    svg = found.to_svg(legend=True)
    assert "taken in the newer model alone" in svg
    assert "taken in the older model alone" in svg
    theme = load_theme("light")
    line = rf'<path [^>]*stroke="{theme.tones["added"].strong}"'
    assert len(re.findall(line, svg)) >= 2
    assert "bold" in found.to_dot().source
    # the older model with its sides changed
    back = netloupe.diff(load_text(_REWIRED), load_text(_BEFORE))
    gone = back.merged.node("t")
    assert back.merged.list_taken(gone) == (gone.inputs, ())
    # a model alone, and one against itself, have no such edges
    assert not netloupe.diff(found.left, found.left).merging.latter
    assert found.left.list_taken(found.left.node("s")) == ((), ())


@pytest.mark.parametrize("case", [*CASES][::9], ids=str)
def test_whatever_opens_is_drawn_against_itself_and_another(case: object) -> None:
    try:
        model = load(corpus_file(str(case)))
    except NetloupeError:
        return
    same = netloupe.diff(model, model)
    assert not same.states
    other = netloupe.diff(load(make_nested()), model)
    merged = other.merged
    assert {node.path for graph in merged.graphs for node in graph.nodes} >= {
        node.path for graph in model.graphs for node in graph.nodes
    }
    assert other.to_svg().startswith("<svg")


def test_a_page_lists_the_differences_with_the_paths_of_its_picture() -> None:
    found = netloupe.diff(load_text(CHAIN), load_text(WITHOUT))
    (row,) = [
        item
        for item in make_review(None, found, find_shown=found.merging.find_shown)
        if item.kind == "difference"
    ]
    assert row.paths == ("main/b",)
    assert '"has_review":true' in found.to_html()


@pytest.mark.parametrize("other", ["reexported", "retrained", "qdq"])
def test_counts_of_groups_add_up_to_the_nodes_that_are_not_kept(other: str) -> None:
    left, right = (load(_DEMOS / f"digits_cnn{name}.onnx") for name in ("", f".{other}"))
    found = netloupe.diff(left, right)
    counts = found.counts
    expected = counts.changed + counts.moved + counts.added + counts.removed
    children = find_tree(found.merged, found.merged.graph).root.children
    marks = [found.paints[child.path].mark for child in children if child.path in found.paints]
    assert sum(int(mark) if mark.isdecimal() else 1 for mark in marks) == expected
    sides = paint_sides(found)
    for model, paints, alone in (
        (left, sides.left, counts.removed),
        (right, sides.right, counts.added),
    ):
        groups = find_tree(model, model.graph).root.inner_groups()
        counted = [int(paints[group.path].mark) for group in groups if group.path in paints]
        assert sum(counted) == counts.changed + counts.moved + alone


def test_a_box_is_marked_for_nodes_that_are_rows_of_it() -> None:
    text = """g (float[n] x) => (float[n] y)
        <uint8[1] w = {1}, float s = {0.5}, float[1] v = {0.5}>
        { %s y = Mul (x, v2) }"""
    left = load_text(text % "v2 = Identity (v)")
    right = load_text(text % "[d] v2 = DequantizeLinear (w, s)")
    paints = netloupe.diff(left, right).paints
    assert paints["main/d"].mark == "+"
    (mul,) = (node for node in right.graph.nodes if node.op_type == "Mul")
    assert paints[mul.path].mark in ("1", "2", "Δ")


@pytest.mark.parametrize(("count", "mark"), [(1, "1"), (999, "999"), (1000, "1k+")])
def test_a_count_has_as_many_digits_as_a_mark_has_room_for(count: int, mark: str) -> None:
    assert paint_count(count).mark == mark


@pytest.mark.parametrize("way", ["Transpose", "Identity", "Relu", "Neg"])
def test_what_takes_a_weight_is_changed_and_not_what_turns_it_on_its_way(way: str) -> None:
    text = """g (float[2,4] x) => (float[2,4] y) <uint8[4,4] w = {%s}, float s = {0.5}>
        { [d] v = DequantizeLinear (w, s) [t] u = %s (v) [m] y = MatMul (x, u) }"""
    left, right = (load_text(text % (",".join(str(n + k) for n in range(16)), way)) for k in (0, 1))
    found = netloupe.diff(left, right)
    assert {node.name: state for node, state in found.states.items()} == {"m": "changed"}
    assert found.counts[:2] == (2, 1)
    # where nothing behind is paired, it is what is left
    alone = text.replace("[m] y = MatMul (x, u)", "[m] y = Identity (u)")
    left, right = (
        load_text(alone % (",".join(str(n + k) for n in range(16)), way)) for k in (0, 1)
    )
    assert netloupe.diff(left, right).counts.changed
