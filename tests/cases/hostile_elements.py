"""Tensors whose claims and contents disagree, and attributes of every oddity."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, numpy_helper

from tests.cases.models import make_model, node, relu, value, weighted


def _tensor(dims: list[int], data_type: int = 1, **fields: object) -> TensorProto:
    return TensorProto(name="w", dims=dims, data_type=data_type, **fields)  # type: ignore[arg-type]


def _extremes() -> bytes:
    odd = np.array([nan, inf, -inf, 0, -0.0, 1e-45, 3e38, -1] * 2, np.float32).reshape(4, 4)
    whole = np.array([2**63 - 1, -(2**63), 2**53 + 1, 0])
    arrays = {
        "w": odd,
        "allnan": np.full(1000, nan, np.float32),
        "constant": np.full(1000, 0.5, np.float32),
        "int64": whole,
    }
    return weighted(*(numpy_helper.from_array(array, name) for name, array in arrays.items()))


def _attribute_oddities() -> bytes:
    kinds = AttributeProto
    attributes = [
        kinds(name="notype", i=5),
        kinds(name="undef", type=kinds.UNDEFINED),
        kinds(name="mismatch", i=5, type=kinds.STRING),
        kinds(name="both", i=5, s=b"s", type=kinds.INT),
        kinds(name="dup", i=1, type=kinds.INT),
        kinds(name="dup", i=2, type=kinds.INT),
        kinds(name="ref", type=kinds.FLOAT, ref_attr_name="outer"),
        kinds(name="binary", s=bytes(range(256)), type=kinds.STRING),
        kinds(name="", i=1, type=kinds.INT),
        kinds(name="no_ints", type=kinds.INTS),
        kinds(name="nan", f=nan, type=kinds.FLOAT),
        kinds(name="inf", f=inf, type=kinds.FLOAT),
    ]
    odd = onnx.NodeProto(name="c", op_type="Conv", input=["x"], output=["y"], attribute=attributes)
    # field 20, the type, is 99: an enum that the classes would not let in
    odd.attribute.add().MergeFromString(b"\x0a\x07unknown\xa0\x01\x63")
    return make_model([odd]).SerializeToString()


def _many_attributes() -> bytes:
    numbered = {f"attr_{number}": number for number in range(3000)}
    return make_model([node("Foo", "x", "y", "c", **numbered)]).SerializeToString()


def _bad_annotations() -> bytes:
    weights = [_tensor([1], raw_data=bytes(4)), _tensor([3], raw_data=bytes(12))]
    weights[0].name, weights[1].name = "s", "s3"
    model = make_model([relu()], weights)
    for target, entries in (
        ("x", [("SCALE_TENSOR", "missing"), ("ZERO_POINT_TENSOR", "s")]),
        ("ghost", [("SCALE_TENSOR", "s")]),
        (
            "y",
            [
                ("SCALE_TENSOR", "s"),
                ("SCALE_TENSOR", "s3"),
                ("<b>k</b>", "<img src=x onerror=alert(1)>"),
                ("", ""),
                ("finn_datatype", "INT4"),
                ("finn_datatype", "BIPOLAR"),
            ],
        ),
        ("y", [("finn_datatype", "UINT2")]),
        ("", []),
    ):
        annotation = model.graph.quantization_annotation.add(tensor_name=target)
        for key, text in entries:
            annotation.quant_parameter_tensor_names.add(key=key, value=text)
    return model.SerializeToString()


def _duplicate_initializers() -> bytes:
    return weighted(_tensor([1], raw_data=bytes(4)), _tensor([2], raw_data=bytes(8)))


def _weight_everywhere() -> bytes:
    """Return a model whose weight is an input and an output, too."""
    weights = [_tensor([1], raw_data=bytes(4))]
    outputs = [value("w"), value("y")]
    return make_model([node("Relu", "w", "y")], weights, [value("w")], outputs).SerializeToString()


CASES: dict[str, Callable[[], bytes]] = {
    "hostile/raw_too_short.onnx": lambda: weighted(_tensor([2, 3], raw_data=bytes(8))),
    "hostile/raw_odd_length.onnx": lambda: weighted(_tensor([2, 3], raw_data=bytes(23))),
    "hostile/raw_and_float_data.onnx": lambda: weighted(
        _tensor([2, 3], raw_data=bytes(24), float_data=[1, 2, 3, 4, 5, 6])
    ),
    "hostile/dtype_undefined.onnx": lambda: weighted(_tensor([2, 3], 0, raw_data=bytes(24))),
    "hostile/dtype_neg.onnx": lambda: weighted(_tensor([2, 3], -5, raw_data=bytes(24))),
    "hostile/dims_2pow62.onnx": lambda: weighted(_tensor([2**62], raw_data=bytes(24))),
    # the product is 0 where it is counted in 64 bits
    "hostile/dims_overflow_zero.onnx": lambda: weighted(_tensor([2**32, 2**32], raw_data=bytes(4))),
    "hostile/dims_zero.onnx": lambda: weighted(_tensor([0, 5])),
    "hostile/dims_rank64.onnx": lambda: weighted(_tensor([1] * 65, raw_data=bytes(4))),
    "hostile/nan_inf_weights.onnx": _extremes,
    "hostile/attr_oddities.onnx": _attribute_oddities,
    "hostile/attrs_3000.onnx": _many_attributes,
    "hostile/quant_annotation_bad.onnx": _bad_annotations,
    "hostile/dup_initializers.onnx": _duplicate_initializers,
    "hostile/input_is_init_is_output.onnx": _weight_everywhere,
}
