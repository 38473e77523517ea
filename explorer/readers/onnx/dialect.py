"""The dialect of ONNX (onnx.proto and the ONNX operator specification)."""

from __future__ import annotations

from dataclasses import replace

from netloupe.explorer.model import Dialect
from netloupe.explorer.model.dtype import ONNX_DATA_TYPES

ONNX = Dialect(
    name="ONNX",
    domain="",
    domain_name="ai.onnx",
    domain_spellings=frozenset({"ai.onnx"}),
    # of the forms in other domains only these mean the same with the same operands: they differ in
    # what types they take, 4 and 16 bits at any operator set (ContribOperators.md)
    same_operators={"com.microsoft": frozenset({"DequantizeLinear", "QuantizeLinear"})},
    constant_attributes={
        "value_float": "float32",
        "value_floats": "float32",
        "value_int": "int64",
        "value_ints": "int64",
        "value_string": "string",
        "value_strings": "string",
    },
    element_types=dict(enumerate(ONNX_DATA_TYPES)),
    element_type_attributes=frozenset({"to", "dtype", "output_dtype"}),
)

#: values in files of their own (onnx-data.proto), whose tensors need no names
ONNX_DATA = replace(ONNX, names_tensors=False)
