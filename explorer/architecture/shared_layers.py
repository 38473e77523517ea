"""Layers that blocks share: each uses them beside its own, and they are pieces of the first alone.

So the steps of TabNet share layers besides those of their own (S. Arik and T. Pfister, TabNet,
2021, figure 4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.grouping.shared_tensors import find_originals
from netloupe.explorer.roles import find_weight

from .outline import Outline
from .pieces import Piece

_LINEAR = re.compile(r"\blinear layers?\b")


def add_shared_layers(outline: Outline, rows: Sequence[Sequence[Piece]], text: str) -> str:
    """Return what each of some blocks holds, and how many linear layers of others it uses beside.

    Parameters
    ----------
    rows
        The pieces of each block.
    text
        What is said of each: ``each 3 linear layers and 4 GLUs`` becomes ``each 3 linear layers
        beside 2 shared and 4 GLUs``.
    """
    counted = [*_LINEAR.finditer(text)]
    shared = _count_shared(outline, rows) if len(counted) == 1 else 0
    end = counted[0].end() if shared else len(text)
    return f"{text[:end]} beside {shared} shared{text[end:]}" if shared else text


def _count_shared(outline: Outline, rows: Sequence[Sequence[Piece]]) -> int:
    """Return how many linear layers between its own each of some blocks shares with all others."""
    found = [_find_between(outline, row) for row in rows]
    is_same = all(one == found[0] for one in found) and None not in found[0]
    return len(found[0]) if is_same and len({*found[0]}) == len(found[0]) else 0


def _find_between(outline: Outline, row: Sequence[Piece]) -> list[object]:
    """Return what tells the weights of the linear layers between those of a block, in order.

    Exporters may store what is shared once for each use.
    """
    own = {id(part) for piece in row for part in piece.parts}
    places = [part.place for piece in row for part in piece.parts]
    between = outline.parts[min(places) : max(places)]
    linear = [part for part in between if part.kind == "linear" and id(part) not in own]
    originals = find_originals(outline.graph.model)
    weights = [find_weight(node) for part in linear for node in outline.nodes([part])]
    tensors = [weight.tensor for weight in weights if weight is not None]
    return [None if one is None else originals.find(one) for one in tensors]
