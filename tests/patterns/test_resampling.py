"""Pictures made larger and smaller: pixel shuffles, up- and downsampling."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Graph
from netloupe.explorer.patterns import recognise
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file
from tests.onnx_text import load_text


def rearrange(apart: str, perm: str, joined: str) -> Graph:
    return load_text(f"""
        g (float[n, c, h, w] x) => (float[n, d, i, j] y)
        <int64[6] a = {{{apart}}}, int64[{joined.count(",") + 1}] b = {{{joined}}}>
        {{ p = Reshape (x, a)  q = Transpose <perm = [{perm}]> (p)  y = Reshape (q, b) }}
    """).graph


@pytest.mark.parametrize(
    ("apart", "perm", "joined", "text"),
    [
        # the specification of DepthToSpace: mode CRD, as torch.nn.PixelShuffle, and mode DCR
        ("1, 4, 3, 3, 8, 8", "0, 1, 4, 2, 5, 3", "1, 4, 24, 24", "Pixel shuffle, ×3"),
        ("1, 2, 2, 4, 8, 6", "0, 3, 4, 1, 5, 2", "1, 4, 16, 12", "Pixel shuffle, ×2"),
        ("-1, 4, 2, 2, 8, 8", "0, 1, 4, 2, 5, 3", "0, 0, 16, 16", "Pixel shuffle, ×2"),
        # torch.nn.PixelUnshuffle, and the specification of SpaceToDepth
        ("1, 4, 8, 2, 6, 2", "0, 1, 3, 5, 2, 4", "1, 16, 8, 6", "Pixel unshuffle, /2"),
        ("1, 4, 8, 2, 6, 2", "0, 3, 5, 1, 2, 4", "1, -1, 8, 6", "Pixel unshuffle, /2"),
    ],
)
def test_pixels_that_are_shuffled_by_hand(apart: str, perm: str, joined: str, text: str) -> None:
    found = recognise(rearrange(apart, perm, joined).nodes)
    assert found is not None
    assert found.text == text


@pytest.mark.parametrize(
    ("apart", "perm", "joined"),
    [
        ("1, 8, 4, 8, 4, 4", "0, 1, 3, 2, 4, 5", "64, 4, 4, 4"),  # windows of a Swin
        ("1, 4, 2, 3, 8, 8", "0, 1, 4, 2, 5, 3", "1, 4, 16, 24"),  # no square
        ("1, 4, 1, 1, 8, 8", "0, 1, 4, 2, 5, 3", "1, 4, 8, 8"),  # nothing is moved
        ("1, 4, 2, 2, 8, 8", "0, 1, 4, 2, 5, 3", "1, 4, 8, 32"),  # other axes are joined
        ("1, 4, 2, 2, 8, 8", "0, 1, 4, 2, 5, 3", "1, 4, 256"),
        ("1, 4, 2, 2, 8, 8", "0, 1, 4, 2, 5, 3", "1, 4, 0, -1"),
        ("1, 4, 8, 2, 6, 2", "0, 1, 3, 5, 2, 4", "4, 4, 8, 6"),  # space to batch
        ("1, 4, 8, 2, 6, 2", "0, 1, 3, 5, 2, 4", "1, 0, -1, 6"),
    ],
)
def test_other_ways_to_rearrange_pixels(apart: str, perm: str, joined: str) -> None:
    assert recognise(rearrange(apart, perm, joined).nodes) is None


def test_what_else_takes_the_six_axes_keeps_their_arrangement_apart() -> None:
    graph = load_text("""
        g (float[1, 16, 8, 8] x) => (float[1, 4, 16, 16] y, float[1, 4, 8, 2, 8, 2] z)
        <int64[6] a = {1, 4, 2, 2, 8, 8}, int64[4] b = {1, 4, 16, 16}>
        { p = Reshape (x, a)  q = Transpose <perm = [0, 1, 4, 2, 5, 3]> (p)
          y = Reshape (q, b)  z = Relu (q) }
    """).graph
    assert recognise(graph.nodes[:3]) is None


@pytest.mark.parametrize("exporter", ["legacy", "dynamo"])
def test_the_factor_of_an_operator_that_shuffles_pixels(exporter: str) -> None:
    graph = load(corpus_file(f"exported/espcn.{exporter}.onnx")).graph
    found = recognise(graph.nodes[-1:])
    assert found is not None
    # W. Shi and others, 2016, as tools/zoo has it: three times as large
    assert (found.text, found.details) == ("Pixel shuffle, ×3", {"factor": 3})
    row = recognise(graph.nodes[-2:])
    assert row is not None
    assert row.text == "Conv · Pixel shuffle, 3×3, 32 → 9, ×3"


def test_a_shuffle_by_hand_is_a_block_of_its_own() -> None:
    """As between two convolutions without names, which would take its Reshapes."""
    graph = load_text("""
        g (float[1, 3, 8, 8] x) => (float[1, 2, 24, 24] y)
        <float[9, 3, 1, 1] w, float[2, 1, 1, 1] v, int64[6] a = {1, 1, 3, 3, 8, 8},
         int64[4] b = {1, 1, 24, 24}>
        { c = Conv (x, w)  p = Reshape (c, a)  q = Transpose <perm = [0, 1, 4, 2, 5, 3]> (p)
          r = Reshape (q, b)  y = Conv (r, v) }
    """).graph
    found = build_group_tree(graph).root.children[1]
    assert isinstance(found, Group)
    assert found.label == "Pixel shuffle"
    assert [node.op_type for node in found.nodes_alone()] == ["Reshape", "Transpose", "Reshape"]
