"""The dialect of Caffe2 (caffe2.proto and the operators' own documentation)."""

from __future__ import annotations

from netloupe.explorer.model import BodyBinding, Dialect
from netloupe.explorer.model.dtype import CAFFE2_DATA_TYPES

#: operators that give a stored tensor, or one element many times
_FILLS = (
    "ConstantFill",
    "GivenTensorBoolFill",
    "GivenTensorByteStringToUInt8Fill",
    "GivenTensorDoubleFill",
    "GivenTensorFill",
    "GivenTensorInt16Fill",
    "GivenTensorInt64Fill",
    "GivenTensorIntFill",
    "GivenTensorStringFill",
    "Int8GivenIntTensorFill",
    "Int8GivenTensorFill",
)

CAFFE2 = Dialect(
    name="Caffe2",
    domain="caffe2",
    domain_name="caffe2",
    domain_spellings=frozenset({""}),
    has_opsets=False,
    names_tell_scopes=True,
    bodies_share_names=True,
    constants=dict.fromkeys(_FILLS, "stored"),
    element_types=CAFFE2_DATA_TYPES,
    element_type_attributes=frozenset({"to", "dtype", "output_dtype"}),
    # a net sees the blobs around it, and gives those of the same name; only a Do has other names
    # outside, one by one
    bodies={"Do": BodyBinding(takes_operands=False, needs_equal_numbers=True)},
    other_bodies=BodyBinding(by_name=True),
    self_quantized_prefixes=("Int8",),
    node_fields=("engine", "device", "is_gradient", "debug_info", "op_version"),
)
