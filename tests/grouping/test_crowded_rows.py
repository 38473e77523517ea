"""On a level of more boxes than a figure what comes again is one box."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from netloupe.explorer.grouping import Group, find_tree
from netloupe.explorer.grouping.member_nodes import list_nodes_inside
from netloupe.explorer.model import Node
from tests.architecture.networks import Network

_ACTIVATIONS = ("LeakyRelu", "Elu", "Selu", "Softplus", "Softsign", "Tanh", "Sigmoid", "Erf")


class Layers(Network):
    """Layers beside each other, each of which has a name and no module around it."""

    def layer(
        self, name: str, x: str, kernel: str, op_type: str = "LeakyRelu", *, stride: int = 1
    ) -> str:
        size = 3
        made = self.add("Conv", x, kernel, pads=[size // 2] * 4, strides=[stride] * 2)
        self.nodes[-1].name = f"/{name}/Conv"
        made = self.add(op_type, made)
        self.nodes[-1].name = f"/{name}/{op_type}"
        return made

    def make(self, name: str, x: str, taken: int, given: int, op_type: str = "LeakyRelu") -> str:
        return self.layer(name, x, self.weight(given, taken, 3, 3), op_type)

    def end(self, *outputs: str) -> list[Group | Node]:
        model = self.finish(*outputs)
        return find_tree(model, model.graph).root.children


def _list_groups(children: list[Group | Node], *kinds: str) -> list[Group]:
    return [child for child in children if isinstance(child, Group) and child.kind in kinds]


def _track(*, is_shared: bool, grows: bool, layers: int = 18) -> list[Group | Node]:
    """Return two images that pass layers with taps, with the same weights or others."""
    net = Layers()
    draw = Random(5)
    bends = [_ACTIVATIONS[0] if grows else draw.choice(_ACTIVATIONS) for _ in range(layers)]
    widths = [8 + number * grows for number in range(layers + 1)]
    sizes = [*pairwise(widths)]
    kernels = [[net.weight(given, taken, 3, 3) for taken, given in sizes] for _ in range(2)]
    ends, taps = [], []
    for call, name in enumerate(("left", "right")):
        x = net.take(name, (1, 8, 32, 32))
        for number, kernel in enumerate(kernels[0 if is_shared else call]):
            label = f"feature{chr(97 + number)}" + ("_1" if call and is_shared else "")
            label = label if is_shared or not call else f"other{chr(97 + number)}"
            x = net.layer(label, x, kernel, bends[number])
            if number % 6 == 5:
                taps.append(x)
        ends.append(x)
    x = net.make("last", net.add("Mul", *ends), widths[-1], 8)
    for number, pair in enumerate(zip(taps[:2], taps[3:5], strict=True)):
        joined = net.add("Concat", x, *pair, axis=1)
        x = net.make(f"join{number}", joined, 8 + 2 * widths[6 * number + 6], 8, "Tanh")
    return net.end(x)


@pytest.mark.parametrize("grows", [True, False])
def test_calls_of_the_same_weights_are_one_stack_beside_each_other(grows: bool) -> None:
    (stack,) = _list_groups(_track(is_shared=True, grows=grows), "repeat")
    assert stack.shares_weights
    assert not stack.is_loop
    calls = [list_nodes_inside([call]) for call in stack.inner_groups()]
    assert [sum(node.op_type == "Conv" for node in call) for call in calls] == [18, 18]


def test_other_weights_are_no_calls() -> None:
    assert not any(
        group.shares_weights
        for group in _list_groups(_track(is_shared=False, grows=True), "repeat")
    )


@pytest.mark.parametrize(("layers", "are_closed"), [(16, False), (24, True)])
def test_two_sides_that_look_alike_stay_as_they_are_where_they_can_be_read(
    layers: int, *, are_closed: bool
) -> None:
    """As the two sides of a tree; they are of other weights, so no calls."""
    net = Layers()
    image = net.take("x", (1, 8, 32, 32))
    bends = [_ACTIVATIONS[number % 5 + number % 3] for number in range(layers)]
    ends = []
    for side in ("left", "right"):
        x = image
        for number, bend in enumerate(bends):
            x = net.make(f"{side}{chr(97 + number)}", x, 8, 8, bend)
        ends.append(x)
    children = net.end(net.make("last", net.add("Mul", *ends), 8, 8))
    assert bool(_list_groups(children, "repeat")) is are_closed


def _grow(levels: int, *, grows: bool, breaks_off: bool = False) -> list[Group | Node]:
    """Return levels of eight layers, each level with a side output, and perhaps growing widths."""
    net = Layers()
    x, width, sides = net.take("x", (1, 4, 16, 16)), 4, []
    for level in range(levels):
        wider = width + 4 if grows else width
        names = [f"stage{level}{chr(97 + number)}" for number in range(len(_ACTIVATIONS))]
        last = breaks_off and level == levels - 1
        for number, (name, op_type) in enumerate(zip(names, _ACTIVATIONS, strict=True)):
            if last and number == len(names) - 1:
                break
            x = net.make(name, x, width if number == 0 else wider, wider, op_type)
        sides.append(net.make(f"side{level}", x, wider, 2, "HardSigmoid"))
        width = wider
    return net.end(net.add("Concat", *sides, axis=1))


def test_a_sequence_that_comes_again_with_other_widths_is_a_box_each_time() -> None:
    children = _grow(6, grows=True)
    blocks = _list_groups(children, "block")
    assert len(blocks) >= 5
    assert len(children) <= 16
    assert not _list_groups(children, "repeat")
    assert {len(block.children) for block in blocks[1:-1]} == {9}


def test_few_levels_with_other_widths_stay_as_they_are() -> None:
    children = _grow(4, grows=True)
    assert len(children) > 30


def test_a_row_of_one_kind_of_layer_is_one_box() -> None:
    net = Layers()
    x = net.take("x", (1, 4, 16, 16))
    ends = []
    for number in range(50):
        taken, given = 4 + number, 5 + number
        x = net.make(f"conv{chr(97 + number % 26)}{chr(97 + number // 26)}", x, taken, given)
        ends.append(net.add("GlobalAveragePool", x))
        net.nodes[-1].name = f"/conv{number}pool/GlobalAveragePool"
    children = net.end(net.add("Concat", *ends, axis=1))
    assert len(children) < 30


def _branch(levels: int, of_each: int) -> list[Group | Node]:
    """Return levels of two kinds of like branches each, and a gate beside them."""
    net = Layers()
    x = net.take("x", (1, 8, 16, 16))
    for level in range(levels):
        found = []
        for kind, name in enumerate(("own", "shared")):
            for number in range(of_each):
                label = f"{name}{level}{chr(97 + number)}"
                found.append(net.make(label, x, 8, 4 + 2 * kind, _ACTIVATIONS[3 + 2 * kind]))
        gate = net.make(f"gate{level}", x, 8, 8, "Sigmoid")
        rows = net.add("Concat", *found, axis=1)
        x = net.make(f"join{level}", rows, 10 * of_each, 8, _ACTIVATIONS[level])
        x = net.add("Mul", x, gate)
    return net.end(net.make("last", x, 8, 3, "Tanh"))


@pytest.mark.parametrize(("levels", "of_each"), [(5, 3), (4, 4), (6, 3)])
def test_like_branches_of_a_crowded_level_are_one_stack(levels: int, of_each: int) -> None:
    stacks = _list_groups(_branch(levels, of_each), "repeat")
    assert [len(stack.children) for stack in stacks] == [of_each] * (2 * levels)


def test_few_branches_where_there_is_room_stand_beside_each_other() -> None:
    assert not _list_groups(_branch(1, 2), "repeat")
