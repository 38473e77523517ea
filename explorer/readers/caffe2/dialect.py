"""The dialect of Caffe2 (caffe2.proto and the operators' own documentation)."""

from __future__ import annotations

from netloupe.explorer.model import BodyBinding, Dialect
from netloupe.explorer.model.dtype import CAFFE2_DATA_TYPES

CAFFE2 = Dialect(
    name="Caffe2",
    domain="caffe2",
    domain_name="caffe2",
    domain_spellings=frozenset({""}),
    has_opsets=False,
    names_tell_scopes=True,
    bodies_share_names=True,
    element_types=CAFFE2_DATA_TYPES,
    element_type_attributes=frozenset({"to", "dtype", "output_dtype"}),
    # a net sees the blobs around it, and gives those of the same name
    other_bodies=BodyBinding(by_name=True),
    self_quantized_prefixes=("Int8",),
    node_fields=("engine", "device", "is_gradient", "debug_info", "op_version"),
)
