"""Which size a value has, as figures write it: ``56 × 56 × 64``, ``T × 768``.

Sizes are those that the rules of :mod:`netloupe.explorer.costs` follow from the inputs, so that
files without types have them too. The batch is left out and channels stand last, as in figures.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, takewhile
from typing import NamedTuple

from netloupe.explorer.costs.facts import Dim, Dims, Fact
from netloupe.explorer.costs.polynomial import (
    Polynomial,
    list_symbols,
    walk_symbols,
    write_expression,
)
from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Model, Node, Value, is_constant
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.patterns.readings import read_ints

#: what symbols stand for where resolutions are compared: it can be halved often
LARGE = 1 << 12
#: so many inputs are asked for the size of the batch
_MOST_INPUTS = 16
#: so many nodes around a value are asked which of its axes has the channels
_MOST_ASKED = 64
#: longer sizes, which a file has a name for or computes, are not written
_MOST_TEXT = 18
#: what has places and channels has at least a batch, channels and one axis of places
_LEAST_RANK = 3

#: axes of vectors, and of what counts them
_VECTORS = 2
#: an axis that a value has not
_NO_AXIS = -2
#: what keeps the order of axes
_KEEPING = (
    *("elementwise", "activates", "casts", "clips", "copies", "drops_out", "gates"),
    *("dequantizes", "quantizes", "adds", "multiplies_elements", "joins", "pads", "squashes"),
    *("gathers", "picks", "splits"),
)
_WITH_CHANNELS = ("pools", "normalizes_channels", "moves_pixels", "resamples")
_WITHOUT_CHANNELS = ("multiplies", "normalizes_last_axes", "attends", "recurrent")


class Size(NamedTuple):
    """The size of a value.

    Parameters
    ----------
    places
        Its dimensions without batch and channels; "?" for one that is not known.
    channels
        The last one, as figures have it: channels of a picture, features of a sequence.
    dtype
        Its element type; "" where it is not known.
    is_picture
        Whether convolutions and the like take its places for those of a picture or a signal.
    amounts
        The places as numbers, those with symbols as if these were large; None for unknown ones.
    """

    places: tuple[str, ...]
    channels: str
    dtype: str
    is_picture: bool
    amounts: tuple[int | None, ...]

    @property
    def dims(self) -> tuple[str, ...]:
        """Its dimensions in the order in which they are written."""
        return (*self.places, self.channels)

    @property
    def resolution(self) -> int | None:
        """How many places it has; None where that is not known, and for one without any."""
        known = [amount for amount in self.amounts if amount is not None]
        return math.prod(known) if known and len(known) == len(self.amounts) else None

    def write(self) -> str:
        """Return ``56 × 56 × 64``; where no place is known ``64 channels`` or ``width 768``."""
        if self.channels == "?":
            return ""
        if self.places and all(place == "?" for place in self.places):
            if self.channels == "1":
                return ""  # of what has one number at each place no more is known than that
            return f"{self.channels} channels" if self.is_picture else f"width {self.channels}"
        return "" if "?" in self.places else " × ".join(self.dims)


class ValueSizes:
    """The sizes of a model's values; what was asked for is kept."""

    def __init__(self, model: Model) -> None:
        self._facts = find_value_facts(model)
        graph = model.graph
        self._known: dict[Value, Size | None] = {}
        inputs = [
            fact.dims[0]
            for value in graph.inputs[:_MOST_INPUTS]
            if value.initializer is None and not value.is_parameter
            for fact in [self._facts.find(value)]
            if fact.dims is not None and len(fact.dims) > 1
        ]
        #: the size of what is computed at once, which figures do not tell; None where not known
        self._batch: Dim = Counter(inputs).most_common(1)[0][0] if inputs else None

    def find(self, value: Value) -> Size | None:
        """Return the size of a value; None where it is not known, and for a single number."""
        if value not in self._known:
            self._known[value] = self._find(value)
        return self._known[value]

    def find_in_order(self, value: Value) -> Size | None:
        """Return the size of a value with its axes in the order of the file, without the batch.

        So it stands beside boxes that tell axes in that order.
        """
        size, fact = self.find(value), self._facts.find(value)
        if size is None or not fact.dims:
            return size
        dims = self._without_batch(fact.dims)
        texts = tuple(map(write_dim, dims))
        if not texts or "?" in texts:
            return size
        amounts = tuple(map(measure_dim, dims[:-1]))
        return Size(texts[:-1], texts[-1], size.dtype, False, amounts)

    def find_channel_axis(self, value: Value) -> int | None:
        """Return which axis has the channels: 1, 0 without a batch, -1; None where unknown."""
        dims = self._facts.find_dims(value)
        return self._find_channels(value, len(dims)) if dims else None

    def _find(self, value: Value) -> Size | None:
        fact = self._facts.find(value)
        if not fact.dims:
            return None
        channels = self._find_channels(value, len(fact.dims))
        dims = fact.dims
        if channels is None and dims[-1] == 1:
            return None  # a scale of channels or of places: in figures one would stand last
        if channels is None and self._is_flat(value):
            return None
        if channels == 1:
            dims = (dims[0], *dims[2:], dims[1])
        if self._holds_batch(dims) and not is_input_independent(value):
            return None
        dims = (*dims[1:], dims[0]) if channels == 0 else self._without_batch(dims)
        if not dims:
            return None
        texts = tuple(map(write_dim, dims))
        amounts = tuple(map(measure_dim, dims[:-1]))
        return Size(texts[:-1], texts[-1], _name_type(fact), channels in (0, 1), amounts)

    def _find_channels(self, value: Value, rank: int) -> int | None:
        """Return which axis of a value has the channels: 1, 0 without a batch, -1 for the last.

        None where that is not known.

        It is what the nearest operators take it for: convolution, pooling and norms of channels
        the axis behind the batch, products of matrices and norms of features the last one, and
        a mean over all others the one that it leaves. What keeps the order of axes is passed, and
        what only permutes them.
        """
        if rank < _LEAST_RANK:
            return -1
        asked = 0
        # each with the axes of the value that its own axes are
        waiting = {value: tuple(range(rank))}
        for current in _walk_growing(waiting):
            axes = waiting[current]
            around: list[Node] = [] if current.producer is None else [current.producer]
            users = (user for user in current.users if not user.operator.has("reads_shape"))
            around += islice(users, 2)
            for node in around:
                asked += 1
                if asked > _MOST_ASKED or node.graph is not value.graph:
                    return None
                found = _ask(node, current)
                if found is None and node.operator.has("reduces", "averages"):
                    found = self._ask_reduced(node, current)
                if found is None:
                    found = self._ask_scaled(node, current)
                if found is not None:
                    axis = axes[found] if found < len(axes) else _NO_AXIS
                    if axis == 0 and rank == _LEAST_RANK:  # of a single picture
                        return 0
                    return 1 if axis == 1 else -1 if axis == rank - 1 else None
                if node.operator.has("permutes"):
                    order = read_ints(node, "perm")
                    if sorted(order) == [*range(rank)]:
                        for other, moved in _permute(node, current, axes, order):
                            waiting.setdefault(other, moved)
                    continue
                if node.operator.has("reshapes"):
                    for end in (*node.inputs[:1], *node.outputs[:1]):
                        kept = self._count_last(current, end) if end is not None else 0
                        if end is not None and kept:
                            before = len(self._facts.find(end).dims or ()) - kept
                            waiting.setdefault(end, (*[_NO_AXIS] * before, *axes[-kept:]))
                    continue
                if not (node.operator.has(*_KEEPING) or self._keeps_rank(node)):
                    continue
                for near in (*node.inputs[:2], *node.outputs[:1]):
                    if near is None or near.initializer is not None:
                        continue
                    if len(self._facts.find(near).dims or axes) == len(axes):
                        waiting.setdefault(near, axes)
        return None

    def _is_flat(self, value: Value) -> bool:
        """Return whether all that takes a value makes a map of it: its last axis has the places."""
        users = [user for user in value.users if not user.operator.has("reads_shape")]
        made = [next(iter(user.outputs), None) for user in users if user.operator.has("reshapes")]
        return 0 < len(users) == len(made) and all(map(self._is_map, made))

    def _is_map(self, value: Value | None) -> bool:
        dims = self._facts.find(value).dims if value is not None else None
        if value is None or dims is None or len(dims) <= _LEAST_RANK:
            return False
        return self._find_channels(value, len(dims)) == 1

    def _count_last(self, value: Value, other: Value) -> int:
        """Return how many of the last axes are the same before and behind a Reshape."""
        one, same = self._facts.find(value).dims or (), self._facts.find(other).dims or ()
        if value is other:
            return 0
        pairs = zip(reversed(one), reversed(same), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1] is not None, pairs))

    def _ask_scaled(self, node: Node, value: Value) -> int | None:
        """Return along which axis a constant has numbers that scales or shifts a value."""
        if not node.operator.has("adds", "multiplies_elements") or len(node.inputs) != 2:
            return None
        other = next((one for one in node.inputs if one is not None and is_constant(one)), None)
        dims = self._facts.find(other).dims if other is not None else None
        rank = len(self._facts.find(value).dims or ())
        if dims is None or len(dims) > rank:
            return None
        places = [rank - len(dims) + place for place, dim in enumerate(dims) if dim != 1]
        last = rank - 1
        if len(places) != 1 or places[0] not in (1, last):
            return None
        return 1 if places[0] == 1 else -1

    def _keeps_rank(self, node: Node) -> bool:
        """Return whether a node makes one element of many and leaves the axes where they are."""
        result = next(iter(node.outputs), None)
        data = node.input(0)
        if not node.operator.has("reduces") or data is None or result is None:
            return False
        before, after = self._facts.find(data).dims, self._facts.find(result).dims
        return before is not None and after is not None and len(before) == len(after)

    def _ask_reduced(self, node: Node, value: Value) -> int | None:
        """Return which axis of its operand is left by what takes the mean over the others."""
        result = next(iter(node.outputs), None)
        if value not in node.inputs[:1] or result is None:
            return None
        before, after = self._facts.find(value).dims, self._facts.find(result).dims
        if before is None or after is None or len(before) <= _LEAST_RANK:
            return None
        left = [dim for dim in after[1:] if dim != 1]
        reduced = sum(dim != 1 for dim in before[1:]) - len(left)
        if len(left) != 1 or before[1] == before[-1] or reduced < 2:
            return None  # of one axis alone, as of the norms of capsules, it may be anything
        return 1 if left[0] == before[1] else -1 if left[0] == before[-1] else None

    def _without_batch(self, dims: Dims) -> Dims:
        """Return dimensions without that of the batch, which is the first or, of states, second."""
        batch = self._batch
        if len(dims) > 1 and dims[0] == batch:
            return dims[1:]
        if len(dims) > 2 and dims[1] == batch and not (isinstance(batch, int) and batch > 1):
            return (dims[0], *dims[2:])
        return dims

    def _holds_batch(self, dims: Dims) -> bool:
        """Return whether a first axis may be of all that is in the batch, as sentences of texts.

        Beside sizes of one text it would be read as how many there are in that. A batch of one
        makes no difference.
        """
        batch, first = self._batch, dims[0]
        if not isinstance(batch, int) or not isinstance(first, int) or batch < 2:
            return False
        return len(dims) == _VECTORS and first % batch == 0 and batch not in dims


def find_sizes(model: Model) -> ValueSizes:
    """Return the sizes of a model's values, which are kept with it."""
    return find_kept(model, ValueSizes, lambda: ValueSizes(model))


def write_dim(dim: Dim) -> str:
    """Return a dimension as figures write it; "?" for one without a size and without a name."""
    if dim is None:
        return "?"
    if isinstance(dim, int):
        return f"{dim:,}"
    if any(atom.letter for atom in walk_symbols(dim)):
        return "?"  # a tool has made its name up
    names = list_symbols(dim)
    if any(name.endswith("]") for name in names):
        return "?"  # the file gives it none
    if len(names) == 1:
        share = _find_share(dim)
        if share is not None:
            return _write_share(names[0], share)
    text = write_expression(dim).replace("//", "/").replace("*", "·")
    return text if len(text) <= _MOST_TEXT and "··" not in text else "?"


def _find_share(dim: Polynomial) -> Fraction | None:
    """Return which part of its symbol a dimension is, as figures say it, which do not round.

    ``(H + 1) // 2`` is a half; None for what is none in that sense, such as ``T + 1``.
    """
    shares = {Fraction(measure_dim(dim, large) or 0, large) for large in (LARGE, 3 * LARGE)}
    share = shares.pop()
    return share if not shares and share > 0 and 1 in (share.numerator, share.denominator) else None


def _write_share(name: str, share: Fraction) -> str:
    if len(name) > _MOST_TEXT:
        return "?"
    if share.denominator > 1:
        return f"{name}/{share.denominator}"
    return name if share == 1 else f"{share.numerator}·{name}"


def measure_dim(dim: Dim, large: int = LARGE) -> int | None:
    """Return a dimension as a number, as if symbols were large; None for an unknown one."""
    if dim is None or isinstance(dim, int):
        return dim
    total = 0
    for monomial, factor in dim.terms.items():
        product = factor
        for atom, power in monomial:
            inner = measure_dim(atom.numerator, large) if atom.is_quotient else large
            product *= ((inner or 0) // atom.divisor) ** power
        total += product
    return total


def _name_type(fact: Fact) -> str:
    return fact.dtype.name if fact.dtype is not None and fact.dtype.is_known else ""


def _ask(node: Node, value: Value) -> int | None:
    """Return which axis of its data or result a node takes for channels; None where it does not."""
    operator = node.operator
    if value not in (*node.inputs[:1], *node.outputs[:1]):
        return None
    if operator.has("channels_last"):
        return -1
    if operator.weight_layout in ("conv", "conv_transposed") or operator.has(*_WITH_CHANNELS):
        return 1
    if operator.has("looks_up"):  # rows of a table, not places of a map
        table = node.input(0)
        return -1 if table is not None and is_constant(table) else None
    return -1 if operator.has(*_WITHOUT_CHANNELS) else None


def _walk_growing(values: dict[Value, tuple[int, ...]]) -> Iterator[Value]:
    """Yield values and those that are added meanwhile."""
    done = 0
    while done < len(values):
        for value in [*islice(values, done, None)]:
            done += 1
            yield value


def _permute(
    node: Node, value: Value, axes: Sequence[int], order: Sequence[int]
) -> Iterator[tuple[Value, tuple[int, ...]]]:
    """Yield what a value is put into another order of axes of, or becomes, and its axes."""
    data, result = node.input(0), next(iter(node.outputs), None)
    if value is data and result is not None:
        yield result, tuple(axes[place] for place in order)
    elif value is result and data is not None:
        yield data, tuple(axes[order.index(place)] for place in range(len(order)))
