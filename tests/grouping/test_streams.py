"""Stacks are of blocks whose stream has one width and one resolution."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.grouping import ModelGroup, build_group_tree
from netloupe.explorer.grouping.streams import StreamReader
from netloupe.explorer.model import Graph

from .test_repeats import Builder, counts, repeats
from .test_tree import check_tree

PAD = {"kernel_shape": [3, 3], "pads": [1] * 4}


class Stages(Builder):
    """Writes blocks with weights of known sizes; with names where a scope is given."""

    scope = ""

    def node(self, op: str, *operands: str, **attributes: object) -> str:
        name = f"/{self.scope}/{op}_{self.names}" if self.scope else ""
        return self.add(op, *operands, name=name, **attributes)

    def matrix(self, *dims: int) -> str:
        name = f"w{len(self.initializers)}"
        self.initializers.append(
            helper.make_tensor(name, TensorProto.FLOAT, dims, np.zeros(dims).ravel())
        )
        return name

    def conv(self, x: str, before: int, after: int, stride: int = 1, size: int = 3) -> str:
        return self.node(
            "Conv",
            x,
            self.matrix(after, before, size, size),
            kernel_shape=[size] * 2,
            pads=[size // 2] * 4,
            strides=[stride] * 2,
        )

    def residual(self, x: str, before: int, after: int, stride: int = 1) -> str:
        inner = self.node("Relu", self.conv(x, before, after, stride))
        inner = self.conv(inner, after, after)
        if before != after or stride > 1:
            x = self.conv(x, before, after, stride, 1)
        return self.node("Relu", self.node("Add", inner, x))

    def plain(self, x: str, before: int, after: int, stride: int = 1) -> str:
        x = self.node("Relu", self.conv(x, before, after, stride))
        return self.node("Relu", self.conv(x, after, after))

    def larger(self, x: str, before: int, after: int, stride: int = 1) -> str:
        x = self.node("Relu", self.node("Resize", x, "", self.scales(stride)))
        return self.node("Relu", self.conv(x, before, after))

    def scales(self, factor: int) -> str:
        name = f"w{len(self.initializers)}"
        sizes = [1.0, 1.0, factor, factor]
        self.initializers.append(helper.make_tensor(name, TensorProto.FLOAT, [4], sizes))
        return name

    def stack(
        self,
        write: Callable[[str, int, int, int], str],
        widths: Sequence[int],
        strides: Sequence[int],
        *,
        named: bool,
    ) -> Graph:
        x = self.begin(named=named)
        pairs = zip((8, *widths), widths, strides, strict=False)
        for number, (before, after, stride) in enumerate(pairs):
            self.scope = f"blocks.{number}" if named else ""
            x = write(x, before, after, stride)
        return self.end(x, named=named)

    def begin(self, *, named: bool = True) -> str:
        self.scope = "stem" if named else ""
        return self.node("Tanh", self.conv("x", 3, 8))

    def end(self, *results: str, named: bool = True) -> Graph:
        self.scope = "head" if named else ""
        return self.load(self.node("Neg", self.node("Concat", *results, axis=1)))


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("block", ["residual", "plain", "larger"])
@pytest.mark.parametrize(
    ("widths", "strides", "known"),
    [
        # of one width and resolution
        ([8, 8, 8, 8], [1, 1, 1, 1], [4]),
        # each stage is wider, and begins with a stride
        ([8, 8, 8, 16, 16, 16, 32, 32, 32], [1, 1, 1, 2, 1, 1, 2, 1, 1], [3, 3, 3]),
        # each stage is as wide, and begins with a stride
        ([8, 8, 8, 8, 8, 8], [2, 1, 1, 2, 1, 1], [3, 3]),
        # nothing but widths changes
        ([8, 16, 32, 64], [1, 1, 1, 1], []),
        # nothing but the resolution changes
        ([8, 8, 8, 8], [2, 2, 2, 2], []),
    ],
)
def test_a_stack_has_one_width_and_one_resolution(
    named: bool, block: str, widths: list[int], strides: list[int], known: list[int]
) -> None:
    builder = Stages()
    graph = builder.stack(getattr(builder, block), widths, strides, named=named)
    if named:
        assert [count for _, count in counts(graph, "auto")] == known
    for repeat in repeats(build_group_tree(graph)):
        # without names blocks may be cut in other ways, and a first one that differs stand alone
        convolutions = [
            [node for node in ModelGroup(block).nodes if node.op_type == "Conv"]
            for block in repeat.inner_groups()
        ]
        assert len({nodes[-1].inputs[1].initializer.dims[0] for nodes in convolutions}) == 1
        strides = [node.attributes["strides"].value for n in convolutions[1:] for node in n]
        assert {*strides} == {(1, 1)}


def test_modules_with_pools_between_them_are_no_pairs() -> None:
    """As the fires of SqueezeNet 1.1 stand: two, a pool, two, a pool, four of two widths."""
    builder = Stages()
    x = builder.begin()
    widths = [16, 16, 0, 32, 32, 0, 48, 48, 64, 64]
    before = 8
    for number, width in enumerate(widths):
        builder.scope = f"features.{number}"
        if not width:
            x = builder.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
            continue
        inner = builder.node("Relu", builder.conv(x, before, width // 4, 1, 1))
        parts = [builder.node("Relu", builder.conv(inner, width // 4, width // 2)) for _ in "ab"]
        x = builder.node("Concat", *parts, axis=1)
        before = width
    assert counts(builder.end(x), "auto") == [
        ("features.0 … features.1", 2),
        ("features.3 … features.4", 2),
        ("features.6 … features.7", 2),
        ("features.8 … features.9", 2),
    ]


def test_layers_that_each_add_as_much_to_what_they_take_are_a_stack() -> None:
    builder = Stages()
    x = builder.begin()
    for number in range(4):
        builder.scope = f"layers.{number}"
        inner = builder.node("Relu", builder.conv(x, 8 + 4 * number, 16, 1, 1))
        x = builder.node("Concat", x, builder.conv(inner, 16, 4), axis=1)
    graph = builder.end(x)
    assert counts(graph, "auto") == [("layers.0 … layers.3", 4)]


def test_a_block_that_goes_down_and_up_again_keeps_the_resolution() -> None:
    builder = Stages()
    x = builder.begin()
    for number in range(3):
        builder.scope = f"blocks.{number}"
        inner = builder.node("Relu", builder.conv(x, 8, 16, 2))
        inner = builder.node("Resize", inner, "", builder.scales(2))
        gate = builder.node("Sigmoid", builder.conv(builder.node("GlobalAveragePool", x), 8, 8))
        inner = builder.node("Mul", builder.conv(inner, 16, 8), gate)
        x = builder.node("Add", x, inner)
    assert counts(builder.end(x), "auto") == [("blocks.0 … blocks.2", 3)]


def test_of_the_last_block_another_result_may_be_taken() -> None:
    """All give what is narrow to a head, and all but the last what is wide to the next one."""
    builder = Stages()
    x = builder.begin()
    heads = []
    for number in range(4):
        builder.scope = f"layers.{number}"
        x = builder.node("Relu", builder.conv(x, 8, 8))
        narrow = builder.node("Relu", builder.conv(x, 8, 2))
        heads.append(narrow)
    graph = builder.end(*heads)
    assert counts(graph, "auto") == [("layers.0 … layers.3", 4)]


def test_a_block_with_the_same_weights_is_the_same_block() -> None:
    builder = Stages()
    x = builder.begin()
    weights = builder.matrix(8, 8, 3, 3), builder.matrix(2, 8, 1, 1)
    kept = []
    for number in range(3):
        builder.scope = f"steps.{number}"
        kept.append(x)
        x = builder.node("Relu", builder.node("Conv", x, weights[0], **PAD))
        y = builder.node("Relu", builder.node("Conv", x, weights[1], kernel_shape=[1, 1]))
        if number == 2:
            x = y
    assert counts(builder.end(x), "auto") == [("steps.0 … steps.2", 3)]


@pytest.mark.parametrize(
    ("op", "attributes", "scale"),
    [
        ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}, 0.25),
        ("MaxPool", {"kernel_shape": [3, 3]}, 1),
        ("GlobalAveragePool", {}, 0),
        ("DepthToSpace", {"blocksize": 2}, 4),
        ("Relu", {}, 1),
    ],
)
def test_how_much_larger_a_block_makes_what_it_takes(
    op: str, attributes: dict[str, object], scale: float
) -> None:
    builder = Stages()
    graph = builder.load(builder.node("Relu", builder.node(op, "x", **attributes)))
    stream = StreamReader().read(graph.nodes)
    assert (stream.width, stream.scale) == ((1, 0), scale)


def test_copies_of_stored_values_make_no_block_another_one() -> None:
    """torch's older exporter stores equal biases once and copies them for all layers but one."""
    builder = Stages()
    shared = builder.weight(0, 8)
    x = builder.begin()
    for number in range(6):
        builder.scope = f"blocks.{number}"
        for _ in range(2):
            bias = builder.node("Identity", shared) if number % 3 else shared
            x = builder.node("Conv", x, builder.matrix(8, 8, 3, 3), bias, **PAD)
            x = builder.node("Relu", x)
    graph = builder.end(x)
    assert counts(graph, "auto") == [("blocks.0 … blocks.5", 6)]
    assert counts(graph, "repeats") == [("Convolution block", 12)]


def test_copies_that_several_take_are_no_step() -> None:
    """The norms of four levels, whose scales the file stores once."""
    builder = Stages()
    stored = builder.weight(1, 8)
    x = builder.begin()
    builder.scope = ""
    scale = builder.node("Identity", stored)
    results = []
    for number in range(4):
        builder.scope = f"norms.{number}"
        results.append(builder.node("Relu", builder.node("Mul", x, scale)))
        builder.scope = f"levels.{number}"
        x = builder.node("Tanh", builder.conv(x, 8, 8 + number % 2))
    tree = build_group_tree(builder.end(*results))
    check_tree(tree)
    copy = next(node for node in tree.order if node.op_type == "Identity")
    group = tree.group_of(copy)
    assert group is not None
    assert (group.kind, group.label) == ("shape", "copies of stored values")


def test_a_decoder_that_takes_finer_features_changes_the_resolution() -> None:
    """How much larger an upsampling makes what it takes need not be stated."""
    builder = Stages()
    x = builder.begin()
    skips = []
    for number in range(4):
        builder.scope = f"down.{number}"
        skips.append(x := builder.node("Relu", builder.conv(x, 8, 8, 2)))
    for number in range(3):
        builder.scope = f"up.{number}"
        skip = skips[-2 - number]
        size = builder.node("Shape", skip)
        x = builder.node("Resize", x, "", "", size)
        x = builder.node("Concat", x, skip, axis=1)
        x = builder.node("Relu", builder.conv(x, 16, 8))
    assert counts(builder.end(x), "auto") == []
