"""What is said of a stack of blocks: what is so for all of them, and widths that run through."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TypeVar

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import BlockDetails, Detail, FeatureDetails, Recognition
from netloupe.explorer.patterns.convolution_details import DenseDetails
from netloupe.explorer.patterns.details import NO_DETAILS, RecurrentDetails
from netloupe.explorer.patterns.linear import write_widths
from netloupe.explorer.patterns.transformer_details import AttentionDetails, TransformerDetails

from .outside_norms import add_outside_norm

#: blocks of more kinds are not told apart
_MOST_KINDS = 3
#: so many widths are written one by one
_MOST_WIDTHS = 6
#: of so few blocks it is told which has which number, in so many letters
_MOST_TOLD, _MOST_LETTERS = 8, 32
#: so many widths of blocks beside each other are told one by one
_MOST_SIDES = 3
#: so many that rise are told one by one
_LEAST_ELIDED = 3
#: a fact that begins a stage, and is told by the place of its block
_PROJECTION = "with projection"

_DIGITS = re.compile(r"\d+")

_Kind = TypeVar("_Kind", bound=BlockDetails)
#: a block, as its nodes and as what it was recognised as
Member = tuple[Sequence[Node], Recognition]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StackDetails(FeatureDetails):
    """Of a stack of blocks through which features run, or that differ in kind.

    Parameters
    ----------
    in_features, out_features
        What the first block takes, and what all together give.
    each
        What is so of each block.
    kinds
        What is so of some blocks and not of others, in words.
    """

    each: BlockDetails = NO_DETAILS
    kinds: str = ""

    def read_as(self, kind: type[_Kind]) -> _Kind:
        """Return what is known of the stack, or else of each block, if it is of a kind."""
        return self if isinstance(self, kind) else self.each.read_as(kind)

    def to_mapping(self) -> dict[str, Detail]:
        """Return what is so of each block, with what goes in and comes out of all."""
        own = FeatureDetails().with_features(self.in_out)
        kinds: dict[str, Detail] = {"kinds": self.kinds} if self.kinds else {}
        return self.each.to_mapping() | kinds | own.to_mapping()


def join_facts(exemplar: Recognition, members: Sequence[Member], *, are_all: bool) -> Recognition:
    """Return what holds for all blocks of a stack, and how many features go in and come out.

    Where blocks differ in these, it is what the first takes and the last gives if each takes what
    the one before it gives (``64 → 256``), what layers of a DenseNet begin and end with, and how
    many features each adds (``64 → 256`` and ``+32 each``), or else from how many to how many
    there are (``16 to 64 → 32``). Where some blocks have an MLP and others experts, the detail
    ``kinds`` tells how many have which (``SwiGLU 64 → 128 → 64 in 2, 8 experts in 4``).

    Parameters
    ----------
    exemplar
        What the block is that stands for all.
    members
        The blocks in their order.
    are_all
        Whether these are all blocks of the stack, so that the first is followed by the second.
    """
    found = [recognition for _, recognition in members]
    if are_all and len(found) > 1:
        found[0] = add_outside_norm(found[0], members[0][0], found[1])
        exemplar = found[0] if exemplar is members[0][1] else exemplar
    shared = tuple(fact for fact in exemplar.facts if all(fact in one.facts for one in found))
    kinds = _tell_kinds(found, shared, are_all)
    each = exemplar.details.keep_shared([one.details for one in found])
    details = StackDetails(each=each, kinds=kinds) if kinds else each
    if not are_all or _tells_widths(shared):
        return exemplar._replace(facts=shared, details=details)
    widths = [one.details.in_out for one in found]
    known = [width for width in widths if width is not None]
    if len(known) < len(widths):
        return exemplar._replace(facts=shared, details=details)
    growth = each.read_as(DenseDetails).growth
    taken, given = known[0][0], known[-1][1]
    told: tuple[str, ...]
    if growth is not None and all(
        after == before + growth for (before, _), (after, _) in pairwise(known)
    ):
        given = known[-1][0] + growth
        told = f"{taken} → {given}", f"+{growth} each"
        details = StackDetails(each=each, in_features=taken, out_features=given, kinds=kinds)
    elif len({*known}) == 1 or _run_through(members, known):
        is_both_ways = each.read_as(RecurrentDetails).bidirectional
        course = [after for _, after in known]
        is_paired = is_both_ways and len({*course}) == 1
        entering = write_entering([before for before, _ in known])
        told = (f"{entering} → 2 × {given}" if is_paired else write_course([taken, *course]),)
        details = StackDetails(each=each, in_features=taken, out_features=given, kinds=kinds)
    else:
        told = (_write_sides(known),)
    return exemplar._replace(facts=(*told, *shared), details=details)


def _tell_kinds(found: Sequence[Recognition], shared: Sequence[str], are_all: bool) -> str:
    """Return what is so for some blocks of a stack and not for others, in words; or nothing.

    Numbers alone, as of widths and kernels, do not make kinds.
    """
    kinds = Counter(
        " and ".join(fact for fact in one.facts if fact not in shared and _has_words(fact))
        for one in found
    )
    windows = [one.details.read_as(AttentionDetails).window or _read_window(one) for one in found]
    order = _order_windows(windows) if are_all else ""
    if order:
        return order
    if len({_DIGITS.sub("", kind) for kind in kinds}) < 2 or len(kinds) > _MOST_KINDS:
        return ""
    rest = f" of {len(found)}" if "" in kinds else ""
    return ", ".join(
        f"{kind} in {f'{count}{rest}' if are_all else 'some'}"
        for kind, count in kinds.items()
        if kind
    )


def _read_window(one: Recognition) -> int:
    """Return the window of the attention in a Transformer block; 0 where there is none."""
    attention = one.details.read_as(TransformerDetails).attention
    return (attention.window or 0) if attention is not None else 0


def _order_windows(windows: Sequence[int]) -> str:
    """Return ``1 global after 5 local, window 512`` where attention alternates so; else ""."""
    local = [window > 0 for window in windows]
    if all(local) or not any(local) or len({window for window in windows if window}) > 1:
        return ""
    period = local.index(False) + 1  # local ones come first
    if period < 2 or any(one != (place % period < period - 1) for place, one in enumerate(local)):
        return ""
    return f"1 global after {period - 1} local, window {max(windows)}"


def _has_words(fact: str) -> bool:
    return fact != _PROJECTION and any(word.isalpha() for word in fact.split())


def _tells_widths(facts: Sequence[str]) -> bool:
    return any("→" in fact for fact in facts)


def _write_sides(widths: Sequence[tuple[int, int]]) -> str:
    """Return what blocks beside each other take and give: ``16 to 64 → 32``, ``32 or 64 → same``.

    A span on either side would leave open whether a block changes its width.
    """
    taken, given = zip(*widths, strict=True)
    if taken == given:
        return f"{_write_each(taken)} → same"
    return f"{_write_span(taken)} → {_write_span(given)}"


def _write_each(widths: Sequence[int]) -> str:
    each = [str(width) for width in sorted({*widths})]
    if not 1 < len(each) <= _MOST_SIDES:
        return _write_span(widths)
    return f"{', '.join(each[:-1])} or {each[-1]}"


def _write_span(widths: Sequence[int]) -> str:
    low, high = min(widths), max(widths)
    return f"{low}" if low == high else f"{low} to {high}"


def write_entering(widths: Sequence[int]) -> str:
    """Return what blocks take: ``256``, or ``196, then 256`` where the first takes another width.

    Of a recurrent layer that reads both ways the next one takes the states side by side, so the
    course of what each gives does not say it.
    """
    later = {*widths[1:]}
    first = widths[0]
    return f"{first}, then {later.pop()}" if len(later) == 1 and first not in later else str(first)


def write_course(widths: Sequence[int]) -> str:
    """Return the widths that a stack goes through: ``16 → 32 → 64``, or the ends of a long one."""
    course = [width for width, _ in groupby(widths)]
    if not 2 < len(course) <= _MOST_WIDTHS:
        course = [widths[0], widths[-1]]
    return write_widths(*course)


def write_each_number(numbers: Sequence[int]) -> str:
    """Return a number of each of several blocks, so that a reader knows which block has which.

    Of the first and of all others where these have the same one (``196, then 256``), the ends where
    numbers rise or fall all along (``1 … 32``), that of each where these are few (``5, 3, 3, 1``),
    and else between which they are (``1 to 32``).
    """
    if len({*numbers[1:]}) == 1:
        return f"{numbers[0]:,}, then {numbers[1]:,}"
    signs = {(after > before) - (after < before) for before, after in pairwise(numbers)}
    if len(signs) == 1 and len(numbers) > _LEAST_ELIDED:
        return f"{numbers[0]:,} … {numbers[-1]:,}"
    each = ", ".join(f"{number:,}" for number in numbers)
    if len(numbers) <= _MOST_TOLD and len(each) <= _MOST_LETTERS:
        return each
    return f"{min(numbers):,} to {max(numbers):,}"


def _run_through(members: Sequence[Member], widths: Sequence[tuple[int, int]]) -> bool:
    """Return whether each block takes the features that the one before it gives."""
    for (before, after), ((_, given), (taken, _)) in zip(
        pairwise(members), pairwise(widths), strict=True
    ):
        # of both directions of a recurrent layer the results stand side by side
        is_both_ways = before[1].details.read_as(RecurrentDetails).bidirectional
        if taken != given * (2 if is_both_ways else 1):
            return False
        nodes = {*before[0]}
        if not any(value and value.producer in nodes for node in after[0] for value in node.inputs):
            return False
    return True
