"""Widths and sizes at the border of a group, stages of a list, and names of fused modules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.ports import (
    Ports,
    find_ports,
    list_port_places,
    list_port_widths,
)
from netloupe.explorer.grouping.scopes import read_module_scopes
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.contents_words import write_contents
from netloupe.explorer.render.faces import make_face
from netloupe.explorer.view import View


def make_model(
    nodes: Sequence[NodeProto],
    weights: dict[str, tuple[int, ...]],
    size: tuple[int, ...] = (1, 4, 16, 16),
) -> ModelProto:
    """Return a model from ``x`` of a size to ``y``."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [*nodes],
        "g",
        [value("x", TensorProto.FLOAT, size)],
        [value("y", TensorProto.FLOAT, [None] * len(size))],
        [
            numpy_helper.from_array(np.ones(dims, np.float32), name)
            for name, dims in weights.items()
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def make_convs(
    widths: Sequence[int], strides: Sequence[int], depth: int = 3, named: str = "/blocks/{}/conv"
) -> ModelProto:
    """Return modules of a list, each of several convolutions with ReLU."""
    nodes: list[NodeProto] = []
    weights: dict[str, tuple[int, ...]] = {}
    value, taken = "x", widths[0]
    for number, (width, stride) in enumerate(zip(widths[1:], strides, strict=True)):
        for layer in range(depth):
            scope = f"{named.format(number)}.{layer}"
            weight = f"w{number}_{layer}"
            weights[weight] = (width, taken, 3, 3)
            how = {"pads": [1] * 4, "strides": [1 if layer else stride] * 2}
            nodes += [
                helper.make_node("Conv", [value, weight], [f"{weight}_c"], f"{scope}/Conv", **how),
                helper.make_node("Relu", [f"{weight}_c"], [f"{weight}_r"], f"{scope}/Relu"),
            ]
            value, taken = f"{weight}_r", width
    nodes[-1].output[0] = "y"
    return make_model(nodes, weights)


def list_faces(model: ModelProto) -> dict[str, list[str]]:
    """Return what stands on the boxes of groups, by the first line."""
    view = View(load(model))
    texts = [
        [run.text for run in make_face(item, has_controls=False).texts]
        for item in view.items.values()
        if item.kind == "group"
    ]
    return {lines[0]: lines[1:] for lines in texts}


@pytest.mark.parametrize(
    ("taken", "given", "widths", "correct"),
    [
        # all that the last layer gives, in another shape: rows of features, two steps at once
        ((1, 16, 480), (16, 15, 32), (480, 960, 480), (480, 960, 480)),
        ((1, 7, 96), (1, 14, 80), (96, 160), (96, 160)),
        # half of it, as of a gate
        ((1, 7, 96), (1, 7, 80), (96, 160), (96, 80)),
        ((1, 4, 8, 8), (1, 8, 8, 8), (4, 16, 16), (4, 8)),  # half of it is a gate
        ((1, 4, 8, 8), (1, 8, 8, 8), (4, 16, 8), (4, 16, 8)),
        ((1, 6, 8), (1, 6, 12), (8, 24), (8, 12)),  # tokens × features
        ((1, 8, 6), (1, 12, 3), (8, 24), (8, 12)),  # features × steps
        ((1, 7, 6), (1, 12, 3), (8, 24), (8, 24)),  # of neither axis is the width known
        ((2, 16), (2, 8), (17, 64, 16), (17, 64, 16)),
    ],
)
def test_the_last_width_is_that_of_what_leaves(
    taken: tuple[int, ...], given: tuple[int, ...], widths: tuple[int, ...], correct: object
) -> None:
    assert Ports((taken,), (given,)).correct(widths) == correct


def test_a_state_that_enters_beside_says_nothing_of_shapes() -> None:
    """What was there a step before has one place, so that it is as often smaller by chance."""
    ports = Ports(((1, 4, 32), (1, 1, 32)), ((1, 4, 32),))
    assert ports.correct((32, 128)) == (32, 32)
    assert Ports(((0, 4, 32),), ((0, 4, 32),)).correct((32, 128)) == (32, 32)


@pytest.mark.parametrize(
    ("given", "correct"),
    [
        # two paths leave, of which the last layer gives the sum of widths (dual path networks)
        (((1, 32, 12, 12), (1, 8, 12, 12)), (72, 32, 40)),
        (((1, 32, 12, 12), (1, 32, 12, 12)), (72, 32, 40)),
        # one gate of it leaves twice, once behind a Transpose, once as a sequence
        (((1, 20, 12, 16), (1, 12, 16, 20)), (72, 32, 40)),  # 12 and 16 are in both, too
        (((1, 20, 192), (1, 192, 20), (1, 20, 192)), (72, 32, 40)),
        (((1, 20, 12, 12), (1, 144, 20)), (72, 20)),
    ],
)
def test_what_two_results_have_in_common_is_no_width(given: object, correct: object) -> None:
    assert Ports(((1, 72, 12, 12),), given).correct((72, 32, 40)) == correct  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("strides", "before", "after", "scale"),
    [
        (((2, 2), (2, 2), (2, 2)), 64, 6, None),  # two kernels of 4 behind take more: no /11
        (((2, 2), (2, 2), (2, 2)), 64, 8, "/8"),
        (((2, 2),), 64, 16, None),
        ((), 7, 3, None),
        ((), 1, 4, None),  # a kernel of 4 laid down once
        (((2, 2),), 8, 16, "×2"),
        (((4,),), 8, 2, "/4"),
        (None, 8, 2, "/4"),  # what else makes it smaller is not known
        (None, 120, 7, None),  # resized to 112 places, of which a stride of 16 leaves 7: no /17
    ],
)
def test_a_scale_is_made_by_strides(
    strides: tuple[tuple[int, ...], ...] | None, before: int, after: int, scale: str | None
) -> None:
    ports = Ports(((1, 4, before, before),), ((1, 8, after, after),), strides=strides)
    assert ports.tell_scale() == scale


def test_kernels_without_padding_make_no_scale() -> None:
    """The strides of a chain are told, and not by how much its map is smaller (PatchGAN)."""
    nodes: list[NodeProto] = []
    weights: dict[str, tuple[int, ...]] = {}
    widths = [4, 8, 16, 32, 64, 1]
    for number, (taken, width) in enumerate(pairwise(widths)):
        weights[f"w{number}"] = (width, taken, 4, 4)
        scope = f"/net/layer{number}"
        how = {"pads": [1] * 4, "strides": [2 if number < 3 else 1] * 2}
        source = f"r{number - 1}" if number else "x"
        nodes += [
            helper.make_node("Conv", [source, f"w{number}"], [f"c{number}"], f"{scope}/C", **how),
            helper.make_node("LeakyRelu", [f"c{number}"], [f"r{number}"], f"{scope}/R"),
        ]
    nodes[-1].output[0] = "y"
    model = make_model(nodes, weights, (1, 4, 64, 64))
    inside = build_group_tree(load(model).graph).find("main/net/")
    assert isinstance(inside, Group)
    assert find_ports(inside).strides == ((2, 2),) * 3
    made = write_contents(inside.contents, lambda text: len(text) < 60, find_ports(inside))
    assert made.facts.endswith("· /8")


@pytest.mark.parametrize(
    ("taken", "given", "scale"),
    [
        ((1, 4, 13, 13), (1, 8, 7, 7), "/2"),
        ((1, 4, 8, 8, 8), (1, 8, 8, 4, 4), "/1×2×2"),
        ((1, 4, 8, 8), (1, 4, 32, 32), "×4"),
        ((1, 4, 8, 8), (1, 4, 8, 8), ""),
        ((1, 4, 8, 8), (1, 4, 1, 1), ""),  # a mean over all
        ((1, 4, 9, 9), (1, 4, 6, 6), None),  # no stride divides so
        ((8, 4, 2, 2), (1, 4, 4, 8), None),  # windows put together
        ((1, 16, 8), (1, 4, 8), None),
    ],
)
def test_a_scale_is_told_of_images(
    taken: tuple[int, ...], given: tuple[int, ...], scale: str | None
) -> None:
    assert Ports((taken,), (given,)).tell_scale() == scale


def test_a_chain_says_what_leaves_it_and_how_much_smaller_that_is() -> None:
    nodes = [
        helper.make_node(
            "Conv", ["x", "a"], ["p"], "/down/conv/Conv", strides=[2, 2], pads=[1] * 4
        ),
        helper.make_node("Relu", ["p"], ["q"], "/down/Relu"),
        helper.make_node("Conv", ["q", "b"], ["r"], "/down/ghost/Conv", pads=[1] * 4, group=8),
        helper.make_node("Relu", ["r"], ["s"], "/down/ghost/Relu"),
        helper.make_node("Concat", ["q", "s"], ["t"], "/down/Concat", axis=1),
        helper.make_node("Conv", ["t", "c"], ["u"], "/head/Conv"),
        helper.make_node("Sigmoid", ["u"], ["y"], "/head/Sigmoid"),
    ]
    model = make_model(nodes, {"a": (8, 4, 3, 3), "b": (8, 1, 3, 3), "c": (1, 16, 1, 1)})
    found = build_group_tree(load(model).graph).find("main/down/")
    assert isinstance(found, Group)
    assert find_ports(found) == Ports(((1, 4, 16, 16),), ((1, 16, 8, 8),), strides=((2, 2),))
    assert any("4 → 16 · /2" in line for lines in list_faces(model).values() for line in lines)


def test_a_list_whose_members_change_sizes_is_of_stages() -> None:
    faces = list_faces(make_convs([4, 8, 16, 16, 32], [1, 2, 2, 1]))
    assert [*faces] == ["Stage 1", "Stage 2", "Stage 3", "Stage 4"]


def test_a_list_of_equal_blocks_is_called_by_what_they_are() -> None:
    faces = list_faces(make_convs([4, 8, 8, 16, 16], [1, 1, 1, 1]))
    assert "(Conv · ReLU) ×3" in faces
    assert not any(title.startswith("Stage") or title.isdecimal() for title in faces)
    assert faces["(Conv · ReLU) ×3"][0] == "2 … 3"


def test_names_of_authors_stay_in_front() -> None:
    faces = list_faces(make_convs([4, 8, 16, 32], [2, 2, 2], named="/down{}/conv"))
    assert [*faces] == ["down0", "down1", "down2"]


def make_fused(*modules: tuple[str, str], weights: Sequence[str]) -> ModelProto:
    """Return convolutions whose metadata names one module, and whose weight another one."""
    nodes: list[NodeProto] = []
    value = "x"
    for number, ((scope, act), weight) in enumerate(zip(modules, weights, strict=True)):
        for op, module, operands in (
            ("Conv", scope, [value, weight]),
            ("Relu", act, [f"c{number}"]),
        ):
            result = f"{op[0].lower()}{number}"
            node = helper.make_node(
                op, operands, [result], result, **({"pads": [1] * 4} if op == "Conv" else {})
            )
            outer = module.rpartition(".")[0]
            names = ["", *([outer] if outer else []), module, op.lower()]
            classes = ["Net", *(["Block"] if outer else []), "Norm", "aten.x.default"]
            for key, text in (("name_scopes", names), ("class_hierarchy", classes)):
                entry = node.metadata_props.add()
                entry.key, entry.value = f"pkg.torch.onnx.{key}", str(text)
            nodes.append(node)
        value = f"r{number}"
    nodes[-1].output[0] = "y"
    return make_model(nodes, dict.fromkeys(weights, (4, 4, 3, 3)))


def test_a_convolution_that_took_in_a_norm_is_called_after_its_weight() -> None:
    model = make_fused(
        ("bn1", "bn1"), ("body.bn2", "body.act"), weights=["stem.weight", "body.conv2.weight"]
    )
    scopes = read_module_scopes(load(model).graph)
    assert scopes is not None
    assert [scope and scope[:-1] for scope in scopes.of_node] == [
        ("stem",),
        ("stem",),
        ("body", "conv2"),
        ("body", "act"),
    ]
    assert ("stem",) not in scopes.type_names
    assert ("stem", "conv") in scopes.operator_scopes


@pytest.mark.parametrize("weight", ["bn1.weight", "other.conv.weight", "conv.kernel", "view_2"])
def test_other_names_of_weights_say_nothing_of_a_module(weight: str) -> None:
    scopes = read_module_scopes(load(make_fused(("bn1", "bn1"), weights=[weight])).graph)
    assert scopes is not None
    assert scopes.of_node[0] == ("bn1", "conv")


def test_two_modules_are_not_called_alike() -> None:
    model = make_fused(("bn1", "bn1"), ("conv", "act"), weights=["conv.weight", "conv.weight"])
    scopes = read_module_scopes(load(model).graph)
    assert scopes is not None
    assert scopes.of_node[0] == ("bn1", "conv")


def test_widths_run_from_block_to_block() -> None:
    model = make_convs([4, 8, 8, 12], [1, 1, 1])
    groups = build_group_tree(load(model.SerializeToString()).graph, "names").groups
    blocks = [groups["main/blocks/0/"], groups["main/blocks/1/"], groups["main/blocks/2/"]]
    assert list_port_widths(blocks) == [4, 8, 12]
    assert list_port_widths([blocks[0], blocks[2]]) == [4, 8, 12]  # 8 enters what gives 12
    assert not list_port_widths([blocks[2], blocks[0]])
    assert not list_port_places(blocks)


def test_blocks_beside_each_other_take_maps_of_several_sizes() -> None:
    nodes, weights = [], {}
    for number, stride in enumerate((2, 4)):
        nodes.append(
            helper.make_node(
                *("MaxPool", ["x"], [f"p{number}"], f"/pool{number}/MaxPool"),
                kernel_shape=[stride] * 2,
                strides=[stride] * 2,
            )
        )
        weights |= {f"a{number}": (4, 4, 1, 1), f"b{number}": (4, 4, 1, 1)}
        for layer, taken in (("a", f"p{number}"), ("b", f"a{number}_")):
            name = f"/heads.{number}/{layer}/Conv"
            given = f"{layer}{number}_"
            nodes.append(helper.make_node("Conv", [taken, f"{layer}{number}"], [given], name))
        nodes.append(
            helper.make_node("GlobalMaxPool", [f"b{number}_"], [f"h{number}"], f"/g{number}/Max")
        )
    nodes.append(helper.make_node("Concat", ["h0", "h1"], ["y"], "/join/Concat", axis=1))
    graph = load(make_model(nodes, weights).SerializeToString()).graph
    groups = build_group_tree(graph, "names").groups
    heads = [groups["main/heads.0/"], groups["main/heads.1/"]]
    assert list_port_places(heads) == [(8, 8), (4, 4)]


@pytest.mark.parametrize(
    ("ports", "widths", "told"),
    [
        # of values of two axes the last is that of features
        (Ports(((1, 16),), ((1, 16),)), (16, 32), (16, 16)),
        # two steps at once, handed on in two forms
        (Ports(((1, 40, 96),), ((1, 80, 80), (1, 80, 80))), (96, 160), (96, 160)),
        # a style goes through a layer, and the map beside it does not
        (Ports(((1, 32), (1, 64, 8, 8)), ((1, 3, 8, 8),)), (32, 64), ()),
        # what is joined is taken together
        (Ports(((1, 8, 4, 4), (1, 8, 4, 4)), ((1, 5, 4, 4),)), (16, 5), (16, 5)),
        # axes of which the order changes: what stays as large is as wide, else nothing is known
        (Ports(((1, 16, 16, 96),), ((1, 16, 16, 96),), has_maps=False), (96, 288), (96, 96)),
        (Ports(((1, 96, 8, 8),), ((1, 8, 8, 48),), has_maps=False), (96, 288), ()),
        (Ports(((1, 96, 8, 8),), ((1, 8, 8, 288),), has_maps=False), (96, 288), (96, 288)),
    ],
)
def test_widths_are_told_where_the_axes_are_known(
    ports: Ports, widths: tuple[int, ...], told: tuple[int, ...]
) -> None:
    assert ports.correct(widths) == told


def test_channels_of_a_volume_that_become_its_last_axis_are_not_compared() -> None:
    how = {"kernel_shape": [2, 4, 4], "strides": [2, 4, 4]}
    nodes = [
        helper.make_node("Conv", ["x", "a"], ["p"], "/embed/conv/Conv", **how),
        helper.make_node("Transpose", ["p"], ["q"], "/embed/Transpose", perm=[0, 2, 3, 4, 1]),
        helper.make_node("MatMul", ["q", "b"], ["y"], "/head/MatMul"),
    ]
    size = (1, 3, 8, 16, 16)
    model = make_model(nodes, {"a": (32, 3, 2, 4, 4), "b": (32, 5)}, size)
    found = build_group_tree(load(model).graph, "names").find("main/embed/")
    assert isinstance(found, Group)
    ports = find_ports(found)
    assert not ports.has_maps
    assert ports.correct((3, 32)) == (3, 32)


@pytest.mark.parametrize(
    ("cut", "order", "joined", "has_maps"),
    [
        # channels into groups and back, in another order
        ((1, 4, 2, 8, 8), (0, 2, 1, 3, 4), (1, 8, 8, 8), True),
        # each 2 × 2 places become channels
        ((1, 8, 4, 2, 4, 2), (0, 1, 3, 5, 2, 4), (1, 32, 4, 4), True),
        # patches of 2 × 2 places, and channels behind them
        ((1, 8, 4, 2, 4, 2), (0, 3, 5, 2, 4, 1), (1, 4, 16, 8), False),
        ((1, 8, 4, 2, 4, 2), (0, 2, 4, 3, 5, 1), (1, 16, 4, 8), False),
    ],
)
def test_patches_with_channels_behind_them_are_no_maps(
    cut: tuple[int, ...], order: tuple[int, ...], joined: tuple[int, ...], has_maps: bool
) -> None:
    sizes = [
        numpy_helper.from_array(np.array(dims, np.int64), name)
        for name, dims in (("cut", cut), ("joined", joined))
    ]
    nodes = [
        helper.make_node("Conv", ["x", "a"], ["p"], "/local/conv/Conv"),
        helper.make_node("Reshape", ["p", "cut"], ["q"], "/local/Reshape"),
        helper.make_node("Transpose", ["q"], ["r"], "/local/Transpose", perm=order),
        helper.make_node("Reshape", ["r", "joined"], ["s"], "/local/Reshape_1"),
        helper.make_node("Relu", ["s"], ["y"], "/head/Relu"),
    ]
    proto = make_model(nodes, {"a": (8, 3, 1, 1)}, (1, 3, 8, 8))
    proto.graph.initializer.extend(sizes)
    found = build_group_tree(load(proto.SerializeToString()).graph, "names").find("main/local/")
    assert isinstance(found, Group)
    ports = find_ports(found)
    assert (ports.has_maps, ports.tell_scale() is not None) == (has_maps, has_maps)


@pytest.mark.parametrize(("stride", "told"), [(1, ""), (5, "/5×1")])
def test_a_convolution_that_looks_at_each_place_has_no_stride(stride: int, told: str) -> None:
    """Five rows under a kernel of five without padding are one row, whatever the stride."""
    how = {"pads": [0, 1, 0, 1], "strides": [stride, 1]}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "/dw/Conv", **how),
        helper.make_node("Relu", ["c"], ["y"], "/dw/Relu"),
    ]
    model = load(make_model(nodes, {"w": (4, 4, 5, 3)}, (1, 4, 5, 20)).SerializeToString())
    tree = build_group_tree(model.graph, "names")
    assert find_ports(tree.root).tell_scale() == told


@pytest.mark.parametrize(("other", "told"), [("x", "3×3 · 4 → 6"), ("inner", "4 → 12")])
def test_a_width_that_a_joined_value_adds_is_not_that_of_a_convolution(
    other: str, told: str
) -> None:
    make = helper.make_node
    nodes = [
        make("Conv", ["x", "w"], ["c"], "/fuse/conv/Conv", pads=[1] * 4),
        make("Relu", ["c"], ["inner"], "/fuse/act/Relu"),
        make("Concat", [other, "inner"], ["j"], "/fuse/Concat", axis=1),
        make("Neg", ["j"], ["y"], "/Neg"),
    ]
    faces = list_faces(make_model(nodes, {"w": (6, 4, 3, 3)}))
    assert any(told in text for text in faces["fuse"])


def make_joined_blocks(taken: int, width: int, count: int = 3) -> ModelProto:
    """Return blocks in a row that multiply their branch by what enters; the first halves it."""
    nodes: list[NodeProto] = []
    weights: dict[str, tuple[int, ...]] = {}
    value = "x"
    for number in range(count):
        scope, own = f"/layers/{number}", taken if not number else width
        weights |= {f"a{number}": (3, own, 1, 1), f"b{number}": (width, 3, 1, 1)}
        shortcut = value
        if not number:
            weights["p"] = (width, own, 1, 1)
            step = {"strides": [2, 2]}
            nodes.append(helper.make_node("Conv", ["x", "p"], ["s"], f"{scope}/short/C", **step))
            shortcut = "s"
        nodes += [
            helper.make_node(
                *("Conv", [value, f"a{number}"], [f"c{number}"], f"{scope}/one/Conv"),
                strides=[1 if number else 2] * 2,
            ),
            helper.make_node("Relu", [f"c{number}"], [f"r{number}"], f"{scope}/one/Relu"),
            helper.make_node("ReduceL2", [f"r{number}"], [f"n{number}"], f"{scope}/L2", axes=[1]),
            helper.make_node("Div", [f"r{number}", f"n{number}"], [f"q{number}"], f"{scope}/Div"),
            helper.make_node(
                *("MaxPool", [f"q{number}"], [f"k{number}"], f"{scope}/pool/MaxPool"),
                kernel_shape=[3, 3],
                pads=[1] * 4,
            ),
            helper.make_node("Softsign", [f"k{number}"], [f"t{number}"], f"{scope}/act/Softsign"),
            helper.make_node("Conv", [f"t{number}", f"b{number}"], [f"d{number}"], f"{scope}/b/C"),
            helper.make_node("Mul", [f"d{number}", shortcut], [f"m{number}"], f"{scope}/Mul"),
        ]
        value = f"m{number}"
    nodes[-1].output[0] = "y"
    return make_model(nodes, weights, (1, taken, 16, 16))


def test_a_stack_tells_widths_of_its_first_block_too() -> None:
    """As the last stage of a BotNet: its first bottleneck begins with the width before it."""
    faces = list_faces(make_joined_blocks(20, 32))
    lines = [line for lines in faces.values() for line in lines]
    assert any("20 → 32" in line for line in lines)
    assert not any("32 → 3" in line for line in lines)


@pytest.mark.parametrize(
    ("ports", "ends"),
    [
        (Ports(((1, 4, 8, 8),), ((1, 12, 8, 8),)), (4, 12)),
        (Ports(((1, 4, 8, 8), (1, 4, 4, 4)), ((1, 12, 8, 8),)), (4, 12)),
        (Ports(((1, 4, 8, 8), (1, 6, 8, 8)), ((1, 12, 8, 8),)), ()),
        (Ports(((1, 4, 8, 8),), ((1, 12, 8, 8),), has_maps=False), ()),
        (Ports(((1, 4, 8),), ((1, 12, 8),)), ()),
    ],
)
def test_the_ends_of_a_block_of_maps(ports: Ports, ends: tuple[int, ...]) -> None:
    assert ports.find_ends() == ends


@pytest.mark.parametrize(
    ("taken", "given", "expected"),
    [
        # a step steers features that go on as wide as they came in
        (((1, 1, 576), (1, 40, 144)), (1, 40, 144), (576, 288)),
        (((1, 40, 144), (1, 1, 576)), (1, 40, 144), (576, 288)),
        # of one value that enters what leaves is told
        (((1, 40, 576),), (1, 40, 144), (576, 144)),
        # and of several that are as wide as one another
        (((1, 40, 576), (1, 40, 576)), (1, 40, 144), (576, 144)),
    ],
)
def test_what_goes_on_beside_a_layer_is_not_what_that_gives(
    taken: tuple[tuple[int, ...], ...], given: tuple[int, ...], expected: tuple[int, int]
) -> None:
    assert Ports(taken, (given,)).correct((576, 288)) == expected


def test_the_width_that_enters_is_that_of_no_other_axis() -> None:
    """Of maps whose axes change their order the second one need not be that of the channels."""
    assert Ports(((1, 16, 8),), ((1, 16, 32),)).find_taken(32) == 8
    assert Ports(((1, 16, 16, 32),), ((1, 32, 16, 16),), has_maps=False).find_taken(32) is None
    # 22 channels of 1,000 samples, each cut into 25 patches: an MLP takes no sample
    assert Ports(((1, 22, 1000),), ((1, 550, 64),)).find_taken(64) is None


@pytest.mark.parametrize("layers", [2, 3])
def test_a_dense_block_says_what_enters_and_leaves_it(layers: int) -> None:
    """Not what one of its layers adds (G. Huang and others, 2017, figure 1)."""
    nodes = [helper.make_node("Conv", ["x", "stem"], ["s"], "/stem/Conv", pads=[1] * 4)]
    weights: dict[str, tuple[int, ...]] = {"stem": (4, 4, 3, 3)}
    parts = ["s"]
    for layer in range(layers):
        scope, taken = f"/dense/layer{layer}", "s"
        if layer:
            taken = f"j{layer}"
            nodes.append(helper.make_node("Concat", parts, [taken], f"{scope}/Concat", axis=1))
        weights[f"w{layer}"] = (6, 4 + 6 * layer, 3, 3)
        nodes += [
            helper.make_node("Relu", [taken], [f"r{layer}"], f"{scope}/Relu"),
            helper.make_node("Conv", [f"r{layer}", f"w{layer}"], [f"c{layer}"], f"{scope}/Conv"),
        ]
        nodes[-1].attribute.append(helper.make_attribute("pads", [1] * 4))
        parts = [*parts, f"c{layer}"]
    nodes.append(helper.make_node("Concat", parts, ["all"], "/dense/Concat", axis=1))
    nodes.append(helper.make_node("Relu", ["all"], ["r"], "/end/Relu"))
    nodes.append(helper.make_node("Neg", ["r"], ["y"], "/end/Neg"))
    texts = list_faces(make_model(nodes, weights))["dense"]
    assert any(f"4 → {4 + 6 * layers}" in text for text in texts)
    assert not any("stored" in text for text in texts)


def make_steered_blocks(count: int, beside: int) -> ModelProto:
    """Return blocks that convolve, take a part of that, and multiply it by what enters beside."""
    make = helper.make_node
    nodes: list[NodeProto] = [make("Neg", ["x"], ["v"], "/stem/Neg")]
    weights: dict[str, tuple[int, ...]] = {}
    value = "v"
    for number in range(count):
        scope = f"/blocks/{number}"
        weights |= {f"a{number}": (12, 8, 3, 3), f"b{number}": (24, 12, 3, 3)}
        for layer, letter in enumerate("ab"):
            given = f"{letter}{number}_"
            taken = [value, f"{letter}{number}"]
            nodes += [
                make("Conv", taken, [f"{given}c"], f"{scope}/conv.{layer}/Conv", pads=[1] * 4),
                make("Relu", [f"{given}c"], [given], f"{scope}/relu.{layer}/Relu"),
            ]
            value = given
        parts = [f"p{number}{letter}" for letter in "abc"]
        nodes.append(make("Split", [value], parts, f"{scope}/Split", axis=1))
        value = f"p{number}a"
        for each in range(beside):
            side, given = f"s{number * beside + each}", f"m{number}_{each}"
            nodes.append(make("Mul", [value, side], [given], f"{scope}/Mul_{each}"))
            value = given
    nodes.append(make("Neg", [value], ["y"], "/Neg"))
    model = make_model(nodes, weights, (1, 8, 16, 16))
    for each in range(count * beside):
        side = helper.make_tensor_value_info(f"s{each}", TensorProto.FLOAT, [1])
        model.graph.input.append(side)
    return model


@pytest.mark.parametrize("beside", [1, 6])
def test_a_stack_with_much_beside_it_is_as_wide_as_its_blocks(beside: int) -> None:
    faces = list_faces(make_steered_blocks(4, beside))
    lines = [line for lines in faces.values() for line in lines]
    assert not any("→ 24" in line for line in lines)
    assert beside == 1 or any("8 → 8" in line for line in lines)
