"""How much work nodes are: multiplications, other operations, bytes, and what is not known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from .polynomial import Amount, find_larger, is_never_less

Affected = Literal["macs", "bytes"]


class Gap(NamedTuple):
    """Something of which a total does not know how much it is.

    Parameters
    ----------
    what
        An operator, with the domain before it where that is not the format's own.
    reason
        Why it is not known.
    affects
        Which totals are lower bounds therefore: ``macs``, or ``bytes`` of activations.
    """

    what: str
    reason: str
    affects: Affected = "macs"


class Work(NamedTuple):
    """How much work something is, each time it runs.

    Parameters
    ----------
    macs
        Multiplications, each with an addition. Of branches those of the larger one.
    least
        The same with the smaller branches.
    others
        Other operations on numbers, roughly.
    activations
        Bytes of the results, without constants.
    moved
        Bytes of operands, constants among them, and results.
    gaps
        What is missing above, and how often.
    operators
        MACs by operator.
    """

    macs: Amount = 0
    least: Amount = 0
    others: Amount = 0
    activations: Amount = 0
    moved: Amount = 0
    gaps: Mapping[Gap, int] = {}
    operators: Mapping[str, Amount] = {}


NOTHING = Work()


def add_works(works: Iterable[tuple[Work, int]]) -> Work:
    """Return the sum of works, each so many times."""
    macs: Amount = 0
    least: Amount = 0
    others: Amount = 0
    activations: Amount = 0
    moved: Amount = 0
    gaps: dict[Gap, int] = {}
    operators: dict[str, Amount] = {}
    for work, count in works:
        macs += work.macs * count
        least += work.least * count
        others += work.others * count
        activations += work.activations * count
        moved += work.moved * count
        for gap, often in work.gaps.items():
            gaps[gap] = gaps.get(gap, 0) + often * count
        for name, amount in work.operators.items():
            operators[name] = operators.get(name, 0) + amount * count
    return Work(macs, least, others, activations, moved, gaps, operators)


def repeat_work(work: Work, times: Amount, *, is_most: bool = False) -> Work:
    """Return the work of something that runs so many times, or at most so many.

    Gaps keep their numbers: they count places, not runs.
    """
    return Work(
        work.macs * times,
        0 if is_most else work.least * times,
        work.others * times,
        work.activations * times,
        work.moved * times,
        work.gaps,
        {name: amount * times for name, amount in work.operators.items()},
    )


def choose_work(branches: list[Work]) -> Work:
    """Return the work of one of several branches: the larger one, and how little it may be."""
    found = branches[0]
    for branch in branches[1:]:
        first = is_never_less(found.macs, branch.macs)
        least = _find_smaller(found.least, branch.least)
        larger = found if first else branch
        gaps = dict(found.gaps)
        for gap, often in branch.gaps.items():
            gaps[gap] = gaps.get(gap, 0) + often
        found = Work(
            find_larger(found.macs, branch.macs),
            least,
            find_larger(found.others, branch.others),
            find_larger(found.activations, branch.activations),
            find_larger(found.moved, branch.moved),
            gaps,
            larger.operators,
        )
    return found


def _find_smaller(one: Amount, two: Amount) -> Amount:
    if is_never_less(one, two):
        return two
    return one if is_never_less(two, one) else 0
