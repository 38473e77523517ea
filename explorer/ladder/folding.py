"""A ladder of many rows in few: what is the same in one, and what is beyond the limit counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .account import Tone
from .cells import Cell, LadderRow

#: fewer rows in which nothing differs are not worth a fold
_LEAST_FOLDED = 4
#: of a run of these so many at each end stay
_KEPT = 1
_LABELS: dict[Tone, str] = {"removed": "removed", "added": "added"}


def fold_rows(rows: list[LadderRow], most: int) -> list[LadderRow]:
    """Return rows of which no more than about ``most`` lines are shown.

    First runs of pairs in which nothing differs become one row each, then what is beyond the limit
    becomes one for each way in which it differs.
    """
    if _count(rows) <= most:
        return rows
    rows = _fold_plain(rows)
    return rows if _count(rows) <= most else _cut(rows, most)


def _count(rows: Sequence[LadderRow]) -> int:
    """Return how many lines rows take; the header of what is open is one of them."""
    return sum(1 + _count(row.inner) for row in rows)


def _fold_plain(rows: Sequence[LadderRow]) -> list[LadderRow]:
    found: list[LadderRow] = []
    run: list[LadderRow] = []
    for row in rows:
        if row.is_plain:
            run.append(row)
            continue
        found += _join_run(run)
        run = []
        row.inner = _fold_plain(row.inner)
        found.append(row)
    return found + _join_run(run)


def _join_run(run: list[LadderRow]) -> list[LadderRow]:
    if len(run) < _LEAST_FOLDED:
        return run
    return [*run[:_KEPT], _join(run[_KEPT:-_KEPT]), *run[-_KEPT:]]


def _cut(rows: list[LadderRow], most: int) -> list[LadderRow]:
    """Return the first rows, and what is behind them told in a few."""
    found: list[LadderRow] = []
    left = most
    for number, row in enumerate(rows):
        size = _count([row])
        if size > left and row.inner and left > 2:
            row.inner = _cut(row.inner, left - 1)
            size = _count([row])
        elif size > left:
            return [*found, *_join_rest(rows[number:])]
        found.append(row)
        left -= size
    return found


def _join_rest(rows: Sequence[LadderRow]) -> Iterator[LadderRow]:
    """Yield one row for each way in which rows differ, in the order of the first of each."""
    alike: dict[tuple[str, str], list[LadderRow]] = {}
    for row in rows:
        for leaf in row.list_leaves():
            is_alone = "missing" in [cell.kind for cell in (leaf.left, leaf.right) if cell]
            cell = leaf.left or leaf.right
            tone = cell.tone if cell is not None else "same"
            key = ("missing", tone) if is_alone else ("pair", "" if tone != "same" else tone)
            alike.setdefault(key, []).append(leaf)
    for same in alike.values():
        yield _join(same)


def _join(rows: Sequence[LadderRow]) -> LadderRow:
    """Return one row for several that differ in the same way."""
    sides = []
    for cells in ([row.left for row in rows], [row.right for row in rows]):
        there = [cell for cell in cells if cell is not None]
        sides.append(_join_cells(there) if there else None)
    return LadderRow(sides[0], sides[1], all(sides))


def _join_cells(cells: Sequence[Cell]) -> Cell:
    tones = {cell.tone for cell in cells}
    tone: Tone = tones.pop() if len(tones) == 1 else "changed"
    rungs = tuple(rung for cell in cells for rung in cell.rungs)
    entries = sorted({number for cell in cells for number in cell.entries})
    if all(cell.kind == "missing" for cell in cells):
        label = f"{len(cells):,} {_LABELS.get(tone, 'missing')}"
        return Cell("missing", label, tone, tuple(entries))
    return Cell("more", f"… {len(cells):,} more", tone, tuple(entries), rungs)
