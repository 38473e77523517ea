"""What is said of recurrent layers among the parts of a closed group: whether they go both ways."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node
from netloupe.explorer.patterns import Ingredient
from netloupe.explorer.patterns.both_orders import joins_both_orders
from netloupe.explorer.patterns.details import RecurrentDetails

#: of larger stacks not every block is looked at
_MOST_BLOCKS = 64
#: of a block so many children
_MOST_CHILDREN = 400
_BOTH_WAYS = "bidirectional"
_ARROW = " → "


def tell_directions(group: Group, facts: str) -> tuple[str, str]:
    """Return facts of a group of several parts, and what is so of its recurrent layers besides.

    That these go along a sequence both ways (M. Schuster and K. Paliwal, Bidirectional Recurrent
    Neural Networks, 1997), and how wide the states of each way are: ``256 → 2 × 256 → 256`` and
    ``bidirectional``, or ``256 → 256`` and ``bidirectional, 2 × 256``.

    Parameters
    ----------
    group
        A group, or a stack, of which it is told what is so of each block.
    facts
        What is told of its widths.
    """
    blocks = group.inner_groups() if group.kind == "repeat" else [group]
    if not blocks or len(blocks) > _MOST_BLOCKS:
        return facts, ""
    found = [_list_layers(block.contents) for block in blocks]
    widths = {details.out_features for layers in found for details in layers}
    if not all(map(_goes_both_ways, blocks, found)):
        return facts, ""
    width = widths.pop() if len(widths) == 1 else None
    if not width:
        return facts, _BOTH_WAYS
    told = _pair(facts, width, len(found[0])) if len(blocks) == 1 else facts
    if told != facts:
        return told, _BOTH_WAYS
    return facts, _BOTH_WAYS if f"2 × {width}" in facts else f"{_BOTH_WAYS}, 2 × {width}"


def _list_layers(contents: Sequence[Ingredient]) -> list[RecurrentDetails]:
    return [one.details for one in contents if isinstance(one.details, RecurrentDetails)]


def _goes_both_ways(block: Group, layers: Sequence[RecurrentDetails]) -> bool:
    """Return whether all recurrent layers of a block go both ways.

    Of one whose steps are written out both may go through the same steps, side by side in the
    batch.
    """
    if not layers or all(one.bidirectional for one in layers):
        return bool(layers)
    loops = [one for one in block.inner_groups() if one.kind == "repeat" and one.is_loop]
    return len(loops) == len(layers) == 1 and any(map(joins_both_orders, _list_own(block)))


def _list_own(block: Group) -> Iterator[Node]:
    """Yield the nodes of a block that are in no group of it."""
    for child in block.children[:_MOST_CHILDREN]:
        if isinstance(child, Node):
            yield child
        elif child.kind == "operation" and child.main is not None:
            yield child.main


def _pair(facts: str, width: int, count: int) -> str:
    """Return facts with widths of both states as such, where no layer else gives as much."""
    inner = re.compile(rf"(?<={_ARROW}){2 * width}(?={_ARROW})")
    return inner.sub(f"2 × {width}", facts) if len(inner.findall(facts)) == count else facts
