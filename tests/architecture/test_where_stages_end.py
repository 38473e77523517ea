"""Stages end where places become fewer; blocks of two levels of lists are not one row."""

from __future__ import annotations

import pytest
from onnx import helper

from netloupe.explorer.architecture import Architecture

from .networks import Network
from .test_modules import Named, residual


class _Stages(Network):
    """Writes transformer blocks over an image, with what makes it smaller between them."""

    side = 64
    width = 8

    def flatten(self, x: str) -> str:
        rows = self.add("Reshape", x, self.numbers(0, self.width, -1))
        return self.add("Transpose", rows, perm=[0, 2, 1])

    def unfold(self, x: str) -> str:
        turned = self.add("Transpose", x, perm=[0, 2, 1])
        return self.add("Reshape", turned, self.numbers(0, self.width, self.side, self.side))

    def reduce(self, x: str, wide: int, way: str, taken: int) -> str:
        """Make a map of half its sides, of ``wide`` channels, by a convolution, block or pool."""
        self.side //= 2
        if way == "block":
            x = self.add("Gelu", self.conv(x, taken, wide, 1))
            x = self.add("Gelu", self.conv(x, wide, wide, group=wide, strides=[2, 2]))
            return self.conv(x, wide, wide, 1)
        if way == "pool":
            x = self.add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
            return x if wide == taken else self.conv(x, taken, wide, 1)
        kernel = self.weight(wide, taken, 2, 2)
        return self.add("Conv", x, kernel, kernel_shape=[2, 2], strides=[2, 2])

    def attend_to_fewer(self, tokens: str) -> str:
        """Add a block whose keys and values are of half as many rows and columns."""
        width, normed = self.width, self.norm(tokens, self.width)
        kernel = self.weight(width, width, 2, 2)
        fewer = self.add("Conv", self.unfold(normed), kernel, kernel_shape=[2, 2], strides=[2, 2])
        fewer = self.norm(self.flatten(fewer), width)
        tokens = self.add("Add", tokens, self.attend(normed, fewer, width))
        return self.add("Add", tokens, self.feed(self.norm(tokens, width), width, 4 * width))

    def split(self, tokens: str) -> tuple[str, str]:
        """Return the class token, and all others."""
        names = f"{tokens}_token", f"{tokens}_places"
        sizes = self.numbers(1, self.side * self.side)
        self.nodes.append(helper.make_node("Split", [tokens, sizes], names, axis=1))
        return names

    def attend_beside_token(self, tokens: str) -> str:
        """Add a block that convolves queries, keys and values, around which a class token goes."""
        width = self.width
        token, places = self.split(self.norm(tokens, width))
        image = self.unfold(places)
        joined = []
        for stride in (1, 2):
            how = {"group": width, "strides": [stride, stride]}
            rows = self.flatten(self.conv(image, width, width, 3, **how))
            joined.append(self.add("Concat", token, rows, axis=1))
        tokens = self.add("Add", tokens, self.attend(joined[0], joined[1], width))
        return self.add("Add", tokens, self.feed(self.norm(tokens, width), width, 4 * width))

    def attend_to_all(self, tokens: str) -> str:
        width, normed = self.width, self.norm(tokens, self.width)
        tokens = self.add("Add", tokens, self.attend(normed, normed, width))
        return self.add("Add", tokens, self.feed(self.norm(tokens, width), width, 4 * width))


def _tell(
    stages: tuple[tuple[int, int], ...],
    way: str = "conv",
    *,
    is_reduced: bool = False,
    has_class: bool = False,
    is_convolved: bool = False,
    splits: bool = False,
) -> Architecture:
    """Return what is said of stages, each of so many blocks of one width."""
    net = _Stages()
    x = net.reduce(net.take("image", (1, 3, 128, 128)), stages[0][1], "conv", 3)
    net.width = stages[0][1]
    net.side = 64
    tokens = net.flatten(x)
    if has_class:
        tokens = net.add("Concat", net.weight(1, 1, net.width), tokens, axis=1)
    for number, (count, width) in enumerate(stages):
        if number:
            taken, token = net.width, ""
            if has_class:
                ends = [net.numbers(end) for end in (0, 1, 1)]
                token = net.add("Slice", tokens, *ends)
                token = net.linear(token, taken, width)
                ends = [net.numbers(end) for end in (1, 1 << 40, 1)]
                tokens = net.add("Slice", tokens, *ends) if not splits else tokens
                if splits:
                    token, tokens = net.split(tokens)
                    token = net.linear(token, taken, width)
            x = net.reduce(net.unfold(tokens), width, way, taken)
            net.width = width
            tokens = net.flatten(x)
            if token:
                tokens = net.add("Concat", token, tokens, axis=1)
        for _ in range(count):
            attend = net.attend_beside_token if is_convolved else net.attend_to_all
            tokens = net.attend_to_fewer(tokens) if is_reduced else attend(tokens)
    pooled = net.add("ReduceMean", net.norm(tokens, net.width), net.numbers(1), keepdims=0)
    return net.finish(net.linear(pooled, net.width, 10)).architecture


@pytest.mark.parametrize("way", ["block", "conv", "pool"])
@pytest.mark.parametrize(
    "stages",
    [
        ((2, 8), (2, 16), (4, 32), (2, 32)),
        ((1, 8), (3, 16), (2, 16)),
        ((2, 8), (1, 8), (1, 16)),
        ((2, 8), (2, 16)),
    ],
)
def test_stages_of_one_width_end_where_places_become_fewer(
    stages: tuple[tuple[int, int], ...], way: str
) -> None:
    told = _tell(stages, way)
    assert told.facts["stage_blocks"] == tuple(count for count, _ in stages)
    assert told.facts["stage_widths"] == tuple(width for _, width in stages)
    row = ", ".join(str(count) for count, _ in stages)
    assert f"stages of {row} blocks " in told.sentence
    assert " → ".join(str(width) for _, width in stages) in told.sentence


@pytest.mark.parametrize("splits", [False, True])
def test_a_class_token_goes_around_what_makes_places_fewer(*, splits: bool) -> None:
    told = _tell(((1, 8), (2, 16), (1, 16)), has_class=True, splits=splits)
    assert told.facts["stage_blocks"] == (1, 2, 1)


@pytest.mark.parametrize("count", [2, 4])
def test_a_class_token_around_convolved_queries_ends_no_stage(count: int) -> None:
    told = _tell(((1, 8), (count, 16)), has_class=True, is_convolved=True)
    assert told.facts["stage_blocks"] == (1, count)


def test_keys_of_fewer_places_end_no_stage() -> None:
    told = _tell(((2, 8), (3, 16)), is_reduced=True)
    assert told.facts["stage_blocks"] == (2, 3)


def test_heads_that_are_the_same_in_all_stages_are_told_once() -> None:
    sentence = _tell(((2, 8), (2, 16))).sentence
    assert "self-attention 2 heads" in sentence
    assert "2 → 2" not in sentence


def _mix_lists(counts: tuple[int, ...], *, is_typed: bool) -> str:
    """Return the sentence of stages, of which the first is a list of blocks and no more.

    The last block of all others is of another class.
    """
    net = Named()
    classes: dict[int, list[tuple[str, str]]] = {}
    x = net.add("Relu", net.conv(net.take("image", (1, 3, 16, 16)), 3, 8))
    for stage, count in enumerate(counts):
        around = [("stages", "Sequential"), (f"stages.{stage}", "Stage")]
        if stage:
            start = len(net.nodes)
            x = net.conv(x, 8, 8, 5)
            where = [*around, (f"stages.{stage}.downsample", "Down")]
            classes.update(dict.fromkeys(range(start, len(net.nodes)), where))
        for block in range(count):
            start, is_other = len(net.nodes), stage > 0 and block == count - 1
            x = _attend_to_map(net, x) if is_other else residual(net, x, 8)
            inside = (f"stages.{stage}.blocks.{block}", "OtherBlock" if is_other else "ConvBlock")
            where = [*around, (f"stages.{stage}.blocks", "Sequential"), inside]
            classes.update(dict.fromkeys(range(start, len(net.nodes)), where))
    for number, where in classes.items() if is_typed else ():
        node = net.nodes[number]
        names = [name for name, _ in where]
        for key, value in (
            ("pkg.torch.onnx.name_scopes", repr(["", *names, node.op_type])),
            (
                "pkg.torch.onnx.class_hierarchy",
                repr(["m.Model", *(f"m.{kind}" for _, kind in where), "aten.op"]),
            ),
        ):
            node.metadata_props.add(key=key, value=value)
    for number, where in classes.items() if not is_typed else ():
        names = [name for name, _ in where]
        inner = [one.split(".", 2)[2] for one in names[2:]]
        net.nodes[number].name = "/".join(["", *names[:2], *inner, f"n{number}"])
    return net.finish(x).architecture.sentence


def _attend_to_map(net: Named, x: str) -> str:
    flat = net.add("Reshape", x, net.numbers(1, 8, 256))
    rows = net.norm(net.add("Transpose", flat, perm=[0, 2, 1]), 8)
    rows = net.feed(net.attend(rows, rows))
    back = net.add("Transpose", rows, perm=[0, 2, 1])
    return net.add("Reshape", back, net.numbers(1, 8, 16, 16))


@pytest.mark.parametrize("is_typed", [False, True])
@pytest.mark.parametrize("counts", [(2, 2, 6, 2), (3, 2, 3, 2), (2, 4, 2)])
def test_stages_are_counted_whatever_classes_their_blocks_are_of(
    counts: tuple[int, ...], is_typed: bool
) -> None:
    sentence = _mix_lists(counts, is_typed=is_typed)
    row = ", ".join(map(str, counts))
    assert f"stages of {row} blocks" in sentence
    assert f"{counts[0] + len(counts) - 1} blocks" not in sentence


@pytest.mark.parametrize(("pointwise", "positions"), [(0, 1), (6, 1), (6, 2), (0, 2)])
def test_all_convolutions_that_make_features_of_a_wave_are_counted(
    pointwise: int, positions: int
) -> None:
    """F. Wu and others, Performance-Efficiency Trade-offs, 2021, table 2: 1×1 between others."""
    net = Network()
    x = net.take("wave", (1, 1, 4000))
    count, taken = 0, 1
    for place in range(7):
        sizes = [(3, 2)] + [(1, 1)] * (place < pointwise)
        for size, stride in sizes:
            how = {"kernel_shape": [size], "strides": [stride]}
            x = net.add("Gelu", net.add("Conv", x, net.weight(8, taken, size), **how))
            count, taken = count + 1, 8
    how = {"kernel_shape": [4], "strides": [positions], "group": 2, "pads": [2, 1]}
    moved = net.add("Gelu", net.add("Conv", x, net.weight(8, 4, 4), **how))
    if positions > 1:
        x = net.add("AveragePool", x, kernel_shape=[2], strides=[positions], pads=[0, 1])
    x = net.add("Transpose", net.add("Add", x, moved), perm=[0, 2, 1])
    x = net.norm(x, 8)
    for _ in range(3):
        x = net.norm(net.add("Add", x, net.attend(x, x)), 8)
        x = net.norm(net.add("Add", x, net.feed(x)), 8)
    sentence = net.finish(net.linear(x, 8, 30)).architecture.sentence
    assert f"Speech encoder: {count} convolutions over the wave, 3 transformer blocks" in sentence
