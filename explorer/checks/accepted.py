"""Findings that notes accept: somebody has looked at them, and says why they are well so."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from netloupe.explorer.errors import NotesError
from netloupe.explorer.model import Model
from netloupe.explorer.notation import write_count

from .folding import Finding, mask_digits

if TYPE_CHECKING:
    from netloupe.explorer.model.upper_rooms import Note


def mark_accepted(model: Model, found: Iterable[Finding]) -> tuple[list[Finding], list[str]]:
    """Return findings, those marked that notes accept, and what is odd about these notes.

    A note accepts a finding of its rule that is at no more places than it was, and at none but
    those that the note is about. What its elements have become is no matter of guessing: where
    one of them is uncertain, it accepts nothing there.

    Parameters
    ----------
    model
        The model.
    found
        What rules found in it.
    """
    found = list(found)
    try:
        notes = model.notes.list_accepting()
    except NotesError as error:
        return found, [f"No finding counts as accepted: {error}"]
    by_rule: dict[str, list[Note]] = defaultdict(list)
    for note in notes:
        if note.accepts is not None:
            by_rule[note.accepts.rule].append(note)
    marked, odd = [], []
    for finding in found:
        for note in by_rule.get(finding.id, ()):
            reason = _find_reason_against(finding, note)
            if reason is None:
                text = note.text.strip() or "no justification given"
                finding = dataclasses.replace(
                    finding, suppressed=True, justification=text, accepted_by=note.author
                )
                break
            if reason:
                odd.append(f"{finding.id} {finding.paths[0]}: not accepted any more, {reason}.")
        marked.append(finding)
    return marked, odd


def _find_reason_against(finding: Finding, note: Note) -> str | None:
    """Return why a note does not accept a finding: "" if it is about another, None if it does."""
    accepts = note.accepts
    if accepts is None:
        return ""
    is_same = accepts.fingerprint == finding.fingerprint
    if not is_same:
        has_moved = any(each.state == "moved" for each in note.elements)
        if not has_moved or mask_digits(accepts.message) != mask_digits(finding.message):
            return ""
    if finding.count > accepts.count:
        return f"it was at {accepts.count:,} and is at {write_count(finding.count, 'place')} now"
    others = [path for path in finding.paths if path not in note.paths]
    if not others:
        return None
    if len(others) == len(finding.paths) and not is_same:
        return ""
    return f"note {note.id[:8]} is not for certain about {others[0][:200]}"
