"""Findings of a check as items of a review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from netloupe.explorer.checks import Finding, Rule
from netloupe.explorer.notation import write_count

from .item import ItemKind, Level, ReviewItem
from .wording import write_evidence, write_message, write_where

#: the severity ``note`` is called otherwise here, where notes are what people write
_LEVELS: dict[str, Level] = {"error": "error", "warning": "warning", "note": "minor"}


def list_finding_items(
    findings: Iterable[Finding], rules: Iterable[Rule] = ()
) -> Iterator[ReviewItem]:
    """Yield findings of some rules as items; each is folded over alike places already."""
    known = {rule.id: rule for rule in rules}
    for finding in findings:
        yield make_finding_item(finding, known.get(finding.id))


def make_finding_item(
    finding: Finding, rule: Rule | None, kind: ItemKind = "finding"
) -> ReviewItem:
    """Return a finding as an item, with the documentation of its rule where that is known."""
    evidence = [("found", write_message(finding.message)), *write_evidence(finding.evidence)]
    if finding.count > 1:
        places = write_count(finding.count, "place")
        if len(finding.paths) < finding.count:
            places += f", the first {len(finding.paths):,} of them named"
        evidence.append(("alike", places))
    return ReviewItem(
        kind,
        _LEVELS[finding.severity],
        rule.title if rule is not None else finding.name,
        write_where(finding.paths, finding.count),
        finding.id,
        finding.paths,
        tuple(evidence),
        rule.why if rule is not None else "",
        finding.remedy,
        rule.source if rule is not None else "",
        finding.count,
        finding.fingerprint,
        _write_acceptance(finding),
    )


def _write_acceptance(finding: Finding) -> str:
    """Return who accepted a finding and why, or that a baseline has it; "" for neither."""
    if not finding.suppressed:
        return ""
    if not finding.justification:
        return "known from the baseline"
    by = f"{finding.accepted_by}: " if finding.accepted_by else ""
    return write_message(f"{by}{finding.justification}")
