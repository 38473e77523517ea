"""Pictures made larger and smaller: pixel shuffles, up- and downsampling."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.member_nodes import list_nodes_inside
from netloupe.explorer.model import Graph
from netloupe.explorer.patterns import recognise
from netloupe.explorer.patterns.convolution_details import ResamplingDetails
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


def unshuffle_by_turns(columns: str, squeezed: str) -> Graph:
    return load_text(f"""
        g (float[n, c, h, w] x) => (float[n, d, i, j] y)
        <int64[1] at = {{3}}, int64[5] a = {{0, 0, -1, 2, 0}}, int64[6] b = {{{columns}}},
         int64[6] j = {{0, -1, 1, 1, 0, 0}}, int64[2] gone = {{{squeezed}}},
         float[4, 3, 1, 1] k, float[8, 16, 1, 1] l>
        {{ c = Conv (x, k)  u = Unsqueeze (c, at)  r = Reshape (u, a)  p = Reshape (r, b)
           q = Transpose <perm = [0, 1, 3, 5, 2, 4]> (p)  o = Reshape (q, j)
           s = Squeeze (o, gone)  y = Conv (s, l) }}
    """).graph


def test_pixels_that_are_unshuffled_by_rows_and_columns_in_turn() -> None:
    # torch's exporter writes pixel_unshuffle so where it knows no sizes
    graph = unshuffle_by_turns("0, 0, 0, 0, -1, 2", "2, 3")
    found = recognise(graph.nodes[1:-1])
    assert found is not None
    assert found.text == "Pixel unshuffle, /2"
    (box,) = [one for one in build_group_tree(graph).root.children if isinstance(one, Group)]
    assert list_nodes_inside([box]) == [*graph.nodes[1:-1]]


@pytest.mark.parametrize(
    ("columns", "squeezed"),
    [("0, 0, 0, 0, -1, 3", "2, 3"), ("0, 0, 0, 0, -1, 2", "1, 2")],
)
def test_what_makes_no_square_or_other_axes_unshuffles_nothing(columns: str, squeezed: str) -> None:
    found = recognise(unshuffle_by_turns(columns, squeezed).nodes[1:-1])
    assert found is None or "shuffle" not in found.text


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
    assert (found.text, found.details) == ("Pixel shuffle, ×3", ResamplingDetails(factor=3))
    row = recognise(graph.nodes[-2:])
    assert row is not None
    assert row.text == "Conv · Pixel shuffle, 3×3, 32 → 9 → 1, ×3"


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


def step(body: str, weights: str = "float[6, 4, 3, 3] w, float[6, 6, 3, 3] v") -> Graph:
    """Return what works on a picture that is taken somewhere else, too."""
    named = weights.split(", float")
    lists = [f"int64[4] {name[-1]}d = {{{name[name.index('[') + 1 : -3]}}}" for name in named]
    made = "  ".join(f"{name[-1]} = ConstantOfShape ({name[-1]}d)" for name in named)
    return load_text(f"""
        g (float[1, 4, 16, 16] x) => (float y, float z)
        <{", ".join(lists)}, float[4] s = {{1, 1, 1, 1}}, float[4] two = {{1, 1, 2, 2}},
         float[4] half = {{1, 1, 0.5, 0.5}}>
        {{ {made}  f = Relu (x)  z = Neg (f)  u = Sigmoid (f)  {body} }}
    """).graph


def name(body: str, weights: str = "float[6, 4, 3, 3] w, float[6, 6, 3, 3] v") -> str:
    """Return what nodes are behind the first three, which other nodes take from."""
    graph = step(body, weights)
    first = next(node.index for node in graph.nodes if node.op_type == "Sigmoid")
    found = recognise(graph.nodes[first + 1 :])
    return found.text if found is not None else ""


POOL = "p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (u)"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        # O. Ronneberger and others, 2015, figure 1: 2×2 max pool, two 3×3 convolutions with ReLU
        (
            f"{POOL}  a = Conv (p, w)  b = Relu (a)  c = Conv (b, v)  y = Relu (c)",
            "Downsampling 4 → 6, /2",
        ),
        ("p = AveragePool <strides = [2, 2]> (u)  y = Conv (p, w)", "Downsampling 4 → 6, /2"),
        # Z. Liu and others, 2022, section 2.6
        (
            "n = BatchNormalization (u, s, s, s, s)  y = Conv <strides = [2, 2]> (n, w)",
            "Downsampling 4 → 6, /2",
        ),
        # a pool of every place, a convolution with its own stride, three layers, one with ReLU
        ("p = MaxPool <kernel_shape = [3, 3]> (u)  y = Conv (p, w)", "MaxPool · Conv, 3×3, 4 → 6"),
        (f"{POOL}  a = Conv (p, w)  y = Relu (a)", "MaxPool · Conv · ReLU, 3×3, 4 → 6, /2"),
        (
            f"{POOL}  y = Conv <strides = [2, 2]> (p, w)",
            "MaxPool · Conv, 3×3, 4 → 6, /4",
        ),
        (
            "n = BatchNormalization (u, s, s, s, s)  y = Conv (n, w)",
            "BatchNorm · Conv, 3×3, 4 → 6",
        ),
    ],
)
def test_what_makes_a_picture_smaller(body: str, text: str) -> None:
    assert name(body) == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("r = Resize (u, , two)  y = Conv (r, w)", "Upsampling 4 → 6, ×2"),
        ("r = Resize (u, , half)  y = Conv (r, w)", "Resize · Conv, 3×3, 4 → 6"),
        ("r = Resize (u, , s)  y = Conv (r, w)", "Resize · Conv, 3×3, 4 → 6"),
        (
            "r = Resize (u, , two)  y = Conv <strides = [2, 2]> (r, w)",
            "Resize · Conv, 3×3, 4 → 6, /2",
        ),
    ],
)
def test_what_makes_a_picture_larger(body: str, text: str) -> None:
    assert name(body) == text


UP = "d = ConvTranspose <strides = [2, 2]> (u, k)"
OF_STEP = "float[4, 2, 2, 2] k, float[6, 6, 3, 3] v"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            f"{UP}  c = Concat <axis = 1> (f, d)  a = Conv (c, v)  y = Relu (a)",
            "Upsampling 4 → 6, ×2, with skip",
        ),
        # what is joined: along another axis, nobody else's, computed here, younger than what is
        # made larger
        (f"{UP}  c = Concat <axis = 2> (f, d)  y = Conv (c, v)", ""),
        (f"{UP}  c = Concat <axis = 1> (x, d)  y = Conv (c, v)", ""),
        (f"{UP}  e = Relu (d)  c = Concat <axis = 1> (e, d)  y = Conv (c, v)", ""),
        (f"{UP}  c = Concat <axis = 1> (z, d)  y = Conv (c, v)", ""),
        ("d = ConvTranspose (u, k)  c = Concat <axis = 1> (f, d)  y = Conv (c, v)", ""),
        (f"{UP}  y = Concat <axis = 1> (f, d)", ""),
    ],
)
def test_a_step_of_a_unets_expanding_path(body: str, text: str) -> None:
    assert name(body, OF_STEP) == text


@pytest.mark.parametrize("exporter", ["legacy", "dynamo"])
def test_each_step_of_a_unet_tells_factor_and_widths(exporter: str) -> None:
    root = build_group_tree(load(corpus_file(f"exported/segmentation_unet.{exporter}.onnx")).graph)
    groups = root.root.inner_groups()
    assert not [group for group in groups if group.kind == "repeat"]  # each has another width
    found = [group.recognised for group in groups]
    # tools/zoo: five levels from 8 channels to 128, each half as large
    assert [one.text for one in found if one is not None and "sampling" in one.name] == [
        "Downsampling 8 → 16, /2",
        "Downsampling 16 → 32, /2",
        "Downsampling 32 → 64, /2",
        "Downsampling 64 → 128, /2",
    ]


@pytest.mark.parametrize("exporter", ["legacy", "dynamo"])
def test_residual_blocks_of_a_diffusion_unet_say_which_take_a_skip(exporter: str) -> None:
    tree = build_group_tree(load(corpus_file(f"exported/unet.{exporter}.onnx")).graph)
    texts = {path: told.text for path, g in tree.groups.items() if (told := g.recognised)}
    skips = [path for path, text in texts.items() if "with skip" in text]
    assert skips
    assert all("up_blocks" in path for path in skips)
    up = [text for path, text in texts.items() if path.endswith("resamplers.0/")]
    assert up[:3] == ["Upsampling 64 → 64, ×2", "Upsampling 64 → 64, ×2", "Upsampling 32 → 32, ×2"]


@pytest.mark.parametrize("exporter", ["legacy", "dynamo"])
def test_the_upsampling_of_a_decoder_has_no_skips(exporter: str) -> None:
    tree = build_group_tree(load(corpus_file(f"exported/vae_decoder.{exporter}.onnx")).graph)
    texts = [g.recognised.text for g in dict.fromkeys(tree.groups.values()) if g.recognised]
    assert [text for text in texts if "pling" in text] == [
        "Upsampling 64 → 64, ×2",
        "Upsampling 64 → 64, ×2",
        "Upsampling 32 → 32, ×2",
    ]
    assert not [text for text in texts if "skip" in text]
