"""Every operator that attends is told as attention, with what its operands and attributes say."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.model import Graph
from netloupe.explorer.operators import find_operator, find_schema
from netloupe.explorer.operators.entries import read_shipped
from netloupe.explorer.patterns import Recognition, recognise
from netloupe.explorer.patterns.transformer_details import AttentionDetails
from netloupe.explorer.readers.load import load

_HEADS, _WIDTH, _SHARED = 4, 8, 2
_ALL = [
    (domain, op_type)
    for domain, operators in read_shipped().items()
    for op_type in operators
    if find_operator(domain, op_type).has("attends")
]
#: those that hide later tokens whatever their attributes are, but one that says they do not
_CAUSAL = {
    "DecoderMaskedSelfAttention": None,
    "DynamicSparseAttention": None,  # its attribute has to be 1
    "GatedDeltaNet": None,
    "GroupQueryAttention": "causal",
    "LinearAttention": None,
    "PagedAttention": "is_causal",
    "SparseAttention": None,
    "SparsePagedAttention": "is_causal",
}


def make_graph(domain: str, op_type: str, **attributes: int) -> Graph:
    """Return a graph of one operator and the projections of what it takes."""
    operator = find_operator(domain, op_type)
    schema = find_schema(domain, op_type, 27 if not domain else 1)
    given = {*schema.attributes} if schema is not None else set()
    is_ranked = "num_heads" not in given and "q_num_heads" not in given
    weights: dict[str, np.ndarray] = {}
    nodes, operands = [], []
    for role in operator.operands.names:
        name = ""
        if role in ("query", "key", "value") and f"w_{role}" not in weights:
            is_shared = role != "query" and ("kv_num_heads" in given or is_ranked)
            is_shared &= op_type != "GatedDeltaNet"
            heads = _SHARED if is_shared else _HEADS
            weights[f"w_{role}"] = np.zeros((32, heads * _WIDTH), "f")
            nodes.append(helper.make_node("MatMul", ["x", f"w_{role}"], [f"{role}_rows"]))
            name = f"{role}_rows"
            if is_ranked:
                sizes = [1, -1, heads, _WIDTH]
                weights[f"to_{role}"] = np.array(sizes, np.int64)
                nodes.append(helper.make_node("Reshape", [name, f"to_{role}"], [f"{role}_split"]))
                name = f"{role}_split"
                if not operator.has("attends_linearly"):
                    nodes.append(
                        helper.make_node("Transpose", [name], [f"{role}_turned"], perm=[0, 2, 1, 3])
                    )
                    name = f"{role}_turned"
        elif role == "data":
            name = "x"
        elif role in ("weight", "weight1"):
            has_one = not {"query", "weight1"} & {*operator.operands.names}
            width = 96 if has_one else 32  # for queries, keys and values, or for queries alone
            weights["w"] = np.zeros((32, width), "f")
            name = "w"
        operands.append(name)
    while operands and not operands[-1]:
        operands.pop()
    for name, number in {
        "num_heads": _HEADS,
        "q_num_heads": _HEADS,
        "kv_num_heads": _SHARED,
        **attributes,
    }.items():
        if name not in given:
            attributes.pop(name, None)
        else:
            attributes[name] = number
    nodes.append(helper.make_node(op_type, operands, ["y"], domain=domain, **attributes))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 6, 32])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    kept = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    opsets = [helper.make_opsetid("", 27)]
    opsets += [helper.make_opsetid(domain, 1)] if domain else []
    graph = helper.make_graph(nodes, "g", [x], [y], kept)
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return load(onnx.shape_inference.infer_shapes(model).SerializeToString()).graph


def tell(domain: str, op_type: str, **attributes: int) -> Recognition:
    found = recognise(make_graph(domain, op_type, **attributes).nodes)
    assert found is not None
    return found


@pytest.mark.parametrize(("domain", "op_type"), _ALL)
def test_heads_and_sight_are_told(domain: str, op_type: str) -> None:
    found = tell(domain, op_type)
    assert found.family == "attention"
    assert "ttention" in found.name
    assert found.details.read_as(AttentionDetails).heads == _HEADS
    assert found.details.read_as(AttentionDetails).head_width == _WIDTH
    assert found.details.read_as(AttentionDetails).causal == (op_type in _CAUSAL)
    has_own = find_operator(domain, op_type).operands.find("query") is None
    if has_own:
        assert found.name == "Self-attention"


@pytest.mark.parametrize("op_type", [name for name, told in _CAUSAL.items() if told])
def test_what_is_said_not_to_hide_later_tokens_is_not_causal(op_type: str) -> None:
    found = tell("com.microsoft", op_type, **{str(_CAUSAL[op_type]): 0})
    assert "causal" not in found.details.to_mapping()


@pytest.mark.parametrize(
    ("op_type", "attribute", "window"),
    [
        ("GroupQueryAttention", "local_window_size", 4),
        ("LongformerAttention", "window", 9),  # four on either side
        ("PagedAttention", "local_window_size", 4),
    ],
)
def test_windows_count_the_token_that_attends(op_type: str, attribute: str, window: int) -> None:
    found = tell("com.microsoft", op_type, **{attribute: 4})
    assert found.details.read_as(AttentionDetails).window == window
    assert "window" not in tell("com.microsoft", op_type).details.to_mapping()
