"""Clauses in words along the chains and branches that they form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from netloupe.explorer.model import Value

from .alike_ways import tell_ways
from .clause import Clause, join_equal
from .clause_graph import input_number
from .counted_words import SMALL_NUMBERS, count_pieces, join_with_and, strip_brackets
from .given_names import name_output, name_taken
from .outline import Outline
from .piece_words import name_kind, name_together
from .pieces import is_told
from .series_parallel import MASKING, Chain, Item, Joining, ParallelChains, list_levels
from .sketch import write_way

#: what each of several branches is anyway
_NAMES = {"branches": "branch", "heads": "head", "networks": "network", "streams": "stream"}
#: how something joins on the way of something else
_JOINING = {
    "added": "added to",
    "concatenated": "concatenated with",
    "in cross-attention": "with cross-attention to",
    "multiplied": "multiplied by",
}
_AROUND = {"concatenated": " with a concatenated skip", MASKING: " that mask their input"}
_GATED = " gated with its input"
#: so many names of inputs are said of one stream
_MOST_NAMES = 2
#: of items that come again so often, or of several that do, it is told what each is
_LEAST_TIMES = 3
_TWICE = 2
_MOST_PERIOD = 4
#: so many operators behind the last block of a head are looked at
_MOST_BEHIND = 4
#: where a word of an operator's name ends: ``LogSoftmax``
_INNER = re.compile("(?<=[a-z])(?=[A-Z])")
#: what differs among items that come again: sizes
_SIZES = re.compile(
    r" (?:of )?[\d,]+(?: (?:→|×) (?:[\d,]+|…))* channels?"
    r"| [\d,]+(?: → (?:[\d,]+|…))+"
    r"| \((?:kernel [\d, ]+|\d+(?:×\d+)*(?:, to [\d ×,]+)?)\)"
    r"|, to [\d ×,]+(?=\))"
)


class BranchWriter:
    """Writes chains and branches of clauses.

    Parameters
    ----------
    outline
        Of the graph.
    clauses
        What chains count, by their numbers.
    inputs, outputs
        Of the graph.
    name
        Returns what an author calls a chain; "" for nothing.
    """

    def __init__(
        self,
        outline: Outline,
        clauses: Sequence[Clause],
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        name: Callable[[Chain], str],
    ) -> None:
        self._outline = outline
        self._clauses = clauses
        self._inputs = inputs
        self._outputs = outputs
        self._name = name

    def tells_again(self, chain: Chain) -> bool:
        """Return whether several items of a chain come again in turn, and are told once."""
        keys = [self._find_key(item) for item in chain.items]
        for place in range(len(keys)):
            period, times = _find_repetition(keys[place:])
            end = place + period * times
            if period > 1:  # unless a part of one is left: then something stands between blocks
                return keys[end : end + 1] != keys[place : place + 1]
        return False

    def write(self, chain: Chain) -> list[str]:
        """Return what stands behind one another in a chain; what comes again is told once."""
        return [*self._write_items(chain.items, depth=0)]

    def _write_items(self, items: Sequence[Item], depth: int) -> Iterator[str]:
        keys = [self._find_key(item) for item in items]
        place = 0
        while place < len(items):
            period, times = _find_repetition(keys[place:])
            end = place + period * times
            if is_gated(items[place : place + 2], self._clauses):
                told, end = self._write_gated(items[place], depth), place + 2
            elif times > 1:
                told = self._write_again(items[place:end], period, depth)
            else:
                told = self._write_item(items[place], depth)
                if place and _goes_on(items[place - 1], items[place]):
                    told = told.replace("concatenated with", "and with", 1)
            if told:
                yield told
            place = end

    def _write_gated(self, item: Item, depth: int) -> str:
        """Return what a chain is that a gate multiplies with what goes into it."""
        if not isinstance(item, ParallelChains):
            return ""
        items = item.chains[0].items
        told = ", ".join(self._write_items(items, depth))
        steps = sum(not isinstance(one, Joining) for one in items)
        return told + (f", these {steps:,} gated with their input" if steps > 1 else _GATED)

    def _find_key(self, item: Item) -> object:
        """Return the same for what is alike but for its sizes."""
        if isinstance(item, int):
            return _SIZES.sub("", write_in_brackets(self._clauses[item]))
        if isinstance(item, Joining):
            inner = () if item.chain is None else item.chain.items
            return "joining", item.joint, tuple(map(self._find_key, inner))
        chains = tuple(tuple(map(self._find_key, chain.items)) for chain in item.chains)
        return item.kind, item.joint, item.has_skip, chains

    def _write_again(self, items: Sequence[Item], period: int, depth: int) -> str:
        """Return ``4 stages (each …)`` of items that come again."""
        rows = [items[at : at + period] for at in range(0, len(items), period)]
        told = []
        for column in zip(*rows, strict=True):
            texts = {self._write_item(item, 1) for item in column}
            text = texts.pop()
            told.append(_SIZES.sub("", text) if texts else text)
        way = self._find_widths(rows)
        widths = f"; {write_way(way)} channels" if len({*way}) > 1 else ""
        if depth:
            return f"{len(rows):,} times {join_with_and(told)}"
        return f"{len(rows):,} stages (each {join_with_and(told)}{widths})"

    def _find_widths(self, rows: Sequence[Sequence[Item]]) -> list[int]:
        """Return how wide what goes through stages is, before the first and behind each."""
        way: list[int] = []
        for row in rows:
            numbers = sorted(n for item in row for n in ([item] if isinstance(item, int) else ()))
            parts = [part for n in numbers for p in self._clauses[n].scope for part in p.parts]
            sizes = [(p.in_features, p.out_features) for p in parts if p.in_features]
            if not sizes or parts[0].kind == "linear":
                return []
            way += [sizes[-1][1]] if way else [sizes[0][0], sizes[-1][1]]
        return way if all(way) else []

    def _write_item(self, item: Item, depth: int) -> str:
        if isinstance(item, int):
            clause = self._clauses[item]
            return write_in_brackets(clause) if depth else clause.write()
        if isinstance(item, Joining):
            return self._write_joining(item)
        if len(item.chains) == 1:
            return self._write_skip(item, depth)
        levels = list_levels(item)
        if levels is not None and (told := self._write_levels(*levels, item.joint, depth)):
            return told
        around = " with a skip" if item.has_skip and item.joint != "added" else ""
        joint = f" {item.joint}{around}" if item.joint else ""
        names = self._name_ways(item)
        main = self._find_main(item)
        if main is not None:
            return self._write_beside(item, main, names, depth)
        named = self._write_named(item, names) if not depth else ""
        if named:
            return f"{named}{joint}"
        if item.kind == "heads" and (told := self._write_heads(item, names, depth)):
            return told
        if not any(names):
            texts = self._join_same(item.chains, _NAMES[item.kind])
        else:
            texts = [self._write_branch(*one) for one in zip(item.chains, names, strict=True)]
            texts = tell_ways(names, texts)
        if len(texts) == 1 and not any(names):
            is_each = item.kind != "branches" and " branches of " in texts[0]
            told = texts[0].replace("branches of", f"{item.kind} of", 1) if is_each else texts[0]
            return f"{told} side by side{joint}"
        if depth and not any(names) and all(len(chain.items) == 1 for chain in item.chains):
            return join_with_and(texts) + (joint or " side by side")
        if item.joint and any(text.endswith(f"){joint}") for text in texts):
            texts = [text.removesuffix(joint) for text in texts]
            joint = f", all{joint}"
        count = SMALL_NUMBERS[len(item.chains)]
        return f"{count} {item.kind} ({'; '.join(texts)}){joint}"

    def _write_heads(self, item: ParallelChains, names: Sequence[str], depth: int) -> str:
        """Return ``three heads (class: a linear layer; boxes and masks: each two convolutions)``.

        "" where all of them are alike and have no names, or stand in brackets without names.
        """
        if depth and not any(names):
            return ""
        called = names if any(names) else [_NAMES["heads"]] * len(item.chains)
        texts = [self._write_branch(*one) for one in zip(item.chains, called, strict=True)]
        lasts = [find_last(self._outline, [self._outputs[n] for n in way]) for way in item.ways]
        texts = [", ".join(filter(None, pair)) for pair in zip(texts, lasts, strict=True)]
        noun = f"{SMALL_NUMBERS[len(texts)]} heads"
        if len({*texts}) == 1:
            named = f"{noun}, {join_with_and(names)} (each {texts[0]})"
            return named if all(names) and texts[0] else ""
        return f"{noun} ({'; '.join(tell_ways(names, texts))})"

    def _write_levels(
        self, steps: Sequence[Item], taps: Sequence[int], joint: str, depth: int
    ) -> str:
        """Return ``A, B, behind each of these 3 a linear layer, added``; "" of unlike ends."""
        pieces = [piece for tap in taps for piece in self._clauses[tap].scope]
        kinds = {name_kind(self._outline, [piece]) for piece in pieces}
        if len(kinds) > 1 or len(pieces) > len(taps):
            return ""
        noun = name_together(self._outline, pieces)
        each = f"behind each of these {len(taps):,} a {noun}, {joint or 'joined'}"
        return ", ".join([*self._write_items(steps, depth), each])

    def _find_main(self, item: ParallelChains) -> int | None:
        """Return which of several heads goes on with the network, as it is more than all before."""
        if item.kind != "heads":
            return None
        held = [sum(self._clauses[n].weight for n in chain.clauses) for chain in item.chains]
        rest = sum(one.weight for one in self._clauses) - sum(held)
        return held.index(max(held)) if max(held) > rest else None

    def _write_beside(
        self, item: ParallelChains, main: int, names: Sequence[str], depth: int
    ) -> str:
        """Return what leads to outputs beside the main stream, and then how that goes on."""
        told = []
        for place, (chain, name) in enumerate(zip(item.chains, names, strict=True)):
            if place != main:
                text = self._write_branch(chain, name)
                told.append(f"beside it {name} ({text})" if name else f"beside it {text}")
        told += self._write_items(item.chains[main].items, depth)
        return ", ".join(told)

    def _write_named(self, item: ParallelChains, names: Sequence[str]) -> str:
        """Return modules side by side that their names tell apart; "" for others."""
        held = [self._clauses[n] for chain in item.chains for n in sorted(chain.clauses)]
        if len(held) > len(item.chains) or not all(one.name for one in held):
            return ""
        joined = join_equal(held)
        if len(joined) == 1:
            return joined[0].write()
        if len({one.name for one in held}) < len(held):
            if not all(names):
                return ""
            held = [
                replace(one, name=f"{name} {one.name}")
                for one, name in zip(held, names, strict=True)
            ]
        return ", ".join(one.write() for one in held) if item.kind == "heads" else ""

    def _join_same(self, chains: Sequence[Chain], name: str) -> list[str]:
        """Return what chains side by side are, with how many there are of the same."""
        held: dict[str, list[Chain]] = {}
        for chain in chains:
            held.setdefault(self._write_branch(chain, name), []).append(chain)
        return [
            told for text, row in held.items() for told in self._count_same(text, row, len(held))
        ]

    def _count_same(self, text: str, row: Sequence[Chain], kinds: int) -> list[str]:
        if len(row) == 1:
            return [text]
        only = row[0].items[0] if len(row[0].items) == 1 else None
        clause = self._clauses[only] if isinstance(only, int) else None
        if clause is not None and len(clause.scope) == clause.uses == 1 and not clause.name:
            noun = name_together(self._outline, clause.scope)
            told = clause.write() if kinds == 1 else text
            if told.startswith(noun):
                return [f"{count_pieces(len(row), noun)}{told.removeprefix(noun)}"]
        return [f"{len(row):,} branches of {text}"] if kinds == 1 else [text] * len(row)

    def _write_branch(self, chain: Chain, name: str = "") -> str:
        """Return a chain in brackets, without a name in it that it has already."""
        first = chain.items[0]
        if isinstance(first, int) and len(chain.items) == 1:
            return write_in_brackets(leave_out_name(self._clauses[first], name))
        return ", ".join(self._write_items(chain.items, depth=1))

    def _write_joining(self, item: Joining) -> str:
        """Return ``concatenated with labels (embedding of 10 × 16)``; "" of a nameless input."""
        told = "" if item.chain is None else self._write_branch(item.chain)
        name = _join(name_taken(self._inputs[input_number(end)]) for end in item.inputs)
        what = f"{name} ({told})" if name and told else name or told
        return f"{_JOINING.get(item.joint, 'with')} {what}" if what else ""

    def _write_skip(self, item: ParallelChains, depth: int) -> str:
        """Return what a chain is that something goes around."""
        items = item.chains[0].items
        told = ", ".join(self._write_items(items, depth))
        around = _AROUND.get(item.skip, "")
        steps = sum(not isinstance(one, Joining) for one in items)
        if around and steps > 1:
            around = f",{around} around these {steps:,}"
            if item.skip == MASKING:
                around = f", which mask the input of these {steps:,}"
        if item.skip and item.is_begin:
            name = _join(name_taken(self._inputs[input_number(end)]) for end in item.ways[0])
            around = f", {_JOINING[item.skip]} {name or 'the input'}"
        return told + around

    def _name_ways(self, item: ParallelChains) -> list[str]:
        """Return what the input, the output or the module of each of several is called."""
        if item.kind in ("networks", "streams"):
            values = [[self._inputs[input_number(end)] for end in way] for way in item.ways]
            names = [_join(map(name_taken, row)) for row in values]
        elif item.kind == "heads":
            values = [[self._outputs[end] for end in way] for way in item.ways]
            names = [_join(map(name_output, row)) for row in values]
        else:
            names = ["" for _ in item.chains]
        if not any(names):
            names = [self._name(chain) for chain in item.chains]
            names = names if all(names) else ["" for _ in names]
        told = [name for name in names if name]
        return names if len({*told}) == len(told) else ["" for _ in names]


def _goes_on(item: Item, after: Item) -> bool:
    """Return whether an input is concatenated with branches that are concatenated just before."""
    if not isinstance(item, ParallelChains) or not isinstance(after, Joining):
        return False
    return item.joint == after.joint == "concatenated" and after.chain is None


def is_gated(items: Sequence[Item], clauses: Sequence[Clause]) -> bool:
    """Return whether the first of two items is a chain that the second multiplies with its input.

    A product of what is between 0 and 1 (Y. Dauphin and others, Language Modeling with Gated
    Convolutional Networks, 2017, equation 1).
    """
    if len(items) != len(("chain", "gate")):
        return False
    around, gate = items
    is_around = isinstance(around, ParallelChains) and around.has_skip and len(around.chains) == 1
    if not is_around or not isinstance(gate, int):
        return False
    return clauses[gate].text == "gate" and len(clauses[gate].scope) == 1


def find_last(outline: Outline, ends: Sequence[Value]) -> str:
    """Return what a head ends in, as ``softmax``; "" for nothing that bounds what it gives."""
    operations = outline.operations
    number = operations.giver(operations.source(ends[0])) if len(ends) == 1 else None
    for _ in range(_MOST_BEHIND):
        if number is None or is_told(outline.owner(number)):
            break
        operator = operations.nodes[number].operator
        if operator.has("distributes", "squashes"):
            return _INNER.sub("-", operator.form).lower()
        givers = operations.givers(number)
        number = givers[0] if len(givers) == 1 else None
    return ""


def leave_out_name(clause: Clause, name: str) -> Clause:
    """Return a clause without a name that is said of its branch."""
    words = {*clause.name.split(" ")}
    return replace(clause, name="") if words <= {*name.split(" ")} else clause


def write_in_brackets(clause: Clause) -> str:
    """Return a clause as it is told in brackets."""
    if clause.inside.startswith("each ") or "(each " in clause.text:
        return clause.write()
    if not clause.name or clause.uses > 1 or not clause.inside:
        return strip_brackets(clause.write())
    if clause.parts:
        inside = join_with_and([strip_brackets(part.write_inside()) for part in clause.parts])
    else:
        inside = strip_brackets(clause.inside)
    return f"{clause.name} of {inside}"


def _join(names: Iterable[str]) -> str:
    found = [*names]
    return join_with_and(found) if all(found) and 0 < len(found) <= _MOST_NAMES else ""


def _find_repetition(keys: Sequence[object]) -> tuple[int, int]:
    """Return how many items come again at the begin of some, and how often: the most of them."""
    best = (1, 1)
    for period in range(1, min(_MOST_PERIOD, len(keys) // 2) + 1):
        times = 1
        while keys[times * period : (times + 1) * period] == keys[:period]:
            times += 1
        is_enough = times >= _LEAST_TIMES or (times == _TWICE and period > 1)
        if is_enough and period * times > best[0] * best[1]:
            best = period, times
    return best
