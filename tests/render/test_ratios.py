"""Ratios to the image's resolution in the left margin of still pictures."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.model import Model
from netloupe.explorer.render.picture import Picture, make_picture, render_picture
from netloupe.explorer.render.ratios import RATIO_ROOM, find_ratios
from netloupe.explorer.view import ViewOptions
from tests.layout.test_lanes import make_fpn
from tests.layout.test_u_shape import Network, make_unet


def make_stages(strides: list[int], size: int = 64) -> Model:
    net = Network(1, 3, size, size)
    value = "x"
    for stage, stride in enumerate(strides):
        value = net.convolve(f"stage{stage}/conv", value, 8 + 8 * stage, stride)
        for number in range(stage + 1):  # stages differ, so that they are not folded
            value = net.add("Relu", f"stage{stage}/act{number}", value)
    return net.finish(net.add("GlobalAveragePool", "pool", value))


def draw(model: Model, **options: object) -> Picture:
    return make_picture(model, ViewOptions.parse({"grouping": "names", "inset": "none", **options}))


def list_ratios(picture: Picture) -> list[tuple[str, float]]:
    return [(text, y) for y, text in find_ratios(picture.scene, picture.model)]


def test_each_resolution_has_its_ratio_at_the_height_of_its_boxes() -> None:
    picture = draw(make_stages([2, 1, 2, 2]))
    boxes = {box.item.label: box for box in picture.scene.boxes}
    found = list_ratios(picture)
    assert [text for text, _ in found] == ["1/2", "1/4", "1/8"]
    for (_, y), stage in zip(found, ("stage0", "stage2", "stage3"), strict=True):
        assert boxes[stage].y < y < boxes[stage].y + boxes[stage].height


def test_they_are_drawn_bold_in_a_margin_of_their_own() -> None:
    model = make_stages([2, 2])
    svg = render_picture(draw(model), "svg").decode()
    root = ElementTree.fromstring(svg)
    texts = [text for text in root.iter("{http://www.w3.org/2000/svg}text") if text.text == "1/4"]
    assert len(texts) == 1
    picture = draw(model)
    assert picture.sheet is not None
    assert picture.sheet.width == picture.scene.width + RATIO_ROOM
    assert picture.sheet.left == RATIO_ROOM
    assert render_picture(picture, "svg").decode() == svg


def test_one_change_of_resolution_is_none_to_tell() -> None:
    assert list_ratios(draw(make_stages([2, 1, 1]))) == []
    assert list_ratios(draw(make_stages([2, 2]), direction="LR")) == []


def test_an_odd_size_is_halved_to_a_whole_number() -> None:
    found = list_ratios(draw(make_stages([2, 2, 2, 2], size=75)))
    # 38, 19 and 10 places, rounded up, and 5 of 75
    assert [text for text, _ in found] == ["1/2", "1/4", "1/8", "1/15"]


def test_a_size_that_is_not_halved_is_divided_by_what_it_is() -> None:
    found = list_ratios(draw(make_stages([14, 2], size=112)))
    assert [text for text, _ in found] == ["1/14", "1/28"]


def test_a_u_tells_each_ratio_once() -> None:
    picture = draw(make_unet("N", 3, "H", "W", depth=3))
    assert [text for text, _ in list_ratios(picture)] == ["1/2", "1/4", "1/8"]


def make_scaling_stages(depth: int, *, grows_late: bool) -> Model:
    """Return a U whose stages halve in their end, and double in their end or at their beginning."""
    net = Network(1, 3, 64, 64)
    value = net.convolve("stem/conv", "x", 8)
    kept = []
    for level in range(depth):
        for step in range(level + 2):
            value = net.add(
                "Relu",
                f"enc{level}/a{step}",
                net.convolve(f"enc{level}/c{step}", value, 8 << level),
            )
        kept.append(value)
        if level < depth - 1:
            value = net.convolve(f"enc{level}/down", value, 8 << level, 2)
    for level in reversed(range(depth)):
        if not grows_late and level < depth - 1:
            value = net.grow(f"dec{level}/up", value, 8 << level)
        value = net.add("Concat", f"dec{level}/join", value, kept[level], axis=1)
        for step in range(level + 1):
            value = net.convolve(f"dec{level}/c{step}", value, 8 << level)
            value = net.add("Elu", f"dec{level}/a{step}", value)
        if grows_late and level:
            value = net.grow(f"dec{level}/up", value, 8 << level)
    return net.finish(net.convolve("head/conv", value, 2))


@pytest.mark.parametrize("grows_late", [True, False])
def test_a_ratio_is_that_of_all_boxes_at_its_height(grows_late: bool) -> None:
    """Stages on the way down give half of what those beside them take."""
    picture = draw(make_scaling_stages(4, grows_late=grows_late))
    boxes = {box.item.label: box for box in picture.scene.boxes}
    assert boxes["enc1"].y < boxes["dec1"].y + boxes["dec1"].height / 2  # a U
    at = {"1/2": 1, "1/4": 2, "1/8": 3}
    found = list_ratios(picture)
    assert [text for text, _ in found] == [*at][: len(found)]
    assert len(found) == 3 or not grows_late
    for text, y in found:
        beside = [name for name, box in boxes.items() if box.y < y < box.y + box.height]
        assert f"enc{at[text]}" in beside
        assert {name[-1] for name in beside} == {str(at[text])}


def test_lanes_tell_each_ratio_beside_the_backbone() -> None:
    picture = draw(make_fpn(1, 3, 128, 128))
    boxes = {box.item.label: box for box in picture.scene.boxes}
    found = list_ratios(picture)
    assert [text for text, _ in found] == ["1/2", "1/4", "1/8", "1/16"]
    for (_, y), name in zip(found, ("stem", "stage0", "stage1", "stage2"), strict=True):
        assert boxes[name].y < y < boxes[name].y + boxes[name].height


def test_what_does_not_come_from_the_image_tells_no_ratio() -> None:
    """A longer way that ends in the stream, such as that of a condition, is not of the image."""
    net = Network(1, 3, 64, 64)
    value = net.convolve("first/conv", "x", 8, 2)
    value = net.add("Relu", "first/act", value)
    scale = net.weigh((1, 8, 4, 4))
    for number, kind in enumerate(("Tanh", "Elu", "Selu", "Sigmoid", "Softsign", "Softplus")):
        scale = net.add(kind, f"condition{number}/act", scale)
    scale = net.convolve("last/conv", scale, 8, 4)
    found = list_ratios(draw(net.finish(net.add("Mul", "steer", value, scale))))
    assert found == []


@pytest.mark.parametrize(("given", "ratios"), [((1, 16), []), ((1, 1), ["1/4", "1/8"])])
def test_a_row_that_another_input_gives_too_is_none_of_patches(
    given: tuple[int, int], ratios: list[str]
) -> None:
    """Tokens beside patches are as many as some patches are, and have no scale."""
    net = Network(1, 3, 64, 64)
    value = net.convolve("patches/conv", "x", 8, 4)
    for number, kind in enumerate(("Tanh", "Elu", "Selu")):
        value = net.add(kind, f"first{number}/act", value)
    sizes = {"flat": [1, 8, 256], "from": [0], "to": [64], "axes": [2]}
    for name, numbers in sizes.items():
        net.weights.append(numpy_helper.from_array(np.array(numbers), name))
    net.inputs.append(helper.make_tensor_value_info("other", TensorProto.FLOAT, given))
    value = net.add("Reshape", "tokens/flat", value, "flat")
    taken = net.add("Mul", "other/scale", "other", net.weigh((1, 8, 1)))
    value = net.add("Concat", "all/join", value, taken, axis=2)
    value = net.add("Slice", "some/cut", value, "from", "to", "axes")
    for number, kind in enumerate(("Tanh", "Elu", "Selu")):
        value = net.add(kind, f"last{number}/act", value)
    assert [text for text, _ in list_ratios(draw(net.finish(value)))] == ratios


def test_tokens_that_are_put_into_heads_are_no_finer_map() -> None:
    """16 tokens of 16 heads are as many as a map has places, of which there are none behind."""
    net = Network(1, 3, 128, 128)
    value = net.convolve("stem/conv", "x", 8, 4)
    value = net.convolve("stage/conv", value, 64, 8)  # 4 × 4
    for name, numbers in {"row": [1, 64, 16], "heads": [1, 16, 16, 4]}.items():
        net.weights.append(numpy_helper.from_array(np.array(numbers), name))
    value = net.add("Reshape", "tokens/row", value, "row")
    value = net.add("Transpose", "tokens/last", value, perm=[0, 2, 1])
    value = net.add("LayerNormalization", "norm/norm", value, net.weigh((64,)), axis=-1)
    value = net.add("Reshape", "split/heads", value, "heads")
    value = net.add("MatMul", "mix/product", value, net.weigh((4, 4)))
    for number, kind in enumerate(("Tanh", "Elu", "Selu")):
        value = net.add(kind, f"last{number}/act", value)
    assert [text for text, _ in list_ratios(draw(net.finish(value)))] == ["1/4", "1/32"]


def test_what_stands_beside_the_stream_tells_no_ratio() -> None:
    """A lateral convolution beside a box of another resolution does not speak for that."""
    net = Network(1, 3, 64, 64)
    value, kept = "x", []
    for stage in range(3):
        value = net.convolve(f"stage{stage}/conv", value, 8, 2)
        for number in range(stage + 1):
            value = net.add("Relu", f"stage{stage}/act{number}", value)
        kept.append(value)
    side = net.convolve("lateral/conv", kept[0], 4)
    for number in range(4):
        value = net.add(("Tanh", "Elu", "Selu", "Sigmoid")[number], f"last{number}/act", value)
    picture = draw(net.finish(value, side))
    boxes = {box.item.label: box for box in picture.scene.boxes}
    found = dict(list_ratios(picture))
    assert set(found) == {"1/2", "1/4", "1/8"}
    assert boxes["stage0"].y < found["1/2"] < boxes["stage0"].y + boxes["stage0"].height


def test_a_map_without_channels_is_no_row_of_patches() -> None:
    net = Network(1, 3, 64, 64)
    value = "x"
    for stage in range(2):
        value = net.convolve(f"stage{stage}/conv", value, 8, 2)
        for number in range(stage + 1):
            value = net.add("Relu", f"stage{stage}/act{number}", value)
    value = net.add("ConvTranspose", "up", value, net.weigh((8, 8, 4, 4)), strides=[4, 4])
    value = net.add("ReduceMean", "mean", value, axes=[1], keepdims=0)
    value = net.add("Tanh", "last/act", value)
    found = list_ratios(draw(net.finish(net.add("Neg", "end", value))))
    assert [text for text, _ in found] == ["1/2", "1/4"]
