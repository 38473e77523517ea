"""The boxes of a ladder, the rows that they stand in, and the links between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from netloupe.explorer.model import Node

from .account import Tone
from .rungs import Rung

CellKind = Literal["box", "stack", "missing", "more", "end"]


@dataclass(eq=False, slots=True)
class Cell:
    """One box of a ladder.

    Parameters
    ----------
    kind
        ``stack`` for a closed run of blocks, ``missing`` where the other model has something and
        this one has not, ``more`` for several rows that are told in one, ``end`` for what is at no
        node: inputs, outputs and the model as a whole.
    label, tone
        What it is called, and how it is painted.
    entries
        Numbers of the differences that are in it, from 0, in the order of the list.
    """

    kind: CellKind
    label: str
    tone: Tone
    entries: tuple[int, ...] = ()
    rungs: tuple[Rung, ...] = ()

    @property
    def nodes(self) -> Iterator[Node]:
        """The nodes that it shows."""
        return (node for rung in self.rungs for node in rung.nodes)


@dataclass(eq=False, slots=True)
class LadderRow:
    """One line of a ladder.

    Parameters
    ----------
    left, right
        The boxes of the older and of the newer model; None where a column is empty there.
    is_pair
        Whether both belong together.
    inner
        The rows inside, where both are open.
    """

    left: Cell | None
    right: Cell | None
    is_pair: bool = False
    inner: list[LadderRow] = field(default_factory=list)

    @property
    def entries(self) -> set[int]:
        """Numbers of the differences of both."""
        return {number for cell in (self.left, self.right) if cell for number in cell.entries}

    @property
    def is_plain(self) -> bool:
        """Whether it is a pair of closed boxes in which nothing differs."""
        cells = (self.left, self.right)
        return self.is_pair and not self.inner and all(c and c.tone == "same" for c in cells)

    def list_leaves(self) -> Iterator[LadderRow]:
        """Yield the rows that are not opened: this one, or those inside."""
        if not self.inner:
            yield self
        pending = [iter(self.inner)]
        while pending:
            row = next(pending[-1], None)
            if row is None:
                pending.pop()
            elif row.inner:
                pending.append(iter(row.inner))
            else:
                yield row


class RungLink(NamedTuple):
    """A line between two boxes that hold what is paired."""

    left: Cell
    right: Cell
    tone: Tone
