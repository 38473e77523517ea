"""Whether what a sentence counts is there: its words are read as its reader does, and counted anew.

Members of a kind are layers with weights of their own, however often they are called.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from netloupe.explorer.patterns.residual_kinds import WITH

from .census import Census
from .clause import Clause
from .counted_words import SMALL_NUMBERS, write_plural
from .outline import Outline
from .piece_words import name_kind
from .pieces import Piece

_DIGITS = r"\d{1,3}(?:,\d{3})*"
_BRACKETS = re.compile(r"\([^()]*\)")
_BLOCKS = re.compile(
    rf"(?P<count>{_DIGITS}) (?:blocks? (?:of |with |(?=\())|"
    rf"residual blocks of (?={_DIGITS} residual ))"
)
_BRANCHES = re.compile(rf"(?P<count>{_DIGITS}) branches of ")
_ROW = rf"(?:stages|levels|blocks) of (?P<row>{_DIGITS}(?:, {_DIGITS})+)"
_WORDS = "|".join(SMALL_NUMBERS)
_TIMES = r"twice|(?P<times>\d+) times"
#: what stands before what a block has in it
_SIZES = rf"(?: (?:of )?{_DIGITS}(?: → (?:{_DIGITS}|…))* channels?)?{WITH}"
#: what stands between a number and a noun
_KIND = r"(?:(?:\d+(?:×\d+)+|bidirectional|depthwise|dilated|pointwise|transposed) )*"
_CONVOLUTION = "convolution"
_SEPARABLE = "depthwise-separable convolution"
_PAIRS = re.compile(rf"(?:(?P<count>{_DIGITS}|{_WORDS}) )?{_SEPARABLE}s?")
#: of what is used so often in a loop steps are written out
_LEAST_CALLS = 3
#: other words for a kind
_ALSO = {"transformer block": ("attention with MLP", "attentions with MLP")}


#: the matrices of a block by their ids, and whether rows of them are looked up
Weights = frozenset[tuple[bool, int]]


class Said(NamedTuple):
    """What a text says of a kind; no number where it says several."""

    kind: str
    number: int | None


def read_counts(text: str, kinds: Iterable[str]) -> Iterator[Said]:
    """Yield what a text says of some kinds, in the order of the longest names.

    What stands in brackets is of each of what they stand behind. ``3 blocks of 2 convolutions`` are
    6 convolutions, and so are ``3 branches`` of them.
    """
    blocks = _BLOCKS.match(text)
    factor = _read_number(blocks["count"]) if blocks else 1
    rest = text[blocks.end() :] if blocks else text
    branches = _BRANCHES.match(rest)
    if branches:
        factor *= _read_number(branches["count"])
        rest = rest[branches.end() :]
    if blocks and rest.startswith("("):
        rest = rest.strip("()")
    while _BRACKETS.search(rest):
        rest = _BRACKETS.sub("", rest)
    kinds = [*kinds]
    if _SEPARABLE not in kinds and _CONVOLUTION in kinds:  # two that are told as one
        for pair in _PAIRS.finditer(rest):
            yield Said(_CONVOLUTION, 2 * factor * (_read_number(pair["count"] or "one")))
        rest = _PAIRS.sub(";", rest)
    for kind in sorted(kinds, key=lambda kind: (-len(kind), kind)):
        names = (kind, write_plural(kind), *_ALSO.get(kind, ()))
        noun = "|".join(map(_allow_sizes, sorted(names, key=len, reverse=True)))
        noun = noun.replace(r"transposed\ ", rf"transposed\ {_KIND}")
        pattern = (
            rf"(?:{_ROW} |(?P<count>{_DIGITS}|{_WORDS}) |(?:{_TIMES}) )?"
            rf"(?:{_KIND})(?<![\w-])(?P<noun>{noun})(?![\w-])"
        )
        while (found := re.search(pattern, rest)) is not None:
            is_one = re.sub(_SIZES, WITH, found["noun"]) != write_plural(kind)
            count = _read_match(found, is_one=is_one)
            yield Said(kind, None if count is None else count * factor)
            rest = f"{rest[: found.start()]}; {rest[found.end() :]}"


def _allow_sizes(name: str) -> str:
    """Return a pattern of a name: before what blocks have in them stand their sizes."""
    head, joint, inner = name.partition(WITH)
    return f"{re.escape(head)}{_SIZES if joint else ''}{re.escape(inner)}"


def _read_match(found: re.Match[str], *, is_one: bool) -> int | None:
    if found["row"]:
        return sum(_read_number(number) for number in found["row"].split(", "))
    if found["count"]:
        return _read_number(found["count"])
    if found["times"]:
        return int(found["times"])
    if found[0].startswith("twice "):
        return 2
    return 1 if is_one else None


def _read_number(word: str) -> int:
    if word in SMALL_NUMBERS:
        return SMALL_NUMBERS.index(word)
    return int(word.replace(",", ""))


class Inventory:
    """What there is of each kind among the blocks of a graph.

    Parameters
    ----------
    outline
        Of the graph.
    pieces
        All of its blocks. Of several with the same weights one is a member, and the others are
        calls.
    weights
        Those of each.
    """

    def __init__(
        self, outline: Outline, pieces: Sequence[Piece], weights: Sequence[Weights]
    ) -> None:
        self._members: dict[int, tuple[str, int]] = {}
        self._kinds: dict[int, str] = {}
        self._weighted: set[int] = set()
        seen: set[tuple[str, tuple[bool, int]]] = set()
        calls = max((piece.uses for piece in pieces), default=1)
        pairs = [*zip(pieces, weights, strict=True)]
        bare = Counter(piece.token for piece, own in pairs if not own)
        for piece, own in pairs:
            kind = name_kind(outline, [piece])
            self._kinds[id(piece)] = kind
            named = {(kind, one) for one in own}
            if named:
                self._weighted.add(id(piece))
                if named <= seen:
                    continue
                seen |= named
            elif piece.uses == 1 and _LEAST_CALLS <= calls <= bare[piece.token] + 1:
                continue  # these may be of the steps of a loop
            self._members[id(piece)] = (kind, piece.fold[1])

    def count(self, pieces: Iterable[Piece]) -> Counter[str]:
        """Return how many members of each kind are among some blocks.

        Of a kind of which that is not known 0.
        """
        counts: Counter[str] = Counter()
        for piece in pieces:
            kind, count = self._members.get(id(piece), (self._kinds[id(piece)], 0))
            counts[kind] += count
        return counts

    def knows(self, piece: Piece) -> bool:
        """Return whether a block is known to be a member of its kind, or a call of one."""
        return id(piece) in self._members or id(piece) in self._weighted

    def find(self, pieces: Iterable[Piece], kind: str) -> list[Piece]:
        """Return the members of a kind among some blocks."""
        return [one for one in pieces if self._members.get(id(one), ("", 0))[0] == kind]

    def is_counted(self, members: Sequence[Sequence[Piece]]) -> bool:
        """Return whether each of several modules has weights of its own, or none has any."""
        own = [
            any(id(piece) in self._weighted and id(piece) in self._members for piece in member)
            for member in members
        ]
        return all(own) or not any(own)


def find_false(
    inventory: Inventory, census: Census, clauses: Sequence[Clause], every: Sequence[Piece]
) -> set[str]:
    """Return the kinds of which clauses do not say how many there are.

    The numbers of a clause are those of all that it stands for. What no clause stands for is of no
    kind of which one says a number, but in modules with names. Blocks that are fewer than modules
    of their class are told as some of these.
    """
    told = {id(piece) for clause in clauses for piece in clause.scope}
    left = +inventory.count(piece for piece in every if id(piece) not in told)
    false: set[str] = set()
    for clause in clauses:
        false |= check_clause(inventory, census, clause)
        if not clause.is_named:
            false |= {kind for kind in read_said_numbers(inventory, clause) if kind in left}
    return false


def read_said_numbers(inventory: Inventory, clause: Clause) -> dict[str, int]:
    """Return the kinds that a clause says a number of, each with the largest of these numbers."""
    kinds = inventory.count(clause.scope)
    numbers: dict[str, int] = {}
    for text in _list_texts(clause):
        for kind, number in read_counts(text, kinds):
            if number is not None:
                numbers[kind] = max(number, numbers.get(kind, 0))
    return numbers


def check_clause(inventory: Inventory, census: Census, clause: Clause) -> set[str]:
    """Return the kinds of which a clause says another number than there is in its scope."""
    there = inventory.count(clause.scope)
    if clause.members and not inventory.is_counted(clause.members):
        return {*there} or {""}
    factor = clause.each_of
    totals: Counter[str] = Counter()
    several: set[str] = set()
    for text in _list_texts(clause):
        for kind, count in read_counts(text, there):
            if count is None:
                several.add(kind)
            else:
                totals[kind] += count * factor
    false: set[str] = set()
    for kind, count in totals.items():
        blocks = census.count(inventory.find(clause.scope, kind)) if there[kind] else 0
        if count != max(blocks, there[kind]) and not (kind in several and count < there[kind]):
            false.add(kind)
    return false


def _list_texts(clause: Clause) -> list[str]:
    if not clause.parts:
        return [clause.text]
    return [text for part in clause.parts if not part.name for text in _list_texts(part)]
