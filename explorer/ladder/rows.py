"""The rows of a ladder: what stands on each line, opened where something differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.progress import step

from .account import Account, Tone
from .cells import Cell, LadderRow
from .order import order_lines
from .pairing import OpenRung, pair_rungs
from .rungs import Rung, list_inner_rungs, list_rungs

#: groups are opened so deep
_MOST_DEPTH = 4


def make_ladder_rows(account: Account) -> list[LadderRow]:
    """Return all rows of a ladder, with those of what is at no node at both ends."""
    return _RowMaker(account).make()


class _RowMaker:
    def __init__(self, account: Account) -> None:
        self._account = account
        left, right = self._trees = account.trees
        self._open_rungs: tuple[OpenRung, OpenRung] = (
            lambda rung: list_inner_rungs(left, rung),
            lambda rung: list_inner_rungs(right, rung),
        )

    def make(self) -> list[LadderRow]:
        """Return all rows, with those of what is at no node at both ends."""
        lefts, rights = map(list_rungs, self._trees)
        return [
            *self._make_ends("model", "whole model"),
            *self._make_ends("input", "inputs"),
            *self._make_level(lefts, rights, 0),
            *self._make_ends("output", "outputs"),
        ]

    def _make_ends(self, what: str, label: str) -> Iterator[LadderRow]:
        entries = tuple(self._account.around[what])
        if entries:
            tone = self._account.choose_tone(entries)
            yield LadderRow(
                Cell("end", label, tone, entries), Cell("end", label, tone, entries), True
            )

    def _make_level(
        self, lefts: Sequence[Rung], rights: Sequence[Rung], depth: int
    ) -> list[LadderRow]:
        step()
        ones, others, pairs = pair_rungs(lefts, rights, self._account.partners, self._open_rungs)
        taken = {*pairs.values()}
        rows = []
        for left, right in order_lines(ones, others, pairs):
            if left is not None and right is not None and pairs.get(left) is right:
                rows.append(self._make_pair(left, right, depth))
            else:
                cells = (
                    self._make_single(left, 0, is_paired=left in pairs),
                    self._make_single(right, 1, is_paired=right in taken),
                )
                rows.append(LadderRow(*self._fill_in(cells)))
        return rows

    def _make_pair(self, left: Rung, right: Rung, depth: int) -> LadderRow:
        entries = self._account.list_entries(left, right)
        tone = self._account.choose_tone(entries)
        row = LadderRow(_make_cell(left, tone, entries), _make_cell(right, tone, entries), True)
        if entries and depth < _MOST_DEPTH:
            inner = self._open_rungs[0](left), self._open_rungs[1](right)
            if all(len(rungs) > 1 for rungs in inner):
                rows = self._make_level(*inner, depth + 1)
                if not _are_alike(rows):
                    row.inner = rows
        return row

    def _make_single(self, rung: Rung | None, side: int, *, is_paired: bool) -> Cell | None:
        if rung is None:
            return None
        account = self._account
        entries = account.list_entries(*((rung, None) if side == 0 else (None, rung)))
        tone = account.choose_tone(entries)
        if not is_paired and account.is_alone(rung, side):
            tone = "added" if side else "removed"
        return _make_cell(rung, tone, entries)

    def _fill_in(self, cells: tuple[Cell | None, Cell | None]) -> tuple[Cell | None, Cell | None]:
        """Return two boxes, of which one may say that there is nothing."""
        one, other = cells
        if one is not None and other is None and one.tone == "removed":
            return one, Cell("missing", "removed", "removed", one.entries)
        if other is not None and one is None and other.tone == "added":
            return Cell("missing", "added", "added", other.entries), other
        return cells


def _make_cell(rung: Rung, tone: Tone, entries: tuple[int, ...]) -> Cell:
    return Cell("stack" if rung.is_stack else "box", rung.label, tone, entries, (rung,))


def _are_alike(rows: Sequence[LadderRow]) -> bool:
    """Return whether rows are pairs of closed boxes that look the same, so that none stands out.

    What differs in each may be told by several entries, as where a first layer has one more.
    """
    tones = {cell.tone for row in rows for cell in (row.left, row.right) if cell is not None}
    return len(tones) == 1 and all(row.is_pair and not row.inner for row in rows)
