"""Modules that are called several times, and recurrent layers: each call and layer is a block."""

from __future__ import annotations

from itertools import chain

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.scopes import read_name_scopes
from netloupe.explorer.model import Graph
from netloupe.explorer.readers.load import load
from netloupe.proto import onnx_pb2

from .test_repeats import Builder, counts, repeats
from .test_tree import check_tree, make_chain, outline


def number(name: str, call: int) -> str:
    """Return the name that torch's older exporter gives to a call of a module."""
    return f"{name}_{call}" if call else name


def test_calls_of_a_module_hold_what_they_call() -> None:
    names = [
        name
        for call in range(3)
        for name in (
            f"/{number('cell/gates', call)}/x",
            f"/{number('cell/gates', call)}/y",
            f"/{number('cell', call)}/z",
        )
    ]
    calls = [f"{number('cell', call)}(gates(x y) z)" for call in range(3)]
    assert outline_repeat(*names, "/head/x", "/head/y") == calls


def outline_repeat(*names: str) -> list[str]:
    """Return the blocks of the only outermost repeat, each with what is in it."""
    tree = build_group_tree(make_chain(*names), "names")
    check_tree(tree)
    (repeat,) = repeats(tree)
    blocks = [child for child in repeat.children if isinstance(child, Group)]
    return [f"{block.label}({outline(tree, block)})" for block in blocks]


def test_calls_within_calls() -> None:
    names = [
        name
        for call in range(4)
        for name in (
            f"/{number('layer/attn/query', call)}/x",
            f"/{number('layer/attn/query', call)}/y",
            f"/{number('layer/attn', call)}/x",
            f"/{number('layer/ffn', call)}/x",
            f"/{number('layer/ffn', call)}/y",
            f"/{number('layer', call)}/x",
        )
    ]
    inside = "attn(query(x y) x) ffn(x y) x"
    calls = [f"{number('layer', call)}({inside})" for call in range(4)]
    assert outline_repeat("/in/x", "/in/y", *names, "/out/x", "/out/y") == calls


def test_a_module_called_twice_in_each_call() -> None:
    names = [
        name
        for call in range(3)
        for name in (
            f"/{number('block/act', 2 * call)}/x",
            f"/{number('block/act', 2 * call)}/y",
            f"/{number('block', call)}/x",
            f"/{number('block/act', 2 * call + 1)}/x",
            f"/{number('block/act', 2 * call + 1)}/y",
        )
    ]
    calls = [f"{number('block', call)}(act(x y) x act_1(x y))" for call in range(3)]
    assert outline_repeat(*names, "/head/x", "/head/y") == calls


def test_a_module_that_not_every_call_calls() -> None:
    gates = [f"/{number('cell/gates', call)}/x" for call in range(2)]
    names = ["/cell/x", "/cell/y", "/cell_1/x", gates[0], gates[0], "/cell_1/y"]
    names += ["/cell_2/x", gates[1], gates[1], "/cell_2/y"]
    assert outline_repeat(*names) == ["cell_1(x gates(x x) y)", "cell_2(x gates(x x) y)"]


def make_stages(*between: str) -> list[str]:
    """Return names of three stages, of which each has two blocks and none a node of its own."""
    return [
        name
        for stage in range(3)
        for name in (
            *(
                f"/blocks/{number(f'block.{place}', stage)}/{part}"
                for place in "01"
                for part in "xy"
            ),
            *(f"/{number(outer, stage)}/x" for outer in between),
        )
    ]


def test_a_container_is_called_again_where_others_stand_between() -> None:
    tree = build_group_tree(make_chain(*make_stages("up")), "names")
    check_tree(tree)
    stages = [child for child in tree.root.inner_groups() if child.kind == "scope"]
    if not stages:
        (repeat,) = repeats(tree)
        stages = [group for block in repeat.inner_groups() for group in block.inner_groups()]
    assert [outline(tree, stage) for stage in stages] == ["block.0(x y) block.1(x y)"] * 3


def test_a_container_is_not_called_again_for_a_loop_inside() -> None:
    tree = build_group_tree(make_chain(*make_stages(), "/head/x", "/head/y"), "names")
    check_tree(tree)
    assert [child.path for child in tree.root.inner_groups()] == ["main/blocks/", "main/head/"]


@pytest.mark.parametrize(
    ("names", "expected", "missing"),
    [
        # numbers with a gap are the author's
        ("a/b a/b a/b_2 a/b_2 a a_2", "a/b a/b_2", "a_2/b a_2/b_2 a_1"),
        # both hold modules, so they are two modules
        ("a/b a/b a a_1/b a_1/b a_1", "a/b a_1/b", "a/b_1 a_1/b_1"),
        # in another order than the calls
        ("a/b a/b a/b_1 a/b_1 a a a_1 a_1", "a/b a/b_1", "a_1/b"),
    ],
)
def test_what_is_not_certain_stays_as_it_stands(names: str, expected: str, missing: str) -> None:
    nodes = [f"/{scope}/x{place}" for place, scope in enumerate(names.split())]
    tree = build_group_tree(make_chain(*nodes, "/o/a", "/o/b"), "names")
    check_tree(tree)
    known = tree.groups.keys() | tree.singles.keys()
    assert known >= {f"main/{scope}/" for scope in expected.split()}
    assert known.isdisjoint(f"main/{scope}/" for scope in missing.split())


def test_a_first_call_that_differs_is_one_of_the_calls() -> None:
    names = [f"/{number('cell', call)}/{part}" for call in range(4) for part in "vwxyz"]
    tree = build_group_tree(make_chain("/cell/start", *names, "/o/a", "/o/b"), "names")
    check_tree(tree)
    (repeat,) = repeats(tree)
    assert (repeat.label, len(repeat.children), repeat.exemplar) == ("cell … cell_3", 4, 1)


def write_with_past(layers: int) -> Graph:
    """Write a decoder of which the first past is copied, as torch's older exporter does."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    for name in ("x", *(f"past{layer}" for layer in range(layers))):
        graph.input.add(name=name)
    graph.output.add(name=f"h{layers}")
    graph.node.add(op_type="Concat", name="Concat_0", input=["past0"], output=["copied"])
    graph.node.add(op_type="Shape", name="/embed/Shape", input=["copied"], output=["length"])
    graph.node.add(op_type="Gather", name="/embed/a", input=["x", "length"], output=["e"])
    graph.node.add(op_type="Relu", name="/embed/b", input=["e"], output=["h0"])
    for layer in range(layers):
        past = f"past{layer}" if layer else "copied"
        scope = f"/layers.{layer}"
        graph.node.add(
            op_type="Concat", name=f"{scope}/a", input=[past, f"h{layer}"], output=[f"a{layer}"]
        )
        for part, given, made in (("b", "a", "b"), ("c", "b", "c")):
            graph.node.add(
                op_type="Relu",
                name=f"{scope}/{part}",
                input=[f"{given}{layer}"],
                output=[f"{made}{layer}"],
            )
        graph.node.add(
            op_type="Sigmoid", name=f"{scope}/d", input=[f"c{layer}"], output=[f"h{layer + 1}"]
        )
    return load(proto.SerializeToString()).graph


def test_a_first_layer_whose_past_is_copied_keeps_its_place() -> None:
    graph = write_with_past(5)
    assert counts(graph, "auto") == [("layers.0 … layers.4", 5)]
    tree = build_group_tree(graph)
    assert [child.label for child in tree.root.children][:1] == ["embed"]


def recurrent(*operators: str) -> Graph:
    """Write recurrent layers with what torch writes between them."""
    builder = Builder()
    x = builder.add("Transpose", "x", perm=[1, 0, 2])
    for operator in operators:
        weights = [builder.weight() for _ in "wrb"]
        x = builder.add(operator, x, *weights, hidden_size=8)
        x = builder.add("Squeeze", x, builder.weight())
    return builder.load(builder.add("Transpose", x, perm=[1, 0, 2]))


@pytest.mark.parametrize("operator", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("count", [2, 3])
def test_recurrent_layers_are_a_stack(operator: str, count: int) -> None:
    assert counts(recurrent(*[operator] * count)) == [(operator, count)]


def test_recurrent_layers_of_two_kinds_are_none() -> None:
    assert counts(recurrent("LSTM", "GRU")) == []
    assert counts(recurrent("Elu", "Elu")) == []
    assert [count for _, count in counts(recurrent(*["LSTM"] * 3, *["GRU"] * 2))] == [3, 2]


def test_recurrent_layers_in_a_small_scope_are_a_stack() -> None:
    graph = recurrent("GRU", "GRU")
    builder = chain(("/rnn/a",), (f"/rnn/{place}" for place in range(4)), ("/rnn/z",))
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="x")
    proto.graph.output.add(name=graph.nodes[-1].outputs[0].name)
    for node, name in zip(graph.nodes, builder, strict=True):
        written = proto.graph.node.add(op_type=node.op_type, name=name)
        written.input.extend(value.name for value in node.inputs if value is not None)
        written.output.extend(value.name for value in node.outputs if value is not None)
    proto.graph.node.add(
        op_type="Relu", name="/head/a", input=[proto.graph.output[0].name], output=["o"]
    )
    assert counts(load(proto.SerializeToString()).graph, "auto") == [("GRU", 2)]


def test_what_stands_behind_the_last_block_is_not_in_it() -> None:
    builder = Builder()
    x, ends = "x", []
    for layer in range(5):
        for part in "abcd":
            x = builder.add("Relu", x, name=f"/layers.{layer}/{part}")
        for part in "ab":
            x = builder.add("Elu", x, name=f"/heads.{layer}/{part}")
        if layer < 4:
            ends.append(builder.add("Unsqueeze", x, name="/decoder/between"))
    stacked = builder.add("Unsqueeze", ends[0], name="/decoder/first")
    graph = builder.load(builder.add("Concat", stacked, x, name="/decoder/joined"))
    tree = build_group_tree(graph, "names")
    check_tree(tree)
    first = next(node for node in graph.nodes if node.name == "/decoder/first")
    assert all(not tree.holds(repeat, first) for repeat in repeats(tree))


def test_a_stack_shows_a_step_that_takes_the_state_of_another() -> None:
    builder = Builder()
    x = builder.weight()
    for call in range(4):
        for part in ("gates", "sum", "act"):
            scope = number(f"cell/{part}", call)
            x = builder.add("Add", x, builder.weight(), name=f"/{scope}/x")
            x = builder.add("Relu", x, name=f"/{scope}/y")
        x = builder.add("Tanh", x, name=f"/{number('cell', call)}/x")
    graph = builder.load(builder.add("Neg", x, name="/head/x"))
    (repeat,) = repeats(build_group_tree(graph, "names"))
    assert (len(repeat.children), repeat.exemplar) == (4, 1)


@pytest.mark.parametrize("shared", ["layers.0.", ""])
def test_a_call_of_a_function_is_in_the_module_of_all_its_weights(shared: str) -> None:
    """torch's older exporter names it after the last module that it calls."""
    proto = onnx_pb2.ModelProto(ir_version=10)
    for domain in ("", "own"):
        proto.opset_import.add(domain=domain, version=21)
    proto.graph.input.add(name="x")
    weights = [f"{shared}norm.weight", f"{shared}gate.weight"]
    for name in weights:
        proto.graph.initializer.add(name=name, data_type=1, dims=[1], float_data=[1.0])
    function = proto.functions.add(domain="own", name="Layer", input=["x", "a", "b"], output=["y"])
    function.opset_import.add(domain="", version=21)
    function.node.add(op_type="Sum", input=["x", "a", "b"], output=["y"])
    call = proto.graph.node.add(op_type="Layer", domain="own", input=["x", *weights], output=["y"])
    call.name = "/layers.0/gate/Layer"
    proto.graph.node.add(op_type="Neg", name="/head/Neg", input=["y"], output=["z"])
    proto.graph.output.add(name="z")
    scopes = read_name_scopes(load(proto.SerializeToString()).graph)
    assert scopes is not None
    assert scopes.of_node == [("layers.0",) if shared else (), ("head",)]


@pytest.mark.parametrize("between", [2, 0])
def test_calls_from_code_of_no_module_are_told_apart(between: int) -> None:
    """Where a method other than forward is exported, what is around a module has no name at all."""
    names = [
        name
        for call in range(3)
        for name in (
            *(f"/{number(f'net/layer.{place}', call)}/{part}" for place in "01" for part in "xy"),
            *(f"/n{call}{place}" for place in range(between)),
        )
    ]
    tree = build_group_tree(make_chain(*names, "/head/x", "/head/y"), "names")
    check_tree(tree)
    assert ("main/net_2/layer.1/" in tree.groups) == bool(between)
