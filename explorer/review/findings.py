"""Findings of a check as items of a review."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.checks import Finding, Findings, Rule
from netloupe.explorer.notation import write_count

from .item import Level, ReviewItem
from .wording import write_evidence, write_message, write_where

#: the severity ``note`` is called otherwise here, where notes are what people write
_LEVELS: dict[str, Level] = {"error": "error", "warning": "warning", "note": "minor"}


def list_finding_items(findings: Findings) -> Iterator[ReviewItem]:
    """Yield findings as items; each is folded over alike places already."""
    rules = {rule.id: rule for rule in findings.rules}
    for finding in findings:
        yield _list_finding(finding, rules.get(finding.id))


def _list_finding(finding: Finding, rule: Rule | None) -> ReviewItem:
    evidence = [("found", write_message(finding.message)), *write_evidence(finding.evidence)]
    if finding.count > 1:
        places = write_count(finding.count, "place")
        if len(finding.paths) < finding.count:
            places += f", the first {len(finding.paths):,} of them named"
        evidence.append(("alike", places))
    return ReviewItem(
        "finding",
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
