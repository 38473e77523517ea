"""``netloupe notes``: lists, writes, edits and removes notes on a model."""

from __future__ import annotations

import argparse
import json

from netloupe.explorer.checks import Finding, check
from netloupe.explorer.describe.encoding import encode_json
from netloupe.explorer.describe.notes import (
    encode_note,
    encode_notes,
    format_note,
    format_notes,
)
from netloupe.explorer.errors import NotesError
from netloupe.explorer.model import Model
from netloupe.explorer.notation import write_count
from netloupe.explorer.notes import Note
from netloupe.explorer.readers.load import load

from .running import load_named
from .streams import say, write_standard_output
from .terminal import TerminalProgress


def run_notes(parsed: argparse.Namespace) -> int:
    """Do what the words of the command say, and return the exit status."""
    with TerminalProgress() as progress:
        progress.step("reading")
        model = load_named(parsed.models[0], parsed.init)
        if parsed.file is not None:
            model.notes.open(parsed.file)
        done = _act(model, parsed)
        source = parsed.models[0]
        if isinstance(done, Note):
            told = encode_json(encode_note(done), most=None) if parsed.json else {}
            text = "\n".join(format_note(done))
        elif done is None:
            told = encode_notes(source, model.notes) if parsed.json else {}
            text = format_notes(source, model.notes).rstrip("\n")
        else:
            told, text = {"done": done}, done
    write_standard_output(json.dumps(told, indent=2) if parsed.json else text)
    if done is not None:
        for notice in model.notes.notices:
            say("note", notice)
    return 0


def _act(model: Model, parsed: argparse.Namespace) -> Note | str | None:
    """Return what the action gives: a note, a sentence, or None where notes are to be listed."""
    notes = model.notes
    if parsed.action == "add":
        return notes.add(parsed.places, parsed.text, author=parsed.author, tags=parsed.tags or ())
    if parsed.action == "accept":
        finding = _find_finding(model, parsed.finding)
        return notes.accept(finding, parsed.text, author=parsed.author, tags=parsed.tags or ())
    if parsed.action == "edit":
        return notes.edit(
            parsed.note, text=parsed.text, tags=parsed.tags, place=parsed.on, author=parsed.author
        )
    if parsed.action == "remove":
        note = notes[parsed.note]
        notes.remove(note, author=parsed.author)
        return f"removed {note.id}"
    if parsed.action == "merge":
        count = notes.merge(parsed.other)
        return f"{write_count(count, 'new event')}; {write_count(len(notes), 'note')} now"
    if parsed.action == "carry":
        count = notes.carry_from(load(parsed.other))
        states = [note.state for note in notes]
        doubtful = sum(state in ("uncertain", "orphaned") for state in states)
        taken = write_count(count, "note")
        return f"{taken} taken over; {doubtful:,} of all {len(states):,} need a look"
    return None


def _find_finding(model: Model, words: str) -> Finding:
    """Return the finding that ``NL-G02`` or ``NL-G02@main/Conv_1`` names.

    Raises
    ------
    CheckError
        Where there is no such rule.
    NotesError
        Where it finds nothing there, or several things.
    """
    rule, _, path = words.partition("@")
    found = check(model, select=[rule], with_notes=False)
    matching = [each for each in found if not path or path in each.paths]
    if len(matching) == 1:
        return matching[0]
    if not matching:
        where = f" at {path[:200]!r}" if path else ""
        raise NotesError(f"{model.source}: {rule[:60]} finds nothing{where} to be accepted.")
    listed = ", ".join(f"{each.id}@{each.paths[0]}" for each in matching[:5])
    raise NotesError(
        f"{model.source}: {rule[:60]} finds {len(matching)} things. Name one: {listed}."
    )
