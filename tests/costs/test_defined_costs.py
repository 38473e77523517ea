"""Operators cost what the functions cost by which ONNX defines them, and none costs 0 unasked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, TypeProto, defs, helper
from onnx import numpy_helper as numpy_tools

from netloupe import load
from netloupe.explorer.costs.rules import find_cost_rule
from netloupe.explorer.operators.schemas import _load_operators

OPSET = 28
#: what multiplies, by the names of operators that have no definition by others
PRODUCTS = {
    *("MatMul", "Gemm", "Einsum", "MatMulInteger", "QLinearMatMul"),
    *("Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "DeformConv"),
    *("RNN", "GRU", "LSTM", "DFT", "STFT"),
}


def describe_type(dims: list[int]) -> TypeProto:
    return helper.make_tensor_type_proto(TensorProto.FLOAT, dims)


def define(node: NodeProto, types: list[TypeProto]) -> FunctionProto:
    """Return the newest function that defines a node."""
    schema = defs.get_schema(node.op_type, OPSET, node.domain)
    if schema.has_function:
        (*_, version) = schema.function_opset_versions
        return FunctionProto.FromString(schema.get_function_with_opset_version(version))
    (*_, version) = schema.context_dependent_function_opset_versions
    data = schema.get_context_dependent_function_with_opset_version(
        version, node.SerializeToString(), [given.SerializeToString() for given in types]
    )
    return FunctionProto.FromString(data)


def make_models(
    op_type: str,
    operands: dict[str, list[int] | None],
    results: int,
    sizes: dict[str, list[int]] | None = None,
    **attributes: Any,
) -> tuple[ModelProto, ModelProto]:
    """Return a model of one node, and one with the function that defines it in its place."""
    names = [name if dims is not None else "" for name, dims in operands.items()]
    outputs = [f"y{number}" for number in range(results)]
    node = helper.make_node(op_type, [*names, *(sizes or {})], outputs, **attributes)
    types = [describe_type(dims) if dims else TypeProto() for dims in operands.values()]
    types += [
        helper.make_tensor_type_proto(TensorProto.INT64, [len(entries)])
        for entries in (sizes or {}).values()
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
        for name, dims in operands.items()
        if dims is not None
    ]
    stored = [
        numpy_tools.from_array(np.array(entries, np.int64), name)
        for name, entries in (sizes or {}).items()
    ]
    function = define(node, types)
    function.domain, function.name = "own", "defined"
    del function.opset_import[:]
    function.opset_import.append(helper.make_opsetid("", OPSET))
    call = NodeProto(domain="own", op_type="defined")
    call.input.extend(node.input)
    call.output.extend(node.output)
    call.attribute.extend(node.attribute)
    given = {attribute.name for attribute in node.attribute}
    for attribute in defs.get_schema(op_type, OPSET).attributes.values():
        if attribute.name not in given and attribute.name in function.attribute:
            call.attribute.append(attribute.default_value)
    models = []
    for each, functions in ((node, []), (call, [function])):
        ends = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph([each], "graph", inputs, ends, stored)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("own", 1)]
        models.append(helper.make_model(graph, opset_imports=opsets, functions=functions))
    return models[0], models[1]


def assert_alike(models: tuple[ModelProto, ModelProto]) -> int:
    """Assert that both cost the same, all of it known; return how many MACs that is."""
    one, other = (load(model).costs() for model in models)
    assert one.unknown == ()
    assert one.macs == other.macs
    macs = one.macs
    assert isinstance(macs, int)
    return macs


@pytest.mark.parametrize("heads", [(4, 4), (4, 2), (3, 1)], ids=str)
@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta", None])
def test_linear_attention_costs_what_its_scan_costs(
    rule: str | None, heads: tuple[int, int]
) -> None:
    batch, length, width, deep = 2, 5, 3, 6
    many, few = heads
    has_decay, has_rate = rule not in ("linear", "delta"), rule not in ("linear", "gated")
    operands: dict[str, list[int] | None] = {
        "query": [batch, length, many * width],
        "key": [batch, length, few * width],
        "value": [batch, length, few * deep],
        "past": [batch, few, width, deep],
        "decay": [batch, length, few] if has_decay else None,
        "rate": [batch, length, few] if has_rate else None,
    }
    said = {} if rule is None else {"update_rule": rule}
    macs = assert_alike(
        make_models("LinearAttention", operands, 2, q_num_heads=many, kv_num_heads=few, **said)
    )
    assert macs == batch * length * width * deep * (many + few * (2 if has_rate else 1))


@pytest.mark.parametrize("activation", ["none", "silu"])
def test_a_causal_convolution_costs_what_its_convolution_costs(activation: str) -> None:
    operands: dict[str, list[int] | None] = {
        "data": [2, 6, 10],
        "weight": [6, 1, 4],
        "bias": [6],
        "past": [2, 6, 3],
    }
    models = make_models("CausalConvWithState", operands, 2, activation=activation)
    assert assert_alike(models) == 2 * 6 * 10 * 4


@pytest.mark.parametrize("sizes", [[2, 3, 5, 7], [2, 3, 4, 5, 7]], ids=str)
def test_a_grid_costs_a_product_for_each_place(sizes: list[int]) -> None:
    # the function counts more: it makes a volume of a picture, and If asks which of both it is
    axes = len(sizes) - 2
    operands: dict[str, list[int] | None] = {"theta": [sizes[0], axes, axes + 1]}
    costs = load(make_models("AffineGrid", operands, 1, {"size": sizes})[0]).costs()
    places = int(np.prod(sizes)) // sizes[1]
    assert (costs.macs, costs.unknown) == (places * axes * (axes + 1), ())


@pytest.mark.parametrize(("names", "width"), [(["gate", "up"], 12), (["gate"], 6)], ids=str)
def test_a_gate_of_one_operand_is_half_as_wide(names: list[str], width: int) -> None:
    nodes = [
        helper.make_node("SwiGLU", names, ["h"], domain="com.microsoft"),
        helper.make_node("MatMul", ["h", "w"], ["y"]),
    ]
    dims = {"gate": [2, 3, 12], "up": [2, 3, 12], "w": [width, 7]}
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in dims.items()]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info("y")])
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    costs = load(helper.make_model(graph, opset_imports=opsets)).costs()
    assert (costs.macs, costs.unknown) == (2 * 3 * width * 7, ())


def test_what_is_defined_by_a_product_is_known_to_multiply() -> None:
    def list_operators(nodes: Iterable[NodeProto]) -> Iterator[str]:
        for node in nodes:
            yield node.op_type
            for attribute in node.attribute:
                for graph in [*attribute.graphs, attribute.g]:
                    yield from list_operators(graph.node)

    checked = 0
    for schema in defs.get_all_schemas_with_history():
        for version in schema.function_opset_versions if schema.has_function else ():
            data = schema.get_function_with_opset_version(version)
            made = {*list_operators(FunctionProto.FromString(data).node)}
            rule = find_cost_rule(schema.domain, schema.name)
            if made & PRODUCTS:
                assert rule is None or rule.multiplies, schema.name
            checked += 1
    assert checked > 40


def test_no_operator_without_a_rule_costs_nothing() -> None:
    looked = 0
    for domain, operators in _load_operators().items():
        for op_type in operators:
            if domain == "caffe2":
                continue
            node = helper.make_node(op_type, ["x"], ["y"], domain=domain)
            given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 4])
            ends = [helper.make_empty_tensor_value_info("y")]
            graph = helper.make_graph([node], "graph", [given], ends)
            opsets = [helper.make_opsetid(domain or "ai.onnx", 1)]
            model = load(helper.make_model(graph, opset_imports=opsets))
            costs = model.costs()
            told = {one.what for one in costs.unknown if one.affects == "macs"}
            if find_cost_rule(domain, op_type) is None:
                assert costs.macs_is_lower_bound
                assert told == {model.dialect.name_operator(domain, op_type)}
                looked += 1
            elif op_type in PRODUCTS:
                assert costs.macs or told, op_type
    assert looked > 100
    for op_type in ("DFT", "STFT", "GRUUnit"):  # of these no rule says how often they multiply
        assert find_cost_rule("", op_type) is None


def test_every_operator_of_onnx_is_judged() -> None:
    """What multiplies in none of ONNX's own domains is told by name, not by being left out."""
    unknown = {
        schema.name
        for schema in defs.get_all_schemas()
        if schema.domain in ("", "ai.onnx.ml")
        and find_cost_rule(schema.domain, schema.name) is None
    }
    assert unknown == {"DFT", "STFT"}
