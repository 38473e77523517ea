"""What there is to review, findings, differences and notes, as sections of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import get_args

from netloupe.explorer.checks import Findings
from netloupe.explorer.compare import REAL_LEVELS, Diff
from netloupe.explorer.describe.difference_summary import write_compatibility, write_verdict
from netloupe.explorer.describe.file_text import write_line, write_text
from netloupe.explorer.notation import write_count
from netloupe.explorer.notes import Anchored, Note, Notes
from netloupe.explorer.render.differences import write_difference_counts
from netloupe.explorer.review import LEVELS, Level, Review, ReviewItem
from netloupe.explorer.review.audits import AUDIT_ID

from .content import (
    MOST_TABLE_ROWS,
    ReportCell,
    ReportColumn,
    ReportRow,
    ReportSection,
    ReportTable,
    RowLevel,
    make_report_table,
)

_LONGEST, _LONGEST_PATH = 1_000, 200
#: so many places of an item are named
_MOST_OTHERS = 6
_WORDS: dict[str, str] = {
    "noted": "note",
    "version": "other version",
    "written": "written otherwise",
}
#: sorts rows by how bad they are: the worst first
_RANKS = {name: float(rank) for rank, name in enumerate(LEVELS)}


def tell_findings(review: Review, findings: Findings) -> ReportSection:
    """Return what rules and an audit found, and apart from it what notes or a baseline accept.

    All that the headline counts is listed: nothing of an audit is left for its own section alone.
    """
    found = [item for item in review if item.kind in ("finding", "audit")]
    by_audit = " with an audit" if any(item.id == AUDIT_ID for item in found) else ""
    open_ones = [item for item in found if not item.accepted]
    accepted = [item for item in found if item.accepted]
    applied = f"{write_count(len(findings.rules), 'rule')} applied{by_audit}"
    text = (
        f"{applied}: {Review(tuple(found)).verdict}.",
        *(write_line(notice, _LONGEST) for notice in findings.notices),
    )
    tables = (
        _list_items("Findings, the worst first", open_ones),
        _list_items("Accepted: these do not count", accepted),
    )
    return ReportSection("findings", "Findings", text, tables)


def tell_differences(review: Review, found: Diff) -> ReportSection:
    """Return what differs from another version."""
    items = [item for item in review if item.kind == "difference"]
    text = (write_verdict(found), write_compatibility(found), f"{write_difference_counts(found)}.")
    real = [item for item in items if item.level in REAL_LEVELS]
    rest = [item for item in items if item.level not in REAL_LEVELS]
    tables = (
        _list_items("Differences, alike places told once", real),
        _list_items(
            "Moved, equal by calculation, not read, other versions, or only written otherwise", rest
        ),
    )
    return ReportSection("differences", "Differences", text, tables)


def _list_items(title: str, items: list[ReviewItem]) -> ReportTable:
    columns = (
        ReportColumn("Level"),
        ReportColumn("What"),
        ReportColumn("Where"),
        ReportColumn("Places", True),
        ReportColumn("Rule", is_short=True),
    )
    rows = [_tell_item(item) for item in items[:MOST_TABLE_ROWS]]
    return make_report_table(title, columns, rows, len(items), "netloupe check MODEL --json")


def _find_row_level(level: Level) -> RowLevel:
    """Return how rows of a level look: as its marks in the picture."""
    tone = LEVELS[level].tone
    return tone if tone in get_args(RowLevel) else ""  # type: ignore[return-value] # one of them


def _tell_item(item: ReviewItem) -> ReportRow:
    more = [(label, text) for label, text in item.evidence if label != "alike"]
    others = item.paths[1:_MOST_OTHERS]
    if others:
        more.append(("also at", ", ".join(write_line(path, _LONGEST_PATH) for path in others)))
    more += [("why", item.why), ("to do", item.remedy), ("accepted", item.accepted)]
    more += [("source", item.source)]
    return ReportRow(
        (
            ReportCell(_WORDS.get(item.level, item.level), _RANKS[item.level]),
            ReportCell(item.title),
            ReportCell(item.where, path=next(iter(item.paths), "")),
            ReportCell(f"{item.count:,}", item.count),
            ReportCell("" if item.kind == "difference" else item.id),
        ),
        tuple((label, text) for label, text in more if text),
        _find_row_level(item.level),
    )


def tell_notes(notes: Notes) -> ReportSection:
    """Return what people wrote, and of what it is not certain where it belongs now."""
    listed = list(notes)
    rows = [_tell_note(note) for note in listed[:MOST_TABLE_ROWS]]
    columns = (
        ReportColumn("Note"),
        ReportColumn("Where"),
        ReportColumn("State"),
        ReportColumn("Author"),
        ReportColumn("Changed, UTC"),
    )
    table = make_report_table("Notes", columns, rows, len(listed), "netloupe notes MODEL")
    text = tuple(write_line(notice, _LONGEST) for notice in notes.notices)
    return ReportSection("notes", "Notes", text, (table,))


def _tell_note(note: Note) -> ReportRow:
    tags = " ".join(f"#{write_line(tag)}" for tag in note.tags)
    more = [("tags", tags)]
    if note.accepts is not None:
        more.append(("accepts", write_line(note.accepts.rule)))
    more += _list_elements(note.elements)
    path = next(iter(note.paths), "")
    where = path or (note.elements[0].noted if note.elements else "")
    others = f" and {len(note.elements) - 1:,} more" if len(note.elements) > 1 else ""
    return ReportRow(
        (
            ReportCell(write_text(note.text)),
            ReportCell(f"{write_line(where, _LONGEST_PATH)}{others}", path=path),
            ReportCell(note.state),
            ReportCell(write_line(note.author)),
            ReportCell(f"{note.edited:%Y-%m-%d %H:%M}", note.edited.timestamp()),
        ),
        tuple((label, text) for label, text in more if text),
        "" if note.state in ("exact", "moved") else "warning",
    )


def _list_elements(elements: Iterable[Anchored]) -> Iterator[tuple[str, str]]:
    for element in elements:
        noted = write_line(element.noted, _LONGEST_PATH)
        if element.state == "moved":
            yield "moved", f"from {noted} ({write_line(element.reason)})"
        elif element.state == "uncertain":
            near = ", ".join(write_line(path, _LONGEST_PATH) for path in element.candidates)
            yield "uncertain", f"{noted}: perhaps {near} ({write_line(element.reason)})"
        elif element.state == "orphaned":
            yield "orphaned", f"{noted} ({write_line(element.reason)})"
