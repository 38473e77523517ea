"""What is known of blocks, in numbers and words: one class for each kind of block.

A field that is not known has the value that it has by default. Blocks of a kind of one's own have
details of one's own: a frozen dataclass derived from `BlockDetails`, with defaults for all fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeVar

#: what is known by a name, in JSON: ``{"heads": 12, "head_width": 64, "causal": True}``
Detail = int | str | bool | tuple[int, ...]

#: names in JSON, of fields that are called otherwise there
_JSON_NAMES = {"in_features": "in", "out_features": "out"}

_Kind = TypeVar("_Kind", bound="BlockDetails")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BlockDetails:
    """What all details have in common; of a block of which nothing is known."""

    #: fields that JSON has before all others
    json_first: ClassVar[tuple[str, ...]] = ()
    #: what stands before the names in JSON where this is a field of other details: ``mlp_widths``
    json_prefix: ClassVar[str] = ""

    def __eq__(self, other: object) -> bool:
        # for all kinds of details: made anew for each they would take much of the import's time
        return self._values == other._values if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values)

    def __repr__(self) -> str:
        values = zip(fields(self), self._values, strict=True)
        told = ", ".join(f"{field.name}={value!r}" for field, value in values)
        return f"{type(self).__qualname__}({told})"

    @property
    def _values(self) -> tuple[object, ...]:
        return tuple([getattr(self, field.name) for field in fields(self)])

    @property
    def in_out(self) -> tuple[int, int] | None:
        """How many features go in and come out; None where either is not known."""
        return None

    def read_as(self, kind: type[_Kind]) -> _Kind:
        """Return the details, if they are of a kind, else such of which nothing is known."""
        return self if isinstance(self, kind) else kind()

    def to_mapping(self) -> dict[str, Detail]:
        """Return what is known, by the names that JSON has."""
        defaults = {field.name: field.default for field in fields(self)}
        known: dict[str, Detail] = {}
        for name in dict.fromkeys((*self.json_first, *defaults)):
            value = getattr(self, name)
            if isinstance(value, BlockDetails):
                inner = value.to_mapping()
                known |= {f"{value.json_prefix}_{key}": one for key, one in inner.items()}
            elif value != defaults[name]:
                known[_JSON_NAMES.get(name, name)] = value
        return known

    def keep_shared(self, others: Sequence[BlockDetails]) -> Self:
        """Return what is so of other blocks, too, whatever their kinds have in common."""
        shared: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            given = [getattr(other, field.name, None) for other in others]
            if isinstance(value, BlockDetails):
                alike = [one for one in given if isinstance(one, type(value))]
                if len(alike) == len(given):
                    shared[field.name] = value.keep_shared(alike)
            elif all(one == value for one in given):
                shared[field.name] = value
        return type(self)(**shared)


#: of blocks of which no more is known than their kind
NO_DETAILS = BlockDetails()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FeatureDetails(BlockDetails):
    """Of a block that takes and gives features, as a linear layer does; channels are such, too.

    Parameters
    ----------
    in_features, out_features
        How many features each place has before and behind; in JSON ``in`` and ``out``.
    """

    in_features: int | None = None
    out_features: int | None = None

    @property
    def in_out(self) -> tuple[int, int] | None:
        """How many features go in and come out; None where either is not known."""
        if self.in_features is None or self.out_features is None:
            return None
        return self.in_features, self.out_features

    def with_features(self, in_out: tuple[int, int] | None) -> Self:
        """Return the same with how many features go in and come out, where that is known."""
        if in_out is None:
            return self
        return replace(self, in_features=in_out[0], out_features=in_out[1])


def span_features(first: BlockDetails, last: BlockDetails) -> tuple[int, int] | None:
    """Return how many features go into a block and come out of a later one."""
    if first.in_out is None or last.in_out is None:
        return None
    return first.in_out[0], last.in_out[1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EmbeddingDetails(BlockDetails):
    """Of a table whose rows are picked.

    Parameters
    ----------
    rows, width
        How many rows it has, and how many features each has.
    """

    rows: int | None = None
    width: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NormDetails(BlockDetails):
    """Of a normalization.

    Parameters
    ----------
    groups
        Into how many groups channels are put that are normalized apart.
    width
        How many features its scale has.
    """

    groups: int | None = None
    width: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecurrentDetails(FeatureDetails):
    """Of recurrent layers in a row; a state has as many features as come out.

    Parameters
    ----------
    layers
        How many there are.
    bidirectional
        Whether all go along the sequence both ways, so that results are twice as wide as states.
    """

    json_first: ClassVar[tuple[str, ...]] = ("layers",)

    layers: int | None = None
    bidirectional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StateSpaceDetails(BlockDetails):
    """Of a block of a selective state-space model.

    Parameters
    ----------
    inner
        How many features the state has that it goes along the sequence with.
    """

    inner: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EstimatorDetails(BlockDetails):
    """Of what was fitted to data, as an operator of ``ai.onnx.ml`` holds it: counts, and words.

    Parameters
    ----------
    kernel
        Of support vectors: ``linear``, ``polynomial``, ``RBF``, ``sigmoid``.
    vectors
        How many support vectors there are.
    features
        How many features are taken, or made of keys.
    trees, splits, leaves, nodes
        How many trees there are, and of what size all are together: with splits and leaves apart,
        or as nodes.
    classes, targets
        How many classes there are, or numbers that are predicted, where these are several.
    keys, categories
        How many entries a table has that labels or categories are looked up in.
    norm
        What numbers are divided by: ``MAX``, ``L1``, ``L2``.
    """

    kernel: str | None = None
    vectors: int | None = None
    features: int | None = None
    trees: int | None = None
    splits: int | None = None
    leaves: int | None = None
    nodes: int | None = None
    classes: int | None = None
    targets: int | None = None
    keys: int | None = None
    categories: int | None = None
    norm: str | None = None
