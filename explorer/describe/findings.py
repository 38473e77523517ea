"""Findings of a check as JSON and as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from netloupe.explorer.checks import SEVERITIES, Finding, Findings, tell_skipped
from netloupe.explorer.notation import write_bytes, write_count

from .encoding import encode_json
from .file_text import write_line

#: of what is written as JSON
_SCHEMA = 1
#: so many findings of a rule are shown as text
_SHOWN_FINDINGS = 8
#: so many places of a finding are written; it says how many there are
_MOST_PATHS = 20
_LONGEST_PATH = 300
_LONGEST_MESSAGE = 1_000
_WIDTH = 100


def encode_findings(findings: Findings, *, most: int | None = None) -> dict[str, Any]:
    """Return findings as JSON can hold them, as ``netloupe check --json`` prints them.

    Parameters
    ----------
    findings
        What a check has found.
    most
        So many entries of each list are written; all of them where None.
    """
    told = {
        "schema": _SCHEMA,
        "source": findings.source,
        "findings": [_collect(finding) for finding in findings],
        "skipped_rules": [
            {"id": each.id, "reason": each.reason} for each in findings.skipped_rules
        ],
        "notices": list(findings.notices),
    }
    return encode_json(told, most=most)


def encode_unread(source: str, error: str) -> dict[str, Any]:
    """Return what stands for the findings of a model that cannot be read.

    Parameters
    ----------
    source
        What the user calls the model.
    error
        Why not.
    """
    told = {"schema": _SCHEMA, "source": source, "error": error, "findings": []}
    return encode_json(told | {"skipped_rules": []}, most=None)


def _collect(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "name": finding.name,
        "severity": finding.severity,
        "paths": list(finding.paths[:_MOST_PATHS]),
        "message": finding.message,
        "evidence": dict(finding.evidence),
        "remedy": finding.remedy,
        "count": finding.count,
        "fingerprint": finding.fingerprint,
        "suppressed": finding.suppressed,
        "justification": finding.justification,
        "accepted_by": finding.accepted_by,
    }


def format_findings(findings: Findings) -> str:
    """Return findings as lines of text, the worst first.

    Those of a baseline are counted only; of those that notes accept it is said why.
    """
    lines = [f"{write_line(findings.source, _LONGEST_PATH)}: {summarize_findings(findings)}"]
    titles = {rule.id: rule.title for rule in findings.rules}
    for severity in SEVERITIES:
        groups: dict[str, list[Finding]] = {}
        for finding in findings:
            if finding.severity == severity and not finding.suppressed:
                groups.setdefault(finding.id, []).append(finding)
        if groups:
            lines += ["", f"{severity}s"]
        for rule_id, group in groups.items():
            lines += _format_group(group, titles.get(rule_id, ""))
    accepted = [finding for finding in findings if finding.is_accepted]
    if accepted:
        lines += ["", "accepted by notes"]
        for finding in accepted[:_SHOWN_FINDINGS]:
            lines += _format_accepted(finding)
        if len(accepted) > _SHOWN_FINDINGS:
            lines.append(f"  … {len(accepted) - _SHOWN_FINDINGS:,} more, which --json has")
    for notice in findings.notices:
        lines += ["", *_wrap(write_line(notice, _LONGEST_MESSAGE), "", "  ")]
    if findings.skipped_rules:
        lines += ["", "not checked"]
        for reason, rules in tell_skipped(findings.skipped_rules):
            lines += _wrap(f"{rules}: {write_line(reason, _LONGEST_MESSAGE)}", "  ", "    ")
    return "\n".join(lines) + "\n"


def summarize_findings(findings: Findings) -> str:
    """Return what was found in a line: ``2 errors, 1 warning, 5 notes``."""
    shown = [finding for finding in findings if not finding.suppressed]
    counts = ((name, sum(f.severity == name for f in shown)) for name in SEVERITIES)
    parts = [write_count(count, name) for name, count in counts if count]
    accepted = sum(finding.is_accepted for finding in findings)
    known = len(findings) - len(shown) - accepted
    if accepted:
        parts.append(f"{accepted:,} accepted by notes")
    if known:
        parts.append(f"{known:,} known from the baseline")
    rules = write_count(len(findings.rules), "rule")
    return f"{', '.join(parts) or 'nothing found'} ({rules})"


def _format_accepted(finding: Finding) -> Iterator[str]:
    """Yield the lines of a finding that a note accepts."""
    others = f"  and {finding.count - 1:,} more" if finding.count > 1 else ""
    place = write_line(finding.paths[0], _LONGEST_PATH)
    yield f"  {finding.severity} {finding.id} {finding.name}: {place}{others}"
    by = f"{write_line(finding.accepted_by)}: " if finding.accepted_by else ""
    yield from _wrap(f"{by}{write_line(finding.justification, _LONGEST_MESSAGE)}", "    ", "    ")


def _format_group(group: Sequence[Finding], title: str) -> Iterator[str]:
    """Yield the lines of the findings of one rule, with the remedy once."""
    first = group[0]
    yield f"  {first.id} {first.name}: {title}"
    for finding in group[:_SHOWN_FINDINGS]:
        path = write_line(finding.paths[0], _LONGEST_PATH)
        others = f"  and {finding.count - 1:,} more" if finding.count > 1 else ""
        size = finding.evidence.get("bytes")
        if others and isinstance(size, int) and size:
            others += f", {write_bytes(size)} in all"
        yield f"    {path}{others}"
        yield from _wrap(write_line(finding.message, _LONGEST_MESSAGE), "      ", "      ")
    if len(group) > _SHOWN_FINDINGS:
        hidden = len(group) - _SHOWN_FINDINGS
        yield f"    … {write_count(hidden, 'finding')} more, which --json has"
    yield from _wrap(first.remedy, "    → ", "      ")


def _wrap(text: str, first: str, others: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
