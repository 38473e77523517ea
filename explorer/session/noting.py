"""Notes as a review tab writes them, and what of findings they accept."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from netloupe.explorer.audit import QuantizationAudit
from netloupe.explorer.checks import Finding, Findings
from netloupe.explorer.checks.accepted import mark_accepted
from netloupe.explorer.errors import NotesError
from netloupe.explorer.model import Model
from netloupe.explorer.notes import Note


def read_notes(model: Model) -> tuple[tuple[Note, ...], str]:
    """Return the notes of a model, and why they cannot be read; "" where they can."""
    try:
        return tuple(model.notes), ""
    except NotesError as error:
        return (), str(error)


def answer_note(model: Model, request: dict[str, Any], findings: Iterable[Finding]) -> bool:
    """Do what a tab asks for of notes; return whether it asked for anything.

    Parameters
    ----------
    model
        The model.
    request
        As :mod:`.review_messages` has it; ``fingerprint`` is that of the finding to accept.
    findings
        Those that may be accepted.

    Raises
    ------
    NotFoundError
        Where there is no such element or note.
    NotesError
        Where a note cannot be written; see :meth:`netloupe.Notes.add`.
    """
    match request:
        case {"accept": int(), "note": str(text), "fingerprint": str(fingerprint)}:
            for finding in findings:
                if finding.fingerprint == fingerprint:
                    model.notes.accept(finding, text)
                    return True
            raise NotesError("this finding is not known any more. Check the model again.")
        case {"edit": str(note), "note": str(text)}:
            model.notes.edit(note, text=text)
        case {"remove": str(note)}:
            model.notes.remove(note)
        case {"note": str(text), "paths": [*paths]} if all(isinstance(p, str) for p in paths):
            model.notes.add(paths, text)
        case _:
            return False
    return True


def accept_findings(model: Model, findings: Findings) -> Findings:
    """Return findings, those marked that notes accept now and no others."""
    return dataclasses.replace(findings, findings=_mark(model, findings.findings))


def accept_defects(model: Model, found: QuantizationAudit) -> QuantizationAudit:
    """Return an audit, those defects marked that notes accept now and no others."""
    return dataclasses.replace(found, defects=_mark(model, found.defects))


def _mark(model: Model, found: Iterable[Finding]) -> tuple[Finding, ...]:
    plain = [
        dataclasses.replace(each, suppressed=False, justification="", accepted_by="")
        for each in found
    ]
    marked, _ = mark_accepted(model, plain)
    return tuple(marked)
