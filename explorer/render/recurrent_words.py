"""What is said of recurrent layers among the parts of a closed group: whether they go both ways."""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.grouping import Group
from netloupe.explorer.patterns import Ingredient
from netloupe.explorer.patterns.details import RecurrentDetails

#: of larger stacks not every block is looked at
_MOST_BLOCKS = 64
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
    widths = {details.in_out and details.in_out[1] for layers in found for details in layers}
    if not all(layers and all(one.bidirectional for one in layers) for layers in found):
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


def _pair(facts: str, width: int, count: int) -> str:
    """Return facts with widths of both states as such, where no layer else gives as much."""
    inner = re.compile(rf"(?<={_ARROW}){2 * width}(?={_ARROW})")
    return inner.sub(f"2 × {width}", facts) if len(inner.findall(facts)) == count else facts
