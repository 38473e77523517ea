"""Repeated blocks: among named siblings, and by structure alone with every name left aside."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.found_repeat import FoundRepeat
from netloupe.explorer.grouping.parts import MOST_CHILDREN
from netloupe.explorer.grouping.runs import find_runs
from netloupe.explorer.model import Graph, Node
from netloupe.explorer.readers.load import load
from tests.corpus import also_beside, beside, corpus_file, light_file
from tests.hostile_models import empty_nodes

from .blank_names import load_blank
from .test_tree import check_tree, make_chain, outline


class Builder:
    """Writes models node by node."""

    def __init__(self) -> None:
        self.nodes: list[object] = []
        self.initializers: list[object] = []
        self.names = 0

    def weight(self, number: float = 0.5, size: int = 1) -> str:
        name = f"w{len(self.initializers)}"
        tensor = helper.make_tensor(name, TensorProto.FLOAT, [size], [number] * size)
        self.initializers.append(tensor)
        return name

    def add(self, op: str, *operands: str, name: str = "", **attributes: object) -> str:
        self.names += 1
        output = f"t{self.names}"
        self.nodes.append(helper.make_node(op, operands, [output], name=name, **attributes))
        return output

    def load(self, output: str) -> Graph:
        info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("x", output)]
        graph = helper.make_graph(self.nodes, "", info[:1], info[1:], self.initializers)
        return load(helper.make_model(graph).SerializeToString()).graph

    def norm(self, x: str) -> str:
        """Write an RMSNorm of six nodes."""
        square = self.add("Pow", x, self.weight(2))
        root = self.add("Sqrt", self.add("Add", self.add("ReduceMean", square), self.weight()))
        return self.add("Mul", self.add("Div", x, root), self.weight(size=8))

    def linear(self, x: str) -> str:
        return self.add("Add", self.add("MatMul", x, self.weight()), self.weight())

    def attention(self, x: str, mask: str = "") -> str:
        q, k, v = (self.add("Transpose", self.linear(x)) for _ in "qkv")
        scores = self.add("Div", self.add("MatMul", q, k), self.weight())
        if mask:
            scores = self.add("Add", scores, mask)
        weights = self.add("Softmax", scores)
        return self.linear(self.add("Transpose", self.add("MatMul", weights, v)))

    def mlp(self, x: str, activation: str = "Relu") -> str:
        return self.linear(self.add(activation, self.linear(x)))

    def layer(self, x: str, mask: str = "", activation: str = "Relu") -> str:
        """Write a layer that normalizes first, with two residuals."""
        x = self.add("Add", x, self.attention(self.norm(x), mask))
        return self.add("Add", x, self.mlp(self.norm(x), activation))


def repeats(tree: GroupTree, group: Group | None = None) -> Iterator[Group]:
    """Yield the repeats of a tree that are not inside others."""
    for child in (group or tree.root).children:
        if isinstance(child, Group):
            if child.kind == "repeat":
                yield child
            else:
                yield from repeats(tree, child)


def counts(graph: Graph, grouping: str = "repeats") -> list[tuple[str, int]]:
    tree = build_group_tree(graph, grouping)
    check_tree(tree)
    return [(repeat.label, len(repeat.children)) for repeat in repeats(tree)]


def list_ways_around(tree: GroupTree, repeat: Group) -> list[Node]:
    """Return the nodes outside of a repeat that take from it and that it takes from."""
    inside = tree.order[repeat.low : repeat.high]
    users = {user for node in inside for value in node.outputs if value for user in value.users}
    givers = {value.producer for node in inside for value in node.inputs if value}
    return [node for node in users & givers if node is not None and not tree.holds(repeat, node)]


def test_named_layers_are_one_repeat() -> None:
    names = [f"/layers.{number}/{part}" for number in range(12) for part in "xyz"]
    tree = build_group_tree(make_chain("/in/a", "/in/b", *names, "/out/a", "/out/b"), "names")
    check_tree(tree)
    (repeat,) = repeats(tree)
    assert (repeat.label, repeat.path) == ("layers.0 … layers.11", "main/layers.0-11/")
    assert [child.path for child in repeat.children] == [f"main/layers.{n}/" for n in range(12)]  # type: ignore[union-attr]
    assert repeat.parent is tree.root


def test_a_first_layer_that_differs_joins_and_the_common_one_is_shown() -> None:
    names = [f"/h.{number}/{part}" for number in range(5) for part in "xyz"]
    tree = build_group_tree(make_chain("/h.0/mask", *names, "/o/a", "/o/b"), "names")
    (repeat,) = repeats(tree)
    assert len(repeat.children) == 5
    assert repeat.exemplar == 1


@pytest.mark.parametrize(("turns", "exemplar"), [(2, 0), (3, 1), (5, 1)])
def test_the_first_of_the_most_common_repetitions_is_shown(turns: int, exemplar: int) -> None:
    """Of two repetitions neither is more common, though the first has a node more."""
    names = ["/h.0/mask"]
    for number in range(3 * turns):
        parts = "uvwxyz" if number % 3 == 2 else "xyz"
        names += [f"/h.{number}/{part}" for part in parts]
    tree = build_group_tree(make_chain(*names, "/o/a", "/o/b"), "names")
    (repeat,) = repeats(tree)
    assert (len(repeat.children), repeat.exemplar) == (turns, exemplar)


def test_siblings_with_other_names_are_no_repeat() -> None:
    names = [f"/{name}/{part}" for name in ("q_proj", "k_proj", "v_proj") for part in "xy"]
    assert counts(make_chain(*names, "/o/a", "/o/b"), "names") == []


def test_stages_of_different_size_are_no_repeat() -> None:
    names = [
        f"/layer{stage}/{block}/{part}"
        for stage, blocks in enumerate((3, 4, 6, 3), 1)
        for block in range(blocks)
        for part in "xy"
    ]
    tree = build_group_tree(make_chain(*names), "names")
    assert [group.label for group in tree.root.children] == [f"layer{n}" for n in range(1, 5)]  # type: ignore[union-attr]
    assert [repeat.label for repeat in repeats(tree)] == ["0 … 2", "0 … 3", "0 … 5", "0 … 2"]


def test_two_kinds_of_named_layer_in_turns() -> None:
    builder = Builder()
    x = "x"
    for number in range(8):
        for op in ("Relu", "Sigmoid", "Neg") if number % 2 else ("Exp", "Log", "Abs"):
            x = builder.add(op, x, name=f"/layers.{number}/{op}")
    graph = builder.load(builder.add("Neg", x, name="/out/Neg"))
    tree = build_group_tree(graph, "names")
    check_tree(tree)
    (repeat,) = repeats(tree)
    assert [child.kind for child in repeat.children] == ["block"] * 4  # type: ignore[union-attr]
    assert outline(tree, repeat.children[1]) == "layers.2(Exp Log Abs) layers.3(Relu Sigmoid Neg)"  # type: ignore[arg-type]


def test_nodes_between_named_layers_belong_to_them() -> None:
    builder = Builder()
    x = builder.add("Relu", "x", name="/in/Relu")
    for number in range(4):
        inner = builder.add("Exp", x, name=f"/h.{number}/Exp")
        inner = builder.add("Neg", inner, name=f"/h.{number}/Neg")
        x = builder.add("Add", x, inner, name="/Add" + f"_{number}" * bool(number))
    graph = builder.load(x)
    tree = build_group_tree(graph, "names")
    check_tree(tree)
    (repeat,) = repeats(tree)
    assert len(repeat.children) == 4
    assert outline(tree, repeat.children[0]) == "h.0(Exp Neg) Add"  # type: ignore[arg-type]


def test_equal_branches_are_one_repeat() -> None:
    builder = Builder()
    ends = []
    for number in range(300):
        inner = builder.add("Relu", "x", name=f"/branch.{number}/Relu")
        ends.append(builder.add("Neg", inner, name=f"/branch.{number}/Neg"))
    graph = builder.load(builder.add("Sum", *ends, name="/Sum"))
    assert counts(graph, "names") == [("branch.0 … branch.299", 300)]


@pytest.mark.parametrize("layers", [2, 3, 12, 40])
def test_nameless_layers_with_a_shared_mask(layers: int) -> None:
    builder = Builder()
    mask = builder.add("Mul", builder.add("Cast", "x", to=1), builder.weight())
    x = builder.add("Exp", "x")
    for _ in range(layers):
        x = builder.layer(x, mask)
    assert counts(builder.load(builder.norm(x))) == [("Transformer block", layers)]


def test_what_a_nameless_layer_consists_of() -> None:
    builder = Builder()
    x = builder.add("Exp", "x")
    for _ in range(4):
        x = builder.layer(x)
    tree = build_group_tree(builder.load(builder.norm(x)), "auto")
    (repeat,) = repeats(tree)
    layer = repeat.children[repeat.exemplar]
    assert isinstance(layer, Group)
    assert layer.path == "main/Transformer block/0/"
    parts = [child.label if isinstance(child, Group) else child.op_type for child in layer.children]
    assert parts == ["RMSNorm", "Attention", "Add", "RMSNorm", "MLP", "Add"]


def test_a_mask_made_inside_the_first_layer() -> None:
    builder = Builder()
    x = builder.add("Exp", "x")
    mask = ""
    for number in range(6):
        normed = builder.norm(x)
        if not number:
            mask = builder.add("Mul", builder.add("Cast", "x", to=1), builder.weight())
            mask = builder.add("Sub", builder.add("Tile", mask, builder.weight()), mask)
        x = builder.add("Add", x, builder.attention(normed, mask))
        x = builder.add("Add", x, builder.mlp(builder.norm(x)))
    tree = build_group_tree(builder.load(x), "repeats")
    (repeat,) = repeats(tree)
    assert len(repeat.children) == 6
    assert repeat.exemplar > 0
    sizes = [child.node_count for child in repeat.children]  # type: ignore[union-attr]
    assert len(set(sizes)) == 1, "what all layers use stays outside"


def test_nameless_layers_of_two_kinds_in_turns() -> None:
    builder = Builder()
    x = builder.add("Exp", "x")
    for number in range(12):
        x = builder.layer(x, activation="Tanh" if number % 2 else "Relu")
    assert counts(builder.load(builder.add("Neg", x))) == [("2 Transformer blocks", 6)]


def test_repeats_in_repeats() -> None:
    builder = Builder()
    x = builder.add("Exp", "x")
    for _ in range(5):
        for _ in range(2):
            inner = x
            for op in ("Relu", "Neg", "Exp", "Log", "Abs", "Ceil", "Sin"):
                inner = builder.add(op, inner)
            x = builder.add("Add", x, inner)
        x = builder.layer(x)
    tree = build_group_tree(builder.load(builder.add("Neg", x)), "repeats")
    check_tree(tree)
    (outer,) = repeats(tree)
    assert len(outer.children) == 5
    for block in outer.children:
        assert isinstance(block, Group)
        assert [len(inner.children) for inner in repeats(tree, block)] == [2]


def test_nodes_mixed_by_the_exporter() -> None:
    builder = Builder()
    x = builder.add("Exp", "x")
    for _ in range(8):
        x = builder.layer(x)
    output = builder.add("Neg", x)
    # a breadth-first order from the inputs: any topological order is allowed
    ready = {"x", *(entry.name for entry in builder.initializers)}  # type: ignore[attr-defined]
    waiting, order = list(builder.nodes), []
    shuffle = random.Random(1)
    while waiting:
        able = [node for node in waiting if ready.issuperset(node.input)]  # type: ignore[attr-defined]
        node = shuffle.choice(able)
        waiting.remove(node)
        ready.update(node.output)  # type: ignore[attr-defined]
        order.append(node)
    builder.nodes = order
    ((name, count),) = counts(builder.load(output))
    assert (name, count) == ("Transformer block", 8)


def test_a_chain_of_one_node() -> None:
    graph = make_chain(*[""] * 500)
    tree = build_group_tree(graph, "repeats")
    (repeat,) = tree.root.children
    assert isinstance(repeat, Group)
    assert (repeat.label, len(repeat.children)) == ("Relu", 500)
    assert all(isinstance(child, Node) for child in repeat.children)


@pytest.mark.parametrize("seed", range(8))
def test_no_repeats_in_random_graphs(seed: int) -> None:
    chance = random.Random(seed)
    builder = Builder()
    values = ["x"]
    for _ in range(600):
        op = chance.choice(["Relu", "Neg", "Exp", "Add", "Mul", "Sub"])
        operands = chance.choices(values[-40:], k=1 if op in ("Relu", "Neg", "Exp") else 2)
        values.append(builder.add(op, *operands))
    assert counts(builder.load(values[-1])) == []


def test_a_repeat_is_found_around_random_nodes() -> None:
    chance = random.Random(3)
    builder = Builder()
    x = "x"
    for part in range(2):
        for _ in range(100):
            x = builder.add(chance.choice(["Relu", "Neg", "Exp", "Log", "Abs"]), x)
        if not part:
            for _ in range(9):
                x = builder.layer(x)
    assert counts(builder.load(x)) == [("Transformer block", 9)]


@pytest.mark.parametrize(
    ("name", "truth"),
    also_beside(
        [
            ("gpt2.legacy", [12]),
            ("bert.legacy", [12]),
            ("bert.dynamo", [12]),
            ("vit.dynamo", [12]),
            ("t5.legacy", [8, 8]),
            ("whisper.dynamo", [6, 6]),
            ("densenet.legacy", [6, 12, 24, 16]),
        ],
        "exported/{}.onnx",
    ),
)
def test_layers_of_models_without_names(name: str, truth: list[int]) -> None:
    graph = load_blank(corpus_file(name))
    assert [count for _, count in counts(graph)] == truth
    assert [count for _, count in counts(graph, "auto")] == truth


@pytest.mark.parametrize("name", also_beside(["exported/segformer.dynamo.onnx"]))
def test_stages_of_a_segformer_without_names(name: str) -> None:
    found = counts(load_blank(corpus_file(name)))
    assert [count for label, count in found if label == "Transformer block"] == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("name", "down"),
    [
        ("exported/unet.dynamo.onnx", []),  # skips from each transformer keep the two apart
        *((name, ["Transformer block"] * 3) for name in beside("exported/unet.dynamo.onnx")),
    ],
)
def test_stages_of_a_unet_without_names(name: str, down: list[str]) -> None:
    # residual block and transformer, two in each of three stages down, of another width each; two
    # residual blocks in the last one and another in the middle; then three stages up, each of
    # three. Self- and cross-attention are wired alike inside, and no stack of two
    graph = load_blank(corpus_file(name))
    assert counts(graph, "auto") == [
        *((label, 2) for label in down),
        ("Residual block", 3),
        ("Residual block", 3),
        *[("Transformer block", 3)] * 3,
    ]
    tree = build_group_tree(graph)
    for repeat in repeats(tree):
        assert list_ways_around(tree, repeat) == []


@pytest.mark.parametrize(
    ("name", "label", "truth"),
    [
        ("resnet50", "Bottleneck block", [3, 4, 6, 3]),
        ("shufflenet", "ShuffleNet unit", [4, 8, 4]),
        ("densenet121", "Dense layer", [6, 12, 24, 16]),
        ("inception_v1", "Inception block", [2, 5, 2]),
        # between them stand two modules of another kind, which halve the size
        ("inception_v2", "Inception block", [2, 4, 2]),
        ("squeezenet", "Fire module", [2, 2, 4]),
        ("vgg19", "Convolution block", [2, 2, 4, 4, 4]),
    ],
)
def test_light_models_have_their_stages(name: str, label: str, truth: list[int]) -> None:
    graph = load(light_file(f"light_{name}.onnx")).graph
    assert counts(graph) == [(label, count) for count in truth]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=120), st.randoms(use_true_random=False))
def test_any_wiring_gives_a_sound_tree(ops: list[int], chance: random.Random) -> None:
    builder = Builder()
    values = ["x"]
    for op in ops:
        name = ("Relu", "Add", "Softmax", "Sqrt", "MatMul")[op]
        values.append(builder.add(name, *chance.choices(values[-3:], k=1 + op % 2)))
    graph = builder.load(values[-1])
    for grouping in ("auto", "repeats"):
        check_tree(build_group_tree(graph, grouping))


@given(st.integers(1, 9), st.integers(2, 9), st.integers(0, 20))
def test_a_run_is_found(period: int, count: int, before: int) -> None:
    block = list(range(100, 100 + period))
    numbers = np.array([*range(before), *block * count, 50, 51])
    run = find_runs(numbers)[0]
    assert (run.period, run.low, run.high) == (period, before, before + period * count)


def test_only_some_nodes_of_a_repeat() -> None:
    graph = make_chain(*[f"/h.{n}/{part}" for n in range(6) for part in "xyz"], "/o/a", "/o/b")
    tree = build_group_tree(graph, "auto", frozenset(range(3, 12)))
    (repeat,) = tree.root.children
    assert isinstance(repeat, Group)
    assert (repeat.label, len(repeat.children)) == ("h.1 … h.3", 3)


def test_large_flat_graphs_are_split() -> None:
    chance = random.Random(5)
    builder = Builder()
    values = ["x"]
    for _ in range(25_000):
        values.append(builder.add("Sum", *chance.sample(values[-30:], k=min(2, len(values)))))
    graph = builder.load(values[-1])
    tree = build_group_tree(graph)
    check_tree(tree)
    for group in tree.groups.values():
        assert group.kind == "repeat" or len(group.children) <= MOST_CHILDREN
    assert any(group.kind == "part" for group in tree.groups.values())


@pytest.mark.parametrize(
    "name",
    also_beside(
        ["scope_cycle", "evil_scopes", "scope_wide_20000", "cycle_scc_dense", "cycle_self"],
        "hostile/{}.onnx",
    ),
)
@pytest.mark.parametrize("grouping", ["auto", "repeats"])
def test_hostile_models(name: str, grouping: str) -> None:
    graph = load(corpus_file(name)).graph
    tree = build_group_tree(graph, grouping)
    check_tree(tree)
    for group in tree.groups.values():
        assert group.kind == "repeat" or len(group.children) <= MOST_CHILDREN


TAIL = tuple(f"Tail{n}" for n in range(9))


def make_stages(extras: tuple[int, ...]) -> Graph:
    """Return named stages of 20 nodes, each with some more of its own."""
    builder = Builder()
    x = "x"
    for stage, extra in enumerate(extras):
        for number in range(20):
            x = builder.add(f"Op{number}", x, name=f"/stage.{stage}/n{number}")
        for _ in range(extra):
            x = builder.add("Extra", x, name=f"/stage.{stage}/extra")
    return builder.load(builder.add("Softmax", x, name="/head/y"))


def test_stages_that_are_all_nearly_alike_are_one_repeat() -> None:
    assert counts(make_stages((0, 1, 2)), "names") == [("stage.0 … stage.2", 3)]
    # unless they are only two, or differ in more than a tenth
    assert counts(make_stages((0, 1)), "names") == []
    assert counts(make_stages((0, 1, 30)), "names") == []
    assert counts(make_stages((0, 4, 8)), "names") == []


def test_a_block_without_its_end_does_not_join() -> None:
    builder = Builder()
    x = "x"
    for _ in range(6):
        for op in (*[f"First{n}" for n in range(12)], *TAIL, *[f"Last{n}" for n in range(7)]):
            x = builder.add(op, x)
    for op in (*[f"First{n}" for n in range(12)], *TAIL, *TAIL, *TAIL):
        x = builder.add(op, x)
    assert [count for _, count in counts(builder.load(x))] == [6, 3]


def test_what_a_joining_block_leaves_of_a_repeat_remains() -> None:
    blocks = [np.arange(low, low + 9) for low in range(0, 36, 9)]
    repeat = FoundRepeat(blocks, 1, 0, 36)
    assert repeat.without(40, 50) is repeat
    rest = repeat.without(0, 12)
    assert rest is not None
    assert (rest.low, rest.high, rest.exemplar) == (18, 36, 0)
    assert repeat.without(0, 25) is None, "one block is no repeat"


def test_parts_of_a_graph_without_order_are_few() -> None:
    chance = random.Random(5)
    builder = Builder()
    values = ["x"]
    for _ in range(6000):
        values.append(builder.add("Sum", *chance.sample(values, k=min(2, len(values)))))
    tree = build_group_tree(builder.load(values[-1]))
    check_tree(tree)
    assert 2 <= len(tree.root.children) <= 12


def test_little_is_remembered_of_each_of_many_equal_nodes() -> None:
    def peak(count: int) -> int:
        graph = load(empty_nodes(count)).graph
        assert len(graph.wiring.operators) == count
        tracemalloc.start()
        try:
            build_group_tree(graph)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # the sizes of dicts are powers of two: between equal fillings nothing but the nodes counts
    few, many = peak(5_000), peak(20_000)
    assert (many - few) / 15_000 < 480


def test_a_gate_and_the_activation_behind_it_are_no_stack() -> None:
    """Two scraps without weights are ends of other things; two layers are a stack."""
    builder = Builder()
    x = builder.add("Relu", builder.add("Conv", "x", builder.weight(size=3)))
    for place in (0, 1, 2, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6):
        y = builder.add("Relu", builder.add("Conv", x, builder.weight(size=4)))
        y = builder.add("Conv", y, builder.weight(size=5))
        if not place % 2:
            few = builder.add("Conv", builder.add("ReduceMean", y), builder.weight(size=6))
            gate = builder.add("Conv", builder.add("Relu", few), builder.weight(size=7))
            y = builder.add("Mul", y, builder.add("Sigmoid", gate))
        y = builder.add("Conv", builder.add("Mul", y, builder.add("Sigmoid", y)), "w4")
        way = x if place else builder.add("Conv", x, builder.weight(size=8))
        x = builder.add("Relu", builder.add("Add", way, y))
    tree = build_group_tree(builder.load(builder.add("Softmax", x)))
    repeats = [group for group in tree.groups.values() if group.kind == "repeat"]
    assert repeats
    assert not [one for one in repeats if one.node_count == 4]
