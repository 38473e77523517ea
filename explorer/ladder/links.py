"""Links between the boxes of a ladder: between those that hold what is paired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .account import Account, Tone
from .cells import Cell, Link, Row

#: what tells a link's colour first
_STRONGEST: tuple[Tone, ...] = ("changed", "exchanged", "moved", "unread", "same")


def list_links(rows: Sequence[Row], account: Account) -> Iterator[Link]:
    """Yield the links between boxes: of each to where most of its nodes are, and of each row."""
    leaves = [leaf for row in rows for leaf in row.list_leaves()]
    homes = {node: leaf.right for leaf in leaves if leaf.right for node in leaf.right.nodes}
    turned: dict[Cell, Cell] = {}
    lefts = {node: leaf.left for leaf in leaves if leaf.left for node in leaf.left.nodes}
    for node, other in account.list_turned():
        if node in lefts and other in homes:
            turned[lefts[node]] = homes[other]
    links: dict[tuple[Cell, Cell], None] = {}
    back: Counter[tuple[Cell, Cell]] = Counter()
    for leaf in leaves:
        cell = leaf.left
        if cell is None:
            continue
        counts = Counter(
            homes[other]
            for node in cell.nodes
            for other in account.partners.get(node, ())
            if other in homes
        )
        for other, count in counts.items():
            back[cell, other] = count
        if leaf.is_pair or "missing" in (cell.kind, leaf.right and leaf.right.kind):
            if leaf.right is not None and cell not in turned:
                links[cell, leaf.right] = None
        elif counts and cell not in turned:
            links[cell, counts.most_common(1)[0][0]] = None
    links |= dict.fromkeys(turned.items())
    linked = {other for _, other in links}
    best: dict[Cell, tuple[int, Cell]] = {}
    for (cell, other), count in back.items():
        if other not in linked and count > best.get(other, (0, cell))[0]:
            best[other] = count, cell
    links |= {(cell, other): None for other, (_, cell) in best.items()}
    for one, other in links:
        tones = {one.tone, other.tone}
        alone = next((tone for tone in ("removed", "added") if tone in tones), None)
        tone = alone or next(tone for tone in _STRONGEST if tone in tones)
        yield Link(one, other, tone)  # type: ignore[arg-type] # the names are the same
