"""Applying rules to a model beside the kernel's own work, first those that read no weights."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from netloupe.explorer.audit import QuantizationAudit, audit
from netloupe.explorer.checks import RULES, SEVERITIES, Findings, SkippedRule, check
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Model
from netloupe.explorer.notes import Note
from netloupe.explorer.progress import part
from netloupe.explorer.review.review import UNREAD_WEIGHTS

from .noting import read_notes

#: rules that are applied unasked, but for those that read weights
_RULES = [rule for rule in RULES if not rule.is_opt_in and not rule.needs_target]
#: starts a process, and waits with the rules that read weights
_OPINION = "NL-T20"
_LATER = [*(rule.id for rule in _RULES if rule.reads_values), _OPINION]
_PLACES = {rule.id: place for place, rule in enumerate(RULES)}


class CheckJob(NamedTuple):
    """What is to be found out.

    Parameters
    ----------
    reads_weights
        Whether weights are read, for the rules that need them and for an audit.
    reference
        The float model that a quantized one was made of; None where it is not at hand.
    """

    model: Model
    reads_weights: bool
    reference: Model | None


class CheckResult(NamedTuple):
    """What was found out.

    Parameters
    ----------
    audit
        How a quantized model is quantized; None for others.
    notes_problem
        Why the notes of the model cannot be read; "" where they can.
    """

    findings: Findings
    audit: QuantizationAudit | None
    notes: tuple[Note, ...]
    notes_problem: str


def check_in_parts(
    job: CheckJob, known: Findings | None, audited: QuantizationAudit | None
) -> CheckResult:
    """Find out what a job asks for.

    Parameters
    ----------
    job
        What is to be found out.
    known, audited
        What was found before: rules are not applied again, and of what reads no weights the audit
        stays as it is.
    """
    model = job.model
    if not job.reads_weights:
        return CheckResult(check_structure(model), audited, *read_notes(model))
    with part(0.0, 0.5):
        findings = check_structure(model) if known is None else known
        if any(each.reason == UNREAD_WEIGHTS for each in findings.skipped_rules):
            findings = check_weights(model, findings)
    with part(0.5, 1.0):
        audited = audit_weights(model, job.reference)
    return CheckResult(findings, audited, *read_notes(model))


def check_structure(model: Model) -> Findings:
    """Apply the rules that read no weights; those that wait for these are told to be skipped."""
    found = check(model, ignore=_LATER)
    unread = [
        SkippedRule(rule, UNREAD_WEIGHTS)
        for rule in _LATER
        if rule != _OPINION or model.can_infer_shapes  # onnx is asked of nothing else
    ]
    return replace(found, skipped_rules=(*found.skipped_rules, *unread))


def check_weights(model: Model, known: Findings) -> Findings:
    """Apply the rules that read weights too, and return what is found with what is known."""
    found = check(model, select=_LATER)
    together = sorted(
        (*known.findings, *found.findings),
        key=lambda each: (SEVERITIES.index(each.severity), _PLACES.get(each.id, len(_PLACES))),
    )
    skipped = [each for each in known.skipped_rules if each.reason != UNREAD_WEIGHTS]
    rules = sorted({*known.rules, *found.rules}, key=lambda rule: _PLACES.get(rule.id, 0))
    return replace(
        known,
        findings=tuple(together),
        skipped_rules=(*skipped, *found.skipped_rules),
        rules=tuple(rules),
        notices=tuple(dict.fromkeys((*known.notices, *found.notices))),
    )


def audit_weights(model: Model, reference: Model | None) -> QuantizationAudit | None:
    """Audit a quantized model; None for one that is not quantized, and has no float twin."""
    if reference is None and not Subject(model).quantized.weights:
        return None
    return audit(model, reference)


def write_check_problem(problem: Exception | None) -> str:
    """Return why a check came to nothing; "" where it did not."""
    if problem is None:
        return ""
    if isinstance(problem, MemoryError):
        return "There is not enough memory to check this model."
    return str(problem) if isinstance(problem, NetloupeError) else f"internal error: {problem}"
