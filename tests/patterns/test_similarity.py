"""Products of normalized vectors, as models of two towers end."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.patterns import find_graph_context, find_small_blocks
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file
from tests.grouping.test_tree import check_tree
from tests.onnx_text import load_text

NORMS = """
    a = ReduceL2 (x, last)  u = Div (x, a)
    b = ReduceL2 (z, last)  v = Div (z, b)
"""


def list_small(body: str) -> list[str]:
    graph = load_text(f"""
        g (float[2, 3] x, float[4, 3] z, float[2, 3] w) => (float[2, 4] y)
        <int64[1] last = {{-1}}, int64[1] first = {{0}}, float scale = {{1.5}}>
        {{ {body} }}
    """).graph
    return [name for name, _ in find_small_blocks(graph.nodes, find_graph_context(graph))]


def test_cosines_of_all_pairs_are_one_block_beside_the_norms() -> None:
    body = f"{NORMS} t = Transpose (v)  p = MatMul (u, t)  y = Mul (p, scale)"
    assert list_small(body) == ["L2 normalize", "L2 normalize", "Cosine similarity"]


@pytest.mark.parametrize(
    "body",
    [
        f"{NORMS} t = Transpose (z)  p = MatMul (u, t)  y = Mul (p, scale)",
        f"{NORMS} t = Transpose (v)  p = MatMul (w, t)  y = Mul (p, scale)",
        f"{NORMS.replace('(z, last)', '(z, first)')} t = Transpose (v)  y = MatMul (u, t)",
        f"{NORMS} t = Identity (v)  p = MatMul (u, t)  y = Mul (p, scale)",  # not turned
        "s = Transpose (z)  p = MatMul (x, s)  y = Mul (p, scale)",
    ],
)
def test_other_products(body: str) -> None:
    assert "Cosine similarity" not in list_small(body)


@pytest.mark.parametrize("exporter", ["legacy", "dynamo"])
def test_clip_ends_with_the_similarity_of_its_towers(exporter: str) -> None:
    tree = build_group_tree(load(corpus_file(f"exported/clip.{exporter}.onnx")).graph)
    check_tree(tree)
    (block,) = [g for g in tree.root.inner_groups() if g.label == "Cosine similarity"]
    assert block.recognised is not None
    assert block.recognised.text == "Cosine similarity, scaled"
