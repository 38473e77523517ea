"""Which rungs of two models belong together: those that hold the two sides of most pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from netloupe.explorer.model import Node

from .rungs import Rung

#: of a group so much may be in other boxes than its partner
_MOST_ELSEWHERE = 0.25
_MOST_ROUNDS = 8
#: groups are taken apart no further where there are so many boxes
_MOST_RUNGS = 20_000

Common = dict[tuple[Rung, Rung], int]
Partners = Mapping[Node, Sequence[Node]]
#: returns the parts of a rung; nothing for what has none
OpenRung = Callable[[Rung], list[Rung]]


def count_common(lefts: Sequence[Rung], rights: Sequence[Rung], partners: Partners) -> Common:
    """Return of which rungs how many nodes of the left one have a partner in the right one."""
    homes = {node: rung for rung in rights for node in rung.nodes}
    common: Counter[tuple[Rung, Rung]] = Counter()
    for rung in lefts:
        for node in rung.nodes:
            others = {homes[other] for other in partners.get(node, ()) if other in homes}
            for other in others:
                common[rung, other] += 1
    return dict(common)


def pair_rungs(
    lefts: Sequence[Rung],
    rights: Sequence[Rung],
    partners: Partners,
    open_rungs: tuple[OpenRung, OpenRung],
) -> tuple[list[Rung], list[Rung], dict[Rung, Rung]]:
    """Pair the rungs of two levels; what has no partner as a whole is taken apart first.

    Parameters
    ----------
    lefts, rights
        The rungs of the levels, in order.
    partners
        By node of the left model those that it is paired with.
    open_rungs
        Return the parts of a rung of the left and of the right model.

    Returns
    -------
    tuple
        The rungs of both levels, and the pairs. A stack is paired with a stack only.
    """
    for _ in range(_MOST_ROUNDS):
        common = count_common(lefts, rights, partners)
        pairs = _choose(common)
        backwards = {other: one for one, other in pairs.items()}
        turned = {(two, one): count for (one, two), count in common.items()}
        opened = (
            _take_apart(lefts, pairs, common, open_rungs),
            _take_apart(rights, backwards, turned, (open_rungs[1], open_rungs[0])),
        )
        is_done = opened[0] is None and opened[1] is None
        if is_done or len(lefts) + len(rights) > _MOST_RUNGS:
            break
        lefts, rights = opened[0] or lefts, opened[1] or rights
    return [*lefts], [*rights], pairs


def _choose(common: Common) -> dict[Rung, Rung]:
    """Return pairs of which each has most in common, by Dice's coefficient of their nodes."""
    ranked = []
    for place, ((one, other), count) in enumerate(common.items()):
        share = 2 * count / (len(one.nodes) + len(other.nodes))
        ranked.append((-share, one.label != other.label, place, one, other))
    pairs: dict[Rung, Rung] = {}
    taken: set[Rung] = set()
    for *_, one, other in sorted(ranked, key=lambda entry: entry[:3]):
        if one not in pairs and other not in taken:
            pairs[one] = other
            taken.add(other)
    return pairs


def _take_apart(
    rungs: Sequence[Rung],
    pairs: Mapping[Rung, Rung],
    common: Common,
    open_rungs: tuple[OpenRung, OpenRung],
) -> list[Rung] | None:
    """Return rungs with the parts of those that have no partner as a whole; None for no change."""
    sums: Counter[Rung] = Counter()
    for (one, _), count in common.items():
        sums[one] += count
    found: list[Rung] = []
    for rung in rungs:
        other, count = pairs.get(rung), sums[rung]
        kept = common[rung, other] if other is not None else 0
        is_torn = count - kept > _MOST_ELSEWHERE * count
        is_other = other is not None and _is_around(rung, other, open_rungs)
        parts = open_rungs[0](rung) if count and (is_torn or is_other) else []
        found += parts if len(parts) > 1 else [rung]
    return found if len(found) > len(rungs) else None


def _is_around(rung: Rung, other: Rung, open_rungs: tuple[OpenRung, OpenRung]) -> bool:
    """Return whether a stack, or a block, that is paired with the other of these is to be opened.

    What holds a stack is opened before the stack is.
    """
    if rung.is_stack == other.is_stack:
        return False
    if rung.is_stack:
        return not any(part.is_stack for part in open_rungs[1](other))
    return any(part.is_stack for part in open_rungs[0](rung))
