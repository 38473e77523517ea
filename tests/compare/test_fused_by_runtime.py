"""What ONNX Runtime fused is compared down to each attribute of the operators that it made.

By construction: a network with operators that it fuses, the twin that its optimizers make of it,
and that twin with one attribute of one node edited, or stated where it is not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, ModelProto, TensorProto, helper, numpy_helper

import netloupe
from netloupe.commands.diff import read_fail_on
from netloupe.explorer.compare import Diff
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.review import make_review

_CHANCE = np.random.default_rng(5)
_WIDTH, _HEADS = 16, 2


def _normal(*dims: int) -> np.ndarray:
    return _CHANCE.standard_normal(dims).astype(np.float32)


def _node(op_type: str, inputs: str, output: str, **stated: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs.split(), [output], f"node_{output}", **stated)


def _make(
    nodes: list[onnx.NodeProto],
    arrays: dict[str, Any],
    shape: list[int],
    opset: int = 17,
    mask: list[int] | None = None,
) -> ModelProto:
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    if mask:
        inputs.append(helper.make_tensor_value_info("mask", TensorProto.INT64, mask))
    graph = helper.make_graph(
        nodes,
        "g",
        inputs,
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
    )
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", opset)])


def _make_gelu(middle: list[onnx.NodeProto], opset: int = 17, **numbers: float) -> ModelProto:
    arrays = {"w": _normal(16, 32), "w2": _normal(32, 16), "b": _normal(32)}
    nodes = [_node("MatMul", "x w", "h"), *middle, _node("MatMul", "g w2", "y")]
    if all("b" not in node.input for node in nodes):
        del arrays["b"]
    arrays |= {name: np.float32(number) for name, number in numbers.items()}
    return _make(nodes, arrays, [2, 3, 16], opset)


def _make_written_out_gelu() -> ModelProto:
    rows = [
        *(("Add", "h b", "s"), ("Div", "s root", "d"), ("Erf", "d", "e"), ("Add", "e one", "f")),
        *(("Mul", "s f", "m"), ("Mul", "m half", "g")),
    ]
    return _make_gelu([_node(*row) for row in rows], root=2**0.5, one=1, half=0.5)


def _make_tanh_gelu() -> ModelProto:
    nodes = [_node("Add", "h b", "s"), _node("Gelu", "s", "g", approximate="tanh")]
    return _make_gelu(nodes, 20)


def _make_quick_gelu() -> ModelProto:
    rows = [("Mul", "h alpha", "d"), ("Sigmoid", "d", "e"), ("Mul", "h e", "g")]
    return _make_gelu([_node(*row) for row in rows], alpha=1.702)


def _make_activated(op_type: str = "Relu", **stated: float) -> ModelProto:
    nodes = [_node("Conv", "x w b", "c", pads=[1] * 4), _node(op_type, "c", "a", **stated)]
    arrays = {"w": _normal(8, 4, 3, 3), "b": _normal(8), "w2": _normal(4, 8, 1, 1)}
    return _make([*nodes, _node("Conv", "a w2", "y")], arrays, [1, 4, 8, 8])


def _make_products() -> ModelProto:
    rows = [("MatMul", "x w", "k"), ("MatMul", "x t", "q"), ("Div", "q s", "d")]
    nodes = [_node(*row) for row in rows]
    nodes.insert(1, _node("Transpose", "k", "t", perm=[0, 2, 1]))
    nodes.append(_node("Softmax", "d", "y"))
    return _make(nodes, {"s": np.float32(4), "w": _normal(16, 16)}, [2, 5, 16])


def _make_norm() -> ModelProto:
    nodes = [
        _node("MatMul", "x w", "h"),
        _node("Add", "h x", "a"),
        _node("LayerNormalization", "a g b", "l", epsilon=1e-6),
        _node("MatMul", "l w2", "y"),
    ]
    arrays = {"w": _normal(16, 16), "g": _normal(16), "b": _normal(16), "w2": _normal(16, 16)}
    return _make(nodes, arrays, [2, 3, 16])


def _make_gemm() -> ModelProto:
    nodes = [_node("Gemm", "x w b", "c", alpha=0.5, transB=1), _node("Relu", "c", "a")]
    arrays = {"w": _normal(8, 4), "b": _normal(8), "w2": _normal(8, 4)}
    return _make([*nodes, _node("Gemm", "a w2", "y")], arrays, [2, 4])


def _make_attention() -> ModelProto:
    size = _WIDTH // _HEADS
    arrays: dict[str, Any] = {
        "heads": np.array([0, 0, _HEADS, size]),
        "back": np.array([0, 0, _WIDTH]),
        "root": np.float32(size**0.5),
        "one": np.float32(1),
        "low": np.float32(-10_000),
        "first": np.array([1]),
        "second": np.array([2]),
        **{name: _normal(_WIDTH) for name in ("g", "b", "g2", "b2", "bo")},
        "wo": _normal(_WIDTH, _WIDTH),
    }
    nodes = [_node("LayerNormalization", "x g b", "n")]
    for name in "qkv":
        arrays |= {f"w{name}": _normal(_WIDTH, _WIDTH), f"b{name}": _normal(_WIDTH)}
        order = [0, 2, 3, 1] if name == "k" else [0, 2, 1, 3]
        nodes += [
            _node("MatMul", f"n w{name}", f"{name}0"),
            _node("Add", f"{name}0 b{name}", f"{name}1"),
            _node("Reshape", f"{name}1 heads", f"{name}2"),
            _node("Transpose", f"{name}2", f"{name}3", perm=order),
        ]
    nodes += [
        *(_node("MatMul", "q3 k3", "scores"), _node("Div", "scores root", "scaled")),
        *(_node("Unsqueeze", "mask first", "m1"), _node("Unsqueeze", "m1 second", "m2")),
        *(_node("Cast", "m2", "m3", to=1), _node("Sub", "one m3", "m4")),
        *(_node("Mul", "m4 low", "m5"), _node("Add", "scaled m5", "masked")),
        *(_node("Softmax", "masked", "p"), _node("MatMul", "p v3", "c")),
        _node("Transpose", "c", "c1", perm=[0, 2, 1, 3]),
        *(_node("Reshape", "c1 back", "c2"), _node("MatMul", "c2 wo", "o")),
        *(_node("Add", "o bo", "o1"), _node("Add", "o1 n", "r")),
        _node("LayerNormalization", "r g2 b2", "y"),
    ]
    return _make(nodes, arrays, [1, 4, _WIDTH], mask=[1, 4])


NETWORKS: dict[str, Callable[[], ModelProto]] = {
    "written-out GELU": _make_written_out_gelu,
    "GELU by tanh": _make_tanh_gelu,
    "GELU by a sigmoid": _make_quick_gelu,
    "Conv and Relu": _make_activated,
    "Conv and LeakyRelu": lambda: _make_activated("LeakyRelu", alpha=0.2),
    "Conv and HardSigmoid": lambda: _make_activated("HardSigmoid", alpha=0.3, beta=0.4),
    "products": _make_products,
    "norm of a sum": _make_norm,
    "Gemm": _make_gemm,
    "attention": _make_attention,
}
#: what is stated where it is not, by operator: all other values than those that hold
STATED: dict[str, dict[str, Any]] = {
    "Attention": {
        "scale": 0.5,
        "unidirectional": 1,
        "num_heads": 4,
        "do_rotary": 1,
        "mask_filter_value": -1.0,
    },
    "BiasGelu": {},
    "FusedConv": {"dilations": [2, 2], "group": 2, "strides": [2, 2], "pads": [1, 1, 1, 0]},
    "FusedGemm": {"alpha": 2.0, "beta": 2.0, "transA": 1},
    "FusedMatMul": {"alpha": 3.0, "transA": 1, "transB": 1, "transBatchA": 1},
    "Gelu": {"approximate": "tanh"},
    "Gemm": {"alpha": 2.0, "beta": 2.0},
    "LayerNormalization": {"epsilon": 0.5, "axis": 1},
    "QuickGelu": {"alpha": 1.0},
    "SkipLayerNormalization": {"epsilon": 0.5},
    "Softmax": {"axis": 1},
}
#: shapes without a zero are the same either way
_WITHOUT_EFFECT = {("Reshape", "allowzero")}


@cache
def optimize(name: str, tool: str) -> tuple[ModelProto, ModelProto]:
    import onnxruntime

    left = NETWORKS[name]()
    if tool == "session":
        options = onnxruntime.SessionOptions()
        levels = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = levels.ORT_ENABLE_EXTENDED
        path = _FOLDERS[-1] / "optimized.onnx"
        options.optimized_model_filepath = str(path)
        options.log_severity_level = 4
        onnxruntime.InferenceSession(
            left.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return left, onnx.load(path)
    optimizer = pytest.importorskip("onnxruntime.transformers.optimizer")
    logging.disable(logging.INFO)
    try:
        path = _FOLDERS[-1] / "given.onnx"
        onnx.save(left, path)
        made = optimizer.optimize_model(
            str(path), model_type="bert", num_heads=_HEADS, hidden_size=_WIDTH, opt_level=0
        )
    finally:
        logging.disable(logging.NOTSET)
    return left, made.model


_FOLDERS: list[Path] = []


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> Iterator[None]:
    _FOLDERS.append(tmp_path)
    yield
    _FOLDERS.pop()


def edit(attribute: AttributeProto) -> AttributeProto | None:
    """Return an attribute with another value; None for what has none."""
    edited = AttributeProto()
    edited.CopyFrom(attribute)
    kinds = AttributeProto.AttributeType
    if attribute.type == kinds.FLOAT:
        edited.f = attribute.f * 2 + 0.5
    elif attribute.type == kinds.INT:
        edited.i = 0 if attribute.i == 1 else attribute.i + 1
    elif attribute.type == kinds.STRING:
        others = {b"none": b"tanh", b"NOTSET": b"SAME_UPPER", b"Relu": b"Sigmoid"}
        edited.s = others.get(attribute.s, b"Tanh")
    elif attribute.type == kinds.INTS:
        edited.ints[0] += 1
    elif attribute.type == kinds.FLOATS:
        edited.floats[0] += 1
    else:
        return None
    return edited


def list_edited(right: ModelProto) -> Iterator[tuple[str, ModelProto]]:
    """Yield what is edited, and the model with that."""
    for place, node in enumerate(right.graph.node):
        edits = [edit(attribute) for attribute in node.attribute]
        known = {attribute.name for attribute in node.attribute}
        edits += [
            helper.make_attribute(name, value)
            for name, value in STATED.get(node.op_type, {}).items()
            if name not in known
        ]
        for attribute in edits:
            if attribute is None or (node.op_type, attribute.name) in _WITHOUT_EFFECT:
                continue
            model = ModelProto()
            model.CopyFrom(right)
            made = model.graph.node[place]
            kept = [one for one in made.attribute if one.name != attribute.name]
            del made.attribute[:]
            made.attribute.extend([*kept, attribute])
            yield f"{node.name}: {node.op_type}.{attribute.name}", model


def compare(left: ModelProto, right: ModelProto) -> Diff:
    return netloupe.diff(*(netloupe.load(one.SerializeToString()) for one in (left, right)))


def list_told(found: Diff) -> list[tuple[object, ...]]:
    return [tuple(c) for one in found.nodes for c in one.changes if not c.aspect]


@pytest.mark.parametrize("tool", ["session", "transformers"])
@pytest.mark.parametrize("name", NETWORKS)
def test_each_attribute_of_what_was_fused_is_compared(name: str, tool: str) -> None:
    left, right = optimize(name, tool)
    for sides in ((0, 1), (1, 0)):
        faithful = compare(*((left, right)[side] for side in sides))
        alone = {node.name for node in (*faithful.left_alone, *faithful.right_alone)}
        for what, edited in list_edited(right):
            if what.partition(":")[0] in alone:  # it is told as such
                continue
            found = compare(*((left, edited)[side] for side in sides))
            is_as_before = list_told(found) == list_told(faithful)
            is_paired = [*map(str, found.left_alone)] == [*map(str, faithful.left_alone)]
            assert not (is_as_before and is_paired), what
            assert read_fail_on("structure")[0].applies(found)


#: what a tool changes beside what it fuses: the transformers optimizer makes a GELU by erf of one
#: by tanh where a bias stands before, and leaves out the epsilon of a norm in an attention
_CHANGED = {
    ("GELU by tanh", "transformers"): ["formula of GELU"],
    ("attention", "transformers"): ["epsilon"],
    ("attention", "session"): ["operator", "attribute alpha"],
    ("products", "session"): ["operator", "attribute transB", "attribute alpha"],
}


@pytest.mark.parametrize("tool", ["session", "transformers"])
@pytest.mark.parametrize("name", NETWORKS)
def test_of_what_was_fused_faithfully_nothing_else_is_told(name: str, tool: str) -> None:
    found = compare(*optimize(name, tool))
    assert [what for what, *_ in list_told(found)] == _CHANGED.get((name, tool), [])


def test_what_differs_inside_is_told_in_all_forms() -> None:
    left, right = optimize("written-out GELU", "transformers")
    edited = ModelProto()
    edited.CopyFrom(right)
    for node in edited.graph.node:
        if node.op_type == "BiasGelu":
            node.op_type = "FastGelu"
    found = compare(left, edited)
    told = "formula of GELU"
    assert [what for what, *_ in list_told(found)] == [told]
    assert told in format_diff(found)
    assert told in str(encode_diff(found, most=None))
    assert any(told == label for item in make_review(diff=found) for label, _ in item.evidence)
    assert told in netloupe.report(found.right, against=found.left, format="md")
    assert told in found.to_panes()


@pytest.mark.parametrize("tool", ["session", "transformers"])
@pytest.mark.parametrize("number", ["root", "one", "half"])
@pytest.mark.parametrize(("factor", "is_told"), [(1 + 1e-5, False), (1.5, True)])
def test_numbers_of_what_is_written_out_are_compared(
    tool: str, number: str, factor: float, is_told: bool
) -> None:
    left, right = optimize("written-out GELU", tool)
    edited = ModelProto()
    edited.CopyFrom(left)
    for tensor in edited.graph.initializer:
        if tensor.name == number:
            array = numpy_helper.to_array(tensor) * np.float32(factor)
            tensor.CopyFrom(numpy_helper.from_array(array.astype(np.float32), number))
    for sides in ((edited, right), (right, edited)):
        told = [what for what, *_ in list_told(compare(*sides))]
        assert told == ["formula of GELU"] * is_told


def test_a_bias_of_one_number_is_no_number_of_the_formula() -> None:
    left, right = (ModelProto.FromString(one.SerializeToString()) for one in _make_narrow())
    assert not list_told(compare(left, right))


def _make_narrow() -> tuple[ModelProto, ModelProto]:
    """Return a GELU of values of one channel with a bias, written out and as one operator."""
    rows = [
        *(("Add", "h b", "s"), ("Div", "s root", "d"), ("Erf", "d", "e"), ("Add", "e one", "f")),
        *(("Mul", "s f", "m"), ("Mul", "m half", "g")),
    ]
    arrays = {"w": _normal(16, 1), "w2": _normal(1, 16), "b": np.array([0.7], np.float32)}
    ends = _node("MatMul", "x w", "h"), _node("MatMul", "g w2", "y")
    numbers = {"root": np.float32(2**0.5), "one": np.float32(1), "half": np.float32(0.5)}
    middle = [_node(*row) for row in rows]
    fused = [_node("BiasGelu", "h b", "g", domain="com.microsoft")]
    left = _make([ends[0], *middle, ends[1]], arrays | numbers, [2, 3, 16])
    right = _make([ends[0], *fused, ends[1]], arrays, [2, 3, 16])
    right.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    left.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return left, right
