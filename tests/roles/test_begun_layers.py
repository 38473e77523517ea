"""What the first layer begins with, as all others do: part of it, and no preparation."""

from __future__ import annotations

from math import prod

import onnx.parser

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.roles import find_roles


def _make_layers(count: int, first: str = "MatMul") -> Model:
    """Return layers that add up neighbours and twice the node itself before a linear layer."""
    weights = ", ".join(f"float[8, 8] w{n}, float b{n}" for n in range(count))
    layers = "".join(
        f"""
            p{n} = {first if n == 0 else "MatMul"} (adj, x{n})
            q{n} = Mul (b{n}, x{n})  s{n} = Add (p{n}, q{n})
            h{n} = MatMul (s{n}, w{n})  x{n + 1} = Relu (h{n})
        """
        for n in range(count)
    )
    text = f"""
        <ir_version: 10, opset_import: ["": 21]>
        graph (float[8, 8] adj, float[8, 8] x0) => (float[8, 8] x{count}) <{weights}> {{{layers}}}
    """
    return load(_store(onnx.parser.parse_model(text)))


def _store(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model whose described values are stored."""
    for info in [*proto.graph.value_info]:
        dims = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        values = [1.0] * prod(dims)
        proto.graph.initializer.append(onnx.helper.make_tensor(info.name, 1, dims, values))
    del proto.graph.value_info[:]
    return proto


def _list_prepared(model: Model) -> list[str]:
    pieces = find_roles(model.graph).pieces
    return [model.graph.nodes[index].op_type for piece in pieces for index in piece.nodes]


def test_the_sum_of_neighbours_belongs_to_the_first_layer_too() -> None:
    model = _make_layers(4)
    assert _list_prepared(model) == []
    assert {find_roles(model.graph).of(node) for node in model.graph.nodes} == {"body"}
    (repeat,) = model.group("main/").groups
    assert (repeat.kind, len(repeat.groups)) == ("repeat", 4)
    assert repeat.groups[0].node_count == 5


def test_what_other_layers_do_not_begin_with_is_preparation() -> None:
    assert _list_prepared(_make_layers(4, "Sub")) == ["Sub", "Mul", "Add"]
    assert _list_prepared(_make_layers(2)) == ["MatMul", "Mul", "Add"]


def _make_flow(count: int) -> Model:
    """Return steps that scale and permute, then shift by a layer; each adds to a sum."""
    stored = ", ".join(f"float[8] t{n}, float[8] s{n}" for n in range(count))
    weights = ", ".join(f"float[8, 8] w{n}" for n in range(count))
    steps = "".join(
        f"""
            a{n} = Sub (x{n}, t{n})  b{n} = Mul (a{n}, s{n})
            c{n} = Slice (b{n}, none, half, last)  d{n} = Slice (b{n}, half, all, last)
            e{n} = Concat <axis = 1> (d{n}, c{n})
            l{n} = Log (s{n})  m{n} = ReduceSum <keepdims = 0> (l{n})  o{n} = Neg (m{n})
            p{n} = Add (q{n}, o{n})
            f{n} = MatMul (e{n}, w{n})  g{n} = Sigmoid (f{n})  x{n + 1} = Mul (e{n}, g{n})
            h{n} = ReduceSum <keepdims = 0> (g{n})  q{n + 1} = Add (p{n}, h{n})
        """
        for n in range(count)
    )
    text = f"""
        <ir_version: 10, opset_import: ["": 21]>
        graph (float[8, 8] x0) => (float[8, 8] x{count}, float sum)
        <{stored}, {weights}, float[1] q0, int64[1] none = {{0}}, int64[1] half = {{4}},
            int64[1] all = {{8}}, int64[1] last = {{1}}>
        {{{steps}  sum = Identity (q{count})}}
    """
    return load(_store(onnx.parser.parse_model(text)))


def test_a_first_step_that_arranges_its_input_is_a_step() -> None:
    """Behind it stands no weight alone, and the sum that others add to begins with a number."""
    model = _make_flow(4)
    assert _list_prepared(model) == []
    (repeat,) = (group for group in model.group("main/").groups if group.kind == "repeat")
    assert [block.node_count for block in repeat.groups] == [14] * 4


def test_what_two_steps_alone_begin_with_is_preparation() -> None:
    assert "Concat" in _list_prepared(_make_flow(2))
