"""The types of values: tensors, sequences, maps, optionals and opaque things."""

from __future__ import annotations

from dataclasses import dataclass

from .dtype import DataType


@dataclass(frozen=True, slots=True)
class Dimension:
    """One axis of a shape.

    Parameters
    ----------
    value
        A size, the name of a symbol, or None where the file does not say.
    denotation
        What the axis means (``DATA_CHANNEL``), or the empty string.
    """

    value: int | str | None
    denotation: str = ""

    def __str__(self) -> str:
        return "?" if self.value is None or self.value == "" else str(self.value)


Shape = tuple[Dimension, ...]


def describe_shape(shape: Shape | None) -> str:
    """Return ``[batch, 3, 224, ?]``; the empty string where the rank is unknown."""
    if shape is None:
        return ""
    if len(shape) > 64:
        head = ", ".join(map(str, shape[:16]))
        return f"[{head}, … {len(shape) - 16} more]"
    return "[" + ", ".join(map(str, shape)) + "]"


@dataclass(frozen=True, slots=True)
class TensorType:
    """A dense tensor; ``shape`` is None where even the rank is unknown.

    Parameters
    ----------
    dtype
        Type of the elements.
    shape
        The dimensions; None where the rank is unknown.
    denotation
        What the tensor means (``IMAGE``), or the empty string.
    """

    dtype: DataType
    shape: Shape | None = None
    denotation: str = ""

    def __str__(self) -> str:
        return f"{self.dtype}{describe_shape(self.shape)}"


@dataclass(frozen=True, slots=True)
class SparseTensorType:
    """A sparse tensor; ``shape`` is that of the dense tensor it stands for.

    Parameters
    ----------
    dtype
        Type of the elements.
    shape
        The dimensions; None where the rank is unknown.
    denotation
        What the tensor means, or the empty string.
    """

    dtype: DataType
    shape: Shape | None = None
    denotation: str = ""

    def __str__(self) -> str:
        return f"sparse({self.dtype}{describe_shape(self.shape)})"


@dataclass(frozen=True, slots=True)
class SequenceType:
    """A list of elements of one type; None where the file does not give it.

    Parameters
    ----------
    element
        Type of each element.
    denotation
        What it means, or the empty string.
    """

    element: ValueType | None
    denotation: str = ""

    def __str__(self) -> str:
        return f"sequence({self.element or '?'})"


@dataclass(frozen=True, slots=True)
class MapType:
    """A mapping from keys of an integer type or strings to values.

    Parameters
    ----------
    key
        Type of the keys.
    value
        Type of the values; None where the file does not give it.
    denotation
        What it means, or the empty string.
    """

    key: DataType
    value: ValueType | None
    denotation: str = ""

    def __str__(self) -> str:
        return f"map({self.key}, {self.value or '?'})"


@dataclass(frozen=True, slots=True)
class OptionalType:
    """An element that may be absent.

    Parameters
    ----------
    element
        Type of the element; None where the file does not give it.
    denotation
        What it means, or the empty string.
    """

    element: ValueType | None
    denotation: str = ""

    def __str__(self) -> str:
        return f"optional({self.element or '?'})"


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """A type known only to a runtime, named by domain and name.

    Parameters
    ----------
    domain
        The domain.
    name
        The name within it.
    denotation
        What it means, or the empty string.
    """

    domain: str
    name: str
    denotation: str = ""

    def __str__(self) -> str:
        return f"opaque({'.'.join(part for part in (self.domain, self.name) if part) or '?'})"


@dataclass(frozen=True, slots=True)
class UnknownType:
    """A type message that sets none of the known kinds.

    Parameters
    ----------
    denotation
        What it means, or the empty string.
    """

    denotation: str = ""

    def __str__(self) -> str:
        return "unknown type"


ValueType = (
    TensorType | SparseTensorType | SequenceType | MapType | OptionalType | OpaqueType | UnknownType
)
