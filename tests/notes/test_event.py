"""Lines of notes: written, read again, and refused for a stated reason."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netloupe.explorer.notes.event import (
    FORMAT,
    LONGEST_LINE,
    LONGEST_TEXT,
    Event,
    read_event,
)

_IDS = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
_AT = datetime(2026, 11, 23, 17, 31, 2, 5, UTC)


def make_line(**changed: Any) -> bytes:
    told = {
        "format": FORMAT,
        "event": _IDS[0],
        "note": _IDS[1],
        "turn": 1,
        "at": "2026-11-23T17:31:02Z",
        "author": "ann",
        "text": "a note",
    }
    told |= changed
    return json.dumps({key: value for key, value in told.items() if value is not ...}).encode()


def test_what_is_written_is_read() -> None:
    changes = {"text": 'two\nlines, "quoted", ünï', "tags": ["a"], "anchors": [{"path": "main/x"}]}
    event = Event(*_IDS, 3, _AT, "ann", changes)
    assert "\n" not in event.write()
    assert read_event(event.write().encode()) == event
    removal = Event(*_IDS, 4, _AT, "", {}, is_removal=True)
    assert read_event(removal.write().encode()) == removal


def test_what_others_write_is_made_alike() -> None:
    event = read_event(
        make_line(
            event=_IDS[0].upper().replace("-", ""),
            at="2026-11-23T18:31:02.5+01:00",
            author=...,
            tags=["a", "a", "b"],
            text="half \ud800",
            later="unknown fields are passed over",
        )
    )
    assert event.id == _IDS[0]
    assert event.at == datetime(2026, 11, 23, 17, 31, 2, 500_000, UTC)
    assert event.changes == {"text": "half ?", "tags": ["a", "b"]}
    assert event.author == ""


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"<<<<<<< HEAD", "no JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[1, 2]", "no note"),
        (b"[" * 100_000, "no JSON that can be used"),
        (b"1" * 10_000, "no JSON that can be used"),
        (make_line(format="netloupe-notes-9"), "no note"),
        (make_line(turn=0), "turn is no number from 1"),
        (make_line(turn=True), "turn is no number from 1"),
        (make_line(turn=2**60), "turn is no number from 1"),
        (make_line(event="x"), "event is no UUID"),
        (make_line(note=5), "note is no UUID"),
        (make_line(at="yesterday"), "at is no time"),
        (make_line(at="2026-13-23T17:31:02Z"), "at is no time"),
        (make_line(at="0001-01-01T00:00:00+14:00"), "at is no time"),
        (make_line(author=["ann"]), "author is no text"),
        (make_line(text=None), "text is no text"),
        (make_line(text="x" * (LONGEST_TEXT + 1)), "text is longer than"),
        (make_line(text=...), "it changes nothing"),
        (make_line(tags="a"), "tags is no list"),
        (make_line(tags=[1]), "a tag is no text"),
        (make_line(anchors=[{}]), "an anchor has no path"),
        (make_line(anchors=["main/x"]), "an anchor has no path"),
        (make_line(accepts={"rule": "NL-G02"}), "accepts has no rule and fingerprint"),
        (make_line(accepts={"rule": "r", "fingerprint": "f", "count": 0}), "count of accepts"),
        (make_line(anchors=[{"path": "x", "of": json.loads("[" * 20 + "]" * 20)}]), "too deep"),
        (make_line(text=float("nan")), "NaN is no number"),
        (b" " * (LONGEST_LINE + 1), "longer than"),
    ],
)
def test_what_is_no_note_says_why(line: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_event(line)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


_KEYS = ["event", "note", "turn", "at", "author", "removed", "text", "tags", "anchors", "accepts"]


@given(st.dictionaries(st.sampled_from(_KEYS), _JSON))
def test_whatever_a_line_holds_it_is_a_note_or_is_refused(changed: dict[str, Any]) -> None:
    try:
        event = read_event(make_line(**changed))
    except ValueError:
        return
    assert read_event(event.write().encode()) == event


@given(st.binary(max_size=200))
def test_any_bytes(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_event(line)
