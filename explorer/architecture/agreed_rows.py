"""Blocks whose parts an author keeps in several lists, each of which tells how many there are.

A decoder of ``convs.0 … 5`` and ``attentions.0 … 5`` has six blocks though no module holds one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from .agreed_blocks import Tell
from .authored_lists import ListKey, ListMember
from .clause import Clause
from .located_pieces import LocatedPieces
from .pieces import Piece

#: one list may be of something else
_LEAST_LISTS = 2


class AgreedRows:
    """Compares how many blocks are told in a row with the lists that their parts are in.

    Parameters
    ----------
    located
        The blocks of the graph.
    tell
        Tells blocks by their kinds.
    """

    def __init__(self, located: LocatedPieces, tell: Tell) -> None:
        self._located = located
        self._tell = tell

    def agree(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return clauses with rows of as many blocks as all lists of their parts have members.

        What else is told of a block that the row lacked is left out.
        """
        kept = [*clauses]
        for place, clause in enumerate(clauses):
            count = len(clause.members)
            found = self._find_lacking(clause) if count > 1 and not clause.is_class else []
            if not found:
                continue
            name, text = (_recount(one, count, len(found[0])) for one in (clause.name, clause.text))
            if (name, text) == (clause.name, clause.text):
                continue
            held = self._list_held(found, clause)
            scope = (*clause.scope, *held)
            # members are as before: of what was lacking it is not known which part is whose
            kept[kept.index(clause)] = replace(clause, name=name, text=text, scope=scope)
            kept = self._leave_out(kept, held, clauses[place])
        return kept

    def _find_lacking(self, clause: Clause) -> list[list[ListMember]]:
        """Return all members of the lists of a row, where each of these has as many too many."""
        common: set[ListKey] | None = None
        of_key: dict[ListKey, set[ListMember]] = {}
        for pieces in clause.members:
            keys = set()
            for piece in pieces:
                for key, member in self._located.lists.locate(self._located.paths[id(piece)])[:1]:
                    keys.add(key)
                    of_key.setdefault(key, set()).add(member)
            common = keys if common is None else common & keys
        count = len(clause.members)
        lists = []
        for key in sorted(common or ()):
            known = of_key[key]
            if len(known) != count:
                return []
            lists.append(self._located.lists.list_members(key))
        sizes = {len(row) for row in lists}
        is_agreed = len(lists) >= _LEAST_LISTS and len(sizes) == 1
        return lists if is_agreed and min(sizes) > count else []

    def _list_held(self, lists: Sequence[Sequence[ListMember]], clause: Clause) -> list[Piece]:
        """Return the blocks of lists that a row lacks, and what has no weights and is beside."""
        own = {id(piece) for piece in clause.scope}
        kinds = {(piece.kind, piece.name) for piece in clause.scope}
        held, is_beside = [], False
        for piece in self._located.pieces:
            path = self._located.paths[id(piece)]
            is_listed = any(one.holds(path) for row in lists for one in row) and bool(path)
            is_bare = not path and (piece.kind, piece.name) in kinds and is_beside
            is_beside = id(piece) not in own and (is_listed or is_bare)
            if is_beside:
                held.append(piece)
        return held

    def _leave_out(
        self, clauses: Sequence[Clause], held: Sequence[Piece], row: Clause
    ) -> list[Clause]:
        """Return clauses without what is held by blocks of a row now; what is behind them is last.

        It was told before them with what was in their first one.
        """
        gone = {id(piece) for piece in held}
        last = max(piece.part.place for piece in row.scope)
        kept: list[Clause] = []
        behind: list[Clause] = []
        for one in clauses:
            rest = [piece for piece in one.scope if id(piece) not in gone]
            if len(rest) == len(one.scope) or one.members:
                kept.append(one)
                if one.members and {*map(id, row.scope)} <= {*map(id, one.scope)}:
                    kept += behind
                    behind = []
            elif rest and one.is_plain and not one.name:
                for told in self._tell(rest):
                    is_behind = told.scope[0].part.place > last
                    (behind if is_behind else kept).append(told)
            elif rest:
                kept.append(one)
        return kept + behind


def _recount(text: str, before: int, after: int) -> str:
    return re.sub(rf"^{before:,}(?= blocks?\b)", f"{after:,}", text)
