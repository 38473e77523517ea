"""What is known of each node by index is asked for with a node of the same graph alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from netloupe.explorer.model.graph import ForeignNodeError

from .onnx_text import load_text

_EXPLORER = Path(__file__).resolve().parents[1] / "explorer"

#: where an index is taken from a node as it is, and why the node cannot be of another graph
_OWN = {
    "compare/retelling.py": "a loader is asked by the nodes that it was made for alone",
    "readers/caffe2/nodes.py": "a loader is asked by the nodes that it was made for alone",
    "readers/caffe2/plan.py": "a loader is asked by the nodes that it was made for alone",
    "readers/onnx/nodes.py": "a loader is asked by the nodes that it was made for alone",
    "compare/merging.py": "the copies that the loop has just made",
    "grouping/arrangement.py": "children of one group, and what was found by their indices",
    "grouping/merged.py": "labels of a tree's own nodes, by the tree",
    "grouping/serving.py": "what was chosen among the children of one group",
    "grouping/sibling_repeats.py": "children of one group",
    "grouping/tree.py": "labels of children of the tree's own groups",
    "overlays/amounts.py": "arrays are looked up by the graph that the node says itself",
    "render/rows.py": "the place of a constant among operands, no node",
    "overlays/holders.py": "arrays are made for the graph that the node says itself",
}


def list_places(source: str) -> Iterator[int]:
    """Yield the lines at which something is indexed by ``node.index`` as it stands."""
    for part in ast.walk(ast.parse(source)):
        if isinstance(part, ast.Subscript):
            place = part.slice
            if isinstance(place, ast.Attribute) and place.attr == "index":
                yield part.lineno


def test_a_place_is_found() -> None:
    assert [*list_places("roles = []\nroles[value.producer.index]\nroles[graph.index_of(n)]")] == [
        2
    ]


def test_no_array_is_indexed_by_a_node_of_any_graph() -> None:
    found = {
        path.relative_to(_EXPLORER).as_posix(): [*list_places(path.read_text("utf-8"))]
        for path in _EXPLORER.rglob("*.py")
    }
    lines = {name: places for name, places in found.items() if places}
    others = {name: places for name, places in lines.items() if name not in _OWN}
    assert not others, "use graph.index_of(node)"
    assert set(_OWN) == set(lines), "listed without need"


def test_a_node_of_another_graph_is_refused() -> None:
    model = load_text("""
        main (float[2] x, bool c) => (float[2] y) {
          a = Relu (x)
          y = If (c) <then_branch = t () => (float[2] p) { p = Neg (a) },
                      else_branch = e () => (float[2] q) { q = Abs (a) }>
        }
    """)
    inner, _ = model.graph.nodes[1].subgraphs
    assert [model.graph.index_of(node) for node in model.graph.nodes] == [0, 1]
    with pytest.raises(ForeignNodeError, match=r"main/#0:Relu is no node of main/#1:If"):
        inner.index_of(model.graph.nodes[0])
