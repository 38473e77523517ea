"""Products of all pairs of features of a table, which layers make fewer, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count

from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import OUTSIDE, Operations
from .readings import read_str

_LEAST_LAYERS = 2
_MOST_LAYERS = 16
_BOTH = 2
#: of examples, two rows of features, and the numbers that each is embedded in
_OF_PAIRS = 4
_LAYERS = ("conv", "linear")
#: what stands between a layer and the next products: an activation, and which features go on
_MOST_BETWEEN = 4
_BETWEEN = ("activates", "slices", "splits")


class _Layer(NamedTuple):
    """One layer.

    Parameters
    ----------
    numbers
        Its operations.
    end
        What gives its result.
    taken
        The features that are multiplied with one another.
    """

    numbers: frozenset[int]
    end: int
    taken: tuple[Value, Value]


def find_compressed_interactions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find products of all features with those of the layer before, of which a layer makes fewer.

    J. Lian and others, xDeepFM, 2018, equations 6 and 7: a compressed interaction network.
    """
    operations = blocks.operations
    read = (_read_layer(blocks, number) for number in range(len(operations)))
    layers = [layer for layer in read if layer is not None]
    for first in layers:
        fields = first.taken[0]
        if fields is not first.taken[1]:
            continue
        row = [first]
        for _ in range(_MOST_LAYERS):
            after = next(
                (one for one in layers if _follows(operations, one, row[-1], fields)), None
            )
            if after is None:
                break
            row.append(after)
        if len(row) >= _LEAST_LAYERS:
            numbers = frozenset[int]().union(*(one.numbers for one in row))
            told = (write_count(len(row), "layer"),)
            name = "Compressed interaction network"
            yield FoundBlock("interaction", name, numbers, row[-1].end, told)


def _read_layer(blocks: FoundBlocks, number: int) -> _Layer | None:
    """Return a layer over products of all pairs of two rows of features."""
    operations = blocks.operations
    taken = operations.operands[number]
    kind, node = operations.kinds[number], operations.nodes[number]
    behind = blocks.holding(operations.only_user(number), *_LAYERS)
    if kind not in ("Mul", "Einsum") or len(taken) != _BOTH or behind is None:
        return None
    if kind == "Einsum" and not _is_outer(read_str(node, "equation")):
        return None
    facts = find_value_facts(operations.context.graph.model)
    dims = facts.find_dims(node.output(0))
    rows = [facts.find_dims(value) for value in taken]
    if not dims or len(dims) != _OF_PAIRS or any(not row or len(row) != 3 for row in rows):
        return None
    counts = [row[1] for row in rows if row]
    sizes = [one for one in counts if isinstance(one, int)]
    pairs = sizes[0] * sizes[1] if len(sizes) == _BOTH else 0
    if sorted(map(str, dims[1:3])) != sorted(map(str, counts)):
        return None
    if not pairs or behind.details.read_as(FeatureDetails).in_features != pairs:
        return None
    return _Layer(frozenset({number, *behind.numbers}), behind.end, (taken[0], taken[1]))


def _is_outer(equation: str) -> bool:
    """Return whether an Einsum multiplies all of two rows, number by number: bhd,bmd->bhmd."""
    terms, arrow, result = equation.replace(" ", "").partition("->")
    first, _, second = terms.partition(",")
    return bool(arrow) and {*result} == {*first} | {*second} and len(result) == _OF_PAIRS


def _follows(operations: Operations, layer: _Layer, before: _Layer, fields: Value) -> bool:
    """Return whether a layer takes what the one before gives, and the features of the first."""
    others = [value for value in layer.taken if value is not fields]
    if len(others) != 1 or layer is before:
        return False
    number = operations.giver(others[0])
    for _ in range(_MOST_BETWEEN):
        if number is None or number == OUTSIDE or number in before.numbers:
            break
        taken = operations.operands[number]
        if not taken or not operations.nodes[number].operator.has(*_BETWEEN):
            return False
        number = operations.giver(taken[0])
    return number is not None and number in before.numbers
