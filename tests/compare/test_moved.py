"""Nodes that stand elsewhere are told, and others are not."""

from __future__ import annotations

import onnx

import netloupe
from netloupe.explorer.compare import diff
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.readers.load import load
from tests.compare.networks import make_layers
from tests.compare.test_elements import rename_all
from tests.compare.test_rewiring import BASE
from tests.onnx_text import load_text


def list_moved(left: onnx.ModelProto, right: onnx.ModelProto) -> list[tuple[str, str]]:
    found = diff(load(left), load(right))
    return [(pair.left[0].name, pair.right[0].name) for pair in found.moved]


def test_a_node_in_another_module_has_moved() -> None:
    right = make_layers(4)
    right.graph.node[7].name = "/layers.2/act/Tanh_1"
    moved = [("/layers.1/act/Tanh", "/layers.2/act/Tanh_1")]
    assert list_moved(make_layers(4), right) == moved
    found = diff(load(make_layers(4)), load(right))
    told = format_diff(found)
    title = "The same in another module: 1"
    assert f"{title}\n  main/layers.1/act/Tanh: now main/layers.2/act/Tanh_1" in told
    assert encode_diff(found)["nodes"]["moved"][0]["b"] == ["main/layers.2/act/Tanh_1"]
    assert found.counts.moved == 1
    assert found.verdict == "cosmetic"
    assert found.paints["main/layers.2/act/Tanh_1"] == netloupe.Paint(ring="changed", mark="⇄")
    assert "moved 1" in found.to_svg()


def test_other_names_alone_are_no_move() -> None:
    model = make_layers(4)
    assert not list_moved(model, rename_all(model))
    renamed = make_layers(4)
    for node in renamed.graph.node:
        node.name = node.name.replace("/layers.", "/blocks.")
    assert not list_moved(model, renamed)
    assert not list_moved(model, model)


def test_a_node_that_takes_nothing_from_where_it_did_has_moved() -> None:
    found = diff(load_text(BASE), load_text(BASE.replace("Exp (r)", "Exp (p)")))
    assert [pair.left[0].name for pair in found.moved] == ["d"]


def test_operands_that_change_places_come_from_where_they_came() -> None:
    found = diff(load_text(BASE), load_text(BASE.replace("Sub (p, q)", "Sub (q, p)")))
    assert [one.pair.left[0].name for one in found.nodes] == ["c"]
    assert found.moved == []


def test_layers_that_are_counted_anew_have_not_moved() -> None:
    right = make_layers(4)
    nodes = right.graph.node
    for node in [node for node in nodes if node.name.startswith("/layers.1/")]:
        nodes.remove(node)
    for node in nodes:
        node.input[:] = ["h1" if i == "h2" else i for i in node.input]
        for number in (2, 3):
            node.name = node.name.replace(f"/layers.{number}/", f"/layers.{number - 1}/")
    assert not list_moved(make_layers(4), right)
