"""Places where one rule applies for one cause, told as one finding.

Hits are alike where rule and cause are equal, and so are their paths once digits are replaced:
``main/layer.3/attn/Cast_41`` is like ``main/layer.7/attn/Cast_93``, but not like
``main/layer.3/mlp/Cast_60``. That is exact where exporters number their layers, needs no groups,
and stays the same when a node is added before. The finding keeps the message of the first place,
says how many others there are, and names the first ones.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .rule import Evidence, Occurrence, Rule, Severity

#: so many places of a finding are named: enough to go through them in a picture
MOST_PATHS = 1_000
#: so many findings of a rule are told apart; what else it finds is one more
MOST_FINDINGS = 200
_MOST_MASKED = 2_000
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found: all alike places for one cause.

    Parameters
    ----------
    id, name, severity
        Of the rule: ``NL-G02``, ``unused-initializer``, ``error``, ``warning`` or ``note``.
    paths
        The first places, as ``model[path]`` takes them.
    message
        What is so at the first of them.
    evidence
        The values that show it at the first place, and those that are added up over all.
    remedy
        What to do.
    count
        How many places there are.
    fingerprint
        Stays the same for the same cause at alike places of another version of the model.
    suppressed
        Whether a baseline has it already, or a note accepts it.
    justification, accepted_by
        What the note says that accepts it, and who wrote it; "" without one.
    """

    id: str
    name: str
    severity: Severity
    paths: tuple[str, ...]
    message: str
    evidence: Evidence
    remedy: str
    count: int
    fingerprint: str
    suppressed: bool = False
    justification: str = ""
    accepted_by: str = ""

    @property
    def is_accepted(self) -> bool:
        """Whether a note accepts it."""
        return bool(self.justification)

    def __str__(self) -> str:
        others = f" (and {self.count - 1:,} alike)" if self.count > 1 else ""
        return f"{self.severity} {self.id} {self.paths[0]}: {self.message}{others}"


@dataclass(slots=True)
class _Fold:
    first: Occurrence
    paths: list[str] = field(default_factory=list)
    amounts: dict[str, int] = field(default_factory=dict)
    count: int = 0

    def add(self, hit: Occurrence) -> None:
        self.count += hit.places
        if len(self.paths) < MOST_PATHS:
            self.paths.append(hit.path)
        for name, amount in hit.amounts.items():
            self.amounts[name] = self.amounts.get(name, 0) + amount


def mask_digits(path: str) -> str:
    """Return a path with every number in it replaced."""
    return _DIGITS.sub("#", path[:_MOST_MASKED])


def fold_hits(rule: Rule, hits: Iterable[Occurrence]) -> Iterator[Finding]:
    """Yield the findings of one rule in the order of their first places."""
    folds: dict[tuple[str, ...], _Fold] = {}
    for hit in hits:
        key: tuple[str, ...] = (hit.severity or "", mask_digits(hit.path), hit.cause)
        fold = folds.get(key)
        if fold is None:
            if len(folds) >= MOST_FINDINGS:
                key = ("", "", "…")
            fold = folds.setdefault(key, _Fold(hit))
        fold.add(hit)
    for key, fold in folds.items():
        first = fold.first
        text = "\0".join((rule.id, *key))
        yield Finding(
            rule.id,
            rule.name,
            first.severity or rule.severity,
            tuple(dict.fromkeys(fold.paths)),
            first.message,
            {**first.evidence, **fold.amounts},
            rule.remedy,
            fold.count,
            hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32],
        )
