"""In which number formats a node multiplies: of its activations, and of its weights."""

from __future__ import annotations

from typing import Literal, NamedTuple

from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.dataflow import trace_back
from netloupe.explorer.model import DataType, Node, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import MOVING_TRAITS
from netloupe.explorer.quantization.layout import find_dtype, find_storage, is_narrow, read_bits
from netloupe.explorer.quantization.simulated import find_code_range, read_bit_width
from netloupe.explorer.quantization.sources import find_statement

#: how an operator multiplies: both operands integers; both floats of 8 bits or fewer, or one of
#: them beside integers; the weights or the activations alone of so few bits; floats that were
#: rounded to few levels; floats
Kind = Literal[
    "integer", "small-float", "weight-only", "activation-only", "simulated", "float", "unknown"
]

#: what is stored or computed in few bits
_CODED = ("integer", "small-float")
_MOST_PASSED = 16
#: integers of more bits are no codes
_MOST_BITS = 16


class Factor(NamedTuple):
    """What an operator multiplies: the short name of its numbers, and how it comes by them."""

    name: str
    kind: Literal["integer", "small-float", "simulated", "float", "unknown"]


class Precision(NamedTuple):
    """In which number formats a node multiplies.

    Parameters
    ----------
    activations, weights
        Short names: ``u8``, ``i8``, ``i4``, ``nf4``, ``f32``, ``f16``, ``?``.
    kind
        How it multiplies.
    """

    activations: str
    weights: str
    kind: Kind

    @property
    def name(self) -> str:
        """``u8xi8``; one name where both are the same floats: ``f32``."""
        if self.kind in ("float", "unknown") and self.activations == self.weights:
            return self.activations
        return f"{self.activations}x{self.weights}"


def name_dtype(dtype: DataType | None) -> str:
    """Return a short name of an element type: ``f32``, ``bf16``, ``i8``, ``u4``; ``?`` for none."""
    if dtype is None:
        return "?"
    for long, short in (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i")):
        if dtype.name.startswith(long):
            return short + dtype.name.removeprefix(long)
    return dtype.name


def find_precision(node: Node, subject: Subject) -> Precision:
    """Return in which number formats a node multiplies."""
    first, second = list_factors(node)
    weights = _find_packed(node) or find_factor(second, node, subject)
    activations = find_factor(first, node, subject)
    if node.operator.has("quantizes_data"):
        activations = Factor("u8", "integer")
    kinds = activations.kind, weights.kind
    if "unknown" in kinds:
        kind: Kind = "unknown"
    elif kinds == ("integer", "integer"):
        kind = "integer"
    elif kinds[0] in _CODED and kinds[1] in _CODED:
        kind = "small-float"
    elif kinds[1] in _CODED:
        kind = "weight-only"
    elif kinds[0] in _CODED:
        kind = "activation-only"
    else:
        kind = "simulated" if "simulated" in kinds else "float"
    return Precision(activations.name, weights.name, kind)


def list_factors(node: Node) -> tuple[Value | None, Value | None]:
    """Return what a node multiplies: its activations and its weights."""
    places = node.operator.weight_places
    return node.input(0), node.input(places[0] if places else 1)


#: of nodes that run others of several kinds
SEVERAL = Precision("several", "several", "unknown")


def _find_packed(node: Node) -> Factor | None:
    if node.operator.has("codebook_weight"):
        return Factor("nf4" if _read_kind(node) == 1 else "fp4", "integer")
    if node.operator.has("packed_weight"):
        bits = read_bits(node)
        return Factor(f"u{bits}", "integer") if bits else Factor("?", "unknown")
    return None


def _read_kind(node: Node) -> object:
    attribute = node.attributes.get("quant_type")
    return 1 if attribute is None else attribute.value


def find_factor(value: Value | None, taker: Node, subject: Subject) -> Factor:
    """Return the number format of what a node takes."""
    for one in trace_back(value, *MOVING_TRAITS, most=_MOST_PASSED):
        value, node = one, one.producer
        if node is not None and node.operator.has("dequantizes") and node.operator.is_quantized:
            return _read_dequantized(node)
        if node is not None and node.operator.has("rounds_to_integers"):
            return _read_simulated(node)
        own = _find_integer(one, taker)
        if own is not None:
            return own
        taker = taker if node is None else node
    dtype = _find_dtype(value, subject)
    if dtype is None:
        return Factor("?", "unknown")
    if dtype.is_integer and (dtype.bits or 64) > _MOST_BITS:
        return Factor(name_dtype(dtype), "unknown")  # integers that stand for themselves
    return _name_factor(dtype) if is_narrow(dtype) else Factor(name_dtype(dtype), "float")


def _name_factor(dtype: DataType) -> Factor:
    """Return the factor of numbers of few bits: integers, or floats of 8 bits or fewer."""
    return Factor(name_dtype(dtype), "small-float" if dtype.is_float else "integer")


def _read_dequantized(node: Node) -> Factor:
    stored = node.input(0)
    dtype = find_dtype(stored) or find_dtype(node.input(2))
    if dtype is None and stored is not None and stored.producer is not None:
        before = stored.producer
        if before.operator.has("quantizes"):
            dtype = find_dtype(before.input(2))
            return Factor("u8", "integer") if dtype is None else _name_factor(dtype)
    return Factor("?", "unknown") if dtype is None else _name_factor(dtype)


def _read_simulated(node: Node) -> Factor:
    bits, ends = read_bit_width(node), find_code_range(node)
    if bits is None or ends is None:
        return Factor("?", "simulated")
    return Factor(f"{'u' if ends[0] >= 0 else 'i'}{bits:g}", "simulated")


def _find_integer(value: Value, taker: Node) -> Factor | None:
    """Return the codes that an operator on integers takes."""
    statement = find_statement(value, (taker,))
    if statement is None:
        return None
    if statement.stated is None and (
        statement.node is None or statement.node.operator.has("quantizes", "dequantizes")
    ):
        dtype = find_dtype(value)
        if dtype is None or not is_narrow(dtype):
            return None
    storage = find_storage(statement)
    if storage is None or not is_narrow(storage):
        return None
    return _name_factor(storage)


def _find_dtype(value: Value | None, subject: Subject) -> DataType | None:
    if value is None:
        return None
    tensor = find_stored_tensor(value)
    if tensor is not None:
        return tensor.dtype
    return find_dtype(value) or subject.fact(value).dtype
