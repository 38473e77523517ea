"""Names that a graph gives again, told apart by keys, for all nodes at once.

With its keys in place of its names a graph gives each once. They are those that
:meth:`.scope.Scope.define` finds node by node: ``x``, ``x#2``, ``x#3`` …
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import NamedTuple

from netloupe.proto.columns import GraphColumns


class Keys(NamedTuple):
    """What the values of a graph are called where their names do not tell them apart.

    Parameters
    ----------
    used
        The keys of the operands of all nodes, one after the other; "" for one left out.
    given
        The keys of the values that nodes give, those left out aside.
    last
        The key of the last value of each name that is given again.
    """

    used: list[str]
    given: list[str]
    last: dict[str, str]


def find_keys(columns: GraphColumns, known: Collection[str]) -> Keys | None:
    """Return the keys of a graph's values; None where a key is also the name of another.

    Parameters
    ----------
    columns
        What its nodes take and give. A use means what gives its name last before it.
    known
        The names of its inputs and initializers.
    """
    used: list[str] = []
    given: list[str] = []
    names = {*known}
    counts: dict[str, int] = {}
    last: dict[str, str] = {}
    again: list[str] = []
    inputs, outputs = iter(columns.inputs), iter(columns.outputs)
    for taken, made in zip(columns.input_counts, columns.output_counts, strict=True):
        for name in islice(inputs, taken):
            used.append(last.get(name, name))
        for name in islice(outputs, made):
            if name in names:
                count = counts[name] = counts.get(name, 1) + 1
                key = last[name] = f"{name}#{count}"
                given.append(key)
                again.append(key)
            elif name:
                names.add(name)
                given.append(name)
    return Keys(used, given, last) if names.isdisjoint(again) else None
