"""What is known of each node by index is asked for with a node of the same graph alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from netloupe.explorer.model.graph import ForeignNodeError

from .onnx_text import load_text

_EXPLORER = Path(__file__).resolve().parents[1] / "explorer"

#: where an index is taken from a node as it is, and why the node cannot be of another graph
_OWN = {
    "compare/merged_loaders.py": "a loader is asked by the nodes that it was made for alone",
    "readers/caffe2/nodes.py": "a loader is asked by the nodes that it was made for alone",
    "readers/caffe2/plan.py": "a loader is asked by the nodes that it was made for alone",
    "readers/onnx/nodes.py": "a loader is asked by the nodes that it was made for alone",
    "compare/merging.py": "the copies that the loop has just made",
    "grouping/arrangement.py": "children of one group, and what was found by their indices",
    "grouping/merged.py": "labels of a tree's own nodes, by the tree",
    "grouping/arrangement_targets.py": "what was chosen among the children of one group",
    "grouping/sibling_repeats.py": "children of one group",
    "grouping/tree.py": "labels of children of the tree's own groups",
    "overlays/amounts.py": "arrays are looked up by the graph that the node says itself",
    "overlays/inner_graph_numbers.py": "arrays are made for the graph that the node says itself",
}


#: functions in which an index is compared or kept of a node that was reached from others, without
#: a comparison of graphs, and why the node cannot be of another graph
_REACHED = {
    "architecture/composites.py _find_experts": "operations of one outline",
    "architecture/pieces.py _list_computed_queries": "the place of an operand, no node",
    "architecture/transformers.py _last_index": "operations of one outline",
    "architecture/transformers.py _read_window": "operations of one outline",
    "compare/activations.py find_fused_operator": "nodes of one side of a pair",
    "compare/joining.py _list_nodes": "nodes of the units of one graph",
    "compare/matching.py _find_pairs": "left nodes of the pairs of one graph",
    "compare/merged_groups.py group": "nodes of each side by that side's graph",
    "compare/replaced.py find_replaced": "ordered by graph before",
    "compare/node_pairs.py pair_same_operators": "nodes of one side of a pair",
    "compare/unit_pairs.py split_units": "nodes of the units of each side",
    "grouping/arrangement.py _wrap_branchings": "nodes of the tree's own groups",
    "grouping/arrangement.py _wrap_preparation": "nodes of the tree's own groups",
    "grouping/arrangement_targets.py _takes": "what is a child of a group of the tree",
    "grouping/simplify.py group_flat": "nodes of the tree's own groups",
    "grouping/tree.py build_group_tree": "nodes that stand for groups of the tree",
    "model/nesting.py is_before": "taken after both were brought into one graph",
    "overlays/name_lookup.py find": "given with the graph of the node itself",
    "overlays/inner_graph_numbers.py fill": "arrays are made for the graph that the node names",
    "quantization/products.py _find_given_scale": "the place of an operand, no node",
    "quantization/sources.py find_statement": "the place of an operand, no node",
    "roles/unlearned.py _find_caches": "those of the given tables that are pairs",
}
#: what leads from a node or value to others, perhaps of other graphs
_LINKS = frozenset({"calls", "consumers", "parent_node", "producer", "users"})


def list_places(source: str) -> Iterator[int]:
    """Yield the lines at which something is indexed by ``node.index`` as it stands."""
    for part in ast.walk(ast.parse(source)):
        if isinstance(part, ast.Subscript):
            place = part.slice
            if isinstance(place, ast.Attribute) and place.attr == "index":
                yield part.lineno


def list_givers(source: str) -> set[str]:
    """Return the names of functions that say that they give nodes."""
    return {
        part.name
        for part in ast.walk(ast.parse(source))
        if isinstance(part, ast.FunctionDef)
        and part.returns is not None
        and re.search(r"\bNode\b", ast.unparse(part.returns))
    }


def list_reached(source: str, givers: set[str]) -> Iterator[str]:
    """Yield functions that take the index of a node reached from others, whatever its graph.

    A function that compares what holds it, or the value that it gives, with a graph may do so.
    """
    for function in ast.walk(ast.parse(source)) if ".index" in source else ():
        if not isinstance(function, ast.FunctionDef):
            continue
        parts = [*ast.walk(function)]
        called = {id(part.func) for part in parts if isinstance(part, ast.Call)}
        taken = [
            part.value
            for part in parts
            if isinstance(part, ast.Attribute) and part.attr == "index" and id(part) not in called
        ]
        if not taken:
            continue
        guarded = {*_list_guarded(function)}
        reached = _find_reached(function, givers)
        for holder in taken:
            text = ast.unparse(holder)
            is_guarded = bool({text, text.removesuffix(".producer")} & guarded)
            if not is_guarded and _is_reached(holder, reached, givers):
                yield function.name


def _list_guarded(function: ast.FunctionDef) -> Iterator[str]:
    """Yield what has its graph compared."""
    for part in ast.walk(function):
        for side in (part.left, *part.comparators) if isinstance(part, ast.Compare) else ():
            if isinstance(side, ast.Attribute) and side.attr == "graph":
                yield ast.unparse(side.value)


def _is_reached(part: ast.AST, names: set[str], givers: set[str]) -> bool:
    """Return whether an expression leads from some node or value to others."""
    for inner in ast.walk(part):
        if isinstance(inner, ast.Attribute) and inner.attr in _LINKS:
            return True
        if isinstance(inner, ast.Name) and inner.id in names:
            return True
        called = inner.func if isinstance(inner, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in givers:
            return True
        if isinstance(called, ast.Name) and called.id in givers:
            return True
    return False


def _find_reached(function: ast.FunctionDef, givers: set[str]) -> set[str]:
    """Return the names that a function gives to what was reached from others."""
    found: set[str] = set()
    count = -1
    while count < len(found):
        count = len(found)
        for part in ast.walk(function):
            if isinstance(part, ast.Assign):
                targets, source = part.targets, part.value
            elif isinstance(part, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and part.value:
                targets, source = [part.target], part.value
            elif isinstance(part, ast.For | ast.comprehension):
                targets, source = [part.target], part.iter
            else:
                continue
            if _is_reached(source, found, givers):
                inner = (name for target in targets for name in ast.walk(target))
                found |= {name.id for name in inner if isinstance(name, ast.Name)}
    return found


@pytest.mark.parametrize(
    "body",
    [
        "return low <= value.producer.index",
        "return {user.index for user in value.users}",
        "node = value.producer\n    other = node\n    return other.index in inside",
        "return [node.index for node in list_around(value)]",
    ],
)
def test_an_index_of_what_was_reached_is_found(body: str) -> None:
    def find(text: str) -> list[str]:
        return [*list_reached(f"def told(value, graph):\n    {text}", {"list_around"})]

    assert find(body) == ["told"]
    guarded = "if value.graph is graph and user.graph is other.graph is node.graph: pass"
    assert find(f"{guarded}\n    {body}") == []


def test_no_index_of_what_was_reached_is_compared_with_those_of_another_graph() -> None:
    sources = {
        path.relative_to(_EXPLORER).as_posix(): path.read_text("utf-8")
        for path in _EXPLORER.rglob("*.py")
    }
    givers = {name for source in sources.values() for name in list_givers(source)}
    found = {
        f"{path} {name}"
        for path, source in sources.items()
        for name in list_reached(source, givers)
    }
    assert found - _REACHED.keys() == set(), "use graph.index_of(node)"
    assert _REACHED.keys() - found == set(), "listed without need"


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
