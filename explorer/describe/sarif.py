"""Findings as SARIF 2.1.0, in the form that code scanning on GitHub takes.

OASIS, Static Analysis Results Interchange Format 2.1.0; GitHub, SARIF support for code scanning.
A model has no lines: the specification would leave out the region (3.29.4), but GitHub refuses a
result without ``startLine``. So each has line 1, the element as a logical location, and its path in
the message again, as GitHub shows no logical locations.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from netloupe.explorer.checks import Finding, Findings, Rule
from netloupe.explorer.notation import clip_text

from .encoding import encode_json
from .file_text import write_line

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
#: GitHub takes so many characters of a full description, and shows so many locations
_LONGEST_DESCRIPTION, _MOST_LOCATIONS = 1_024, 100
_LONGEST_PATH, _LONGEST_MESSAGE = 300, 1_000
_PROBLEMS = {"error": "error", "warning": "warning", "note": "recommendation"}


def encode_sarif(
    checked: Sequence[Findings], version: str, models: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what was found in some models as one SARIF run.

    Parameters
    ----------
    checked
        The findings of each model.
    version
        Of netloupe.
    models
        All that were to be checked, in the order of ``checked``; what is missing there could not
        be read.
    """
    rules = {rule.id: rule for findings in checked for rule in findings.rules}
    indices = {rule_id: index for index, rule_id in enumerate(rules)}
    notifications = [
        {
            "level": "warning",
            "message": {
                "text": f"{write_line(findings.source, _LONGEST_PATH)}: {skipped.id} did "
                f"not see everything: {write_line(skipped.reason, _LONGEST_MESSAGE)}"
            },
            "associatedRule": {"id": skipped.id, "index": indices[skipped.id]},
            "locations": [{"physicalLocation": _locate(findings.source)}],
        }
        for findings in checked
        for skipped in findings.skipped_rules
    ]
    notifications += [
        {
            "level": "note",
            "message": {
                "text": f"{write_line(findings.source, _LONGEST_PATH)}: "
                f"{write_line(notice, _LONGEST_MESSAGE)}"
            },
        }
        for findings in checked
        for notice in findings.notices
    ]
    read = {findings.source for findings in checked}
    notifications += [
        {
            "level": "error",
            "message": {"text": f"{write_line(model, _LONGEST_PATH)} could not be read."},
        }
        for model in models
        if model not in read and model != "-"
    ]
    run = {
        "tool": {
            "driver": {
                "name": "netloupe",
                "semanticVersion": version,
                "rules": [_describe_rule(rule) for rule in rules.values()],
            }
        },
        "automationDetails": {"id": "netloupe/check/"},
        "columnKind": "utf16CodeUnits",
        "invocations": [
            {
                "executionSuccessful": all(each["level"] == "note" for each in notifications),
                "toolExecutionNotifications": notifications,
            }
        ],
        "results": [
            _describe_finding(finding, findings.source, indices[finding.id])
            for findings in checked
            for finding in findings
        ],
    }
    told = encode_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, most=None)
    del told["cut"]  # nothing is, and the schema allows no further properties
    return told


def _describe_rule(rule: Rule) -> dict[str, Any]:
    help_text = f"{rule.why}\n\nRemedy: {rule.remedy}\n\nSource: {rule.source}"
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": clip_text(rule.why, _LONGEST_DESCRIPTION)},
        "help": {
            "text": help_text,
            "markdown": f"{rule.why}\n\n**Remedy** {rule.remedy}\n\n**Source** {rule.source}",
        },
        "defaultConfiguration": {"level": rule.severity},
        "properties": {
            "tags": ["neural-network", rule.name],
            "precision": "high",
            "problem.severity": _PROBLEMS[rule.severity],
        },
    }


def _describe_finding(finding: Finding, source: str, index: int) -> dict[str, Any]:
    path = write_line(finding.paths[0], _LONGEST_PATH)
    others = f" ({finding.count - 1:,} alike)" if finding.count > 1 else ""
    message = write_line(finding.message, _LONGEST_MESSAGE)
    places = [
        {
            "fullyQualifiedName": write_line(each, _LONGEST_MESSAGE),
            "name": write_line(each.rpartition("/")[2], _LONGEST_PATH),
            "kind": "element",
        }
        for each in finding.paths[:_MOST_LOCATIONS]
    ]
    told: dict[str, Any] = {
        "ruleId": finding.id,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": f"{path}: {message}{others}. {finding.remedy}"},
        "locations": [{"physicalLocation": _locate(source), "logicalLocations": places}],
        "occurrenceCount": finding.count,
        # the only one that GitHub goes by: without it all findings of a file are one
        "partialFingerprints": {"primaryLocationLineHash": finding.fingerprint},
        "properties": {"evidence": dict(finding.evidence)},
    }
    if finding.suppressed:
        told["suppressions"] = [_describe_suppression(finding)]
    return told


def _describe_suppression(finding: Finding) -> dict[str, Any]:
    """Return why a finding does not count: the note that accepts it, else the baseline."""
    if not finding.is_accepted:
        return {"kind": "external", "justification": "in the baseline"}
    by = f" ({write_line(finding.accepted_by)})" if finding.accepted_by else ""
    justification = write_line(finding.justification, _LONGEST_MESSAGE)
    return {"kind": "external", "status": "accepted", "justification": f"{justification}{by}"}


def _locate(source: str) -> dict[str, Any]:
    """Return where a model is: relative to the current folder, as GitHub drops other places."""
    return {"artifactLocation": {"uri": _write_uri(source)}, "region": {"startLine": 1}}


def _write_uri(source: str) -> str:
    path = Path(source)
    if path.is_absolute():
        try:
            path = Path(os.path.relpath(path))
        except ValueError:  # on another drive
            path = Path(path.name)
    text = path.as_posix()
    if text.startswith("../"):  # out of the repository: nothing there could be shown
        text = path.name
    return quote(text.encode("utf-8", "surrogateescape"))
