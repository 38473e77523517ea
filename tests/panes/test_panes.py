"""Two models side by side as a page: what is in it, without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper, parser

import netloupe
from netloupe.explorer.errors import NetloupeError, OutputError, ViewError
from netloupe.explorer.layout import LayoutEngine
from netloupe.explorer.layout.engine import Drawing, LayoutMemoryError
from netloupe.explorer.panes.pairs import write_pairs
from netloupe.explorer.render.paint import Paint
from netloupe.explorer.render.side_differences import find_operand_kinds, paint_sides
from netloupe.explorer.view import Link, View
from tests.corpus import CASES, corpus_file
from tests.standalone.reading import read_block

_MODELS = Path(__file__).parents[2] / "demo_notebooks" / "models"
_HOSTILE = "</script><img src=x onerror=alert(1)><!--<script>"


def read(text: str) -> netloupe.Model:
    return netloupe.load(parser.parse_model(text).SerializeToString())


def make_pair() -> netloupe.Diff:
    """Return a model against one with a node less, a node more and another attribute."""
    old = read("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[2, 3] x) => (float[2, 3] y) {
            [gone] a = Abs (x)
            [kept] b = Relu (a)
            [other] y = LeakyRelu <alpha = 0.1> (b)
        }""")
    new = read("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[2, 3] x) => (float[2, 3] y) {
            [kept] b = Relu (x)
            [other] c = LeakyRelu <alpha = 0.2> (b)
            [more] y = Exp (c)
        }""")
    return netloupe.diff(old, new)


def read_data(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="nlp-data">([^<]*)</script>', page)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def list_elements(page: str) -> list[str]:
    """Return the names of the elements of a page, in order."""
    names: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            names.append(tag)

    Reader().feed(page)
    return names


def list_pairs(found: netloupe.Diff, grouping: str = "auto") -> set[tuple[str, str]]:
    integers, values = read_block(write_pairs(found, grouping))
    texts = values["texts"]
    rows = zip(integers["left"], integers["right"], strict=True)
    return {(texts[left], texts[right]) for left, right in rows}


def test_every_pair_of_the_matcher_is_in_the_page() -> None:
    found = netloupe.diff(
        netloupe.load(_MODELS / "digits_cnn.onnx"),
        netloupe.load(_MODELS / "digits_cnn.reexported.onnx"),
    )
    matching = found.matching
    wanted = {(one.path, other.path) for one, other in matching.values.items()}
    wanted |= {(one.path, other.path) for one, other in matching.tensors.items()}
    wanted |= {(one.left.path, one.right.path) for one in matching.groups}
    wanted |= {(one.path, other.path) for one, other in matching.graphs}
    for pair in matching.pairs:
        wanted |= {(a.path, b.path) for a in pair.left for b in pair.right}
    wanted |= {("main/%image", "main/%image"), ("main/%logits", "main/%logits")}
    pairs = list_pairs(found)
    assert wanted <= pairs
    assert all(left[-1] == right[-1] == "/" for left, right in pairs - wanted)
    # the picture may group in another way
    grouped = list_pairs(found, "none")
    assert ("main", "main") in grouped
    assert {pair for pair in grouped if pair[0].endswith("/")} == {("main/", "main/")}


def test_groups_of_one_path_and_outputs_of_one_name_are_pairs_too() -> None:
    found = netloupe.diff(
        netloupe.load(_MODELS / "digits_cnn.onnx"), netloupe.load(_MODELS / "digits_cnn.qdq.onnx")
    )
    matched = {(one.left.path, one.right.path) for one in found.matching.groups}
    pairs = list_pairs(found)
    # most nodes of these are those of quantization; and one has but one group inside
    assert ("main/head/classify/", "main/head/classify/linear/") in pairs - matched
    assert ("main/head/", "main/head/") in pairs
    assert ("main/%logits", "main/%logits") in pairs
    assert ("main/%logits", "main/%logits_QuantizeLinear_Input") in pairs
    lefts = [left for left, _ in pairs if left.endswith("/")]
    assert len(lefts) == len({*lefts})


def test_repetitions_know_their_places_and_calls_their_functions() -> None:
    model = netloupe.load(_MODELS / "digits_cnn.onnx")
    integers, values = read_block(write_pairs(netloupe.diff(model, model)))
    places: dict[str, list[int]] = {}
    for row, left, right in zip(
        integers["repetitions"], integers["left_places"], integers["right_places"], strict=True
    ):
        assert left == right
        places[values["texts"][integers["left"][row]]] = [left]
    assert places["main/blocks/0/"] == [0]
    assert places["main/blocks/3/"] == [3]

    called = read("""<ir_version: 8, opset_import: ["" : 18, "pkg" : 1]>
        g (float[2] x) => (float[2] y) { [one] a = pkg.Block (x) [two] y = pkg.Block (a) }
        <domain: "pkg", opset_import: ["" : 18]> Block (x) => (y) { y = Relu (x) }""")
    integers, values = read_block(write_pairs(netloupe.diff(called, called)))
    texts = values["texts"]
    named = [texts[number] for number in integers["left_calls"]]
    assert named == ["main/one", "functions/pkg::Block", "main/two", "functions/pkg::Block"]
    assert integers["right_calls"] == integers["left_calls"]


def test_each_side_is_painted_in_what_it_has() -> None:
    found = make_pair()
    left, right = paint_sides(found)
    assert left["main/gone"] == Paint("removed", ring="removed", mark="−", dashed=True)
    assert left["main/%a"] == Paint(ring="removed", dashed=True)
    assert left["main/other"].mark == right["main/other"].mark == "Δ"
    assert right["main/more"] == Paint(ring="added", mark="+")
    assert "main/kept" not in left
    assert "main/kept" not in right
    marks = {paint.mark for paint in right.values()} | {paint.mark for paint in left.values()}
    assert "" not in {paint.mark for path, paint in left.items() if "%" not in path}
    assert {"−", "+", "Δ"} <= marks


#: flags of an edge that one of two models alone has, as a scene has them
_FORMER, _NEWER = 8, 16


def make_rewired() -> tuple[netloupe.Model, netloupe.Model]:
    """Return a model, and one where ``s`` and ``o`` take another value than before."""
    old = read("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[2] x, float[2] m) => (float[2] y, float[2] z)
        { [a] p = Abs (x) [b] q = Neg (p) [s] y = Sum (q, m) [o] z = Exp (m) }""")
    new = read("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[2] x, float[2] m) => (float[2] y, float[2] z)
        { [a] p = Abs (x) [b] q = Neg (p) [s] y = Sum (q, p) [o] z = Exp (p) }""")
    return old, new


def list_told_edges(pane: list[str]) -> set[tuple[str, int]]:
    """Return the values of edges that one model alone has, with their flags, of both layouts."""
    found: set[tuple[str, int]] = set()
    texts: list[str] = []
    for direction in ("TB", "LR"):
        block = re.search(rf'data-block="levels-{direction}"[^>]*>([^<]*)<', pane[1])
        assert block is not None
        integers, values = read_block(base64.b64decode(block[1]))
        texts += values["texts"]
        edges = integers["edges"]
        assert len(edges) == 8 * sum(integers["form_counts"][2::6])
        names = integers["names"]
        rows = zip(edges[::8], edges[3::8], strict=True)
        found |= {(texts[names[path]], flags) for path, flags in rows if flags & 24}
    return found


def test_edges_that_one_model_alone_has_are_told_in_its_pane() -> None:
    found = netloupe.diff(*make_rewired())
    kinds = find_operand_kinds(found)
    told = [
        {(node.path, value.path): kind for node, own in side.items() for value, kind in own.items()}
        for side in kinds
    ]
    assert told == [
        {("main/s", "main/%m"): "former", ("main/o", "main/%m"): "former"},
        {("main/s", "main/%p"): "newer", ("main/o", "main/%p"): "newer"},
    ]
    panes = read_data(found.to_panes())["panes"]
    (old,), (new,) = map(list_told_edges, panes)
    assert (old[0], old[1] & 24) == ("main/%m", _FORMER)
    assert (new[0], new[1] & 24) == ("main/%p", _NEWER)
    # the picture of either model by itself tells nothing of the other
    assert "former" not in {link.kind for link in list_root_links(found.left)}


def list_root_links(model: netloupe.Model) -> list[Link]:
    view = View(model)
    return view.links(view.root)


def test_what_is_removed_and_added_takes_edges_of_its_own() -> None:
    kinds = find_operand_kinds(make_pair())
    assert {node.name for node in kinds.left} == {"gone", "kept"}
    assert {node.name for node in kinds.right} == {"more"}
    old, new = make_rewired()
    for same in (netloupe.diff(old, old), netloupe.diff(new, new)):
        assert find_operand_kinds(same) == ({}, {})


def test_an_edge_of_many_values_is_told_where_all_of_them_are() -> None:
    inputs = [f"i{number}" for number in range(40)]
    graph = helper.make_graph(
        [
            helper.make_node("Split", ["x"], inputs, "cut", axis=0),
            helper.make_node("Sum", inputs, ["y"], "sum"),
        ],
        "g",
        [helper.make_tensor_value_info("x", 1, [40])],
        [helper.make_tensor_value_info("y", 1, [1])],
    )
    model = netloupe.load(helper.make_model(graph).SerializeToString())
    node = model.node("sum")
    for count, kind in ((39, "data"), (40, "newer")):
        told = {value: "newer" for value in node.inputs[:count] if value is not None}
        view = View(model, operand_kinds={node: told})  # type: ignore[dict-item]
        (link,) = (link for link in view.links(view.root) if link.count > 1)
        assert (link.count, link.kind) == (40, kind)
        # another view of the same has them too
        assert View(model, like=view).links(view.root) == view.links(view.root)


def test_inputs_and_outputs_that_came_went_and_changed() -> None:
    old = read("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[2] x, float[2] gone) => (float[2] y, float[2] z)
        { y = Add (x, gone) z = Relu (y) }""")
    new = read("""<ir_version: 8, opset_import: ["" : 18]>
        g (double[2] x) => (double[2] y, double[2] w) { y = Abs (x) w = Relu (y) }""")
    left, right = paint_sides(netloupe.diff(old, new))
    assert left["main/%gone"].ring == "removed"
    assert left["main/%x"].mark == right["main/%x"].mark == "Δ"
    assert left["main/%y"].mark == right["main/%y"].mark == "Δ"
    # an output is known by its name: another name is another output
    assert {left["main/%z"].mark, right["main/%w"].mark} <= {"Δ", "−", "+"}


def test_a_closed_group_says_how_many_differences_it_holds() -> None:
    found = netloupe.diff(
        netloupe.load(_MODELS / "digits_cnn.onnx"),
        netloupe.load(_MODELS / "digits_cnn.retrained.onnx"),
    )
    for paints in paint_sides(found):
        assert paints["main/stem/"].mark == "2"
        assert paints["main/head/"].mark == "1"


def test_the_script_of_the_explorer_is_stored_once_and_the_page_stays_small() -> None:
    found = make_pair()
    page = found.to_panes()
    merged = found.to_html()
    assert page.count("DecompressionStream") <= 2 * merged.count("DecompressionStream")
    assert len(page) < len(merged) + 130_000
    data = read_data(page)
    assert data["names"] == ["model (old)", "model (new)"] or len({*data["names"]}) == 2
    for told, blocks in data["panes"]:
        assert json.loads(told)["in_pane"] is True
        assert 'data-block="levels-TB"' in blocks


def test_the_policy_names_both_scripts_and_allows_nothing_else() -> None:
    page = make_pair().to_panes()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    head = read_data(page)["head"]
    scripts = [
        found[1]
        for text in (page, head)
        if (found := re.search(r"<script>(.*?)</script>", text, re.DOTALL))
    ]
    digests = {base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts}
    assert len(digests) == 2
    assert {*re.findall(r"'sha256-([^']+)'", policy[1])} == digests
    assert re.sub(r" 'sha256-[^']+'", "", policy[1]) == (
        "default-src 'none'; script-src; style-src 'unsafe-inline'; img-src data:"
    )
    assert "http:" not in re.sub(r'xmlns="[^"]*"|<script.*?</script>', "", page, flags=re.DOTALL)


def test_hostile_names_are_text() -> None:
    model = onnx.load(_MODELS / "digits_cnn.onnx")
    before = netloupe.load(model.SerializeToString())
    model.graph.node[0].name = _HOSTILE
    model.graph.output[0].name = _HOSTILE
    model.graph.node[-1].output[0] = _HOSTILE
    model.graph.name = _HOSTILE
    after = netloupe.load(model.SerializeToString())
    after.source = f"models/{_HOSTILE}.onnx"
    page = netloupe.diff(before, after).to_panes(title=_HOSTILE)
    elements = list_elements(page)
    assert elements.count("script") == 2
    assert "img" not in elements
    assert "<!--" not in page
    data = read_data(page)
    for told, blocks in data["panes"]:
        assert "<" not in told
        assert "<img" not in blocks
    titles = [unescape(each) for each in re.findall(r"<title>(.*?)</title>", page)]
    assert _HOSTILE in titles


def test_it_is_no_larger_than_it_may_be(tmp_path: Path) -> None:
    found = make_pair()
    free = len(found.to_panes())
    assert len(found.to_panes(size_limit=free + 10_000)) <= free + 10_000
    large = netloupe.diff(
        netloupe.load(_MODELS / "digits_cnn.onnx"),
        netloupe.load(_MODELS / "digits_cnn.retrained.onnx"),
    )
    whole = len(large.to_panes())
    limit = whole - 30_000
    file = tmp_path / "panes.html"
    assert large.to_panes(file, size_limit=limit) == file.read_text("utf-8")
    assert whole - 120_000 < file.stat().st_size <= limit
    for least in (1_000, 200_000):
        with pytest.raises(OutputError, match="more than its size limit"):
            found.to_panes(size_limit=least)


def test_what_is_of_one_model_or_no_page_is_refused(tmp_path: Path) -> None:
    found = make_pair()
    for one in ({"graph": "main"}, {"focus": "kept"}):
        with pytest.raises(ViewError, match="two panes show two"):
            found.to_panes(**one)
    with pytest.raises(OutputError):
        found.to_panes(tmp_path / "panes.svg")
    with pytest.raises(ViewError):
        found.to_panes(direction="up")


@pytest.mark.parametrize("case", [*CASES][5::60], ids=str)
def test_whatever_opens_stands_beside_another_model(case: object) -> None:
    try:
        model = netloupe.load(corpus_file(str(case)))
    except NetloupeError:
        return
    other = netloupe.load(_MODELS / "digits_cnn.onnx")
    page = netloupe.diff(other, model).to_panes(weights="none")
    assert list_elements(page).count("script") == 2


def test_a_model_against_itself_differs_in_nothing() -> None:
    model = netloupe.load(_MODELS / "digits_cnn.onnx")
    found = netloupe.diff(model, model)
    assert paint_sides(found) == ({}, {})
    data = read_data(found.to_panes(weights="none"))
    assert data["review"]["items"] == []


def test_what_both_models_have_is_laid_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    place = LayoutEngine.place

    def note(engine: LayoutEngine, dot: str, timeout: float, **more: Any) -> Drawing:
        asked.append(dot)
        return place(engine, dot, timeout, **more)

    monkeypatch.setattr(LayoutEngine, "place", note)
    path = corpus_file("features/control_flow_3deep.onnx")
    netloupe.diff(path, path).to_panes()
    assert asked
    assert len(asked) == len({*asked})


def test_a_layout_that_takes_too_much_memory_is_tried_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def fail(engine: LayoutEngine, dot: str, timeout: float, **more: Any) -> Drawing:
        asked.append(dot)
        raise LayoutMemoryError

    monkeypatch.setattr(LayoutEngine, "place", fail)
    path = corpus_file("features/control_flow_3deep.onnx")
    netloupe.diff(path, path).to_panes()
    assert 0 < len(asked) < 4  # nothing larger is asked for any more, nor anything twice
