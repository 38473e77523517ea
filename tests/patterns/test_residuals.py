"""Kinds of residual blocks, how many channels these take and give, and by what they scale sizes."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper

from netloupe.explorer.model import Graph
from netloupe.explorer.patterns import Recognition, name_block, recognise
from netloupe.explorer.readers.load import load


class Net:
    """Makes blocks of convolutions with weights of known dimensions."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def add(self, op_type: str, *taken: str, **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(taken), [name], **attributes))
        return name

    def store(self, *dims: int) -> str:
        name = f"w{len(self.weights)}"
        count = 1
        for dim in dims:
            count *= dim
        self.weights.append(helper.make_tensor(name, 1, dims, [0.5] * count))
        return name

    def conv(
        self, x: str, given: int, taken: int, size: int = 1, *, relu: bool = True, **more: object
    ) -> str:
        kernel = {"kernel_shape": [size, size], **more}
        y = self.add("Conv", x, self.store(given, taken, size, size), **kernel)
        return self.add("Relu", y) if relu else y

    def deep(self, x: str, width: int, size: int = 3, **more: object) -> str:
        return self.conv(x, width, 1, size, group=width, **more)

    def graph(self, y: str) -> Graph:
        ends = [helper.make_tensor_value_info(n, 1, None) for n in ("x", y)]
        graph = helper.make_graph(self.nodes, "g", ends[:1], ends[1:], self.weights)
        return load(helper.make_model(graph).SerializeToString()).graph

    def tell(self, y: str) -> Recognition:
        found = recognise(list(self.graph(y).nodes))
        assert found is not None
        return found


def test_what_filters_each_channel_and_widens_behind_is_not_inverted() -> None:
    net = Net()  # V. Bazarevsky and others, BlazeFace, 2019, figure 1
    y = net.conv(net.deep("x", 24, 5, relu=False), 28, 24, relu=False)
    y = net.add("Add", y, net.add("Pad", "x", pads=[0, 0, 0, 0, 0, 4, 0, 0]))
    found = net.tell(net.add("Relu", y))
    assert (found.name, found.facts) == ("Residual block", ("24 → 28",))


def test_blocks_that_are_equal_have_one_kind_whether_they_widen_or_not() -> None:
    names = set()
    for given in (16, 32):  # S. Kriman and others, QuartzNet, 2020, figure 1
        net = Net()
        y = net.conv(net.deep("x", 16), given, 16)
        y = net.conv(net.deep(y, given), given, given, relu=False)
        y = net.add("Add", y, net.conv("x", given, 16, relu=False))
        names.add(net.tell(net.add("Relu", y)).name)
    assert names == {"Residual block"}


def test_a_gate_between_keeps_a_block_from_being_inverted() -> None:
    net = Net()  # L. Chen and others, Simple Baselines for Image Restoration, 2022, figure 2c
    y = net.deep(net.conv("x", 32, 16, relu=False), 32, relu=False)
    halves = ["left", "right"]
    net.nodes.append(helper.make_node("Split", [y], halves, axis=1))
    y = net.conv(net.add("Mul", *halves), 16, 16, relu=False)
    assert net.tell(net.add("Add", y, "x")).name == "Residual block with gate"


def test_what_widens_and_narrows_behind_the_depthwise_one_is_a_convnext_block() -> None:
    for is_normalized, name in ((True, "ConvNeXt block"), (False, "Conv MLP block")):
        net = Net()
        y = net.deep("x", 16, 7, relu=False)
        if is_normalized:
            y = net.add("Transpose", y, perm=[0, 2, 3, 1])
            y = net.add("LayerNormalization", y, net.store(16))
            y = net.add("Transpose", y, perm=[0, 3, 1, 2])
        y = net.conv(net.conv(y, 64, 16), 16, 64, relu=False)
        assert net.tell(net.add("Add", y, "x")).name == name


def test_a_depthwise_convolution_more_keeps_it_inverted() -> None:
    net = Net()  # D. Qin and others, MobileNetV4, 2024, figure 4: the extra depthwise one
    y = net.deep(net.conv(net.deep("x", 16, relu=False), 64, 16), 64)
    assert net.tell(net.add("Add", net.conv(y, 16, 64, relu=False), "x")).name == (
        "Inverted residual"
    )


@pytest.mark.parametrize("inner", [[(3, 3)], [(5, 1), (1, 5)]])
def test_what_works_on_fewer_channels_is_a_bottleneck(inner: list[tuple[int, int]]) -> None:
    net = Net()  # A. Paszke and others, ENet, 2016, section 4
    y = net.conv("x", 8, 32)
    for size in inner:
        y = net.add("Relu", net.add("Conv", y, net.store(8, 8, *size), kernel_shape=size))
    y = net.add("Add", net.conv(y, 32, 8, relu=False), "x")
    found = net.tell(net.add("Relu", y))
    assert (found.name, found.facts) == ("Bottleneck block", ("32 → 32",))


@pytest.mark.parametrize("activation", ["Gelu", "Relu", ""])
def test_what_is_wider_inside_is_no_bottleneck_block(activation: str) -> None:
    net = Net()  # K. Wu and others, TinyViT, 2022, section 3.3
    y = net.conv(net.deep(net.conv("x", 32, 8), 32), 8, 32, relu=False)
    y = net.add("Add", y, "x")
    found = net.tell(net.add(activation, y) if activation else y)
    assert found.name == ("Inverted bottleneck" if activation else "Inverted residual")


def test_a_bottleneck_with_weighed_channels_is_one() -> None:
    net = Net()  # J. Hu and others, Squeeze-and-Excitation Networks, 2018, figure 3
    y = net.conv(net.conv(net.conv("x", 8, 32), 8, 8, 3), 32, 8, relu=False)
    weights = net.conv(net.add("GlobalAveragePool", y), 4, 32)
    weights = net.add("Sigmoid", net.conv(weights, 32, 4, relu=False))
    y = net.add("Add", net.add("Mul", y, weights), "x")
    found = net.tell(net.add("Relu", y))
    assert (found.name, found.facts) == ("Bottleneck block", ("32 → 32",))


def test_a_block_that_enlarges_says_by_what() -> None:
    net = Net()
    y = net.conv("x", 8, 32)
    y = net.add("Relu", net.add("ConvTranspose", y, net.store(8, 8, 2, 2), strides=[2, 2]))
    y = net.conv(y, 16, 8, relu=False)
    scales = helper.make_tensor("scales", 1, [4], [1.0, 1.0, 2.0, 2.0])
    net.weights.append(scales)
    y = net.add("Add", y, net.add("Resize", net.conv("x", 16, 32, relu=False), "", "scales"))
    found = net.tell(net.add("Relu", y))
    assert found.facts == ("32 → 16", "×2", "with projection")
    assert found.details.to_mapping()["enlarges"] is True


def test_two_strides_divide_by_their_product() -> None:
    net = Net()
    y = net.conv(net.conv("x", 8, 8, 3, strides=[2, 2]), 16, 8, 3, relu=False, strides=[2, 2])
    y = net.add("Add", y, net.conv("x", 16, 8, relu=False, strides=[4, 4]))
    assert net.tell(net.add("Relu", y)).facts == ("8 → 16", "/4", "with projection")


def test_a_block_has_the_width_of_what_it_takes_and_not_of_half_a_concat() -> None:
    net = Net()  # K. Han and others, GhostNet, 2020, figure 3
    y = "x"
    for given, taken in ((12, 8), (4, 24)):
        half = net.conv(y, given, taken, relu=False)
        y = net.add("Concat", half, net.deep(half, given, relu=False), axis=1)
    found = net.tell(net.add("Relu", net.add("Add", y, "x")))
    assert (found.name, found.facts) == ("Residual block with ghost modules", ("8 → 8",))


@pytest.mark.parametrize("parts", [(12, 12), (8, 16)])
def test_convolutions_of_parts_of_the_channels_are_no_width_of_a_block(
    parts: tuple[int, int],
) -> None:
    """M. Tan and Q. Le, MixConv: Mixed Depthwise Convolutional Kernels, 2019, figure 2."""
    net = Net()
    split = helper.make_node("Split", ["x", "parts"], ["a", "b"], axis=1)
    net.weights.append(helper.make_tensor("parts", 7, [2], parts))
    net.nodes.append(split)
    inner = [
        net.conv(taken, width, width, size)
        for taken, width, size in zip("ab", parts, (3, 5), strict=True)
    ]
    found = net.tell(net.add("Add", "x", net.add("Concat", *inner, axis=1)))
    assert (found.name, found.facts) == ("Residual block", ("24 → 24",))


@pytest.mark.parametrize("is_gated", [True, False])
def test_a_residual_block_is_told_with_its_gate(*, is_gated: bool) -> None:
    net = Net()  # halves multiply one another: L. Chen and others, NAFNet, 2022, figure 3c
    wide = net.conv("x", 16, 8, relu=False)
    net.nodes.append(helper.make_node("Split", [wide], ["a", "b"], axis=1, num_outputs=2))
    mixed = net.add("Mul" if is_gated else "Sub", "a", "b")
    found = net.tell(net.add("Add", "x", net.conv(mixed, 8, 8, relu=False)))
    assert found.name == ("Residual block with gate" if is_gated else "Residual block")


@pytest.mark.parametrize(("other", "has_gate"), [("b", True), ("a", False)])
def test_a_part_that_is_activated_gates_the_other(other: str, *, has_gate: bool) -> None:
    net = Net()  # S. Zamir and others, Restormer, 2022, figure 2b
    wide = net.conv("x", 16, 8, relu=False)
    net.nodes.append(helper.make_node("Split", [wide], ["a", "b"], axis=1, num_outputs=2))
    mixed = net.add("Mul", net.add("Gelu", "a"), other)
    found = net.tell(net.add("Add", "x", net.conv(mixed, 8, 8, relu=False)))
    assert found.name == ("Residual block with gate" if has_gate else "Residual block")


def _ghost(net: Net, x: str, given: int, taken: int, *, relu: bool) -> str:
    """Add a ghost module: half of the features, and what filters each of them."""
    half = net.conv(x, given // 2, taken, relu=relu)
    return net.add("Concat", half, net.deep(half, given // 2, pads=[1] * 4, relu=relu), axis=1)


@pytest.mark.parametrize("is_ghost", [True, False])
def test_two_convolutions_project_beside_ghost_modules(*, is_ghost: bool) -> None:
    net = Net()  # K. Han and others, GhostNet, 2020, figure 3b and section 3.2
    if is_ghost:
        y = _ghost(net, "x", 48, 16, relu=True)
        y = net.deep(y, 48, pads=[1] * 4, strides=[2, 2], relu=False)
        y = _ghost(net, y, 24, 48, relu=False)
    else:
        y = net.conv(net.conv("x", 48, 16), 24, 48, 3, pads=[1] * 4, strides=[2, 2], relu=False)
    deep = net.deep("x", 16, pads=[1] * 4, strides=[2, 2], relu=False)
    total = net.add("Add", y, net.conv(deep, 24, 16, relu=False))
    found = recognise(list(net.graph(total).nodes))
    facts = found.facts if found is not None else ()
    assert ("with projection" in facts) is is_ghost
    if is_ghost:
        assert found is not None
        assert (found.name, facts[0]) == ("Residual block with ghost modules", "16 → 24")


def test_a_stored_factor_is_no_gate() -> None:
    net = Net()
    y = net.conv(net.conv("x", 8, 8), 8, 8, relu=False)
    scaled = net.add("Mul", y, net.store(1, 8, 1, 1))
    assert net.tell(net.add("Add", "x", scaled)).name == "Residual block"


@pytest.mark.parametrize(("given", "size"), [(2, 3), (2, 1), (24, 3)])
def test_an_estimate_that_is_corrected_is_no_projection(given: int, size: int) -> None:
    net = Net()
    y = net.conv(net.conv("x", 24, 24, 3, pads=[1] * 4), given, 24, 3, pads=[1] * 4, relu=False)
    estimate = net.conv("x", given, 24, size, pads=[size // 2] * 4, relu=False)
    found = recognise([*net.graph(net.add("Add", y, estimate)).nodes])
    is_block = found is not None and found.name == "Residual block"
    assert is_block is (size == 1 or given > 3)


def test_a_unit_of_two_residual_blocks_is_named_by_both() -> None:
    net = Net()
    value = "x"
    for kernel in (3, 5):
        pads = [kernel // 2] * 4
        inner = net.conv(value, 24, 24, kernel, pads=pads)
        value = net.add("Add", value, net.conv(inner, 24, 24, kernel, relu=False, pads=pads))
    one = [node for node in net.graph(value).nodes if node.index < 4]
    assert name_block(one) == "Residual block"
    assert name_block([*net.graph(value).nodes]) == "2 residual blocks"


@pytest.mark.parametrize(
    ("kernels", "name"),
    [
        ([(3, 1, 1), (1, 3, 3), (1, 1, 1)], "Bottleneck block"),
        ([(3, 3, 3), (1, 3, 3), (1, 1, 1)], "Residual block"),
        ([(3, 1, 1), (3, 3, 3), (1, 1, 1)], "Residual block"),
        ([(3, 1), (1, 3), (1, 1)], "Residual block"),
    ],
)
def test_a_convolution_along_time_stands_for_the_first_of_a_bottleneck(
    kernels: list[tuple[int, ...]], name: str
) -> None:
    net = Net()  # C. Feichtenhofer and others, SlowFast Networks, 2019, table 1
    y = "x"
    for kernel, given in zip(kernels, (3, 3, 12), strict=True):
        y = net.add("Relu", net.add("Conv", y, net.store(given, 3, *kernel), kernel_shape=kernel))
    y = net.nodes.pop().input[0]
    ones = (1,) * len(kernels[0])
    around = net.add("Conv", "x", net.store(12, 3, *ones), kernel_shape=ones)
    assert net.tell(net.add("Relu", net.add("Add", y, around))).name == name


@pytest.mark.parametrize(
    ("dilations", "told"),
    [((2, 2), ["dilation 2"]), ((4, 4), ["dilation 4"]), ((1, 1), []), ((1, 3), []), ((2, 4), [])],
)
def test_a_block_whose_kernels_all_read_places_apart_says_how_far(
    dilations: tuple[int, int], told: list[str]
) -> None:
    # W. Li and others, On the Compactness, Efficiency, and Representation of 3D Convolutional
    # Networks, 2017, figure 1
    net = Net()
    y = "x"
    for last, dilation in enumerate(dilations):
        how = {"dilations": [dilation] * 2, "pads": [dilation] * 4}
        y = net.conv(y, 8, 8, 3, relu=not last, **how)
    found = net.tell(net.add("Relu", net.add("Add", y, "x")))
    assert (found.name, [*found.facts]) == ("Residual block", ["8 → 8", *told])


def test_pointwise_convolutions_around_a_kernel_read_no_places_apart() -> None:
    net = Net()
    y = net.conv(net.conv("x", 8, 32), 8, 8, 3, dilations=[2, 2], pads=[2] * 4)
    found = net.tell(net.add("Relu", net.add("Add", net.conv(y, 32, 8, relu=False), "x")))
    assert (found.name, [*found.facts]) == ("Bottleneck block", ["32 → 32", "dilation 2"])


@pytest.mark.parametrize("branches", [1, 2, 3])
def test_branches_that_are_joined_are_no_bottleneck(branches: int) -> None:
    net = Net()  # C. Szegedy and others, Inception-v4, Inception-ResNet, 2016, figure 10
    ways = []
    for steps in range(branches):
        way = net.conv("x", 8, 32)
        for _ in range(steps or 2 - min(branches, 2)):
            way = net.conv(way, 8, 8, 3, pads=[1, 1, 1, 1])
        ways.append(way)
    joined = net.add("Concat", *ways, axis=1) if branches > 1 else ways[0]
    y = net.conv(joined, 32, 8 * branches, relu=False)
    found = net.tell(net.add("Relu", net.add("Add", "x", y)))
    name = "Residual block with Inception" if branches > 1 else "Bottleneck block"
    assert (found.name, found.facts) == (name, ("32 → 32",))


def shuffle(net: Net, x: str, groups: int, width: int) -> str:
    apart, together = (0, groups, width // groups, 4, 4), (0, width, 4, 4)
    for number, dims in ((0, apart), (1, together)):
        name = f"to{len(net.weights)}"
        net.weights.append(helper.make_tensor(name, 7, [len(dims)], dims))
        x = net.add("Reshape", x, name)
        x = net.add("Transpose", x, perm=[0, 2, 1, 3, 4]) if number == 0 else x
    return x


@pytest.mark.parametrize(("inner", "given"), [(96, 16), (16, 16), (96, 96)])
def test_an_inverted_residual_without_shortcut_may_have_groups(inner: int, given: int) -> None:
    net = Net()  # K. Sun and others, IGCV3, 2018, figure 2
    y = shuffle(net, net.conv("x", inner, 8, group=2, relu=False), 2, inner)
    y = net.deep(y, inner, pads=[1, 1, 1, 1], strides=[2, 2])
    y = net.conv(y, given, inner // 2, group=2, relu=False)
    is_inverted = inner > 16 and given < inner
    assert net.tell(y).name.startswith("Inverted residual") == is_inverted


@pytest.mark.parametrize("inner", [8, 96])
def test_channels_are_shuffled_in_narrow_units_and_in_inverted_residuals(inner: int) -> None:
    net = Net()  # X. Zhang and others, ShuffleNet, 2018; K. Sun and others, IGCV3, 2018, figure 2
    y = shuffle(net, net.conv("x", inner, 8, group=2, relu=False), 2, inner)
    y = net.conv(net.deep(y, inner, pads=[1, 1, 1, 1]), 16, inner // 2, group=2, relu=False)
    found = net.tell(net.add("Add", "x", y))
    assert found.name == ("Inverted residual" if inner == 96 else "ShuffleNet unit")
