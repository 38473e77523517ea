"""Stored positions that are added to a stream of features: what tells one place from another."""

from __future__ import annotations

from collections import deque
from math import prod
from typing import Any, NamedTuple

import numpy as np

from netloupe.explorer.costs.facts import Dims
from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_giver, find_source
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Tensor, Value, is_constant
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import LAYOUT_TRAITS

Numbers = np.ndarray[Any, Any]

#: of larger tables the numbers are not read
_MOST_READ = 1 << 20
#: so far from 1 may the squares of a sine and its cosine add up to
_TOLERANCE = 1e-2
#: so many nodes behind a sum are looked at
_MOST_BEHIND = 400
#: places × features, or height × width × features
_RANKS = (2, 3)
#: what has fewer is a coordinate, as of anchors
_LEAST_FEATURES = 8
#: what is taken apart into rows has so many users at most
_MOST_ROWS = 16
#: so many nodes before a sum are looked at for the attention that gave what is added to
_MOST_BEFORE = 24
#: how a table is handed on until it is added
HANDING = (*LAYOUT_TRAITS, "picks", "broadcasts")
#: behind a convolution features are the first axis; this leaves them there
_LEAVING_CHANNELS = ("activates", "casts", "copies", "drops_out", "normalizes_channels")


class AddedPositions(NamedTuple):
    """A table that a node adds to each of a batch.

    Parameters
    ----------
    dims
        Places × features, or height × width × features.
    is_sinusoidal
        Whether the numbers are sines and cosines; False also where they are not there to read.
    """

    dims: tuple[int, ...]
    is_sinusoidal: bool

    @property
    def facts(self) -> tuple[str, ...]:
        """What a figure says of it: ``60 × 32``, ``sinusoidal``."""
        size = " × ".join(f"{dim:,}" for dim in self.dims)
        return (size, "sinusoidal") if self.is_sinusoidal else (size,)


def read_added_positions(node: Node) -> AddedPositions | None:
    """Return the positions that a node adds; None where it adds something else.

    A stored table has a number for each place and each feature of the stream, the same for all of
    a batch, and what it is added to is mixed by attention later (A. Vaswani and others, Attention
    Is All You Need, 2017, section 3.5; A. Dosovitskiy and others, An Image Is Worth 16x16 Words,
    2021, equation 1). What is added to scores is a bias or a mask, what follows a factor of the
    same size is part of a norm, and what attention gives is added to the queries that it took.
    What is taken apart into its rows has scales and shifts of norms in place of tokens (J. Chen and
    others, PixArt-α, 2024, section 2.3).
    """
    if not node.operator.has("adds") or len(node.inputs) != 2:
        return None
    tables = [find_stored_table(value) for value in node.inputs]
    place = 0 if tables[1] is None else 1
    table, stream = tables[place], node.input(1 - place)
    added = node.input(place)
    if table is None or stream is None or added is None or tables[1 - place] is not None:
        return None
    facts = find_value_facts(node.graph.model)
    dims = read_places(facts.find_dims(added) or table.dims, facts.find_dims(stream))
    if dims is None or _is_scaled_alike(stream, table) or is_of_attention(stream):
        return None
    rows = dims[0]
    has_channels_first = _is_of_convolution(stream)
    if has_channels_first:
        dims = (*dims[1:], dims[0])
    if dims[-1] < _LEAST_FEATURES or table.size < prod(dims):
        return None
    numbers = _read_rows(table, dims[-1], has_channels_first=has_channels_first)
    if _is_even(numbers):
        return None  # rows of fewer kinds than places, as of token types
    if _is_taken_apart(node, rows) or not is_attended_to(node):
        return None
    return AddedPositions(dims, _is_sinusoidal(numbers))


def _is_of_convolution(stream: Value) -> bool:
    """Return whether a convolution with features before places gives a value."""
    giver = find_giver(stream, "convolves", through=_LEAVING_CHANNELS, most=_MOST_BEFORE)
    return giver is not None and not giver.operator.has("channels_last")


def find_stored_table(value: Value | None) -> Tensor | None:
    """Return the stored numbers, of several places and features, that a value is or is made of."""
    source = find_source(value, *HANDING)
    tensor = None if source is None else find_stored_tensor(source)
    if tensor is None or not tensor.dtype.is_float:
        return None
    return tensor if sum(dim > 1 for dim in tensor.dims) in (2, 3, 4) else None


def read_places(dims: Dims, stream: Dims | None) -> tuple[int, ...] | None:
    """Return places and features of what is added to a stream; None where they are not its own."""
    if stream is None or len(dims) > len(stream):
        return None
    if len(dims) == len(stream):
        if dims[0] not in (1, stream[0]):
            return None
        dims = dims[1:]
    while dims and dims[0] == 1:
        dims = dims[1:]
    # behind the batch; a bias of each head stands behind tokens, too
    if len(dims) not in _RANKS or dims != stream[1:]:
        return None
    known = tuple(dim for dim in dims if isinstance(dim, int) and dim > 1)
    return known if len(known) == len(dims) else None


def _is_taken_apart(node: Node, rows: int) -> bool:
    """Return whether all that takes what a node gives takes one row of it, or as many take parts.

    How large these are may be computed.
    """
    facts = find_value_facts(node.graph.model)
    result = node.output(0)
    users = () if result is None else result.users[:_MOST_ROWS]
    parts = 0
    are_single = True
    for user in users:
        if user.operator.has("reads_shape"):
            continue
        if not user.operator.has("gathers", "slices", "splits") or user.input(0) is not result:
            return False
        for value in user.outputs:
            dims = facts.find_dims(value) if value is not None else ()
            parts += 1
            are_single &= dims is not None and all(dim == 1 for dim in dims[1:-1])
    return parts > 1 and (are_single or parts == rows)


def _is_scaled_alike(stream: Value, table: Tensor) -> bool:
    """Return whether a stream has been multiplied with as many stored numbers, as in a norm."""
    giver = stream.producer
    if giver is None or not giver.operator.has("multiplies_elements"):
        return False
    factors = [find_stored_table(value) for value in giver.inputs]
    return any(factor is not None and factor.size == table.size for factor in factors)


def is_of_attention(stream: Value) -> bool:
    """Return whether attention gives a value, as it is or projected."""
    value: Value | None = stream
    for _ in range(_MOST_BEFORE):
        giver = None if value is None else value.producer
        if giver is None:
            return False
        operator = giver.operator
        if operator.has("attends"):
            return True
        computed = [each for each in giver.inputs if each is not None and not is_constant(each)]
        if operator.has("multiplies") and len(computed) > 1:
            sources = [find_source(each, *LAYOUT_TRAITS, "drops_out") for each in computed]
            givers = [each.producer for each in sources if each is not None]
            return any(each is not None and each.operator.has("distributes") for each in givers)
        if len(computed) != 1 and not operator.has(*HANDING):
            return False
        if not operator.has(*HANDING, "multiplies", "adds"):
            return False
        value = computed[0] if computed else None
    return False


def is_attended_to(node: Node) -> bool:
    """Return whether attention follows, and not right behind: a mask is added to its scores.

    Or what mixes tokens without its softmax: products of projections, Fourier transforms.
    """
    users = [user for value in node.outputs if value for user in value.users]
    pending = deque((user, False, False) for user in users)
    seen: set[Node] = set()
    is_attended = False
    while pending and len(seen) < _MOST_BEHIND:
        user, is_projected, is_mixing = pending.popleft()
        if user in seen:
            continue
        seen.add(user)
        operator = user.operator
        if operator.has("attends", "solves"):
            return True
        if _compares(user):
            if is_projected and not is_mixing:
                return True
            is_mixing = True  # what comes behind is of a bias of what is mixed by, too
        if operator.has("distributes"):
            if not is_projected:
                return False
            is_attended = True
            break
        is_projected |= operator.has("multiplies", "convolves") or user.function is not None
        after = [each for value in user.outputs if value for each in value.users]
        pending.extend((each, is_projected, is_mixing) for each in after)
    return is_attended


def _compares(node: Node) -> bool:
    """Return whether a node is a product of two computed values, as of queries and keys."""
    computed = [value for value in node.inputs[:2] if value is not None and not is_constant(value)]
    return node.operator.has("multiplies") and len(computed) > 1


def _read_rows(table: Tensor, width: int, *, has_channels_first: bool) -> Numbers | None:
    """Return the features of each place; None where they are many. Reads no other files."""
    if table.size > _MOST_READ or table.external is not None or table.size % width:
        return None
    try:
        numbers = np.asarray(table.numpy())
    except (NetloupeError, TypeError, ValueError):
        return None
    return numbers.reshape(width, -1).T if has_channels_first else numbers.reshape(-1, width)


def _is_even(rows: Numbers | None) -> bool:
    """Return whether all rows are the same, as where all tokens are of one type.

    Zeros are what positions begin with before they are learned.
    """
    if rows is None:
        return False
    return len(rows) > 1 and bool(rows[0].any() and (rows == rows[:1]).all())


def _is_sinusoidal(rows: Numbers | None) -> bool:
    """Return whether each feature has a partner, and both are sine and cosine of one angle.

    Partners stand side by side, or one half of the features apart.
    """
    if rows is None or rows.shape[1] % 2:
        return False
    squares = np.square(rows.astype(np.float64))
    width = rows.shape[1]
    beside = squares[:, 0::2] + squares[:, 1::2]
    apart = squares[:, : width // 2] + squares[:, width // 2 :]
    return any(bool(np.all(np.abs(sums - 1) < _TOLERANCE)) for sums in (beside, apart))
