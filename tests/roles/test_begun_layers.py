"""What the first layer begins with, as all others do: part of it, and no preparation."""

from __future__ import annotations

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
        values = [1.0] * (dims[0] * dims[1] if dims else 1)
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
