"""What is folded of named modules is alike: of one list, width and kind, cut where its author did.

Each model is judged from its file, too (:mod:`tests.fold_judge`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.stack_changes import list_changes
from netloupe.explorer.readers.load import load
from tests.fold_graph import read_raw
from tests.fold_judge import judge_fold

from .test_repeats import repeats


class Modules:
    """Writes layers of named modules with weights of known sizes."""

    def __init__(self) -> None:
        self.nodes: list[object] = []
        self.weights: list[object] = []

    def add(self, scope: str, op: str, *operands: str, **attributes: object) -> str:
        output = f"t{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(op, operands, [output], name=f"/{scope}/{op}", **attributes)
        )
        return output

    def weight(self, *dims: int) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ones(dims, np.float32), name))
        return name

    def numbers(self, *entries: int) -> str:
        name = f"n{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(entries, np.int64), name))
        return name

    def linear(self, scope: str, x: str, before: int = 8, after: int = 8) -> str:
        return self.add(scope, "MatMul", x, self.weight(before, after))

    def mlp(self, scope: str, x: str, width: int = 8) -> str:
        inner = self.add(scope, "Relu", self.linear(f"{scope}/up", x, width, 4 * width))
        return self.linear(f"{scope}/down", inner, 4 * width, width)

    def attention(self, scope: str, x: str, other: str = "", *, is_padded: bool = False) -> str:
        q = self.linear(f"{scope}/q", x)
        k, v = (self.linear(f"{scope}/{name}", other or x) for name in "kv")
        if is_padded:
            q = self.add(scope, "Pad", q, mode="reflect", pads=[0] * 6)
        scores = self.add(scope, "MatMul", q, self.add(scope, "Transpose", k, perm=[0, 2, 1]))
        mixed = self.add(scope, "MatMul", self.add(scope, "Softmax", scores, axis=-1), v)
        return self.linear(f"{scope}/out", mixed)

    def sum(self, x: str, other: str) -> str:
        return self.add("", "Add", x, other)

    def fold(self, *outputs: str, faulty: Sequence[str] = ()) -> list[Group]:
        """Return the outermost repeats; a judge finds no faults in them but of some kinds."""
        infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 8])]
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        proto = helper.make_model(helper.make_graph(self.nodes, "", infos, ends, self.weights))
        raw = read_raw(proto)
        found = [*repeats(build_group_tree(load(proto.SerializeToString()).graph))]
        for repeat in found:
            blocks = [*map(_list_nodes, repeat.children)]
            called = [block.label for block in repeat.inner_groups()]
            faults = [one for one in judge_fold(raw, blocks, called) if one.kind not in faulty]
            assert not faults, (repeat.label, faults)
        return found


def _list_nodes(child: object) -> frozenset[int]:
    if not isinstance(child, Group):
        return frozenset((child.index,))
    return frozenset().union(*map(_list_nodes, child.children))


def labels(found: Sequence[Group]) -> list[tuple[str, int]]:
    return [(repeat.label, len(repeat.children)) for repeat in found]


def chain(modules: Modules, x: str, *layers: Callable[[str], str]) -> str:
    for layer in layers:
        x = modules.sum(x, layer(x))
    return x


def test_a_layer_begins_where_its_modules_have_one_number() -> None:
    modules = Modules()
    x = modules.add("stem", "Relu", modules.linear("stem", "x"))
    for number in range(4):
        x = modules.mlp(f"ff.{number}", x)
        x = modules.attention(f"att.{number}", x)  # the larger of both, and the last
    assert labels(modules.fold(modules.linear("head", x))) == [("ff, att", 4)]


def test_lists_that_take_turns_are_one_stack_of_both() -> None:
    modules = Modules()
    x = "x"
    for number in range(4):
        for name in ("time", "band"):
            x = chain(modules, x, lambda x, s=f"{name}.{number}": modules.mlp(s, x))
    assert labels(modules.fold(x)) == [("time, band", 4)]


@pytest.mark.parametrize("names", [("intra", "inter", "intra", "inter"), ("a", "b", "c", "d")])
def test_two_networks_that_take_turns_are_one_stack_of_both(names: Sequence[str]) -> None:
    """Two times two are less than what has no name in common needs to be."""
    modules = Modules()
    x = modules.linear("start", "x")
    for place, name in enumerate(names):
        inner = modules.attention(f"{name}.{place // 2}/att", x)
        inner = modules.mlp(f"{name}.{place // 2}/ff", inner)
        x = modules.sum(x, modules.add("", "Tanh", inner))
    found = labels(modules.fold(modules.linear("head", x)))
    assert found == ([("intra, inter", 2)] if "intra" in names else [])


def test_heads_beside_each_other_may_have_other_widths() -> None:
    modules = Modules()
    bands = []
    for number in range(6):
        scope = f"mask.{number}"
        inner = modules.add(scope, "Tanh", modules.linear(f"{scope}/up", "x", 8, 16))
        bands.append(modules.linear(f"{scope}/down", inner, 16, 4 + 2 * number))
    x = modules.add("", "Concat", *bands, axis=2)
    assert labels(modules.fold(x, faulty=("widths",))) == [("mask.0 … mask.5", 6)]


def test_attention_to_what_another_network_gives_is_no_second_of_its_kind() -> None:
    modules = Modules()
    other = modules.add("text", "Relu", modules.linear("text", "x"))
    x = "x"
    for number, taken in ((1, ""), (2, other)):
        normed = modules.add(f"norm{number}", "LayerNormalization", x, modules.weight(8))
        mixed = modules.attention(f"attn{number}", normed, taken or normed)
        for op in ("Tanh", "Exp", "Neg", "Abs", "Sqrt", "Erf"):  # of two only large ones are folded
            mixed = modules.add(f"attn{number}", op, mixed)
        x = modules.sum(x, mixed)
    assert labels(modules.fold(x)) == []


def test_a_stack_ends_where_its_list_does() -> None:
    modules = Modules()
    x = "x"
    for name in ("down", "up"):
        for number in range(4):
            x = chain(modules, x, lambda x, s=f"{name}.0.{number}": modules.mlp(s, x))
    assert labels(modules.fold(x)) == [("down.0.0 … down.0.3", 4), ("up.0.0 … up.0.3", 4)]


def test_lists_of_one_layer_each_are_no_stacks_of_their_own() -> None:
    modules = Modules()
    x = "x"
    for number in range(4):
        x = modules.sum(x, modules.attention(f"layers.{number}.0", x))
        x = modules.sum(x, modules.mlp(f"layers.{number}.1", x))
    assert [len(repeat.children) for repeat in modules.fold(x)] == [4]


def test_a_layer_that_attends_in_windows_is_no_other_layer() -> None:
    """So of two the second is no repetition of the first, whatever is added behind some layers."""
    modules = Modules()
    x = "x"
    for number in range(8):
        scope = f"layer.{number}"
        is_global = number in (2, 5, 7)
        x = modules.sum(x, modules.attention(f"{scope}/att", x, is_padded=not is_global))
        x = modules.sum(x, modules.mlp(f"{scope}/ff", x))
        if number in (2, 5):
            x = modules.add(f"{scope}/norm", "Tanh", modules.linear(f"{scope}/res", x))
    assert modules.fold(x)


def test_blocks_of_other_widths_are_no_stack() -> None:
    """Whatever is added to what comes in, which has no width of its own."""
    modules = Modules()
    x = "x"
    for number, width in enumerate((8, 12, 16)):
        inner = modules.linear(f"enc.{number}/up", x, 8, width)
        inner = modules.linear(f"enc.{number}/mix", inner, width, width)
        x = modules.sum(x, modules.add(f"enc.{number}", "ReduceMean", inner, axes=[2]))
    assert modules.fold(x) == []


def test_a_module_with_something_else_in_its_place_is_no_repetition() -> None:
    modules = Modules()
    x = "x"
    for number in range(4):
        scope = f"sem.{number}"
        inner = x
        for part in "abcd":
            inner = modules.linear(f"{scope}/{part}", inner)
        if number == 3:
            inner = modules.add(scope, "ReduceMean", inner, axes=[1])
        else:
            inner = modules.linear(f"{scope}/e", modules.add(scope, "Relu", inner))
        x = modules.sum(x, modules.linear(f"{scope}/f", inner))
    assert labels(modules.fold(x)) == [("sem.0 … sem.2", 3)]


@pytest.mark.parametrize(("chosen", "folded"), [((), 4), ((3,), 3), ((2, 3), 2)])
def test_a_layer_of_experts_is_none_of_mlps(chosen: Sequence[int], folded: int) -> None:
    """It has all that the other has, and a choice, as layers of Jamba in turn."""
    modules = Modules()
    x = "x"
    for number in range(4):
        scope = f"layers.{number}"
        inner = modules.mlp(f"{scope}/mlp", modules.attention(f"{scope}/attn", x))
        if number in chosen:
            scores = modules.linear(f"{scope}/router", x)
            best = modules.add(f"{scope}/router", "TopK", scores, modules.numbers(1))
            inner = modules.add(f"{scope}/mlp", "Mul", inner, best)
        x = modules.sum(x, inner)
    assert next(iter(labels(modules.fold(x))))[1] == folded


def test_a_stack_is_not_left_and_entered_again_through_a_layer() -> None:
    """Heads of several maps share layers whose norms do not: as two boxes they were a cycle."""
    modules = Modules()
    shared = [modules.weight(8, 8) for _ in range(2)]
    heads = []
    for level in range(3):
        x = modules.linear(f"out.{level}", "x")
        for number in range(2):
            x = modules.add(f"cls.{number}", "MatMul", x, shared[number])
            norm = modules.add(f"bn.{level}.{number}", "LayerNormalization", x, modules.weight(8))
            x = modules.add("", "Relu", norm)
        heads.append(modules.linear(f"last.{level}", x))
    for repeat in modules.fold(*heads):
        inside = frozenset().union(*map(_list_nodes, repeat.children))
        between = [node for node in repeat.graph.nodes if node.index not in inside]
        for node in between:
            takes = any(v.producer and v.producer.index in inside for v in node.inputs if v)
            gives = any(user.index in inside for v in node.outputs if v for user in v.users)
            assert not (takes and gives)


def gate(modules: Modules, x: str) -> str:
    """Return one half of the features times the sigmoid of the other, as no module does it."""
    halves = [
        modules.add("", "Slice", x, *map(modules.numbers, ends)) for ends in ((0, 8, 2), (8, 16, 2))
    ]
    return modules.add("", "Mul", halves[0], modules.add("", "Sigmoid", halves[1]))


@pytest.mark.parametrize("count", [3, 6])
def test_layers_of_a_list_repeat_with_what_is_written_out_behind_each(count: int) -> None:
    modules = Modules()
    x = modules.add("", "Tanh", "x")
    for number in range(count):
        x = modules.sum(x, gate(modules, modules.linear(f"enc.{number}", x, 8, 16)))
    x = modules.mlp("between", modules.mlp("behind", x))
    stacks = labels(modules.fold(modules.linear("head", x)))
    assert stacks == [(f"enc.0 … enc.{count - 1}", count)]


def test_layers_of_two_lists_behind_each_other_are_two_stacks() -> None:
    modules = Modules()
    x = modules.add("", "Tanh", "x")
    for name in ("enc", "dec"):
        for number in range(3):
            x = modules.sum(x, gate(modules, modules.linear(f"{name}.{number}", x, 8, 16)))
    x = modules.mlp("between", modules.mlp("behind", x))
    stacks = labels(modules.fold(modules.linear("head", x)))
    assert stacks == [("enc.0 … enc.2", 3), ("dec.0 … dec.2", 3)]


def test_layers_of_no_list_are_no_stack_by_what_is_written_out_behind_each() -> None:
    modules = Modules()
    x = modules.add("", "Tanh", "x")
    for name in ("start", "middle", "end"):
        x = modules.sum(x, gate(modules, modules.linear(name, x, 8, 16)))
    x = modules.mlp("between", modules.mlp("behind", x))
    assert modules.fold(modules.linear("head", x)) == []


@pytest.mark.parametrize("takers", [4, 2])
def test_what_all_layers_take_turned_is_no_part_of_the_first(takers: int) -> None:
    """Exporters write it where the first layer asks for it, behind a part of that layer."""
    modules = Modules()
    memory = chain(modules, "x", *(lambda x, s=f"enc.{n}": modules.mlp(s, x) for n in range(3)))
    x = modules.linear("start", "x")
    turned = ""
    for number in range(4):
        q = modules.linear(f"layer.{number}", modules.add("", "Relu", x))
        turned = turned or modules.add("", "Transpose", memory, perm=[0, 2, 1])
        scores = modules.add("", "MatMul", q, turned if number < takers else modules.weight(8, 4))
        mixed = modules.add("", "MatMul", modules.add("", "Softmax", scores, axis=-1), memory)
        x = modules.sum(x, mixed)
    found = modules.fold(modules.linear("head", x), faulty=("wiring", "operators"))
    assert [len(repeat.children) for repeat in found] == ([3, 4] if takers == 4 else [3])


def test_a_layer_begins_where_its_state_is_whole() -> None:
    """What each layer reads anew of the state stands between two layers, and begins the second."""
    modules = Modules()
    fixed = modules.linear("fixed", "x")
    state = modules.linear("start", "x")
    shared = modules.add("", "Mul", fixed, fixed)
    taken = fixed
    for number in range(4):
        if number:
            taken = modules.add("", "Exp", modules.add("", "Sin", state))
        x = modules.add("", "Add", modules.add("", "Mul", taken, fixed), shared)
        state = modules.sum(state, modules.mlp(f"dec.{number}", modules.sum(x, state)))
    (stack,) = modules.fold(modules.mlp("head", state), faulty=("operators", "handed"))
    assert len(stack.children) == 4
    ends = [stack.graph.nodes[max(_list_nodes(step))].op_type for step in stack.children]
    assert ends == ["Add"] * 4


def test_layers_whose_results_are_joined_to_what_they_take_are_one_stack() -> None:
    """Each takes more features than the one before, and a mean over places for all of these."""
    modules = Modules()
    x = modules.add("start", "Conv", "x", modules.weight(8, 4, 1))
    for number in range(4):
        scope = f"dense.{number}"
        inner = modules.add(scope, "Conv", x, modules.weight(8, 8 + 4 * number, 1))
        mean = modules.add(scope, "AveragePool", inner, kernel_shape=[4], strides=[4])
        wide = modules.add(scope, "Expand", mean, modules.numbers(1, 8, 8))
        weight = modules.add(scope, "Conv", wide, modules.weight(4, 8, 1))
        gated = modules.add(
            scope,
            "Mul",
            modules.add(scope, "Conv", inner, modules.weight(4, 8, 1)),
            modules.add(scope, "Sigmoid", weight),
        )
        x = modules.add("", "Concat", x, gated, axis=1)
    found = modules.fold(modules.linear("head", x), faulty=("widths",))
    assert [len(repeat.children) for repeat in found] == [4]


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ("Sigmoid", "the first without one Linear and one Sigmoid"),
        ("Tanh", "the first without Gate"),
    ],
)
def test_a_first_block_is_without_what_none_of_it_does(last: str, told: str) -> None:
    """Where one of two gates is missing, there is another one."""
    modules = Modules()
    x = "x"
    for number in range(4):
        scope = f"layer.{number}"
        inner = x
        for part in "defa":
            inner = modules.linear(f"{scope}/{part}", inner)
        if number:
            gate = modules.add(scope, "Sigmoid", modules.linear(f"{scope}/g", x))
            inner = modules.add(scope, "Mul", inner, gate)
        inner = modules.linear(f"{scope}/b", inner)
        x = modules.sum(x, modules.linear(f"{scope}/c", modules.add(scope, last, inner)))
    (stack,) = modules.fold(x, faulty=("operators", "handed"))
    assert told in list_changes(stack, 1)


@pytest.mark.parametrize(("attending", "folded"), [((0, 1), [2]), ((0,), [])])
def test_what_attends_is_no_block_beside_what_does_not(
    attending: Sequence[int], folded: list[int]
) -> None:
    """However much both have in common, as what mixes several streams around each."""
    modules = Modules()
    x = "x"
    for number in range(2):
        scope = f"layers.{number}"
        inner = x
        for part in "abcdefgh":
            inner = modules.add(scope, "Tanh", modules.linear(f"{scope}/{part}", inner))
        if number in attending:
            inner = modules.attention(scope, inner)
        x = modules.sum(x, inner)
    stacks = [count for label, count in labels(modules.fold(x)) if label.startswith("layers.0 …")]
    assert stacks == folded
