"""Counts of blocks are said only where the author's numbered lists agree with the patterns.

A pattern may know eight of twelve blocks, or two sums in each of them. Where a list has another
number of members than the pattern found, the list's is said, with a word that holds of all of them;
what nothing settles is told without a number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.grouping import read_module_path
from netloupe.explorer.roles import find_weight

from .authored_lists import ListMember, Path, read_form
from .claims import Said, read_counts
from .clause import MINOR, Clause
from .counted_words import count_pieces, write_plural
from .list_ends import end_with_lists
from .located_pieces import LocatedPieces
from .piece_words import name_kind
from .pieces import Piece
from .sketch import write_row

#: kinds of piece that are a block of their author's
_BLOCKS = frozenset({"dense", "group", "inverted", "mixer", "residual", "transformer"})
_WHOLE = _BLOCKS | {"separable"}
#: which are no block where there is more of one beside them
_PARTIAL = frozenset({"separable", "transformer"})
#: what a block of a transformer is where both are told apart
#: operators that tell layers
_COMPUTING = ("attends", "distributes", "multiplies", "normalizes_last_axes")
_LAYER = {"attention", "mlp"}
#: and of others, where they hold less of it
_LEAST_OF_MEMBER = 0.5
#: of which a stage is known by its width
_WIDENING = frozenset({"group", "inverted", "residual"})
_DIGITS = r"\d{1,3}(?:,\d{3})*"
_STAGES = re.compile(rf"stages of (?P<row>{_DIGITS}(?:, {_DIGITS})+) ")
#: and no more than steps, which are no blocks of their lists
_STEPS = frozenset({"group", "unit"})
#: from which to which width blocks go
_WAY = re.compile(rf",? (?:of )?{_DIGITS} (?:→ (?:{_DIGITS}|…) )+channels$")
#: what is so of all layers of transformers
_FACTS = re.compile(r" \((?:[^()]|\([^()]*\))*\)$")

Tell = Callable[[Sequence[Piece]], list[Clause]]


@dataclass(frozen=True)
class _Verdict:
    """What lists say of blocks where they say something else than patterns.

    Parameters
    ----------
    rows
        How many members each list has; nothing where the count of the patterns stands.
    paths
        Of all members of these lists.
    noun
        What each of them is.
    of_them
        What some of them are, with their number.
    is_unsure
        Whether lists hold too few of the blocks to count them all.
    is_apart
        Whether lists of several names hold them, as those of two streams.
    is_whole
        Whether each of them is made of blocks of which all is told that is so of each.
    """

    rows: tuple[int, ...] = ()
    paths: tuple[Path, ...] = ()
    noun: str = "block"
    of_them: str = ""
    is_unsure: bool = False
    is_apart: bool = False
    is_whole: bool = False


class AgreedBlocks:
    """Compares how many blocks clauses count with the author's lists.

    Parameters
    ----------
    located
        The blocks of the graph.
    tell
        Tells blocks by their kinds.
    """

    def __init__(self, located: LocatedPieces, tell: Tell) -> None:
        self._located = located
        self._outline = located.outline
        self._pieces = located.pieces
        self._layers = located.layers
        self._lists = located.lists
        self._paths = located.paths
        self._tell = tell

    def agree(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return clauses whose counts of blocks the lists agree with."""
        kept = [*clauses]
        place = 0
        while place < len(kept):
            clause = kept[place]
            is_one = clause.each_of == 1 and not clause.members and not clause.name[:1].isdigit()
            if clause.parts and is_one:
                parts = self.agree(clause.parts)
                kept[place] = replace(clause, parts=tuple(parts))
            elif clause.members and not clause.is_class:
                kept[place : place + 1] = self._judge_row(clause, kept)
            elif not clause.parts:
                kept[place] = end_with_lists(self._lists, self._paths, clause)
                kept = self._judge_blocks(kept, place)
            place += 1
        return kept

    def _judge_blocks(self, clauses: list[Clause], place: int) -> list[Clause]:
        """Return clauses with one of them as lists count its blocks."""
        clause = clauses[place]
        kinds = {name_kind(self._outline, [p]) for p in clause.scope if p.kind in _BLOCKS}
        said = [one for one in read_counts(clause.text, kinds) if one.number is not None]
        if len(said) != 1 or said[0].number == 1 or re.match(rf"{_DIGITS} blocks ", clause.text):
            return clauses
        noun = said[0].kind
        pieces = [p for p in clause.scope if name_kind(self._outline, [p]) == noun]
        if any(piece.fold[1] > 1 or piece.uses > 1 for piece in pieces):
            return clauses
        verdict = self._judge(pieces, said[0])
        if verdict.is_unsure:
            told = replace(clause, text=write_plural(noun), is_plain=False)
            return [*clauses[:place], told, *clauses[place + 1 :]]
        if verdict.rows:
            return self._write_rows(clauses, place, verdict)
        stages = _STAGES.match(clause.text)
        if stages and not self._are_stages(stages["row"], pieces):
            rest = clause.text[stages.end() :].removeprefix(write_plural(noun))
            clauses[place] = replace(clause, text=count_pieces(len(pieces), noun) + rest)
        return clauses

    def _write_rows(self, clauses: list[Clause], place: int, verdict: _Verdict) -> list[Clause]:
        """Return clauses with blocks as lists count them, and nothing else of what these hold."""
        clause = clauses[place]
        held = [
            piece
            for piece in self._pieces
            if any(self._paths[id(piece)][: len(path)] == path for path in verdict.paths)
        ]
        own = {id(piece) for piece in (*held, *clause.scope)}
        if len(verdict.rows) > 1 and clause.text.startswith("stages"):
            text = f"stages of {write_row(verdict.rows)} {write_plural(verdict.noun)}"
        elif len(verdict.rows) > 1 and verdict.is_apart:
            text = f"{' + '.join(map(str, verdict.rows))} {write_plural(verdict.noun)}"
        else:
            text = count_pieces(sum(verdict.rows), verdict.noun)
        text += verdict.of_them
        facts = _FACTS.search(clause.text) if verdict.is_whole else None
        text += facts[0] if facts else ""
        # widths of some of the blocks are not those of the stages of all
        is_of_all = sum(verdict.rows) <= sum(piece.fold[1] for piece in clause.scope)
        way = _WAY.search(clause.text) if is_of_all else None
        scope = tuple(piece for piece in self._pieces if id(piece) in own)
        told = Clause(text + (way[0] if way else ""), scope, clause.name, clause.uses)
        kept: list[Clause] = []
        for number, other in enumerate(clauses):
            if number == place:
                kept.append(told)
                continue
            rest = [piece for piece in other.scope if id(piece) not in own]
            if len(rest) == len(other.scope) or other.is_named or other.members:
                kept.append(other)
            elif rest:
                kept += self._tell(rest)
        return kept

    def _judge(self, pieces: Sequence[Piece], said: Said) -> _Verdict:
        """Return what lists say of how many blocks some pieces are."""
        found: dict[Path, dict[ListMember, list[Piece]]] = {}
        for piece, member in self._locate(pieces):
            found.setdefault(read_form(member.path), {}).setdefault(member, []).append(piece)
        rows: list[int] = []
        members: list[ListMember] = []
        lacking: list[ListMember] = []
        is_several = False
        for form, held in found.items():
            most = max(held.values(), key=len)
            is_list = form[-1] == "#"  # else attributes: of ``tree1`` the next one may be in it
            is_step = pieces[0].kind == "group" and any(
                self._holds_others(member, pieces) for member in held
            )
            if is_step or (len(most) > 1 and (not is_list or self._are_alike(most))):
                rows.append(sum(map(len, held.values())))
                continue
            alike = self._lists.list_alike([*held])
            rows += map(len, alike)
            members += (one for row in alike for one in row)
            lacking += (
                one for row in alike for one in row if one not in held and not self._is_told(one)
            )
            is_several |= len(most) > 1
        loose = len(pieces) - sum(len(some) for held in found.values() for some in held.values())
        if not is_several and (not lacking or sum(rows) + loose <= (said.number or 0)):
            return _Verdict()
        is_step = all(piece.kind in _STEPS for piece in pieces)
        if is_step or 2 * loose > len(pieces):
            return _Verdict(is_unsure=True)
        if not is_several and loose:
            rows = [sum(rows) + loose]
        elif any(form[-1] != "#" for form in found):  # levels, rather than stages
            rows = [sum(rows)]
        paths = tuple(member.path for member in members)
        if is_several:
            each = 0 if lacking else self._count_in_each(found, pieces)
            of_them = f" of {count_pieces(each, said.kind)}" if each > 1 else ""
            is_whole = each > 1 and pieces[0].kind == "transformer"
            return _Verdict(tuple(rows), paths, of_them=of_them, is_whole=is_whole)
        known = [one for one in members if one not in lacking]
        name, of_them = self._name_all(lacking, known, pieces[0].kind, said.kind, len(pieces))
        return _Verdict(tuple(rows), paths, name, of_them, is_apart=len(found) > 1)

    def _count_in_each(
        self, found: Mapping[Path, Mapping[ListMember, list[Piece]]], pieces: Sequence[Piece]
    ) -> int:
        """Return how many of some pieces each member of a list is made of; 0 where they differ."""
        own = {id(piece) for piece in pieces}
        counts = set()
        for held in found.values():
            for member, some in held.items():
                rest = [one for one in self._list_held(member) if id(one) not in own]
                counts.add(0 if any(one.kind not in MINOR for one in rest) else len(some))
        return counts.pop() if len(counts) == 1 else 0

    def _locate(self, pieces: Sequence[Piece]) -> Iterator[tuple[Piece, ListMember]]:
        """Yield pieces with the members of lists that they are.

        Of lists inside of others those count that hold more of the pieces: what stands beside the
        list of a stage is none of its blocks, and one of two parts of a block is that block.
        """
        located = [(piece, self._lists.locate(self._paths[id(piece)])) for piece in pieces]
        forms = Counter(read_form(lists[0][1].path) for _, lists in located if lists)
        chosen = {
            form
            for form, count in forms.items()
            if not any(
                (other[: len(form)] == form and often >= count)
                or (form[: len(other)] == other and often > count)
                for other, often in forms.items()
                if other != form
            )
        }
        for piece, lists in located:
            found = (member for _, member in lists if read_form(member.path) in chosen)
            member = next(found, None) or self._find_main(piece, chosen)
            if member is not None:
                yield piece, member

    def _find_main(self, piece: Piece, forms: Collection[Path]) -> ListMember | None:
        """Return the one member of some lists that holds most of a block, as all but a projection.

        That may stand beside the list.
        """
        nodes = [one for one in self._outline.nodes(piece.parts) if one in self._layers.keys]
        paths = [self._lists.find_common([node]) for node in nodes]
        held = [
            next((one for _, one in self._lists.locate(path) if read_form(one.path) in forms), None)
            for path in paths
        ]
        members = {one for one in held if one is not None}
        is_most = 2 * held.count(None) < len(held)
        return members.pop() if is_most and len(members) == 1 else None

    def _is_told(self, member: ListMember) -> bool:
        """Return whether a member is one block, of whatever kind, that is told as such."""
        held = [piece for piece in self._list_held(member) if piece.kind in _WHOLE]
        nodes = self._outline.nodes(part for piece in held for part in piece.parts)
        keys = self._layers.list_keys(nodes)
        inside = [node for node in self._layers.firsts if self._lists.holds(member.path, node)]
        known = sum(self._layers.keys[node] in keys for node in inside)
        if len(held) != 1 or held[0].kind in _PARTIAL:
            return len(held) == 1 and known == len(inside)
        return known >= _LEAST_OF_MEMBER * len(inside)

    def _holds_others(self, member: ListMember, pieces: Sequence[Piece]) -> bool:
        """Return whether a member holds blocks of other kinds, so that it is none of some."""
        own = {id(piece) for piece in pieces}
        held = self._list_held(member)
        return any(one.kind in _BLOCKS and id(one) not in own for one in held)

    def _list_held(self, member: ListMember) -> list[Piece]:
        return [piece for piece in self._pieces if member.holds(self._paths[id(piece)])]

    def _name_all(
        self,
        lacking: Sequence[ListMember],
        others: Sequence[ListMember],
        kind: str,
        noun: str,
        count: int,
    ) -> tuple[str, str]:
        """Return what holds of all members of lists, and how many of them are of a kind.

        A block of convolutions with a sum is a residual block, whatever else is in it.
        """
        if kind == "transformer":
            held = [self._list_held(one) for one in lacking]
            layers = [sum(piece.layer is not None for piece in one) for one in held]
            split = [{piece.kind for piece in one} for one in held]
            if all(n == 1 or kinds == _LAYER for n, kinds in zip(layers, split, strict=True)):
                return "transformer block", ""
            if others and self._compute_alike(others[0], lacking):
                return noun, ""
            is_some = count > 1 and not any(layers)
            return "block", f", {count:,} of them {write_plural(noun)}" if is_some else ""
        sums = [sum(one.holds(path) for path in self._sums) for one in lacking]
        if kind == "residual" and all(sums):
            return noun if noun == "residual block" else "residual block", ""
        if not any(sums) and count > 1:
            return "block", f", {count:,} of them {write_plural(noun)}"
        return "block", ""

    def _compute_alike(self, known: ListMember, lacking: Sequence[ListMember]) -> bool:
        """Return whether the file has the layers of a member in others that compute with constants.

        So a first one does of stored queries (N. Carion and others, DETR, 2020, section 3.2): what
        depends on no input is no part of the outline.
        """
        members = [known, *lacking]
        counts: list[Counter[str]] = [Counter() for _ in members]
        are_stored = [False for _ in members]
        for node in self._outline.graph.nodes:
            if not node.operator.has(*_COMPUTING):
                continue
            path = tuple(name for name, _ in read_module_path(node))
            for place, member in enumerate(members):
                if member.holds(path):
                    counts[place][node.op_type] += 1
                    value = node.output(0)
                    are_stored[place] |= value is not None and is_input_independent(value)
        return all(own == counts[0] for own in counts) and are_stored == [
            False,
            *[True] * len(lacking),
        ]

    @property
    def _sums(self) -> list[Path]:
        """The modules of all sums of two computed values, as their nodes tell."""
        return [
            tuple(name for name, _ in read_module_path(node))
            for number, node in enumerate(self._outline.operations.nodes)
            if node.operator.has("adds") and len(self._outline.operations.operands[number]) > 1
        ]

    def _are_alike(self, pieces: Sequence[Piece]) -> bool:
        """Return whether pieces in one module are modules of one kind in it, by their kernels.

        Of transformers, which have none, by the widths of what they feed.
        """
        if all(piece.layer is not None and piece.part.widths for piece in pieces):
            return len({piece.part.widths for piece in pieces}) == 1
        kernels = set()
        for piece in pieces:
            weights = map(find_weight, self._outline.nodes(piece.parts))
            kernels.add(tuple(sorted((w.kind, w.kernel or ()) for w in weights if w is not None)))
        return len(kernels) == 1

    def _are_stages(self, row: str, pieces: Sequence[Piece]) -> bool:
        """Return whether a list ends, or the width changes, where a stage does."""
        counts = [int(word.replace(",", "")) for word in row.split(", ")]
        if sum(counts) != len(pieces):
            return True
        keys = [self._lists.locate(self._paths[id(piece)])[:1] for piece in pieces]
        borders: list[int] = []
        for count in counts[:-1]:
            borders.append(count + (borders[-1] if borders else 0))
        if not all(keys) or len({found[0][1].path for found in keys}) < len(pieces):
            return True
        for at in borders:
            one, two = pieces[at - 1], pieces[at]
            is_wider = one.kind in _WIDENING and (
                one.part.out_features != two.part.out_features or two.part.is_strided
            )
            if keys[at - 1][0][0] == keys[at][0][0] and not is_wider:
                return _widen(one, two)
        return True

    def _judge_row(self, clause: Clause, clauses: Sequence[Clause]) -> list[Clause]:
        """Return modules in a row as the list has them whose members they are."""
        if any(piece.fold[1] > 1 or piece.uses > 1 for piece in clause.scope):
            return [clause]
        paths = [self._located.find_path(member) for member in clause.members]
        located = [self._lists.locate(path) for path in paths]
        beside = [
            self._located.find_path(member)
            for other in clauses
            if other is not clause
            for member in other.members
        ]
        if not all(located):
            return [clause]
        for key, _ in located[-1][::-1]:
            own = [next((m for k, m in one if k == key), None) for one in located]
            found = [member for member in own if member is not None]
            if {member.path for member in found} != {*paths}:
                continue
            outer = {path[:-1] for path in paths}
            rows = self._lists.list_alike(found)
            alike = [one for row in rows for one in row if one.path[:-1] in outer]
            known = {member.path for member in found}
            rest = [one for one in alike if one.path not in known]
            if all(any(one.holds(path) for path in beside) for one in rest):
                return [clause]
            return self._recount_row(clause, len(alike))
        return [clause]

    def _recount_row(self, clause: Clause, count: int) -> list[Clause]:
        """Return modules in a row with another number, of which no more is said."""
        before = len(clause.members)
        if clause.name.startswith(f"{before:,} "):
            name = f"{count:,}{clause.name[len(f'{before:,}') :]}"
            return [replace(clause, name=name, parts=(), text="", each_of=1, members=())]
        if clause.unit[1] or clause.text.startswith(f"{before:,} block"):
            return [Clause(count_pieces(count, "block"), clause.scope)]
        return [clause]


def _widen(one: Piece, two: Piece) -> bool:
    """Return whether layers of transformers are of another width."""
    widths = [piece.part.widths for piece in (one, two)]
    return bool(all(widths) and widths[0] != widths[1])
