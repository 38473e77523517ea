"""Marks on what items are about, and counts on what holds it."""

from __future__ import annotations

import netloupe
from netloupe.explorer.model import Graph, Model
from netloupe.explorer.render.paint import Paint, Paints
from netloupe.explorer.review import LEVELS, ReviewItem, mark_items
from netloupe.explorer.view import View
from tests.corpus import corpus_file
from tests.onnx_text import load_text

CALLS = """
<ir_version: 10, opset_import: ["": 21, "local": 1]>
agraph (float[2] x, bool c) => (float[2] y)
<float[2] w = {1, 2}>
{
    a = local.twice(x)
    b = If<then_branch = yes() => (float[2] t) { t = Relu(a) },
           else_branch = no() => (float[2] e) { e = Neg(a) }>(c)
    y = Add(b, w)
}
<domain: "local", opset_import: ["": 21]>
twice (p) => (q) { q = Add(p, p) }
"""


def make_item(level: str, *paths: str, **fields: str) -> ReviewItem:
    return ReviewItem("finding", level, "title", "", "NL-X", paths, **fields)  # type: ignore[arg-type]


def mark(model: Model, *items: ReviewItem, grouping: str = "auto") -> Paints:
    view = View(model, model.graph, grouping)
    return mark_items(items, model, lambda graph: view.borders(graph).tree)


def test_a_node_has_a_ring_and_the_sign_of_its_item() -> None:
    model = load_text(CALLS)
    add = model.graph.nodes[2].path
    paints = mark(model, make_item("warning", add))
    assert paints == {add: Paint(ring="warning", mark="!")}


def test_of_several_items_the_worst_is_marked_and_all_are_counted() -> None:
    model = load_text(CALLS)
    add = model.graph.nodes[2].path
    paints = mark(model, make_item("minor", add), make_item("error", add))
    assert paints[add] == Paint(ring="error", mark="2")


def test_what_is_gone_has_a_dashed_ring() -> None:
    model = load_text(CALLS)
    add = model.graph.nodes[2].path
    assert mark(model, make_item("removed", add))[add].dashed


def test_what_is_accepted_is_not_marked() -> None:
    model = load_text(CALLS)
    item = make_item("error", model.graph.nodes[2].path, accepted="known")
    assert mark(model, item) == {}


def test_a_weight_is_marked_where_it_is_used_and_a_value_where_it_is_made() -> None:
    model = load_text(CALLS)
    call, branch, add = (node.path for node in model.graph.nodes)
    weight = mark(model, make_item("error", "main/%w"))
    assert {add, "main/%w"} == set(weight)
    assert branch in mark(model, make_item("error", "main/%b"))
    assert set(mark(model, make_item("error", "main/%x"))) == {"main/%x"}
    assert call in mark(model, make_item("error", "main/%a"))


def test_what_lies_in_a_body_is_counted_on_the_node_around() -> None:
    model = load_text(CALLS)
    branch = model.graph.nodes[1]
    inner = branch.subgraphs[0].nodes[0]
    paints = mark(model, make_item("warning", inner.path))
    assert paints[inner.path] == Paint(ring="warning", mark="!")
    assert paints[branch.path] == Paint(mark="1", mark_tone="warning")


def test_what_lies_in_a_function_is_counted_on_its_calls() -> None:
    model = load_text(CALLS)
    (function,) = model.functions
    call = model.graph.nodes[0]
    paints = mark(model, make_item("error", function.nodes[0].path))
    assert paints[call.path] == Paint(mark="1", mark_tone="error")
    about = mark(model, make_item("error", function.path))
    assert about[call.path] == Paint(ring="error", mark="!")


def test_what_lies_in_a_function_is_counted_on_calls_of_what_calls_it() -> None:
    model = load_text(
        """
        <ir_version: 10, opset_import: ["": 21, "local": 1]>
        agraph (float[2] x) => (float[2] y) {
            [one] a = local.outer(x)
            [two] y = local.outer(a)
        }
        <domain: "local", opset_import: ["": 21, "local": 1]>
        outer (p) => (q) { [call] q = local.inner(p) }
        <domain: "local", opset_import: ["": 21]>
        inner (p) => (q) { [relu] q = Relu(p) }
        """
    )
    counted = Paint(mark="1", mark_tone="error")
    assert mark(model, make_item("error", "functions/local::inner/relu")) == {
        "functions/local::inner/relu": Paint(ring="error", mark="!"),
        "functions/local::outer/call": counted,
        "main/one": counted,
        "main/two": counted,
    }


def test_groups_count_items_and_repeats_the_repetitions_that_have_any() -> None:
    model = netloupe.load(corpus_file("exported/gpt2.legacy.onnx"))
    paths = [f"main/model/transformer/h.{n}/mlp/c_fc/Gemm" for n in (2, 5, 7)]
    paints = mark(model, make_item("warning", *paths), make_item("error", paths[0]))
    repeat = "main/model/transformer/h.0-11/"
    assert paints[repeat] == Paint(mark="3", mark_tone="error")
    assert paints["main/model/transformer/h.2/"] == Paint(mark="2", mark_tone="error")
    assert paints["main/model/transformer/h.5/"] == Paint(mark="1", mark_tone="warning")
    assert "main/model/transformer/h.3/" not in paints
    assert paints[paths[0]] == Paint(ring="error", mark="2")


def test_a_group_has_a_ring_and_keeps_the_count_of_what_is_inside() -> None:
    model = netloupe.load(corpus_file("exported/gpt2.legacy.onnx"))
    stack = "main/model/transformer/"
    paints = mark(model, make_item("noted", f"{stack}h.2/"))
    assert paints == {
        f"{stack}h.2/": Paint(ring="note", mark=LEVELS["noted"].sign),
        f"{stack}h.0-11/": Paint(mark="1", mark_tone="note"),
        **{path: Paint(mark="1", mark_tone="note") for path in paints if path in stack},
    }
    paints = mark(
        model,
        make_item("noted", f"{stack}h.2/"),
        make_item("error", f"{stack}h.2/mlp/c_fc/Gemm", f"{stack}h.5/mlp/c_fc/Gemm"),
        make_item("noted", f"{stack}h.0-11/"),
        make_item("noted", f"{stack}h.99/", "main/nothing/", "nothing/"),
    )
    assert paints[f"{stack}h.2/"] == Paint(ring="note", mark="1", mark_tone="error")
    assert paints[f"{stack}h.0-11/"] == Paint(ring="note", mark="2", mark_tone="error")
    assert not [path for path in paints if "h.99" in path or "nothing" in path]


def test_more_than_a_mark_can_hold_is_said_to_be_more() -> None:
    model = load_text(CALLS)
    inner = model.graph.nodes[1].subgraphs[0].nodes[0].path
    paints = mark(model, *(make_item("minor", inner) for _ in range(120)))
    assert paints[model.graph.nodes[1].path].mark == "99+"


def test_paths_that_lead_nowhere_are_left_out() -> None:
    model = load_text(CALLS)
    assert mark(model, make_item("error", "main/nothing", "", "main")) == {}


def test_only_graphs_with_items_are_grouped() -> None:
    model = load_text(CALLS)
    asked: list[Graph] = []
    view = View(model, model.graph, "auto")

    def find_tree(graph: Graph) -> object:
        asked.append(graph)
        return view.borders(graph).tree

    mark_items([make_item("error", model.graph.nodes[2].path)], model, find_tree)  # type: ignore[arg-type]
    assert asked == [model.graph]
