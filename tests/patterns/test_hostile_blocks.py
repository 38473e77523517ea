"""Recognition of what no exporter would write: it fails on nothing and ends soon."""

from __future__ import annotations

import random
from importlib import import_module

import onnx
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Graph
from netloupe.explorer.operators import find_operator, list_known_domains, list_known_operators
from netloupe.explorer.patterns import GraphContext, recognise
from netloupe.explorer.patterns.operations import ARRANGING
from netloupe.explorer.readers.load import load
from tests.corpus import MADE, corpus_file

_OTHERS = """
    Add Mul Sub Div Pow Sqrt Erf Tanh Sigmoid Softmax Softplus Clip Concat Slice Gather TopK Neg
    ReduceMean ReduceL2 Where Trilu Range Less Shape LSTM GRU Cos Sin GlobalAveragePool MaxPool Exp
    DepthToSpace Reciprocal Constant ConstantOfShape HardSigmoid Relu Gelu LayerNormalization
    LpNormalization MultiHeadAttention GroupQueryAttention MoE
"""
#: what arranges, and what is a form of another operator, with that
_ASKED = [
    operator
    for domain in sorted(list_known_domains())
    for op_type in list_known_operators(domain)
    if (operator := find_operator(domain, op_type)).has(*ARRANGING) or operator.form != op_type
]
_OPS = sorted({*_OTHERS.split(), *(o.op_type for o in _ASKED), *(o.form for o in _ASKED)})


def write_any(chance: random.Random, count: int) -> Graph:
    """Return a graph of operators with too few, too many, absent and repeated operands."""
    names = ["", "x", "w", "v", "missing"]
    nodes = []
    for number in range(count):
        operands = chance.choices(names[-9:] + names[:4], k=chance.randrange(5))
        outputs = [f"t{number}", f"u{number}"][: chance.choice((0, 1, 1, 1, 1, 2))]
        attributes = {
            name: value
            for name, value in (
                ("group", 8),
                ("kernel_shape", [3, 3]),
                ("perm", [0, 2, 1, 3, 4]),
                ("axes", [-1]),
                ("num_heads", 0),
                ("K", -1),
                ("direction", "bidirectional"),
            )
            if chance.random() < 0.2
        }
        nodes.append(helper.make_node(chance.choice(_OPS), operands, outputs, **attributes))
        names += outputs
    tensors = [
        helper.make_tensor("w", TensorProto.FLOAT, [8, 1, 3, 3], [0.5] * 72),
        helper.make_tensor("v", TensorProto.INT64, [2], [0, -7]),
    ]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "y")]
    model = onnx.ModelProto(ir_version=8, graph=onnx.GraphProto(name="g", node=nodes))
    model.graph.input.extend(info[:1])
    model.graph.output.extend(info[1:])
    model.graph.initializer.extend(tensors)
    return load(model.SerializeToString()).graph


@pytest.mark.parametrize("seed", range(40))
def test_any_operators_wired_in_any_way_are_looked_at_without_failing(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(12):
        graph = write_any(chance, chance.randrange(1, 30))
        context = GraphContext(graph)
        first = recognise(graph.nodes, context)
        again = recognise(graph.nodes)
        assert (first and first.text) == (again and again.text)
        for low in range(0, len(graph.nodes), 5):
            recognise(graph.nodes[low : low + 9], context)


@pytest.mark.parametrize("name", [n for n in MADE if not n.startswith(("exported/", "quantized/"))])
def test_groups_of_odd_models_are_looked_at_without_failing(name: str) -> None:
    try:
        model = load(corpus_file(name))
    except Exception:  # what cannot be read has no groups
        return
    for graph in model.graphs[:20]:
        for group in list(build_group_tree(graph).groups.values())[:200]:
            count = group.node_count
            assert group.recognised is None or group.recognised.name
            assert group.node_count == count


def test_a_number_without_a_scale_is_no_number() -> None:
    nodes = [
        helper.make_node("DequantizeLinear", ["w"], ["h"]),
        helper.make_node("Mul", ["x", "h"], ["g"]),
        helper.make_node("Sigmoid", ["g"], ["s"]),
        helper.make_node("Mul", ["x", "s"], ["y"]),
    ]
    model = onnx.ModelProto(ir_version=8, graph=onnx.GraphProto(name="g", node=nodes))
    model.graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, None))
    model.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, None))
    model.graph.initializer.append(helper.make_tensor("w", TensorProto.INT8, [], [1]))
    found = recognise(load(model.SerializeToString()).graph.nodes)
    assert found is not None
    assert found.name == "Swish"


def test_chains_that_look_at_one_another_end_soon() -> None:
    nodes = [helper.make_node("Softmax", ["x"], ["t0"])]
    for number in range(400):
        last = f"t{number}"
        nodes.append(helper.make_node("MatMul", [last, last], [f"t{number + 1}"]))
    model = onnx.ModelProto(ir_version=8, graph=onnx.GraphProto(name="g", node=nodes))
    graph = load(model.SerializeToString()).graph
    looked = 0

    class Counting(GraphContext):
        def is_unchanging(self, value: object) -> bool:
            nonlocal looked
            looked += 1
            return super().is_unchanging(value)  # type: ignore[arg-type]

    assert recognise(graph.nodes, Counting(graph)) is None
    assert looked < 10 * len(graph.nodes)


def test_a_rule_that_fails_costs_a_name_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    module = import_module("netloupe.explorer.patterns.recognise")
    monkeypatch.setattr(module, "find_blocks", fail)
    graph = load(corpus_file("exported/gpt2.legacy.onnx")).graph
    group = build_group_tree(graph).find("h.3/mlp")
    assert isinstance(group, Group)
    assert group.recognised is None
