"""Attributes (Caffe2: arguments) of nodes and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from netloupe.explorer.notation import write_float

from .sparse_tensor import SparseTensor
from .tensor import Tensor
from .warning import ModelWarning

#: entries of a list that its repr begins with
_MOST_SHOWN = 60

if TYPE_CHECKING:
    from .graph import Graph
    from .types import ValueType

    AttributeValue: TypeAlias = (
        float
        | int
        | str
        | bytes
        | Tensor
        | SparseTensor
        | Graph
        | ValueType
        | tuple[Any, ...]
        | None
    )


_MOST_JUDGED = 1000


class Attribute:
    """A named constant of a node.

    Parameters
    ----------
    name
        The attribute's name.
    kind
        As the specification has it, in lower case: ``float``, ``ints``, ``tensor``,
        ``graph`` …; ``undefined`` or ``unknown(77)`` where the file says no better.
    value
        A number, str (bytes where not UTF-8), tensor, graph or type; a tuple of these for
        the plural kinds; None for a reference.
    reference
        The name of the enclosing function's attribute that gives the value, or "".
    doc
        What it says for people.
    warnings
        What is odd about the attribute.
    """

    __slots__ = ("doc", "kind", "name", "reference", "value", "warnings")

    def __init__(
        self,
        name: str,
        kind: str,
        value: AttributeValue,
        *,
        reference: str = "",
        doc: str = "",
        warnings: tuple[ModelWarning, ...] = (),
    ) -> None:
        self.name = name
        self.kind = kind
        self.value = value
        self.reference = reference
        self.doc = doc
        self.warnings = warnings

    @property
    def tensor_warnings(self) -> tuple[ModelWarning, ...]:
        """What is odd about the tensors that the value is; of very many, about the first."""
        if not isinstance(self.value, tuple | Tensor | SparseTensor):
            return ()
        entries = self.value if isinstance(self.value, tuple) else (self.value,)
        return tuple(
            warning
            for entry in entries[:_MOST_JUDGED]
            if isinstance(entry, (Tensor, SparseTensor))
            for warning in entry.warnings
        )

    def __repr__(self) -> str:
        if self.reference:
            return f"<Attribute {self.name!r}: {self.kind} = @{self.reference}>"
        text = _write_value(self.value)
        return (
            f"<Attribute {self.name!r}: {self.kind} = {text[:60]}{'…' if len(text) > 60 else ''}>"
        )


def _write_value(value: object) -> str:
    """Return a value as Python writes it, floats of 32 bits without digits of chance."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_write_value, value[:_MOST_SHOWN]))})"
    return write_float(value) if isinstance(value, float) else repr(value)
