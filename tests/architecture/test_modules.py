"""Sentences along the modules of a picture: their names, rows of them, and what is left out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from netloupe.explorer.architecture.module_clauses import _leave_out_steps
from netloupe.explorer.architecture.module_names import read_mask, tell_class, tell_name
from netloupe.explorer.architecture.modules import Module
from netloupe.explorer.architecture.pieces import Piece
from netloupe.explorer.architecture.row_names import name_module
from netloupe.explorer.grouping.group import Group
from tests.architecture.networks import Network

_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"


class Named(Network):
    """A network whose nodes have the names of modules."""

    def within(self, start: int, name: str) -> None:
        """Put all nodes from a place on into a module."""
        for number, node in enumerate(self.nodes[start:]):
            inside = node.name.removeprefix("/")
            node.name = f"/{name}/{inside or f'{node.op_type}_{number}'}"


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("text_encoder", "text encoder"),
        ("duration_predictor", "duration predictor"),
        ("decode_head", "decode head"),
        ("clip.vision_model", "vision model"),
        ("decoder_blocks", "decoder"),
        ("res_blocks", "residual"),
        ("bifpn.0", "BiFPN"),
        ("encoder / layers.0 … layers.2", "encoder"),
        *((label, "") for label in ("0", "m", "layers.0", "model", "last_layer1", "bn1", "AG")),
        ("Sigmoid;model_1 / conv2d_3", ""),
    ],
)
def test_names_that_say_something_are_told_in_words(label: str, said: str) -> None:
    assert tell_name(label) == said


@pytest.mark.parametrize(
    ("type_name", "said"),
    [
        ("SpatialGatingBlock", "spatial gating block"),
        ("UniversalInvertedResidual", "universal inverted residual"),
        ("TimesformerLayer", "Timesformer layer"),
        ("Sequential", ""),
        ("RDL", ""),
        ("BatchNormAct2d", ""),
    ],
)
def test_classes_are_told_where_all_their_words_are_terms(type_name: str, said: str) -> None:
    assert tell_class(type_name) == said


def test_names_in_a_row_differ_in_their_number_alone() -> None:
    assert read_mask("blocks.0.1 … blocks.0.3") == read_mask("blocks.2") == "blocks.#"
    assert read_mask("s1_slow") != read_mask("s1_fast")


def residual(net: Network, x: str, width: int) -> str:
    return net.add("Add", x, net.conv(net.add("Relu", net.conv(x, width, width)), width, width))


def test_stages_of_a_module_are_told_by_their_blocks() -> None:
    net = Named()
    x = net.take("x", (1, 3, 32, 32))
    for stage, (count, width) in enumerate(((2, 8), (3, 16), (2, 32))):
        start = len(net.nodes)
        x = net.conv(x, 3 if not stage else width // 2, width, 2, strides=[2, 2])
        for _ in range(count):
            x = residual(net, x, width)
        net.within(start, f"stages.{stage}")
    net.within(0, "backbone")
    start = len(net.nodes)
    for _ in range(3):
        x = net.conv(x, 32, 32)
    x = net.conv(x, 32, 5, 1)
    net.within(start, "decode_head")
    told = net.finish(x).architecture.sentence
    assert "stages of 2, 3, 2 residual blocks, 8 → 16 → 32 channels" in told
    assert "decode head (" in told


def test_stages_that_have_other_blocks_too_are_not_counted() -> None:
    """The first block of a stage has no shortcut; it is a block all the same."""
    net = Named()
    x = net.take("x", (1, 3, 32, 32))
    x = net.conv(x, 3, 8)
    for stage, (count, width) in enumerate(((2, 8), (3, 16), (2, 32))):
        begin = len(net.nodes)
        x = net.conv(net.add("Relu", net.conv(x, max(width // 2, 8), width)), width, width)
        net.within(begin, "0")
        for block in range(count):
            start = len(net.nodes)
            x = residual(net, x, width)
            net.within(start, f"{block + 1}")
        net.within(begin, f"blocks.{stage}")
    told = net.finish(x).architecture.sentence
    assert "7 residual blocks 8 → 16 → 32 channels" in told
    assert "stages of" not in told


def test_towers_of_equal_form_are_told_as_one() -> None:
    net = Named()
    features = []
    for name in ("online", "target"):
        x = net.take(name, (1, 8, 16, 16))
        start = len(net.nodes)
        for _ in range(2):
            x = residual(net, x, 8)
        net.within(start, f"{name}_encoder")
        features.append(x)
    told = net.finish(net.add("Sub", *features)).architecture.sentence
    assert "online and target encoder (each 2 residual blocks of 8 channels)" in told


def test_modules_are_told_with_all_that_is_in_them() -> None:
    net = Named()
    x = net.take("x", (1, 8, 16, 16))
    for number, name in enumerate(("stem", "encoder", "neck", "decoder", "refinement", "head")):
        start = len(net.nodes)
        for _ in range(number % 2 + 1):
            x = residual(net, x, 8)
        x = net.conv(x, 8, 8, 2 * (number % 3) + 1)
        net.within(start, name)
        x = net.conv(x, 8, 8, 5)
    told = net.finish(x).architecture.sentence
    assert told == (
        "Convolutional network: stem (residual block, 1×1 convolution), encoder (2 convolutions, "
        "2 residual blocks), neck (two 5×5 convolutions, residual block), decoder "
        "(2 convolutions, 2 residual blocks), refinement (2 convolutions of 8 channels, residual "
        "block of 8 channels), head (three 5×5 convolutions, 2 residual blocks), 8 channels out."
    )


def test_what_computes_features_of_an_input_has_no_name_of_an_author() -> None:
    assert tell_name("encoder") == "encoder"
    assert tell_name("features of encoder") == tell_name("features") == ""


@pytest.mark.parametrize(("label", "name"), [("inter", "inter"), ("intra, inter", "")])
def test_what_holds_several_modules_has_the_name_of_none(label: str, name: str) -> None:
    assert name_module(Module(None, label)) == name


def _tell_stem(type_name: str) -> str:
    """Return the sentence of a stem of three bottlenecks of one class, pooled in between."""
    net = Named()
    x = net.take("x", (1, 3, 32, 32))
    classes: dict[int, list[str]] = {}
    width = 16
    x = net.conv(x, 3, width, 7)
    for number in (3, 5, 6):
        start = len(net.nodes)
        y = net.add("Relu", net.conv(net.add("Relu", net.conv(x, width, 8, 1)), 8, 8))
        y = net.conv(y, 8, 2 * width, 1)
        x = net.add("Add", y, net.conv(x, width, 2 * width, 1))
        width *= 2
        for place in range(start, len(net.nodes)):
            classes[place] = ["pre", f"pre.{number}"]
        if number == 3:
            x = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    for place, way in classes.items():
        node = net.nodes[place]
        node.name = f"node_{place}"
        kinds = ["Model", "Sequential", type_name, node.op_type]
        node.metadata_props.add(key=_SCOPES, value=repr(["", *way, node.name]))
        node.metadata_props.add(key=_CLASSES, value=repr(kinds))
    for _ in range(4):
        x = net.add("Cos", net.conv(x, width, width))
    return net.finish(net.conv(x, width, 3)).architecture.sentence


def test_a_class_that_says_less_than_its_blocks_kind_is_not_told() -> None:
    told = _tell_stem("Res")
    assert "3 bottleneck blocks" in told
    assert "residuals" not in told
    assert "3 gated residuals" in _tell_stem("GatedResidual")


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        (("encoder_level2.0", "encoder_level2.1"), "encoder block"),
        (("encoder_level1", "encoder_level2"), "encoder level"),
        (("encoder_level.0", "encoder_level.1"), "encoder level"),
    ],
)
def test_blocks_of_levels_with_numbers_are_no_levels(labels: tuple[str, ...], name: str) -> None:
    net = Named()
    x = net.take("x", (1, 8, 16, 16))
    for label in labels:
        for part in ("first", "second"):
            start = len(net.nodes)
            y = net.add("Sigmoid", net.add("GlobalAveragePool", net.conv(x, 8, 8)))
            x = net.add("Add", x, net.conv(net.add("Mul", net.conv(x, 8, 8), y), 8, 8))
            x = net.add("Relu", net.conv(x, 8, 8, 5))
            net.within(start, part)
            net.within(start, label)
    sentence = net.finish(net.conv(x, 8, 4, 1)).architecture.sentence
    assert f"2 {name}s (" in sentence, sentence


def _stand(label: str, kind: str) -> Module:
    """Return a module of one block; without a label a block by itself."""
    piece = cast(Piece, SimpleNamespace(kind=kind, token=(kind, "", 1, (0, 1))))
    return Module(cast(Group, object()) if label else None, label, [piece])


@pytest.mark.parametrize(("last", "is_step"), [("", True), ("linear", True), ("conv", False)])
def test_a_layer_behind_each_module_of_a_row_is_no_step_between_them(
    last: str, is_step: bool
) -> None:
    row = [_stand("stacks0", "unit"), _stand("", "conv"), _stand("stacks1", "unit")]
    modules = [*row, _stand("", last)] if last else row
    kept, steps = _leave_out_steps(modules)
    assert (row[1] not in kept) == is_step
    assert [*steps] == ([id(row[2])] if is_step else [])


def _unroll(count: int, *, lacking: bool = True) -> str:
    """Return what is said of steps of which the first lacks a layer, whose state is zero."""
    net = Named()
    x = net.take("x", (1, 4, 8))
    weights = [net.weight(8, 8) for _ in range(4)]
    last = net.weight(8, 8)
    state = ""
    results = []
    for step in range(count):
        start = len(net.nodes)
        y = net.add("Slice", x, net.numbers(step), net.numbers(step + 1), net.numbers(1))
        for weight in weights:
            y = net.add("Tanh", net.add("MatMul", y, weight))
        if state or not lacking:
            y = net.add("Add", y, net.add("MatMul", state or y, last))
        state = net.add("Sigmoid", y)
        results.append(state)
        net.within(start, "cell" if not step else f"cell_{step}")
    return net.finish(net.add("Concat", *results, axis=1)).architecture.sentence


@pytest.mark.parametrize("count", [3, 4])
@pytest.mark.parametrize("lacking", [True, False])
def test_a_layer_that_the_first_step_lacks_is_used_as_often_as_others(
    count: int, lacking: bool
) -> None:
    told = _unroll(count, lacking=lacking)
    assert f"{count} " in told, told
    assert f"{count - 1} times" not in told, told
    assert f"{count - 1} steps" not in told, told
    assert "twice" not in told, told
