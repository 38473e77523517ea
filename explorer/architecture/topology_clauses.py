"""What is said of a graph along its streams, its trunk and its heads, each with its own counts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from netloupe.explorer.model import Value
from netloupe.explorer.patterns.input_roles import find_role

from .agreed_counts import AgreedCounts
from .alike_ways import tell_ways
from .block_contents import tell_contents
from .branch_words import find_last, leave_out_name, write_in_brackets
from .calls import Called
from .claims import Inventory
from .clause import MINOR, Clause
from .counted_words import SMALL_NUMBERS, join_with_and, write_plural
from .fitting import MOST_CLAUSES, MOST_WORDS
from .given_names import name_output, name_taken
from .located_pieces import LocatedPieces
from .module_clauses import ModuleTeller
from .modules import Module
from .outline import Outline
from .piece_words import write_shortly
from .pieces import Piece
from .reach import list_bits
from .regions import FRONT, TRUNK, Key
from .remainders import tell_others
from .topology import Topology
from .verified_counts import confirm_counts

#: so many clauses and words are said of a way of two, and of one of more
_MOST_OF_TWO = (3, 14)
_MOST_OF_MORE = (2, 8)
#: and of what a condition comes through
_MOST_OF_CONDITION = (1, 7)
#: of more layers each block has its own
_MOST_BEFORE = 6
#: of what is between all of them at least
_LEAST_OF_TRUNK = (3, 24)
#: what is told apart is read with more ease
_MORE_WORDS = 10
_MOST_INPUTS = 2
_ORDINALS = ("first", "second", "third", "fourth")


@dataclass(frozen=True)
class ToldTopology:
    """What is said along streams and heads.

    Parameters
    ----------
    clauses
        In order.
    tells_taken, tells_joint, tells_given
        Whether what goes in, how streams meet, and what comes out, is told by them.
    """

    clauses: tuple[str, ...]
    tells_taken: bool = False
    tells_joint: bool = False
    tells_given: bool = False

    def shorten(self, end: str) -> str:
        """Return what is said of outputs without what clauses tell."""
        if self.tells_joint:
            end = re.sub(r"^sum of \d+ branches(, |$)", "", end)
        if self.tells_given:
            end = re.sub(r" \([^()\d]+\)$", "", end) if " maps out" in end else ""
            names = re.findall(r"[a-z]\w+(?= \d)", end)
            if names and all(name.replace("_", " ") in self.clauses[-1] for name in names):
                end = re.sub(r"[a-z]\w+ (?=\d)", "", end)
        return end


class TopologyTeller:
    """Tells blocks of one outline as they join.

    Parameters
    ----------
    outline
        The outline.
    inventory
        What there is of each kind.
    located
        Its blocks, and where they stand.
    topology
        How they join.
    called
        What follows from what.
    """

    def __init__(
        self,
        outline: Outline,
        inventory: Inventory,
        located: LocatedPieces,
        topology: Topology,
        called: Called,
    ) -> None:
        self._outline = outline
        self._inventory = inventory
        self._located = located
        self._topology = topology
        self._called = called

    def tell(self, root: Module, taken: str, before: Sequence[Piece]) -> ToldTopology:
        """Return what is said of all modules.

        Parameters
        ----------
        root
            The modules.
        taken
            What is said of what goes in.
        before
            The blocks that this tells.
        """
        topology = self._topology
        streams, begins = self._tell_streams(root, taken, before)
        if topology.branches:
            count = topology.branches
            streams = self._tell_ways(root, "branch", [""] * count, count)
            streams = [f"{streams[0]} {topology.joint}".rstrip()]
        heads = self._tell_ways(root, "head", self._name_heads(), len(topology.heads))
        entering = self._tell_conditions(root)
        said = " ".join((*streams, *heads, entering))
        most = MOST_CLAUSES - 2 * bool(streams) - bool(heads)
        words = MOST_WORDS + _MORE_WORDS - len(said.split())
        least, fewest = _LEAST_OF_TRUNK
        front = self._tell_region(root, FRONT, least, fewest)
        trunk = self._tell_region(root, TRUNK, max(most, least), max(words, fewest))
        way = topology.joint.removeprefix("in ")
        if streams and way and trunk and trunk[0].text.startswith(way):  # it is told by its block
            streams = [streams[0].removesuffix(f" {topology.joint}")]
        clauses = [one.write() for one in front]
        clauses += streams
        clauses += self._add_conditions(trunk, entering)
        clauses += heads
        clauses += self._tell_sides(root)
        return ToldTopology(tuple(clauses), begins, bool(topology.joint), bool(heads))

    def _tell_region(
        self, root: Module, key: Key, most: int, words: int, *, is_brief: bool = False
    ) -> list[Clause]:
        """Return what is said of one region; less of layers where that is one of several."""
        regions = self._topology.regions
        own = _filter(root, {id(p) for p in root.pieces if regions[id(p)] == key})
        if not own.pieces:
            return []
        layers = sum(piece.layer is not None for piece in root.pieces)
        teller = ModuleTeller(self._outline, own.pieces, self._inventory, own, layers)
        told = teller.tell_whole(most, words)
        if is_brief:
            told = told if len(told) <= most else teller.tell_kinds(own.pieces)
            told = [self._tell_shortly(teller, one) for one in told]
            told.sort(key=lambda one: min(piece.parts[0].place for piece in one.scope))
        beside = [piece for piece in root.pieces if regions[id(piece)] != key]
        agreed = AgreedCounts(self._located, teller.tell_kinds, beside).agree(told)
        agreed = self._called.add_users(agreed)
        if is_brief:
            return agreed
        agreed = tell_others(self._outline, tell_contents(self._outline, agreed))
        return self._called.name_apart(confirm_counts(self._located, agreed))

    def _tell_shortly(self, teller: ModuleTeller, clause: Clause) -> Clause:
        """Return a clause with less of what is so of layers of transformers."""
        is_row = clause.members or clause.parts or clause.text.startswith("stages")
        if clause.name and not is_row and all(piece.layer is not None for piece in clause.scope):
            count = sum(piece.fold[1] for piece in clause.scope)
            return replace(clause, text=write_shortly(self._outline, clause.scope, count))
        return teller.tell_shortly([clause])[0]

    def _tell_streams(
        self, root: Module, taken: str, before: Sequence[Piece]
    ) -> tuple[list[str], bool]:
        """Return what is said of streams, and whether that tells what goes in."""
        topology = self._topology
        if not topology.streams:
            return [], False
        places = {topology.regions[id(piece)][1] for piece in before}
        place = places.pop() if taken and len(places) == 1 else -1
        begins = {place: taken} if place >= 0 else {}
        names = [self._name_stream(inputs) for inputs in topology.streams]
        told = self._tell_ways(root, "stream", names, len(names), begins)
        if topology.joint:
            told = [f"{told[0]} {topology.joint}"]
        return told, bool(begins)

    def _name_stream(self, inputs: Sequence[int]) -> str:
        names = [name_taken(self._topology.reach.inputs[number]) for number in inputs]
        names = [*dict.fromkeys(names)]
        return join_with_and(names) if all(names) and len(names) <= _MOST_INPUTS else ""

    def _name_heads(self) -> list[str]:
        outputs = self._topology.reach.outputs
        names = [
            name_output(outputs[numbers[0]]) if len(numbers) == 1 else ""
            for numbers in self._topology.heads
        ]
        return names if all(names) else ["" for _ in names]

    def _tell_ways(
        self,
        root: Module,
        kind: str,
        names: Sequence[str],
        count: int,
        begins: dict[int, str] | None = None,
    ) -> list[str]:
        """Return ``two streams (text: …; image: …)``; what all of them are once."""
        most, words = _MOST_OF_TWO if count == 2 else _MOST_OF_MORE
        texts = []
        for place in range(count):
            told = self._tell_region(root, (kind, place), most, words, is_brief=True)
            begin = (begins or {}).get(place, "")
            inside = [write_in_brackets(leave_out_name(one, names[place])) for one in told]
            last = find_last(self._outline, self._list_ends(place)) if kind == "head" else ""
            texts.append(", ".join(filter(None, (begin, *inside, last))))
        if not texts:
            return []
        noun = f"{SMALL_NUMBERS[count]} {write_plural(kind)}"
        if len({*texts}) == 1:
            named = f", {join_with_and(names)}" if all(names) else ""
            return [f"{noun}{named} (each {texts[0]})"]
        return [f"{noun} ({'; '.join(tell_ways(names, texts))})"]

    def _tell_sides(self, root: Module) -> Iterator[str]:
        """Yield what leads from streams to outputs alone: ``prior (2 linear layers)``."""
        outputs = self._topology.reach.outputs
        keys = [self._topology.regions[id(piece)] for piece in root.pieces]
        for key in dict.fromkeys(key for key in keys if key[0] == "side"):
            told = self._tell_region(root, key, *_MOST_OF_TWO, is_brief=True)
            name = join_with_and([name_output(outputs[bit]) for bit in list_bits(key[1])])
            inside = ", ".join(write_in_brackets(leave_out_name(one, name)) for one in told)
            yield f"{name} ({inside})" if name else f"beside them {inside}"

    def _list_ends(self, place: int) -> list[Value]:
        """Return the outputs that a head leads to."""
        return [self._topology.reach.outputs[number] for number in self._topology.heads[place]]

    def _tell_conditions(self, root: Module) -> str:
        """Return what enters a stack; "" where nothing does."""
        topology = self._topology
        said = []
        sources = topology.reach.sources
        for number in topology.conditions.inputs:
            own = sum(1 << bit for bit, one in enumerate(sources) if one.number == number)
            mask = own & topology.conditions.sources
            told = self._tell_condition(root, mask)
            name = name_taken(topology.reach.inputs[number])
            name = name or find_role(topology.reach.inputs[number])
            if not name and not told and number < len(_ORDINALS):
                name = f"the {_ORDINALS[number]} input"
            if name and number in topology.conditions.parts:
                name = f"a part of {name}"
            through = ", ".join(write_in_brackets(leave_out_name(one, name)) for one in told)
            if name:
                said.append(f"{name} ({through})" if through else name)
            elif through:
                said.append(f"what comes through {through}")
        is_all = len(said) == len(topology.conditions.inputs)
        way = topology.conditions.way or "conditioned on"
        return f"{way} {join_with_and(said)}" if said and is_all else ""

    def _tell_condition(self, root: Module, mask: int) -> list[Clause]:
        """Return what a condition comes through; nothing of layers that each block has for it."""
        key = ("condition", mask)
        held = [piece for piece in root.pieces if self._topology.regions[id(piece)] == key]
        if len(held) > _MOST_BEFORE and all(piece.kind in MINOR for piece in held):
            return []
        return self._tell_region(root, key, *_MOST_OF_CONDITION, is_brief=True)

    def _add_conditions(self, clauses: Sequence[Clause], entering: str) -> Iterator[str]:
        """Yield clauses, with what enters behind the one of which it enters most blocks."""
        conditions = self._topology.conditions
        counts = [count_entered(clause, conditions.entered) for clause in clauses]
        most = max(counts, default=(0, 0))
        at = counts.index(most) if entering and most[0] else -1
        for place, clause in enumerate(clauses):
            count, every = counts[place]
            share = f", {count:,} of them" if count < every and not conditions.is_counted else ""
            yield f"{clause.write()}{share} {entering}" if place == at else clause.write()


def count_entered(clause: Clause, entered: Collection[int]) -> tuple[int, int]:
    """Return of how many blocks that a clause counts something enters some, and of how many.

    Of a row of modules these are counted, and of blocks of several kinds those of the most telling
    one; of what is no row only how many there are that something enters.
    """
    own = [piece for piece in clause.scope if id(piece) in entered]
    if clause.members:
        taking = [any(id(piece) in entered for piece in member) for member in clause.members]
        return sum(taking), len(taking)
    kinds = {piece.token for piece in clause.scope if piece.kind not in MINOR}
    count = sum(piece.fold[1] for piece in own)
    row = [piece for piece in clause.scope if piece.token in kinds or not kinds]
    held = sum(piece.fold[1] for piece in row if id(piece) in entered)
    if clause.name or len(kinds) > 1 or not held:
        return count, count
    return held, sum(piece.fold[1] for piece in row)


def _filter(module: Module, kept: set[int]) -> Module:
    """Return a module with some of its blocks alone."""
    pieces = [piece for piece in module.pieces if id(piece) in kept]
    inner = [_filter(one, kept) for one in module.inner]
    return replace(module, pieces=pieces, inner=[one for one in inner if one.pieces])
