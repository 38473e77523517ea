"""Copies of inputs that both preparation and a block take: they are part of neither."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.grouping.copies import take_out_copies
from netloupe.explorer.model import Graph
from netloupe.explorer.roles import PreparationPiece
from tests.onnx_text import load_text


def read(copy: str, block: str) -> Graph:
    """Return a graph whose first four nodes prepare something of a copy."""
    return load_text(f"""
        g (float[s, 3] x, float[p, 3] past) => (float[t, 3] y)
        <float[3, 3] w = {{1,2,3,4,5,6,7,8,9}}, float three = {{3}}>
        {{
            copy = {copy}
            sizes = Shape (copy)
            a = Cast <to = 1> (sizes)
            b = Neg (a)
            q = MatMul (x, w)
            {block}
            y = Sub (z, b)
        }}
    """).graph


@pytest.mark.parametrize(
    ("copy", "block", "is_taken_out"),
    [
        ("Concat <axis = 0> (past)", "z = Concat <axis = 0> (copy, q)", True),
        ("Identity (past)", "z = Concat <axis = 0> (copy, q)", True),
        ("Concat <axis = 0> (past)", "z = Concat <axis = 0> (past, q)", False),  # its size alone
        ("Concat <axis = 0> (past)", "n = Shape (copy)  z = Expand (q, n)", False),
        ("Neg (past)", "z = Concat <axis = 0> (copy, q)", False),  # is computed
        ("Concat <axis = 0> (past, past)", "z = Concat <axis = 0> (copy, q)", False),
        ("Mul (past, three)", "z = Concat <axis = 0> (copy, q)", False),
    ],
)
def test_a_copy_that_a_block_takes_is_no_preparation(
    copy: str, block: str, is_taken_out: bool
) -> None:
    graph = read(copy, block)
    pieces, copies = take_out_copies(graph, [PreparationPiece((0, 1, 2, 3), False)])
    assert [piece.nodes for piece in pieces] == [(1, 2, 3) if is_taken_out else (0, 1, 2, 3)]
    assert copies == ({0} if is_taken_out else set())


def test_a_copy_is_in_nothing_that_takes_it() -> None:
    count = "here = Range (a0, b0, c0)"
    graph = load_text(f"""
        g (int64[s] ids, float[b, p, 3] past) => (float[b, s, 3] y)
        <float[3, 3] w = {{1,2,3,4,5,6,7,8,9}},
         int64 a0 = {{0}}, int64 b0 = {{1}}, int64 c0 = {{1}}>
        {{
            copy = Concat <axis = 0> (past)
            sizes = Shape (copy)  before = Gather (sizes, b0)
            {count}  rows = Add (here, before)
            p = Gather (w, rows)
            t = Gather (w, ids)
            h = Add (p, t)
            q = MatMul (h, w)
            k = Concat <axis = 1> (copy, q)
            y = MatMul (k, w)
        }}
    """).graph
    tree = build_group_tree(graph)
    group = tree.group_of(graph.nodes[0])
    assert group is not None
    assert group.label == "copies of inputs"
    assert group.parent is tree.root
