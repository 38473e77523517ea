"""Preparation for the same part of a network is one group that lists what it makes."""

from __future__ import annotations

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from tests.onnx_text import load_text

from .test_tree import check_tree

_NINE = "{1,2,3,4,5,6,7,8,9}"


def build(nodes: str, inputs: str, stored: str = "") -> GroupTree:
    graph = load_text(f"""
        g ({inputs}, float[b, s, 3] x) => (float[b, s, 3] y)
        <float[3, 3] w = {_NINE}, int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}},
         int64[1] axis = {{1}}, float low = {{-1}} {stored}> {{ {nodes} }}
    """).graph
    tree = build_group_tree(graph)
    check_tree(tree)
    return tree


def list_outer(tree: GroupTree) -> list[Group]:
    found = {id(group): group for group in tree.groups.values() if group.kind == "preparation"}
    return [
        group
        for group in found.values()
        if group.parent is None or group.parent.kind != "preparation"
    ]


_MASKS = """
    sizes = Shape (x)
    length = Gather (sizes, one)
    places = Range (zero, length, one)
    rows = Unsqueeze (places, axis)
    allowed = LessOrEqual (places, rows)
    causal = Where (allowed, low, low)
    given1 = Unsqueeze (given, axis)
    known = Cast <to = 9> (given1)
    padding = Where (known, low, low)
    h = MatMul (x, w)
    scores = Sum (h, causal, padding)
    p = Softmax (scores)
    y = MatMul (p, w)
"""


def test_masks_are_one_box_that_names_both() -> None:
    tree = build(_MASKS, "int64[b, s] given")
    (padding,) = list_outer(tree)
    assert (padding.label, padding.facts) == ("attention mask", ("padding",))
    # what takes no input is hidden, and keeps its name
    (causal,) = (g for g in tree.root.inner_groups() if (g.kind, g.label[:4]) == ("shape", "atte"))
    assert causal.facts == ("causal",)


def _edges(pairs: str) -> list[tuple[str, tuple[str, ...]]]:
    lines = "".join(
        f"""
        a{n} = MatMul (x{n}, w)
        g{n} = Gather (a{n}, source)
        m{n} = Relu (g{n})
        i{n} = Gather (m{n}, target)
        b{n} = MatMul (i{n}, w)
        x{n + 1} = Relu (b{n})
        """
        for n in range(6)
    )
    graph = load_text(f"""
        g ({pairs} edges, float[n, 3] x0) => (float[m, 3] x6)
        <float[3, 3] w = {_NINE}, int64 zero = {{0}}, int64 one = {{1}}> {{
            source = Gather (edges, zero)
            target = Gather (edges, one)
            {lines}
        }}
    """).graph
    tree = build_group_tree(graph)
    check_tree(tree)
    return [(group.label, group.facts) for group in list_outer(tree)]


def test_both_ends_of_edges_are_one_box() -> None:
    assert _edges("int64[2, e]") == [("preparation", ("source, target of edges",))]


def test_other_numbers_are_no_edges() -> None:
    assert _edges("int64[3, e]") == [("preparation", ())]
    assert _edges("int64[2, e, 1]") == [("preparation", ())]


def test_what_joined_pieces_hold_is_still_found_by_name() -> None:
    tree = build(_MASKS, "int64[b, s] given")
    for group in list_outer(tree):
        for inner in group.inner_groups():
            assert tree.groups[inner.path] is inner
            assert inner.parent is group
