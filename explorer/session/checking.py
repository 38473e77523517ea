"""Applying rules to a model beside the kernel's own work, first those that read no weights."""

from __future__ import annotations

from dataclasses import replace

from netloupe.explorer.audit import QuantizationAudit, audit
from netloupe.explorer.checks import RULES, SEVERITIES, Findings, SkippedRule, check
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.model import Model
from netloupe.explorer.review.review import UNREAD_WEIGHTS

#: rules that are applied unasked, but for those that read weights
_RULES = [rule for rule in RULES if not rule.is_opt_in and not rule.needs_target]
_READING = [rule for rule in _RULES if rule.reads_values]
_PLACES = {rule.id: place for place, rule in enumerate(RULES)}


def check_structure(model: Model) -> Findings:
    """Apply the rules that read no weights; those that do are told to be skipped."""
    found = check(model, ignore=[rule.id for rule in _READING])
    unread = [SkippedRule(rule.id, UNREAD_WEIGHTS) for rule in _READING]
    return replace(found, skipped_rules=(*found.skipped_rules, *unread))


def check_weights(model: Model, known: Findings) -> Findings:
    """Apply the rules that read weights too, and return what is found with what is known."""
    found = check(model, select=[rule.id for rule in _READING])
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
