"""Tables that are looked up side by side are one box, whatever their sizes and names are."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import TensorProto

from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.model import Node
from netloupe.explorer.render.faces import make_face
from netloupe.explorer.view import View
from tests.architecture.networks import Network

ROWS = (300, 210, 150, 90, 70, 40, 25)


class Fields(Network):
    """Features of a recommender, each looked up in a table of its own."""

    def add(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of the model itself: its name is that of no module."""
        found = super().add(op_type, *inputs, **attributes)
        self.nodes[-1].name = f"/{op_type}_{len(self.nodes)}"
        return found

    def look_up(self, name: str, ids: str, rows: int, width: int = 12) -> str:
        found = self.add("Gather", self.weight(rows, width), ids)
        self.nodes[-1].name = f"/{name}/Gather"
        return found

    def end(self, output: str) -> list[Group | Node]:
        model = self.finish(output)
        return find_tree(model, model.graph).root.children


def _list_repeats(children: list[Group | Node]) -> list[int]:
    return [
        len(child.children)
        for child in children
        if isinstance(child, Group) and child.kind == "repeat"
    ]


def _make(names: list[str], order: list[int], joined: str = "Concat") -> Fields:
    net = Fields()
    ids = [net.take(f"id_{name}", (3,), TensorProto.INT64) for name in names]
    found = {place: net.look_up(names[place], ids[place], ROWS[place]) for place in order}
    rows = [found[place] for place in range(len(names))]
    net.add(joined, *rows, **({"axis": 1} if joined == "Concat" else {}))
    return net


@pytest.mark.parametrize("count", [4, 5, 7])
@pytest.mark.parametrize("names", ["C{}", "field_{}", "{}_id"])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_tables_whose_rows_are_joined_are_one_box(
    count: int, names: str, *, is_reversed: bool
) -> None:
    labels = [names.format(chr(97 + place)) for place in range(count)]
    order = [*range(count)]
    net = _make(labels, order[::-1] if is_reversed else order)
    joined = net.nodes[-1].output[0]
    product = net.add("MatMul", joined, net.weight(12 * count, 5))
    assert _list_repeats(net.end(net.add("Relu", product))) == [count]


def test_few_tables_are_seen_as_they_stand() -> None:
    net = _make(["a", "b", "c"], [0, 1, 2])
    assert _list_repeats(net.end(net.add("Relu", net.nodes[-1].output[0]))) == []


def test_a_table_that_another_layer_takes_too_is_none_of_them() -> None:
    names = ["a", "b", "c", "d", "e"]
    net = _make(names, [*range(5)])
    joined = net.nodes[-1].output[0]
    alone = net.nodes[0].output[0]
    given = net.add("MatMul", joined, net.weight(60, 12))
    net.add("Mul", given, alone)
    assert _list_repeats(net.end(net.nodes[-1].output[0])) == [4]


@pytest.mark.parametrize("apart", range(6))
def test_a_table_apart_from_the_others_in_the_file_is_one_of_them(apart: int) -> None:
    """As where an optimizer has sorted the nodes anew."""
    net = Fields()
    rows = []
    for place in range(6):
        rows.append(
            net.look_up(
                f"field.{place}", net.take(f"id{place}", (3,), TensorProto.INT64), ROWS[place]
            )
        )
        if place == apart:
            dense = net.take("dense", (3, 12))
            rows.append(net.add("MatMul", dense, net.weight(12, 12)))
    joined = net.add("Concat", *rows, axis=1)
    assert _list_repeats(net.end(net.add("MatMul", joined, net.weight(84, 5)))) == [6]


def test_a_row_that_picks_from_the_next_table_is_none_of_them() -> None:
    net = Fields()
    ids = net.take("ids", (3,), TensorProto.INT64)
    rows = []
    for place, name in enumerate("abcd"):
        rows.append(net.look_up(name, ids, ROWS[place]))
        ids = net.add("ArgMax", rows[-1], axis=1, keepdims=0)
    assert _list_repeats(net.end(net.add("Concat", *rows, axis=1))) == []


def test_the_box_tells_how_many_rows_each_table_has() -> None:
    net = _make(["a", "b", "c", "d"], [0, 1, 2, 3])
    model = net.finish(net.add("Relu", net.nodes[-1].output[0]))
    view = View(model)
    face = next(make_face(item) for item in view.root.children if item.repeat is not None)
    texts = " ".join(run.text for run in face.texts)
    assert "300 … 90 rows" in texts
    assert "Embedding" in texts
    assert "Gather" not in texts
    assert "×4" in texts
