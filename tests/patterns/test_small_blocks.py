"""Norms written out and summed embeddings, as blocks of their own among named groups."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Graph
from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file
from tests.grouping.test_tree import check_tree
from tests.onnx_text import load_text


def normalize(body: str) -> Graph:
    return load_text(f"""
        g (float[2, 3] x, float[2, 3] z) => (float[2, 3] y)
        <float two = {{2}}, float half = {{0.5}}, float third = {{0.333}}, float least = {{0.001}},
         int64[1] last = {{-1}}>
        {{ {body} }}
    """).graph


@pytest.mark.parametrize(
    "body",
    [
        # torch's x / x.norm(dim=-1, keepdim=True), by the older exporter
        "s = Pow (x, two)  n = ReduceSum (s, last)  r = Pow (n, half)  y = Div (x, r)",
        "s = Mul (x, x)  n = ReduceSum (s, last)  r = Sqrt (n)  y = Div (x, r)",
        "n = ReduceSumSquare (x, last)  r = Sqrt (n)  y = Div (x, r)",
        # functional.normalize, with a least norm
        "n = ReduceL2 (x, last)  c = Clip (n, least)  e = Expand (c, last)  y = Div (x, e)",
        "s = Mul (x, x)  n = ReduceSum (s, last)  e = Add (n, least)  r = Sqrt (e)  y = Div (x, r)",
        "y = LpNormalization <p = 2> (x)",
    ],
)
def test_a_division_by_the_euclidean_norm(body: str) -> None:
    found = recognise(normalize(body).nodes)
    assert found is not None
    assert (found.name, found.family) == ("L2 normalize", "normalization")


@pytest.mark.parametrize(
    "body",
    [
        # another power, another root, another value, the other way around, no square
        "s = Pow (x, third)  n = ReduceSum (s, last)  r = Pow (n, half)  y = Div (x, r)",
        "s = Pow (x, two)  n = ReduceSum (s, last)  r = Pow (n, third)  y = Div (x, r)",
        "s = Pow (z, two)  n = ReduceSum (s, last)  r = Pow (n, half)  y = Div (x, r)",
        "s = Pow (x, two)  n = ReduceSum (s, last)  r = Pow (n, half)  y = Div (r, x)",
        "s = Mul (x, z)  n = ReduceSum (s, last)  r = Sqrt (n)  y = Div (x, r)",
        "n = ReduceSum (x, last)  r = Sqrt (n)  y = Div (x, r)",
        "n = ReduceL2 (x, last)  c = Max (n, z)  y = Div (x, c)",
        "y = LpNormalization <p = 1> (x)",
    ],
)
def test_what_is_no_euclidean_norm(body: str) -> None:
    found = recognise(normalize(body).nodes)
    assert found is None or found.name != "L2 normalize"


@pytest.mark.parametrize("exporter", ["legacy", "dynamo"])
def test_both_towers_end_with_a_norm(exporter: str) -> None:
    tree = build_group_tree(load(corpus_file(f"exported/clip.{exporter}.onnx")).graph)
    check_tree(tree)
    norms = [group for group in tree.root.inner_groups() if group.label == "L2 normalize"]
    assert [group.kind for group in norms] == ["block", "block"]
    assert [child.op_type for child in norms[0].nodes_alone()][-1] == "Div"


@pytest.mark.parametrize(
    ("model", "path", "facts"),
    [
        ("gpt2.legacy", "transformer", ("1,000 × 48", "128 × 48")),
        ("opt.legacy", "decoder", ("1,000 × 48", "130 × 48")),
    ],
)
def test_tokens_and_positions_are_one_block(model: str, path: str, facts: tuple[str, ...]) -> None:
    tree = build_group_tree(load(corpus_file(f"exported/{model}.onnx")).graph)
    check_tree(tree)
    around = tree.find(path)
    assert isinstance(around, Group)
    (block,) = [group for group in around.inner_groups() if "position emb" in group.label]
    assert block.kind == "block"
    assert block.recognised is not None
    assert (block.recognised.name, block.recognised.facts) == ("Token + position embedding", facts)


def test_tokens_and_their_types_are_no_positions() -> None:
    tree = build_group_tree(load(corpus_file("exported/bert.legacy.onnx")).graph)
    embeddings = tree.find("embeddings")
    assert isinstance(embeddings, Group)
    assert not [group for group in embeddings.inner_groups() if group.kind == "block"]


def test_heads_are_counted_where_queries_are_put_into_groups_that_share_a_key() -> None:
    tree = build_group_tree(load(corpus_file("exported/llama_past.legacy.onnx")).graph)
    found = tree.find("layers.3/self_attn")
    assert isinstance(found, Group)
    assert found.recognised is not None
    # as the configuration in tools/zoo/generation.py says
    text = "Grouped-query attention, 8 heads × 8 over 2, rotary, causal"
    assert found.recognised.text == text
