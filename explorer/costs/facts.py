"""What is known of a value without computing it, and of one use of an operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from netloupe.explorer.model import Attribute, DataType, Tensor, data_type
from netloupe.explorer.operators import Operator

from .polynomial import Amount, multiply_all

#: a dimension; None where nothing is known of it
Dim: TypeAlias = "Amount | None"
Dims: TypeAlias = "tuple[Dim, ...]"


class Fact(NamedTuple):
    """What is known of a value.

    Parameters
    ----------
    dims
        The dimensions; None where not even their number is known.
    dtype
        The element type; None where it is not known.
    elements
        Of a small list or scalar of integers, these: shapes, axes, and what follows from them.
    is_constant
        Whether the value is stored, or filled in a shape that is.
    numbers
        Of a small constant list of real numbers that scales sizes, these.
    kind
        Of what is no tensor its type, as schemas write it: ``seq(float32)``.
    table
        Of a small matrix of integers these, row by row: exporters write paddings as pairs, turn
        their order and the matrix.
    """

    dims: Dims | None = None
    dtype: DataType | None = None
    elements: Dims | None = None
    is_constant: bool = False
    numbers: tuple[float, ...] | None = None
    kind: str = ""
    table: Dims | None = None

    @property
    def type_name(self) -> str:
        """The type as schemas write it: ``float32``, ``seq(float32)``; "" where not known."""
        if self.kind or self.dtype is None or self.dtype.name == "undefined":
            return self.kind
        return self.dtype.name if self.dtype.is_known else ""

    @property
    def size(self) -> Amount | None:
        """The number of elements; None where it is not known."""
        return find_size(self.dims)

    @property
    def bytes(self) -> Amount | None:
        """The bytes of the elements, packed; None where size or type are not known."""
        size = self.size
        if size is None or self.dtype is None or self.dtype.bits is None:
            return None
        bits = self.dtype.bits
        if bits % 8 == 0:
            return size * (bits // 8)
        return -(-size * bits // 8) if isinstance(size, int) else None


UNKNOWN = Fact()


def find_size(dims: Dims | None) -> Amount | None:
    """Return the product of some dimensions; None where one is not known."""
    if dims is None:
        return None
    known = tuple(dim for dim in dims if dim is not None)
    return multiply_all(known) if len(known) == len(dims) else None


class Use:
    """One use of an operator: what is known of its operands, and its attributes.

    Parameters
    ----------
    operator
        What is known of the operator.
    operands
        A fact for each input; None for one that is left out.
    attributes
        The attributes, with those of a call in place of references to them; None for one that is
        not known.
    results
        How many results the operator gives.
    opset
        The version of its operator set; None where that is not stated.
    element_types
        Names of element types by the numbers that attributes have for them.
    """

    def __init__(
        self,
        operator: Operator,
        operands: Sequence[Fact | None],
        attributes: Mapping[str, Attribute | None],
        results: int,
        opset: int | None,
        element_types: Mapping[int, str],
    ) -> None:
        self._operator = operator
        self.operands = operands
        self.results = results
        self.opset = opset
        self._attributes = attributes
        self._element_types = element_types

    @property
    def operator(self) -> Operator:
        """What is known of the operator."""
        return self._operator

    @property
    def op_type(self) -> str:
        """The operator's name."""
        return self._operator.op_type

    def operand(self, index: int) -> Fact:
        """Return what is known of an operand; nothing where it is left out."""
        found = self.operands[index] if index < len(self.operands) else None
        return UNKNOWN if found is None else found

    def has(self, index: int) -> bool:
        """Return whether an operand is given."""
        return index < len(self.operands) and self.operands[index] is not None

    def dims(self, index: int) -> Dims | None:
        """Return the dimensions of an operand."""
        return self.operand(index).dims

    def rank(self, index: int) -> int | None:
        """Return the number of dimensions of an operand."""
        dims = self.operand(index).dims
        return None if dims is None else len(dims)

    def is_stated(self, name: str) -> bool:
        """Return whether an attribute is there."""
        return name in self._attributes

    def integer(self, name: str, default: int | None = None) -> int | None:
        """Return an attribute; the default where it is left out; None where it is no integer."""
        if name not in self._attributes:
            return default
        attribute = self._attributes[name]
        value = attribute.value if attribute is not None else None
        return value if isinstance(value, int) else None

    def number(self, name: str) -> float | None:
        """Return an attribute that is an integer or real; None where it is left out or neither."""
        attribute = self._attributes.get(name)
        value = attribute.value if attribute is not None else None
        return value if isinstance(value, int | float) else None

    def integers(self, name: str) -> tuple[int, ...] | None:
        """Return an attribute that is a list; None where it is left out or no list of integers."""
        attribute = self._attributes.get(name)
        value = attribute.value if attribute is not None else None
        if not isinstance(value, tuple) or not all(isinstance(entry, int) for entry in value):
            return None
        return value

    def text(self, name: str, default: str = "") -> str:
        """Return an attribute that is a word; the default where it is left out."""
        attribute = self._attributes.get(name)
        value = attribute.value if attribute is not None else None
        return value if isinstance(value, str) else default

    def numbers(self, name: str) -> tuple[float, ...] | None:
        """Return an attribute that is a list of numbers."""
        attribute = self._attributes.get(name)
        value = attribute.value if attribute is not None else None
        return value if isinstance(value, tuple) else None

    def element_type(self, name: str) -> DataType | None:
        """Return the element type that an attribute names by its number; None for none, or 0."""
        number = self.integer(name, 0)
        found = self._element_types.get(number) if number else None
        return None if found is None else data_type(found)

    def tensor(self, name: str) -> Tensor | None:
        """Return an attribute that is a tensor."""
        attribute = self._attributes.get(name)
        value = attribute.value if attribute is not None else None
        return value if isinstance(value, Tensor) else None

    def list_numbers(self, name: str, operand: int) -> tuple[int, ...] | None:
        """Return integers that are an attribute, or since later versions an operand."""
        if self.is_stated(name):
            return self.integers(name)
        return list_integers(self.operand(operand)) if self.has(operand) else None


def list_integers(fact: Fact) -> tuple[int, ...] | None:
    """Return the elements of a value where all of them are known integers."""
    if fact.elements is None:
        return None
    found = tuple(element for element in fact.elements if isinstance(element, int))
    return found if len(found) == len(fact.elements) else None
