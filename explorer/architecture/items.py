"""What a sentence counts: the blocks of a graph in order, once where they share weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .layers import Layer, Stack
from .outline import MAIN_KINDS, Outline, OutlinePart
from .sizes import list_matrices

#: kinds besides those that carry a network, of blocks that are told
_TOLD = frozenset(
    {"fourier", "gated", "group", "positions", "reparametrised", "similarity", "unrolled"}
)


@dataclass(eq=False)
class Item:
    """One block, or one layer of a transformer.

    Parameters
    ----------
    kind, name
        Alike ones have the same.
    parts
        Its parts in order, the last of which gives its result.
    layer
        Of a transformer block.
    uses
        How often it is used with the same weights.
    """

    kind: str
    name: str
    parts: list[OutlinePart]
    layer: Layer | None = None
    uses: int = 1

    @property
    def part(self) -> OutlinePart:
        """The part that it is, or the last one."""
        return self.parts[-1]

    @property
    def token(self) -> tuple[str, str, int]:
        """The same for alike ones, whatever their sizes are."""
        return self.kind, self.name, self.uses


def list_items(outline: Outline, stacks: Sequence[Stack]) -> list[Item]:
    """Return the blocks of a graph in order; what joins, arranges or normalizes is none.

    Attention and the MLP behind it are one, unless something else that is told is between them.
    """
    told = [part for part in outline.parts if is_told(part)]
    places = {id(part): place for place, part in enumerate(told)}
    layers: dict[int, Layer] = {}
    for stack in stacks:
        for layer in stack.layers:
            own = sorted(places.get(id(part), -1) for part in layer.parts)
            is_whole = own[0] >= 0 and own == [*range(own[0], own[0] + len(own))]
            if is_whole and layer.attentions and layer.feeding:
                layers[own[0]] = layer
    items: list[Item] = []
    place = 0
    while place < len(told):
        found = layers.get(place)
        if found is not None:
            name = "cross" if len(found.attentions) > 1 else "self"
            parts = sorted(found.parts, key=lambda part: part.place)
            items.append(Item("transformer", name, parts, found))
            place += len(parts)
        else:
            part = told[place]
            items.append(Item(part.kind, _name(part), [part]))
            place += 1
    return items


def is_told(part: OutlinePart) -> bool:
    """Return whether a part is one that a sentence counts."""
    return part.kind in MAIN_KINDS or part.kind in _TOLD or part.has("recurrent", "samples")


def _name(part: OutlinePart) -> str:
    """Return what tells alike parts from others of their kind."""
    if part.kind == "conv":
        details = part.is_transposed, part.is_depthwise, part.is_pointwise
        return "".join("01"[flag] for flag in details)
    return "" if part.kind == "linear" else part.name


def collapse_shared(outline: Outline, items: Sequence[Item]) -> list[Item]:
    """Return items without the later uses of the same weights, which are counted.

    Where all that is used again is used equally often, as in a loop that is written out, what has
    no weights and is there as often belongs to it.
    """
    first: dict[tuple[object, ...], Item] = {}
    kept: list[Item] = []
    weightless: dict[tuple[str, str, int], list[Item]] = {}
    for item in items:
        weights = list_matrices(outline, item.parts)
        if not weights:
            weightless.setdefault(item.token, []).append(item)
            kept.append(item)
            continue
        same = first.setdefault((item.kind, weights), item)
        if same is item:
            kept.append(item)
        else:
            same.uses += 1
    uses = {item.uses for item in kept if item.uses > 1}
    gone: set[int] = set()
    if len(uses) == 1:
        number = uses.pop()
        for alike in weightless.values():
            if len(alike) % number == 0:
                each = len(alike) // number
                for item in alike[:each]:
                    item.uses = number
                gone.update(map(id, alike[each:]))
    return [item for item in kept if id(item) not in gone]


