"""Which rules did not see everything, in words that need no list of rules beside them."""

from __future__ import annotations

from collections.abc import Iterable

from .check import SkippedRule
from .rules import RULES

_NAMES = {rule.id: rule.name for rule in RULES}


def tell_skipped(skipped: Iterable[SkippedRule]) -> list[tuple[str, str]]:
    """Return why rules did not see everything, and which: ``NL-N01 nan-weight, …``.

    Parameters
    ----------
    skipped
        The rules, in the order in which they are told.

    Returns
    -------
    list of tuple
        A reason, and the ids and names of the rules that it is so of; each reason once.
    """
    reasons: dict[str, list[str]] = {}
    for each in skipped:
        reasons.setdefault(each.reason, []).append(f"{each.id} {_NAMES.get(each.id, '')}".strip())
    return [(reason, ", ".join(rules)) for reason, rules in reasons.items()]
