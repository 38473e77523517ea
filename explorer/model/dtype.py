"""Element types of tensors, common to ONNX and Caffe2."""

from dataclasses import dataclass
from functools import cache

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class DataType:
    """The type of a tensor's elements; equal to its name and to the same type of numpy.

    Parameters
    ----------
    name
        The name shown: numpy's where numpy has the type (``float32``), else that of
        ``ml_dtypes`` (``float8_e4m3fn``), else ``string``, ``undefined`` or ``unknown(77)``.
    bits
        Bits per element as stored; None where elements have no fixed size.
    """

    name: str
    bits: int | None

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DataType):
            return self.name == other.name
        if isinstance(other, str):
            return self.name == other
        if isinstance(other, type) and issubclass(other, np.generic):
            other = np.dtype(other)
        if isinstance(other, np.dtype):
            return self.numpy is not None and self.numpy == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def is_known(self) -> bool:
        """Whether the type is one of those that the specifications define."""
        return self.name in _BITS

    @property
    def is_float(self) -> bool:
        """Whether elements are real floating-point numbers of any width."""
        return self.name.startswith(("float", "bfloat"))

    @property
    def is_complex(self) -> bool:
        """Whether elements are complex numbers."""
        return self.name.startswith("complex")

    @property
    def is_integer(self) -> bool:
        """Whether elements are signed or unsigned integers (bool is none)."""
        return self.name.startswith(("int", "uint"))

    @property
    def numpy(self) -> np.dtype[np.generic] | None:
        """The dtype of decoded elements; ``object`` for strings, None where unknown."""
        if self.name == "string":
            return np.dtype(object)
        if not self.is_known or self.name == "undefined":
            return None
        return _numpy_dtype(self.name)


_BITS: dict[str, int | None] = {
    "undefined": None,
    "string": None,
    "bool": 8,
    "complex64": 64,
    "complex128": 128,
    "float64": 64,
    "float32": 32,
    "float16": 16,
    "bfloat16": 16,
    "float8_e4m3fn": 8,
    "float8_e4m3fnuz": 8,
    "float8_e5m2": 8,
    "float8_e5m2fnuz": 8,
    "float8_e8m0fnu": 8,
    "float6_e2m3fn": 6,
    "float6_e3m2fn": 6,
    "float4_e2m1fn": 4,
    "int64": 64,
    "int32": 32,
    "int16": 16,
    "int8": 8,
    "int4": 4,
    "int2": 2,
    "uint64": 64,
    "uint32": 32,
    "uint16": 16,
    "uint8": 8,
    "uint4": 4,
    "uint2": 2,
}


ONNX_DATA_TYPES: tuple[str, ...] = (
    "undefined",
    "float32",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "int32",
    "int64",
    "string",
    "bool",
    "float16",
    "float64",
    "uint32",
    "uint64",
    "complex64",
    "complex128",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "uint4",
    "int4",
    "float4_e2m1fn",
    "float8_e8m0fnu",
    "uint2",
    "int2",
    "float6_e2m3fn",
    "float6_e3m2fn",
)
"""Names of element types by their numbers in ONNX files (onnx.proto: TensorProto.DataType)."""

CAFFE2_DATA_TYPES: dict[int, str] = {
    0: "undefined",
    1: "float32",
    2: "int32",
    3: "uint8",
    4: "string",
    5: "bool",
    6: "uint8",
    7: "int8",
    8: "uint16",
    9: "int16",
    10: "int64",
    12: "float16",
    13: "float64",
}
"""The same for Caffe2 files (caffe2.proto: TensorProto.DataType)."""


@cache
def data_type(name: str) -> DataType:
    """Return the one :class:`DataType` of a name; an unknown name gives one without a size."""
    return DataType(name, _BITS.get(name))


@cache
def _numpy_dtype(name: str) -> np.dtype[np.generic]:
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # loaded only where a type of the narrow kinds is in use

        dtype: np.dtype[np.generic] = np.dtype(getattr(ml_dtypes, name))
        return dtype
