"""Links between the boxes of a ladder: between those that hold what is paired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from netloupe.explorer.model import Node

from .account import Account, Tone
from .cells import Cell, LadderRow, RungLink

#: what tells a link's colour first
_STRONGEST: tuple[Tone, ...] = ("removed", "added", "changed", "exchanged", "moved", "unread")


def list_rung_links(rows: Sequence[LadderRow], account: Account) -> Iterator[RungLink]:
    """Yield the links between boxes.

    There is one for each row whose boxes belong together. What has no partner on its row is linked
    to the box that holds most of what its nodes are paired with, and what has changed places with
    its name and weights to the box that has these now.
    """
    leaves = [leaf for row in rows for leaf in row.list_leaves()]
    lefts = {node: leaf.left for leaf in leaves if leaf.left for node in leaf.left.nodes}
    rights = {node: leaf.right for leaf in leaves if leaf.right for node in leaf.right.nodes}
    turned = {
        lefts[node]: rights[other]
        for node, other in account.list_turned()
        if node in lefts and other in rights
    }
    common = _count_common(lefts, rights, account)
    links: dict[tuple[Cell, Cell], None] = dict.fromkeys(turned.items())
    for leaf in leaves:
        if leaf.left is None or leaf.left in turned:
            continue
        if leaf.right is not None and (leaf.is_pair or _is_missing(leaf)):
            links[leaf.left, leaf.right] = None
        elif best := max(common.get(leaf.left, {}).items(), key=_by_count, default=None):
            links[leaf.left, best[0]] = None
    linked = {other for _, other in links}
    back: dict[Cell, dict[Cell, int]] = {}
    for one, counts in common.items():
        for other, count in counts.items():
            if other not in linked:
                back.setdefault(other, {})[one] = count
    for other, holders in back.items():
        links[max(holders.items(), key=_by_count)[0], other] = None
    for one, other in links:
        tones = {one.tone, other.tone}
        yield RungLink(one, other, next((tone for tone in _STRONGEST if tone in tones), "same"))


def _count_common(
    lefts: Mapping[Node, Cell], rights: Mapping[Node, Cell], account: Account
) -> dict[Cell, Counter[Cell]]:
    """Return by box at the left how many of its nodes have a partner in which box at the right."""
    common: dict[Cell, Counter[Cell]] = {}
    for node, cell in lefts.items():
        for other in account.partners.get(node, ()):
            if other in rights:
                common.setdefault(cell, Counter())[rights[other]] += 1
    return common


def _is_missing(row: LadderRow) -> bool:
    """Return whether one of the boxes of a row says that there is nothing."""
    return any(cell is not None and cell.kind == "missing" for cell in (row.left, row.right))


def _by_count(entry: tuple[Cell, int]) -> int:
    return entry[1]
