"""Notes out of events: the same in whatever order the events come."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from netloupe.explorer.notes.event import Event
from netloupe.explorer.notes.record import Record, collect_records
from netloupe.explorer.notes.sidecar import read_sidecar

_START = datetime(2026, 1, 1, tzinfo=UTC)
_NOTE = str(uuid.UUID(int=7))


def make(
    number: int, turn: int, *, seconds: int = 0, removes: bool = False, **changes: Any
) -> Event:
    at = _START + timedelta(seconds=seconds)
    return Event(str(uuid.UUID(int=number)), _NOTE, turn, at, "ann", changes, removes)


def only(*events: Event) -> Record:
    (record,) = collect_records(events).values()
    return record


def test_the_latest_wins_field_by_field() -> None:
    record = only(
        make(1, 1, text="first", tags=["a"]), make(2, 2, text="second"), make(3, 3, tags=["b"])
    )
    assert (record.find("text"), record.find("tags")) == ("second", ["b"])
    assert record.find("accepts") is None


def test_who_has_read_the_other_wins_whatever_the_clocks_say() -> None:
    record = only(make(1, 1, text="first", seconds=100), make(2, 2, text="second", seconds=0))
    assert record.find("text") == "second"
    assert not record.has_rivals()


def test_two_at_once_are_told_and_the_later_counts() -> None:
    record = only(
        make(1, 1, text="first"), make(2, 2, text="mine", seconds=9), make(3, 2, text="theirs")
    )
    assert record.find("text") == "mine"
    assert record.has_rivals()
    assert [event.changes["text"] for event in record.events] == ["first", "theirs", "mine"]


def test_a_removal_wins_over_what_it_knew_only() -> None:
    first, removal = make(1, 1, text="first"), make(2, 2, removes=True, seconds=99)
    assert only(first, removal).is_removed
    assert not only(first, removal, make(3, 2, text="meanwhile")).is_removed
    assert not only(first, removal, make(3, 3, text="back again")).is_removed


def test_an_edit_without_the_note_is_a_note_without_a_place() -> None:
    record = only(make(4, 3, text="only the edit arrived"))
    assert record.find("anchors", []) == []
    assert record.find("text") == "only the edit arrived"


_EVENTS = st.builds(
    lambda number, note, turn, seconds, removes, text, tags: Event(
        str(uuid.UUID(int=number)),
        str(uuid.UUID(int=note)),
        turn,
        _START + timedelta(seconds=seconds),
        "ann",
        ({} if text is None else {"text": text}) | ({} if tags is None else {"tags": tags}),
        removes or (text is None and tags is None),
    ),
    st.integers(1, 12),
    st.integers(100, 102),
    st.integers(1, 4),
    st.integers(0, 3),
    st.booleans(),
    st.none() | st.sampled_from(["a", "b", "ü\n"]),
    st.none() | st.lists(st.sampled_from(["x", "y"]), unique=True),
)


def see(events: list[Event]) -> list[Any]:
    return [
        (r.id, r.is_removed, r.find("text"), r.find("tags"), r.has_rivals(), r.events)
        for r in collect_records(events).values()
    ]


@given(st.lists(_EVENTS, max_size=12), st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(events: list[Event], random: Any) -> None:
    mixed = events + random.choices(events, k=4) if events else []
    random.shuffle(mixed)
    assert see(mixed) == see(events)


@settings(deadline=None)
@given(st.lists(_EVENTS, max_size=8), st.lists(_EVENTS, max_size=8), st.lists(_EVENTS, max_size=4))
def test_two_files_merge_to_the_same_in_any_order(
    tmp_path_factory: Any, ours: list[Event], theirs: list[Event], common: list[Event]
) -> None:
    """As git does with merge=union: the lines of both, in one order or the other."""
    folder: Path = tmp_path_factory.mktemp("merge")
    base, left, right = (
        [event.write() + "\n" for event in events] for events in (common, ours, theirs)
    )
    results = []
    for number, lines in enumerate((base + left + right, base + right + left, right + base + left)):
        file = folder / f"{number}.notes.jsonl"
        file.write_text("".join(lines), "utf-8")
        content = read_sidecar(file)
        assert content.foreign_count == 0
        results.append(see(content.events))
    assert results[0] == results[1] == results[2]
