"""What is shown: opening, closing, revealing, and what hangs together inside."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloupe.explorer.errors import ViewError
from netloupe.explorer.model import Model, Value, is_constant_node
from netloupe.explorer.progress import Cancelled, watched
from netloupe.explorer.readers.load import load
from netloupe.explorer.view import BORDER, Item, View, expand_view, find_neighbourhood
from netloupe.explorer.view.children import MAX_CALL_DEPTH
from netloupe.proto import onnx_pb2
from tests.corpus import LIGHT_MODELS, corpus_file, shared_model
from tests.expanding import open_view
from tests.graph_strategies import random_models
from tests.onnx_text import load_text
from tests.wiring_check import check_items, find_lost_edges

MODELS = [
    "exported/gpt2.legacy.onnx",
    "exported/condloop.dynamo.onnx",
    "exported/scripted.legacy.onnx",
    "exported/lstm.legacy-functions.onnx",
    "quantized/bert.qdq.onnx",
    "features/control_flow_3deep.onnx",
    "features/functions_nested_transformer.onnx",
    "features/onnxscript_functions_loop_if_while.onnx",
    "features/parser_if_loop_if.onnx",
    "hostile/scope_cycle.onnx",
    "hostile/cycle_self.onnx",
    "hostile/cycle_scc_dense.onnx",
    "hostile/empty_subgraph.onnx",
    "hostile/subgraph_shadow.onnx",
    "hostile/evil_scopes.onnx",
    "hostile/nested_if_20.onnx",
    "hostile/dup_node_outputs.onnx",
    "hostile/func_overload.onnx",
    "hostile/func_shadow_std.onnx",
]


def keys(item: Item) -> list[str]:
    return [child.key for child in item.children]


def wires(view: View, path: str = "main") -> set[str]:
    """Return the links inside an open item as text, such as ``a -x-> b``."""
    item = view.items[path]
    names = {BORDER: "|"}
    for index, child in enumerate(item.children):
        names[index] = child.key.removeprefix(item.path).removeprefix(item.body.prefix).lstrip("/")  # type: ignore[union-attr]
    marks = {"data": "-", "captured": "~", "control": "."}
    return {
        f"{names[link.source]} {marks[link.kind]}{link.value.name}> {names[link.target]}"
        for link in view.links(item)
    }


def test_a_plain_graph() -> None:
    view = View(
        load_text(
            """g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> {
                k = Constant <value_float = 2.0> ()
                [add] a = Add (x, w)
                [mul] y = Mul (a, k)
            }"""
        )
    )
    assert keys(view.root) == ["main/%x", "main/add", "main/mul", "main/%y output"]
    assert wires(view) == {"%x -x> add", "add -a> mul", "mul -y> %y output"}
    add, mul = view.items["main/add"], view.items["main/mul"]
    assert [(row.index, row.path) for row in add.constants] == [(1, "main/%w")]
    assert mul.constants[0].text == "2"
    assert not find_lost_edges(view)


def test_constants_are_rows() -> None:
    model = load_text(
        """g (float[2] x) => (float[2] y)
            <int8[2] q = {1, 2}, float s = {0.5}, float[2] unused = {1.0, 2.0}> {
                d = DequantizeLinear (q, s)
                [add] y = Add (x, d)
        }"""
    )
    view = View(model)
    row = view.items["main/add"].constants[0]
    assert row.tensor is model["q"]
    assert row.path == "main/%d"
    assert view.reveal("main/%q").key == "main/add"
    assert view.reveal("main/%d").key == "main/add"
    assert view.reveal("main/#0:DequantizeLinear").key == "main/add"


def test_an_initializer_that_is_an_output_has_a_box() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.initializer.add(name="w", dims=[1], data_type=1, float_data=[1])
    proto.graph.output.add(name="w")
    view = View(load(proto.SerializeToString()))
    assert keys(view.root) == ["main/%w constant", "main/%w output"]
    assert wires(view) == {"%w constant -w> %w output"}


CONTROL = """
g (bool c, int64 n, float[N] x) => (float[N] y) {
    [pre] p = Relu (x)
    [loop] l = Loop (n, c, p) <body = b (int64 i, bool cin, float[N] s) => (bool cout, float[N] t) {
        [keep] cout = Identity (cin)
        [index] f = Cast <to = 1> (i)
        [mul] m = Mul (s, x)
        [add] t = Add (m, f)
    }>
    [if] y = If (c) <
        then_branch = then () => (float[N] a) { [neg] a = Neg (l) },
        else_branch = else () => (float[N] l) { }
    >
}"""


def test_a_loop_opens_in_place() -> None:
    view = View(load_text(CONTROL))
    loop = view.open("main/loop")
    assert wires(view) >= {"pre -p> loop", "%n -n> loop", "%x ~x> loop", "loop ~l> if"}
    inside = {key.removeprefix("main/loop.body/") for key in keys(loop)}
    assert inside == {"%i", "keep", "index", "mul", "add", "%cout output"}
    links = {(link.value.name, link.source, link.target) for link in view.links(loop)}
    at = {child.key.removeprefix("main/loop.body/"): n for n, child in enumerate(loop.children)}
    assert links == {
        ("i", at["%i"], at["index"]),
        ("cin", BORDER, at["keep"]),
        ("s", BORDER, at["mul"]),
        ("x", BORDER, at["mul"]),
        ("f", at["index"], at["add"]),
        ("m", at["mul"], at["add"]),
        ("t", at["add"], BORDER),
        ("cout", at["keep"], at["%cout output"]),
    }
    carried = next(link for link in view.links(loop) if link.value.name == "s")
    assert carried.source_value.name == "p"
    assert not find_lost_edges(view)


def test_branches_of_an_if() -> None:
    view = View(load_text(CONTROL))
    item = view.open("main/if")
    assert keys(item) == ["main/if.then_branch", "main/if.else_branch"]
    assert [child.label for child in item.children] == ["then_branch", "else_branch"]
    assert wires(view) >= {"%c -c> if", "loop ~l> if", "if -y> %y output"}
    then = view.open("main/if.then_branch")
    assert keys(then) == ["main/if.then_branch/neg"]
    other = view.open("main/if.else_branch")
    assert [(link.source, link.target) for link in view.links(other)] == [(BORDER, BORDER)]
    assert not find_lost_edges(view)


SCAN = """
g (float[3, 2] xs, float[2] start) => (float[2] last, float[3, 2] ys) {
    [scan] last, ys = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] x)
        => (float[2] t, float[2] o) { [add] t = Add (s, x)  [same] o = Identity (t) }> (start, xs)
}"""


def test_a_scan_binds_one_by_one() -> None:
    view = View(load_text(SCAN))
    scan = view.open("main/scan")
    ends = {
        (link.source_value.name, link.target_value.name)
        for link in view.links(scan)
        if BORDER in (link.source, link.target)
    }
    assert ends == {("start", "s"), ("xs", "x"), ("t", "last"), ("o", "ys")}


CALLS = """
g (float[N] x) => (float[N] y, float[N] z) {
    k = Constant <value_float = 2.0> ()
    [one] y = local.Outer (x, k)
    [two] z = local.Outer (y)
}
<domain: "local", opset_import: ["": 21, "local": 1]>
Outer (p, k) => (q) { [call] r = local.Inner (p, k)  [relu] q = Relu (r) }
<domain: "local", opset_import: ["": 21]>
Inner (p, k) => (q) { [mul] q = Mul (p, k) }
"""


def test_calls_open_each_on_its_own() -> None:
    view = View(load_text(CALLS))
    expand_view(view, "all")
    assert "main/one()/call()/mul" in view.items
    assert "main/two()/call()/mul" in view.items
    row = view.items["main/one()/call()/mul"].constants[0]
    assert (row.path, row.text) == ("main/%k", "2")
    # the second call leaves k out: it is an input of its own there
    assert "main/two()/%k" in view.items
    assert not find_lost_edges(view)
    check_items(view)


def test_what_is_cancelled_while_it_opens_is_closed_and_opens_later() -> None:
    view = View(load_text(CALLS))

    def give_up(_what: str, _share: float | None) -> None:
        raise Cancelled

    with pytest.raises(Cancelled), watched(give_up):
        view.open("main/one")
    assert not view.items["main/one"].is_open
    view.open("main/one")
    assert keys(view.items["main/one"]) == keys(View(load_text(CALLS)).open("main/one"))
    assert view.reveal("main/one()/call()/mul").key == "main/one()/call()/mul"


@pytest.mark.parametrize("depth", [5, 40, 60, 120])
def test_recursion_is_bounded(depth: int) -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.node.add(op_type="F", domain="d", name="f", input=["x"], output=["y"])
    proto.graph.input.add(name="x")
    function = proto.functions.add(name="F", domain="d", input=["a"], output=["b"])
    function.node.add(op_type="F", domain="d", name="f", input=["a"], output=["b"])
    view = View(load(proto.SerializeToString()))
    item = view.reveal("main" + "/f" + "()/f" * depth)
    assert item.depth <= MAX_CALL_DEPTH + 2
    expand_view(view, "all")
    assert not find_lost_edges(view)


def test_mutual_recursion_of_the_corpus() -> None:
    view = View(load(corpus_file("hostile/func_recursive_mutual.onnx")))
    assert expand_view(view, "all") is None
    assert len(view.items) < 50
    expand_view(view, 30)
    assert not find_lost_edges(view)


def make_fan(count: int, scope: str = "", first: str = "") -> Model:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="x")
    proto.graph.node.add(op_type="Relu", name=f"{first}source", input=["x"], output=["hub"])
    for number in range(count):
        proto.graph.node.add(
            op_type="Neg", name=f"{scope}n{number}", input=["hub"], output=[f"y{number}"]
        )
    return load(proto.SerializeToString())


def test_hubs_become_stubs() -> None:
    few = View(make_fan(8))
    assert not [item for item in few.items.values() if item.kind == "stub"]
    many = View(make_fan(9))
    stubs = [item for item in many.items.values() if item.kind == "stub"]
    assert len(stubs) == 10
    assert {stub.path for stub in stubs} == {"main/%hub"}
    assert not find_lost_edges(many)
    assert len(many.links(many.root)) == 1 + 1 + 9


def test_a_hub_from_outside_comes_in_at_the_border() -> None:
    view = View(make_fan(12, scope="s/", first="r/"))
    group = view.open("main/s/")
    assert "r/source -hub> s/" in wires(view)
    border = [link for link in view.links(group) if link.source == BORDER]
    assert [group.children[link.target].kind for link in border] == ["stub"]
    assert not find_lost_edges(view)


def make_scoped() -> Model:
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="x")
    for name, inputs, output in (
        ("/a/p", ["x"], "a"),
        ("/a/b/q", ["a"], "b"),
        ("/a/b/r", ["b", "a"], "c"),
        ("/d/s", ["c"], "d"),
        ("/d/t", ["d", "a"], "y"),
    ):
        proto.graph.node.add(op_type="Op", name=name, input=inputs, output=[output])
    proto.graph.output.add(name="y")
    return load(proto.SerializeToString())


def test_open_close_reveal_and_shown() -> None:
    view = View(make_scoped())
    assert keys(view.root) == ["main/%x", "main/a/", "main/d/", "main/%y output"]
    assert wires(view) == {"%x -x> a/", "a/ -c> d/", "a/ -a> d/", "d/ -y> %y output"}
    hidden = view.shown("main/a/b/q")
    assert hidden is not None
    assert hidden.key == "main/a/"
    assert view.reveal("main/a/b/q").key == "main/a/b/q"
    assert view.items["main/a/"].is_open
    assert view.items["main/a/b/"].is_open
    assert not find_lost_edges(view)
    view.close("main/a/")
    assert set(view.items) == {"main", *keys(view.root)}
    assert not view.items["main/a/"].is_open
    check_items(view)
    assert view.open("main/a/b/").is_open
    shown = view.shown("main/%b")
    assert shown is not None
    assert shown.key == "main/a/b/q"
    assert view.shown("main/no such thing") is None


@pytest.mark.parametrize("path", ["", "nowhere", "main/nowhere", "main/%nothing", "functions/x::F"])
def test_nothing_to_open(path: str) -> None:
    view = View(make_scoped())
    for act in (view.open, view.reveal, view.close):
        with pytest.raises(ViewError):
            act(path)


def test_what_cannot_be_opened_or_closed() -> None:
    view = View(make_scoped())
    with pytest.raises(ViewError, match="cannot be opened"):
        view.open("main/a/p")
    for path in ("main/d/", "main", "main/%x"):
        with pytest.raises(ViewError, match="is not an open group"):
            view.close(path)
    with pytest.raises(ViewError, match="grouping 'odd' is unknown"):
        View(view.model, None, "odd")


def test_a_focus_shows_what_is_around() -> None:
    model = make_scoped()
    node = model.graph.nodes[3]
    found = find_neighbourhood(model.graph, [node], 1)
    assert found == {2, 3, 4}
    assert find_neighbourhood(model.graph, [node], 0) == {3}
    assert find_neighbourhood(model.graph, [node], 9) == {0, 1, 2, 3, 4}
    view = View(model, None, "none", find_neighbourhood(model.graph, [node], 1))
    assert set(keys(view.root)) == {
        "main/a/b/r",
        "main/d/s",
        "main/d/t",
        "main/%a",
        "main/%b",
        "main/%y output",
    }
    assert not find_lost_edges(view)


def test_expand() -> None:
    model = make_scoped()
    boxes = []
    for expand in ("none", 0, 1, "1", 2, "all", "auto"):
        view = View(model)
        assert open_view(view, expand) is None
        boxes.append(len(view.items))
        assert not find_lost_edges(view)
    assert boxes == [5, 5, 9, 9, 11, 11, 5]  # a frame around two boxes is not worth it
    odd: list[Any] = ["some", -1, "-1", "1.5", None, [1]]
    for given_expand in odd:
        with pytest.raises(ViewError, match="Give auto, all, none or a number of levels"):
            expand_view(View(model), given_expand)


def test_other_graphs_can_be_the_outermost() -> None:
    model = load_text(CONTROL)
    for graph in model.graphs:
        view = View(model, graph)
        expand_view(view, "all")
        assert view.root.path == graph.path
        assert not find_lost_edges(view)
    view = View(model, model.graphs[1])
    assert "main/%x" in view.items


def check_every_path_shows(model: Model) -> None:
    """Assert that every node and value can be revealed from the main graph's view."""
    view = View(model)
    for graph in [model.graph, *model.graph.subgraphs]:
        for node in graph.nodes[:150]:
            if any(out is not None and out.consumers for out in node.outputs) or not (
                node.op_type == "Constant" or is_constant_node(node)
            ):
                assert view.reveal(node.path) is view.shown(node.path)
        for value in list(graph.values.values())[:150]:
            if value.consumers or (value.producer is not None and not value.initializer):
                shown = view.reveal(value.path)
                assert shown.kind in ("node", "input", "constant", "output", "branch", "stub")
                assert isinstance(value, Value)
    check_items(view)
    assert not find_lost_edges(view)


@pytest.mark.parametrize("name", ["light_squeezenet.onnx", "light_inception_v1.onnx"])
def test_every_path_of_a_light_model_can_be_shown(name: str) -> None:
    check_every_path_shows(shared_model(name))


@pytest.mark.parametrize("name", MODELS)
def test_every_path_of_a_corpus_model_can_be_shown(name: str) -> None:
    check_every_path_shows(shared_model(name))


@pytest.mark.parametrize("expand", ["none", "auto", "all"])
@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_no_edge_of_a_light_model_is_lost(name: str, expand: str) -> None:
    view = View(shared_model(name))
    open_view(view, expand)
    assert find_lost_edges(view) == []


@pytest.mark.parametrize("expand", ["none", "auto", "all", "2"])
@pytest.mark.parametrize("name", MODELS)
def test_no_edge_of_a_corpus_model_is_lost(name: str, expand: str) -> None:
    view = View(shared_model(name))
    open_view(view, expand)
    check_items(view)
    assert find_lost_edges(view) == []


@settings(max_examples=150)
@given(random_models(), st.sampled_from(["none", "auto", "all", 1, 2]))
def test_no_edge_of_a_random_model_is_lost(model: Model, expand: str | int) -> None:
    view = View(model)
    open_view(view, expand)
    check_items(view)
    assert find_lost_edges(view) == []


@settings(max_examples=80)
@given(random_models(), st.data())
def test_random_opening_and_closing(model: Model, data: st.DataObject) -> None:
    view = View(model)
    fresh = set(view.items)
    for _ in range(data.draw(st.integers(1, 12))):
        choices = [item for item in view.items.values() if item.openable and item is not view.root]
        if not choices:
            break
        item = data.draw(st.sampled_from(sorted(choices, key=lambda item: item.key)))
        if item.is_open:
            view.close(item.key)
        else:
            view.open(item.key)
        check_items(view)
    assert find_lost_edges(view) == []
    for item in list(view.root.children):
        if item.is_open:
            view.close(item.key)
    assert set(view.items) == fresh
