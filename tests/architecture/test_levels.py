"""Ways through resolutions: UNets, encoder-decoders, pyramids, and what is predicted from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from .networks import Network


def activate(net: Network, x: str, taken: int, given: int, size: int = 3, **more: object) -> str:
    return net.add("Relu", net.conv(x, taken, given, size, **more))


def enlarge(net: Network, x: str, ratio: int = 2) -> str:
    return net.add("Resize", x, "", net.store(np.array([1, 1, ratio, ratio], np.float32)))


def wave(net: Network, x: str, taken: int, given: int) -> str:
    kernel = net.weight(given, taken, 5)
    return net.add("LeakyRelu", net.add("Conv", x, kernel, kernel_shape=[5], pads=[2, 2]))


def make_unet_over_time(levels: int, *, last: str) -> str:
    """Return what is said of a UNet that leaves every second step out, and doubles them again."""
    net = Network()
    x = start = net.take("wave", (1, 1, 512))
    taken, kept = 1, []
    for _ in range(levels):
        kept.append(x := wave(net, x, taken, 8))
        taken = 8
        numbers = (net.numbers(0), net.numbers(512), net.numbers(2), net.numbers(2))
        x = net.add("Slice", x, *numbers)
    x = wave(net, x, 8, 8)
    for one in reversed(kept):
        x = net.add("Resize", x, "", net.store(np.array([1, 1, 2], np.float32)))
        x = wave(net, net.add("Concat", x, one, axis=1), 16, 8)
    if last == "input":  # what it begins with is no level
        x = net.add("Concat", x, start, axis=1)
        x = net.add("Conv", x, net.weight(3, 9, 1), kernel_shape=[1])
    return net.finish(x).architecture.sentence


@pytest.mark.parametrize("last", ["features", "input"])
def test_steps_of_slices_are_levels_and_the_input_is_no_skip(last: str) -> None:
    told = make_unet_over_time(4, last=last)
    assert told.startswith("1-D UNet: ")
    assert "4 levels down, 4 up, skips at each level" in told


def make_u(
    joined: Sequence[int], *, convolves: bool = True, side: bool = False, gates: bool = False
) -> str:
    """Return what is said of a way down three levels and up again."""
    net = Network()
    x = activate(net, net.take("image", (1, 3, 64, 64)), 3, 8)
    kept = []
    for _ in range(3):
        kept.append(x)
        x = activate(net, activate(net, x, 8, 8, strides=[2, 2]), 8, 8)
    ups = []
    for level in (2, 1, 0):
        ups.append(x)
        x = enlarge(net, x)
        if level in joined:
            skip = kept[level]
            if gates:  # additive attention tells how much of a skip goes on
                total = net.add("Add", net.conv(x, 8, 4, 1), net.conv(skip, 8, 4, 1))
                much = net.add("Sigmoid", net.conv(net.add("Relu", total), 4, 1, 1))
                skip = net.add("Mul", skip, much)
            x = net.add("Add", x, skip)
            x = activate(net, x, 8, 8) if convolves else x
    if side:  # all levels are put together
        sides = [enlarge(net, one, 2 ** (3 - place)) for place, one in enumerate(ups)]
        x = net.conv(net.add("Concat", x, *sides, axis=1), 32, 8)
    return net.finish(net.conv(x, 8, 5, 1)).architecture.sentence


def test_a_unet_convolves_what_it_joins_at_each_level() -> None:
    assert "3 levels down, 3 up, skips at each level, 5 channels out" in make_u((0, 1, 2))
    told = make_u((0, 1, 2), gates=True)  # sums that gate are no skips
    assert told.startswith("UNet")
    assert "skips at each level" in told
    assert make_u((1, 2)).startswith("UNet")
    assert "3 levels down, 3 up, 2 skips" in make_u((1, 2))


def test_others_are_encoder_decoders() -> None:
    for told in (make_u((2,)), make_u((0, 1, 2), convolves=False), make_u((0, 2))):
        assert told.startswith("Convolutional encoder-decoder: ")
    told = make_u((0, 1, 2), side=True)
    assert told.startswith("Convolutional encoder-decoder: ")
    assert "skips at each level, 4 levels put together" in told


@pytest.mark.parametrize("gates", [False, True])
def test_what_does_not_lead_to_the_lowest_level_is_no_skip(gates: bool) -> None:
    """Details of another branch, or the picture again, are joined where both are as large."""
    net = Network()
    image = net.take("image", (1, 3, 64, 64))
    details = []
    x = image
    for taken in (3, 8, 8):
        x = activate(net, x, taken, 8, strides=[2, 2])
        details.append(x)
    # a branch of its own from the picture on (C. Yu and others, BiSeNet V2, 2021, figure 3)
    x = net.add("MaxPool", image, kernel_shape=[4, 4], strides=[4, 4])
    x = activate(net, activate(net, x, 3, 8, strides=[2, 2]), 8, 8, strides=[2, 2])
    for detail in reversed(details):
        x = enlarge(net, activate(net, x, 8, 8))
        beside = net.add("Mul", detail, net.add("Sigmoid", x)) if gates else detail
        x = activate(net, net.add("Add", x, beside), 8, 8)
    told = net.finish(net.conv(enlarge(net, x), 8, 1)).architecture.sentence
    assert "UNet" not in told
    assert "encoder-decoder" not in told
    assert "skip" not in told


def test_what_another_branch_gives_is_no_skip() -> None:
    """As where a stream of convolutions stays beside what one with a large stride makes small."""
    net = Network()
    x = net.take("x", (1, 3, 64, 64))
    low = activate(net, x, 3, 16, 9, strides=[8, 8])
    for _ in range(4):
        low = activate(net, low, 16, 16)
    beside = [activate(net, x, 3, 8, strides=[2, 2])]
    beside.append(activate(net, beside[-1], 8, 8, strides=[2, 2]))
    for one in reversed(beside):
        low = activate(net, net.add("Concat", enlarge(net, low), one, axis=1), 24, 16)
    told = net.finish(net.conv(enlarge(net, low), 16, 1)).architecture.sentence
    assert "UNet" not in told
    assert "encoder-decoder" not in told
    assert "skip" not in told


def make_pyramid(widths: Sequence[int], *, ways: int = 1, flat: bool = True, first: int = 3) -> str:
    """Return what is said of maps at three strides, of which each is convolved to some channels.

    The finest has a stride of 2 to the power of ``first``.
    """
    net = Network()
    x = activate(net, net.take("image", (1, 3, 128, 128)), 3, 8)
    maps = []
    for level in range(1, first + 3):
        x = activate(net, x, 8, 8, strides=[2, 2])
        if level >= first:
            maps.append(x)
    for place in (1, 0) if ways else ():
        maps[place] = activate(
            net, net.add("Add", enlarge(net, maps[place + 1]), maps[place]), 8, 8
        )
    for place in (1, 2) if ways > 1 else ():
        down = activate(net, maps[place - 1], 8, 8, strides=[2, 2])
        maps[place] = activate(net, net.add("Add", down, maps[place]), 8, 8)
    given = []
    for width in widths:
        heads = [net.conv(one, 8, width, 1) for one in maps]
        if flat:
            rows = [net.add("Reshape", head, net.numbers(1, width, -1)) for head in heads]
            heads = [net.add("Concat", *rows, axis=2)]
        given += heads
    return net.finish(*given).architecture.sentence


def test_a_detector_predicts_the_same_at_several_strides() -> None:
    told = make_pyramid((20, 4))
    assert told.startswith("One-stage detector: ")
    assert told.endswith("feature pyramid, heads at strides 8, 16, 32 (4 and 20 channels each).")
    told = make_pyramid((20, 4), ways=2)
    assert "feature pyramid, up and down again, heads at strides 8, 16, 32" in told
    assert "pyramid" not in make_pyramid((20, 4), ways=0)
    assert make_pyramid((75,), flat=False).startswith("One-stage detector: ")


def test_maps_of_features_or_flow_are_no_detector() -> None:
    for told in (
        make_pyramid((8,), flat=False),  # features
        make_pyramid((2,)),  # flow
        make_pyramid((19,), flat=False),  # classes at every place
        make_pyramid((20, 4), first=1),  # too fine
    ):
        assert not told.startswith("One-stage detector")


def make_masks(prototypes: int, *, stride: int = 4) -> str:
    """Return what is said of boxes and four coefficients at three strides, and of a map beside."""
    net = Network()
    x = activate(net, net.take("image", (1, 3, 128, 128)), 3, 8)
    maps = []
    for _ in range(1, 6):
        x = activate(net, x, 8, 8, strides=[2, 2])
        maps.append(x)
    rows = [
        net.add("Reshape", net.conv(one, 8, width, 1), net.numbers(1, width, -1))
        for one in maps[2:]
        for width in (20, 4)
    ]
    joined = [net.add("Concat", *rows[kind::2], axis=2) for kind in (0, 1)]
    fine = maps[2] if stride == 8 else enlarge(net, maps[2], 8 // stride)
    given = net.conv(activate(net, fine, 8, 8), 8, prototypes, 1)
    return net.finish(net.add("Concat", *joined, axis=1), given).architecture.sentence


def test_masks_are_told_by_as_many_coefficients_as_prototypes() -> None:
    """D. Bolya and others, YOLACT, 2019, figure 2."""
    told = make_masks(4)
    assert told.startswith("One-stage detector: ")
    assert told.endswith(
        "heads at strides 8, 16, 32 (4 and 20 channels each), 4 mask prototypes at 1/4."
    )
    assert "mask prototypes at 1/8" in make_masks(4, stride=8)
    for told in (make_masks(3), make_masks(8)):  # of which none is a weighted sum
        assert "detector" not in told
        assert "mask" not in told


def test_resolutions_of_maps_that_are_given_are_told() -> None:
    assert make_pyramid((19,), flat=False).endswith(
        "3 maps out at 1/8, 1/16 and 1/32 (19 channels each)."
    )


def nest(*, joins_all: bool) -> str:
    """Return what is said of nodes between both ways, that join all before them or one."""
    net = Network()
    rows: list[list[str]] = []
    x = net.take("image", (1, 3, 32, 32))
    for level in range(3):
        x = activate(net, x if level else net.conv(x, 3, 8), 8, 8, strides=[1 + bool(level)] * 2)
        rows.append([x])
        for above in range(level - 1, -1, -1):
            row = rows[above] if joins_all else rows[above][-1:]
            joined = net.add("Concat", *row, enlarge(net, rows[above + 1][-1]), axis=1)
            rows[above].append(activate(net, joined, 8 * len(row) + 8, 8))
        x = rows[level][0]
    return net.finish(*(net.conv(one, 8, 1, 1) for one in rows[0][1:])).architecture.sentence


def test_nodes_that_join_all_before_on_their_level_make_a_nested_unet() -> None:
    told = nest(joins_all=True)
    assert told.startswith("Nested UNet: ")
    assert "2 levels down, 3 nested nodes that join all before on their level" in told
    assert "skip" not in told
    assert not nest(joins_all=False).startswith("Nested")
    assert not make_u((2, 1, 0)).startswith("Nested")


@pytest.mark.parametrize("side", [16, 32])
def test_places_that_are_put_back_are_no_growth(side: int) -> None:
    """Y. Wang and others, PredRNN, 2017: patches of a frame are channels of a smaller one."""
    net = Network()
    x = net.take("frames", (1, 1, 64, 64))
    parts = 64 // side
    x = net.add("Reshape", x, net.numbers(1, side, parts, side, parts))
    x = net.add("Transpose", x, perm=[0, 2, 4, 1, 3])
    x = net.add("Reshape", x, net.numbers(1, parts * parts, side, side))
    for _ in range(4):
        x = net.add("Relu", net.conv(x, parts * parts, parts * parts))
    x = net.add("DepthToSpace", x, blocksize=parts)
    assert "resolution" not in net.finish(x, shape=(1, 1, 64, 64)).architecture.sentence
    assert "64 × 64 →" not in net.finish(x, shape=(1, 1, 64, 64)).architecture.sentence


@pytest.mark.parametrize("channels", [1, 2, 5])
@pytest.mark.parametrize("shape", [None, (1, 0, 64, 64)])
def test_channels_out_are_those_of_a_block_behind_the_last_convolution(
    channels: int, shape: tuple[int, ...] | None
) -> None:
    """A residual block that has another width in the end stands where others convolve once more."""
    net = Network()
    x = net.conv(net.take("image", (1, 3, 64, 64)), 3, 8)
    kept = []
    for _ in range(2):
        x = _add_block(net, x, 8, 8)
        kept.append(x)
        x = net.conv(x, 8, 8, strides=[2, 2])
    for skip in reversed(kept):
        x = net.add("Concat", enlarge(net, _add_block(net, x, 8, 8)), skip, axis=1)
        x = _add_block(net, x, 16, channels if skip is kept[0] else 8)
    told = net.finish(x, shape=shape and (1, channels, *shape[2:])).architecture.sentence
    assert told.startswith("UNet: ")
    assert "8 channels out" not in told
    if shape is not None:
        assert f"{channels} channel" in told


def _add_block(net: Network, x: str, taken: int, given: int) -> str:
    inner = net.conv(activate(net, x, taken, 8), 8, given)
    return net.add("Add", inner, x if taken == given else net.conv(x, taken, given, 1))


def test_levels_are_as_wide_as_their_blocks_give_and_not_as_what_is_in_these() -> None:
    """As where a block's MLP convolves between its layers (Z. Wang and others, Uformer, 2022)."""

    def block(x: str, width: int, places: int) -> str:
        tokens = net.add("Reshape", x, net.numbers(1, width, places * places))
        tokens = net.add("Transpose", tokens, perm=[0, 2, 1])
        tokens = net.add("Add", tokens, net.attend(net.norm(tokens, width), tokens, width))
        inner = net.add("Gelu", net.linear(net.norm(tokens, width), width, 4 * width))
        inner = net.add("Transpose", inner, perm=[0, 2, 1])
        inner = net.add("Reshape", inner, net.numbers(1, 4 * width, places, places))
        inner = net.add("Gelu", net.conv(inner, 4 * width, 4 * width))
        inner = net.add("Reshape", inner, net.numbers(1, 4 * width, places * places))
        inner = net.add("Transpose", inner, perm=[0, 2, 1])
        tokens = net.add("Add", tokens, net.linear(inner, 4 * width, width))
        tokens = net.add("Transpose", tokens, perm=[0, 2, 1])
        return net.add("Reshape", tokens, net.numbers(1, width, places, places))

    net = Network()
    x = activate(net, net.take("image", (1, 3, 64, 64)), 3, 8)
    kept = []
    for width, places in ((8, 64), (16, 32)):
        kept.append(x := block(x, width, places))
        x = net.conv(x, width, 2 * width, strides=[2, 2])
    x = block(x, 32, 16)
    for width, places in ((16, 32), (8, 64)):
        kernel = net.weight(2 * width, width, 2, 2)
        x = net.add("ConvTranspose", x, kernel, kernel_shape=[2, 2], strides=[2, 2])
        x = net.add("Concat", x, kept.pop(), axis=1)
        x = block(net.conv(x, 2 * width, width), width, places)
    told = net.finish(net.conv(x, 8, 3)).architecture.sentence
    assert "3 levels of 8, 16, 32 channels" in told


def test_maps_that_are_joined_at_one_size_are_no_skips() -> None:
    """Each is resized by itself: there is no way up beside a way down."""
    net = Network()
    value, given = net.take("x", (1, 3, 64, 64)), []
    for number in range(4):
        taken = 3 if not number else 8 * number
        value = net.conv(value, taken, 8 * (number + 1), strides=[2, 2])
        value = net.add("Relu", value)
        level = net.conv(value, 8 * (number + 1), 8)
        if number:
            sizes = net.numbers(1, 8, 32, 32)
            level = net.add("Resize", level, "", "", sizes, mode="linear")
        given.append(level)
    head = net.conv(net.add("Concat", *given, axis=1), 32, 1)
    whole = net.add("Resize", head, "", "", net.numbers(1, 1, 64, 64), mode="linear")
    told = net.finish(whole).architecture.sentence
    assert "maps of 4 resolutions put together" in told
    assert "skip" not in told
    assert "up" not in told.replace("put", "")
