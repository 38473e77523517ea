"""Checking beside a session: when it begins, what it tells, how it ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import netloupe
from netloupe.explorer.checks import RULES
from netloupe.explorer.errors import SourceError
from netloupe.explorer.model import Model
from netloupe.explorer.progress import Cancelled, step
from netloupe.explorer.render.paint import NO_PAINTS
from netloupe.explorer.session import Session, checking, reviewing
from netloupe.explorer.session.reviewing import Reviewing
from netloupe.explorer.view import ViewOptions
from tests.corpus import corpus_file
from tests.onnx_text import load_text

MODEL = """
agraph (float[2] x) => (float[2] y)
<float[2] w = {1, 2}, float[2] unused = {1, 2}>
{
    a = Add(x, w)
    b = Identity(a)
    y = Identity(b)
}
"""

Told = list[dict[str, Any]]


@pytest.fixture
def made() -> Any:
    all_made: list[Reviewing] = []

    def make(model: Model | None = None) -> tuple[Reviewing, Session, Told, list[int]]:
        session = Session(model or load_text(MODEL), ViewOptions.parse({}))
        told: Told = []
        marked: list[int] = []
        known = Reviewing(
            session,
            told.append,  # type: ignore[arg-type]
            lambda: marked.append(len(session.marks)),
            logging.getLogger("test"),
        )
        all_made.append(known)
        return known, session, told, marked

    yield make
    for known in all_made:
        known.close()
        assert known.wait(30)


def test_a_tab_hears_at_once_that_nothing_is_known(made: Any) -> None:
    known, _, told, _ = made()
    known.receive({"ask": "review"})
    assert told == [
        {"type": "review", "review": None, "marks": False},
        {"type": "progress", "stage": "unchecked", "share": None, "error": ""},
    ]


def test_weights_are_not_read_before_somebody_asks(made: Any) -> None:
    known, _, told, _ = made(netloupe.load(corpus_file("exported/gpt2.legacy.onnx")))
    known.start()
    assert known.wait(60)
    reading = {rule.id for rule in RULES if rule.reads_values and not rule.is_opt_in}
    reading.add("NL-T20")  # a process that asks onnx, which waits with these
    assert not reading & {rule.id for rule in known.findings.rules}
    assert reading == {each.id for each in known.findings.skipped_rules}
    assert known.review.lacks_weights
    assert (told[-1]["stage"], told[-2]["review"]["lacks_weights"]) == ("checked", True)
    before = list(known.findings)
    known.receive({"check": "weights"})
    assert known.wait(60)
    assert not known.review.lacks_weights
    assert reading <= {rule.id for rule in known.findings.rules}
    assert reading & {finding.id for finding in known.findings}
    assert set(map(str, before)) <= set(map(str, known.findings))


def test_with_weights_the_same_is_found_as_by_check(made: Any) -> None:
    known, session, _, _ = made()
    found = known.find(reads_weights=True)
    whole = netloupe.check(session.views.model)
    assert [*map(str, found)] == [*map(str, whole)]
    assert [rule.id for rule in found.rules] == [rule.id for rule in whole.rules]
    assert known.find() is found


def test_large_models_are_checked_only_when_asked(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviewing, "MOST_NODES_UNASKED", 2)
    known, _, told, _ = made()
    known.start()
    assert told == []
    known.receive({"check": "rules"})
    assert known.wait(60)
    assert known.findings is not None


def test_it_begins_once_types_are_known(made: Any) -> None:
    known, _, _, _ = made()
    waited = iter([False, False, True])
    known.start(lambda _seconds: next(waited))
    assert known.wait(60)
    assert next(waited, None) is None
    assert known.findings is not None


def block(begun: threading.Event) -> Callable[..., Any]:
    def check(*_: Any, **__: Any) -> None:
        begun.set()
        while True:
            step("applying rules", 0.25)

    return check


def test_a_check_that_is_stopped_leaves_what_was_known(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, _, told, _ = made()
    found = known.find()
    begun = threading.Event()
    monkeypatch.setattr(checking, "check_weights", block(begun))
    known.receive({"check": "weights"})
    assert begun.wait(30)
    known.receive({"stop": True})
    assert known.wait(30)
    assert known.findings is found
    assert told[-1] == {"type": "progress", "stage": "checked", "share": None, "error": ""}
    shares = [m["share"] for m in told if m["type"] == "progress" and m["stage"] == "reading"]
    assert 0.125 in shares


def test_python_is_told_where_the_check_was_stopped(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, _, _, _ = made()
    begun = threading.Event()
    monkeypatch.setattr(checking, "check_structure", block(begun))
    stopping = threading.Thread(target=lambda: begun.wait(30) and known.stop())
    stopping.start()
    with pytest.raises(Cancelled):
        known.find()
    stopping.join()


def test_errors_are_told_and_it_can_be_tried_again(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, _, told, _ = made()

    def refuse(_model: object) -> None:
        raise SourceError("m.onnx: it is gone. Load it again.")

    with monkeypatch.context() as patched:
        patched.setattr(checking, "check_structure", refuse)
        with pytest.raises(SourceError, match="it is gone"):
            known.find()
        assert told[-1]["error"] == "m.onnx: it is gone. Load it again."
        assert told[-1]["stage"] == "unchecked"
    assert known.find() is not None
    assert told[-1]["error"] == ""


def test_marks_are_shown_when_asked_for(made: Any) -> None:
    known, session, _, marked = made()
    known.find()
    assert session.marks is NO_PAINTS
    known.receive({"marks": True})
    assert session.marks
    assert marked[-1] == len(session.marks)
    known.receive({"marks": False})
    assert (session.marks, marked[-1]) == (NO_PAINTS, 0)


def test_whoever_asks_for_marks_hears_of_them_after_lists_that_were_on_their_way(made: Any) -> None:
    known, _, told, marked = made()
    known.receive({"ask": "review"})
    known.receive({"marks": True})
    known.receive({"marks": True})
    assert [one["marks"] for one in told if "marks" in one] == [False, True, True]
    assert [one["type"] for one in told if "marks" in one] == ["review", "marks", "marks"]
    assert len(marked) == 1
    known.show_marks(False)  # by Python, of which tabs hear, too
    assert told[-1] == {"type": "marks", "marks": False}


def test_marks_follow_another_grouping(made: Any) -> None:
    known, session, _, marked = made()
    known.find()
    known.show_marks(True)
    count = len(marked)
    known.follow_view()
    assert len(marked) == count
    session.views.group("none")
    known.follow_view()
    assert len(marked) == count + 1


def test_an_item_is_shown_and_gone_through(made: Any) -> None:
    known, _, told, _ = made()
    assert known.step(1) is None
    known.find()
    items = list(known.review)
    assert len(items) > 1
    assert known.step(1) is items[0]
    assert told[-1] == {"type": "go", "item": 0}
    assert known.step(-1) is items[-1]
    assert known.step(1) is items[0]
    path = items[1].paths[0]
    assert known.receive({"show": path, "item": 1}) == path
    assert known.current == 1


def test_what_is_no_request_does_nothing(made: Any) -> None:
    known, _, told, _ = made()
    for wrong in (None, 3, "review", {}, {"ask": 3}, {"show": 3, "item": 0}, {"check": "all"}):
        assert known.receive(wrong) is None
    assert told == []


def test_a_difference_is_known_from_the_start_and_marked() -> None:
    left = load_text(MODEL)
    right = load_text(MODEL.replace("Add", "Mul"))
    session = Session(right, ViewOptions.parse({}))
    known = Reviewing(
        session,
        lambda _message: None,
        lambda: None,
        logging.getLogger("test"),
        netloupe.diff(left, right),
    )
    assert {item.kind for item in known.review} == {"difference"}
    assert session.marks
    known.find()
    assert {item.kind for item in known.review} == {"difference", "finding"}


# notes


def test_a_note_is_written_changed_and_removed(made: Any, tmp_path: Path) -> None:
    known, session, told, _ = made()
    session.views.model.notes.open(tmp_path / "m.notes.jsonl")
    known.find()
    path = session.views.model.graph.nodes[0].path
    known.receive({"note": "look here", "paths": [path]})
    assert {"type": "noted", "error": ""} in told
    (note,) = [item for item in known.review if item.kind == "note"]
    assert (note.title, note.paths, note.level) == ("“look here”", (path,), "noted")
    assert "look here" in (tmp_path / "m.notes.jsonl").read_text()
    known.receive({"edit": note.fingerprint, "note": "look there"})
    assert [item.title for item in known.review if item.kind == "note"] == ["“look there”"]
    known.receive({"remove": note.fingerprint})
    assert [item for item in known.review if item.kind == "note"] == []


def test_a_finding_is_accepted_and_taken_back(made: Any, tmp_path: Path) -> None:
    known, session, _, _ = made()
    session.views.model.notes.open(tmp_path / "m.notes.jsonl")
    known.find()
    number = next(n for n, item in enumerate(known.review) if item.id == "NL-G02")
    before = known.review[number]
    known.receive({"accept": number, "note": "for the next version"})
    item = next(item for item in known.review if item.id == "NL-G02")
    assert item.accepted.endswith("for the next version")
    assert known.review[-1].accepted  # behind all others
    assert any(finding.suppressed for finding in known.findings)
    assert "1 accepted" in known.review.verdict
    note = next(item for item in known.review if item.kind == "note")
    assert dict(note.evidence)["accepts"] == "NL-G02"
    known.receive({"remove": note.fingerprint})
    assert next(item for item in known.review if item.id == "NL-G02") == before


def test_what_cannot_be_noted_is_told(made: Any, tmp_path: Path) -> None:
    known, session, told, _ = made()
    known.receive({"note": "kept in memory", "paths": ["main/%x"]})
    assert told[-2]["type"] == "noted"
    assert "notes" in told[-2]["error"]
    # it is not lost: it is in memory until somebody says where to keep it
    assert dict(known.review[0].evidence)["kept"].startswith("in memory only")
    session.views.model.notes.open(tmp_path / "m.notes.jsonl")
    for wrong in (
        {"note": "x", "paths": ["main/nothing"]},
        {"note": "", "paths": ["main/%x"]},
        {"edit": "unknown", "note": "x"},
        {"remove": "unknown"},
        {"accept": 99, "note": "x"},
    ):
        known.receive(wrong)
        errors = [message["error"] for message in told if message["type"] == "noted"]
        assert errors[-1], wrong
    assert len(session.views.model.notes) == 1


def test_notes_that_cannot_be_read_are_told(made: Any, tmp_path: Path) -> None:
    known, session, _, _ = made()
    notes = session.views.model.notes
    notes.open(tmp_path / "m.notes.jsonl")
    notes.add("main/%x", "one")
    (tmp_path / "m.notes.jsonl").unlink()
    (tmp_path / "m.notes.jsonl").mkdir()
    known.find()
    assert any("m.notes.jsonl" in reason for reason, _ in known.review.unchecked)
    assert known.findings is not None


def test_tabs_hear_what_is_selected(made: Any) -> None:
    known, _, told, _ = made()
    known.select(("main/%x",))
    assert told == [{"type": "selection", "paths": ["main/%x"]}]


# audits


def test_a_quantized_model_is_audited_once_its_weights_are_read(made: Any) -> None:
    known, session, _, _ = made(netloupe.load(corpus_file("quantized/bert.qdq.onnx")))
    known.find()
    assert known.audit is None
    known.find(reads_weights=True)
    assert known.audit is not None
    assert known.review.summary == known.audit.verdict
    again = known.audit
    known.find(reads_weights=True)
    assert known.audit is again
    known.find(reference=session.views.model)
    assert known.audit is not again
    assert known.audit.reference


def test_a_float_model_is_not_audited(made: Any) -> None:
    known, _, _, _ = made()
    known.find(reads_weights=True)
    assert known.audit is None
