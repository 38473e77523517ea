"""What the file says of values, and numbers for what is known, the same for equal facts."""

from __future__ import annotations

from netloupe.explorer.model import (
    MapType,
    OptionalType,
    SequenceType,
    SparseTensor,
    SparseTensorType,
    Tensor,
    TensorType,
    Value,
    ValueType,
)

from .elementwise import read_elements
from .facts import UNKNOWN, Dim, Fact
from .polynomial import list_symbols
from .symbols import Symbols

#: dimensions that are looked at
_MOST_RANK = 32
_MOST_SIZE = 2**63
#: of so many values that no node gives, such as inputs of a graph, the types are read, and of
#: so many results of one node
MOST_READ = 20_000

#: the number of an operand that is left out, and that of a value of which nothing is known
ABSENT, NOT_KNOWN = 0, 1


class FactTable:
    """Gives facts numbers, and reads those that the file states.

    Parameters
    ----------
    symbols
        The sizes that symbols have.
    """

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._facts: list[Fact | None] = [None, UNKNOWN]
        self._numbers: dict[Fact, int] = {UNKNOWN: NOT_KNOWN}
        self._tensors: dict[tuple[tuple[int, ...], str], int] = {}
        #: symbols that inputs have
        self._given: set[str] = set()
        self._left = MOST_READ

    def number(self, fact: Fact) -> int:
        """Return the number of a fact, without dimensions that are no sizes."""
        dims = fact.dims
        if dims is not None and len(dims) > _MOST_RANK:
            fact = Fact(None, fact.dtype)
        elif dims is not None and not all(map(_is_sound, dims)):
            fact = fact._replace(dims=tuple(dim if _is_sound(dim) else None for dim in dims))
        number = self._numbers.get(fact)
        if number is None:
            number = self._numbers[fact] = len(self._facts)
            self._facts.append(fact)
        return number

    def operand(self, number: int) -> Fact | None:
        """Return the fact of a number; None for that of an operand that is left out."""
        return self._facts[number]

    def of(self, number: int) -> Fact:
        """Return the fact of a number."""
        return self._facts[number] or UNKNOWN

    def read_value(self, value: Value, *, is_local: bool, is_given: bool) -> int:
        """Return the number of what the file says of a value that no node has given.

        Parameters
        ----------
        value
            The value.
        is_local
            Whether it is in a function, where names of dimensions may mean other sizes in each
            call, and count for nothing.
        is_given
            Whether it is an input of an outermost graph.
        """
        if value.initializer is not None:
            return self.read_tensor(value.initializer)
        bound = self._symbols.shapes.get(value.name) if is_given else None
        if bound is not None:
            stated = value.type
            dtype = stated.dtype if isinstance(stated, TensorType) else None
            return self.number(Fact(bound, dtype))
        if not self._left:
            return NOT_KNOWN
        self._left -= 1
        return self.number(self.read_type(value, is_local=is_local, is_given=is_given))

    def read_tensor(self, tensor: Tensor | SparseTensor) -> int:
        """Return the number of what is known of a stored tensor."""
        dtype, dims = tensor.dtype, tensor.dims
        key = (dims, dtype.name)  # there may be a million tensors, of few shapes
        number = self._tensors.get(key)
        if number is None:
            if len(dims) < 2 and dtype.is_integer and isinstance(tensor, Tensor):
                return self.number(Fact(dims, dtype, read_elements(tensor), True))
            number = self._tensors[key] = self.number(Fact(dims, dtype, None, True))
        return number

    def read_type(self, value: Value, *, is_local: bool, is_given: bool = False) -> Fact:
        """Return the type that is stated of a value, or that others have inferred."""
        stated = find_type(value)
        if not isinstance(stated, TensorType | SparseTensorType):
            return Fact(kind=name_type(stated)) if stated is not None else UNKNOWN
        kind = name_type(stated) if isinstance(stated, SparseTensorType) else ""
        if stated.shape is None or len(stated.shape) > _MOST_RANK:
            return Fact(None, stated.dtype, kind=kind)
        dims: list[Dim] = []
        for axis, dim in enumerate(stated.shape):
            size = dim.value
            if isinstance(size, int) and size < 0:
                size = None  # as runtimes have it
            if isinstance(size, int):
                dims.append(size)
            elif is_local:
                dims.append(None)
            elif size:
                origin = f"axis {axis} of {value.name}" if is_given else ""
                dims.append(self._read_symbols(size, is_given, origin))
            else:
                name = f"{value.name}[{axis}]"
                dims.append(self._read_symbols(name, is_given) if is_given else None)
        return Fact(tuple(dims), stated.dtype, kind=kind)

    def _read_symbols(self, text: str, is_given: bool, origin: str = "") -> Dim:
        """Return a dimension that is written as text.

        Of results only symbols count that an input has too, or that have a size: tools that infer
        shapes make up a name for each dimension of which they know nothing.
        """
        amount = self._symbols.read(text, origin)
        names = list_symbols(amount)
        if is_given:
            self._given.update(names)
        return amount if self._given.issuperset(names) else None


def find_type(value: Value) -> ValueType | None:
    """Return the best that is known of a value's type: what was inferred, else what is stated."""
    return value.inferred_type or value.type


def name_type(stated: ValueType | None) -> str:
    """Return a type as schemas write it, without shapes: ``seq(float32)``; "" where not known."""
    opening, closing = "", ""
    while isinstance(stated, SequenceType | OptionalType | MapType):
        if isinstance(stated, MapType):
            opening += f"map({stated.key},"
            stated = stated.value
        else:
            opening += "seq(" if isinstance(stated, SequenceType) else "optional("
            stated = stated.element
        closing += ")"
    if not isinstance(stated, TensorType | SparseTensorType):
        return ""
    inner = stated.dtype.name
    if isinstance(stated, SparseTensorType):
        inner = f"sparse_tensor({inner})"
    return f"{opening}{inner}{closing}"


def _is_sound(dim: Dim) -> bool:
    return not isinstance(dim, int) or 0 <= dim < _MOST_SIZE
