"""What happens to notes, one line of JSON each: a note is written, edited or removed.

``docs/notes_format.md`` describes the lines. Each has an id of its own and says only what it
changes, so lines of two files can be put together in any order, and as often as one likes.
"""

from __future__ import annotations

import getpass
import json
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from netloupe.explorer.errors import NotesError

#: what a line of notes says it is
FORMAT = "netloupe-notes-1"
#: a line of notes has so many bytes at most, a text and an author so many characters
LONGEST_LINE, LONGEST_TEXT, LONGEST_AUTHOR = 2**20, 100_000, 200
#: a note has so many tags and elements at most, a tag so many characters
MOST_TAGS, LONGEST_TAG, MOST_ANCHORS = 100, 200, 1_000
_LATEST_TURN = 2**53
_DEEPEST = 12

#: what a line says of one element; :mod:`.anchor` writes them
Anchor: TypeAlias = Mapping[str, Any]

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)")
_FIELDS = ("text", "tags", "anchors", "accepts")

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Event:
    """One line: what somebody changed of a note.

    Parameters
    ----------
    id
        Of this event: a UUID.
    note
        Of the note: a UUID.
    turn
        Greater than that of every event of the note that was known when this one was made.
    at
        When, by the clock of the machine; UTC.
    author
        Who.
    changes
        The fields that are set: ``text``, ``tags``, ``anchors``, ``accepts``.
    is_removal
        Whether it removes the note.
    """

    id: str
    note: str
    turn: int
    at: datetime
    author: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    is_removal: bool = False

    def write(self) -> str:
        """Return the line, without its end; equal for equal events."""
        told: dict[str, Any] = {
            "format": FORMAT,
            "event": self.id,
            "note": self.note,
            "turn": self.turn,
            "at": write_time(self.at),
            "author": self.author,
        }
        if self.is_removal:
            told["removed"] = True
        told |= {name: self.changes[name] for name in _FIELDS if name in self.changes}
        return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def make_event(
    note: str, turn: int, author: str, changes: Mapping[str, Any], *, is_removal: bool = False
) -> Event:
    """Return an event that happens now."""
    return Event(str(uuid.uuid4()), note, turn, datetime.now(UTC), author, changes, is_removal)


def read_author(author: str | None) -> str:
    """Return who writes; the name of the user for None.

    Raises
    ------
    NotesError
        For what is no text, or too long.
    """
    if author is None:
        try:
            return getpass.getuser()[:LONGEST_AUTHOR]
        except (OSError, KeyError, ImportError):  # no user database, as in some containers
            return ""
    try:
        return check_text("author", author, LONGEST_AUTHOR)
    except ValueError as error:
        raise NotesError(f"no note: {error}.") from None


def write_time(at: datetime) -> str:
    """Return a time in UTC: ``2026-11-23T17:31:02.000000Z``."""
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def read_event(line: bytes) -> Event:
    """Return the event of a line.

    Raises
    ------
    ValueError
        Where it is none; the message says in a few words why.
    """
    if len(line) > LONGEST_LINE:
        raise ValueError(f"longer than {LONGEST_LINE:,} bytes")
    try:
        told = _DECODER.decode(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON ({error.msg} at character {error.pos + 1})") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON that can be used ({error})") from None
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise ValueError(f'no note (a line of notes has "format": "{FORMAT}")')
    is_removal = told.get("removed") is True
    # halves of surrogates stand in what is UTF-8 only where they are escaped
    clean = clean_json if b"\\u" in line else check_depth
    if clean is check_depth and line.count(b"{") + line.count(b"[") <= _DEEPEST:
        clean = _keep
    changes = {name: _read_field(name, told[name], clean) for name in _FIELDS if name in told}
    if not changes and not is_removal:
        raise ValueError("it changes nothing")
    return Event(
        _read_uuid(told, "event"),
        _read_uuid(told, "note"),
        _read_turn(told.get("turn")),
        _read_time(told.get("at")),
        check_text("author", told.get("author", ""), LONGEST_AUTHOR),
        changes,
        is_removal,
    )


def check_text(name: str, text: object, longest: int) -> str:
    """Return a text that is one and not too long; halves of surrogates are replaced.

    Raises
    ------
    ValueError
        For anything else.
    """
    if not isinstance(text, str):
        raise ValueError(f"{name} is no text, but of type {type(text).__name__}")
    if len(text) > longest:
        raise ValueError(f"{name} is longer than {longest:,} characters")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def check_tags(tags: object) -> tuple[str, ...]:
    """Return tags, each once.

    Raises
    ------
    ValueError
        Where these are no texts, too long or too many.
    """
    if not isinstance(tags, list | tuple) or len(tags) > MOST_TAGS:
        raise ValueError(f"tags is no list of at most {MOST_TAGS} texts")
    return tuple(dict.fromkeys(check_text("a tag", tag, LONGEST_TAG) for tag in tags))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


#: made once, as `json.loads` would make one for each line
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _keep(told: Any) -> Any:
    """Return what JSON held, which cannot go too deep."""
    return told


def _read_field(name: str, told: Any, clean: Callable[[Any], Any]) -> Any:
    if name == "text":
        return check_text(name, told, LONGEST_TEXT)
    if name == "tags":
        return list(check_tags(told))
    if name == "anchors":
        if not isinstance(told, list) or len(told) > MOST_ANCHORS:
            raise ValueError(f"anchors is no list of at most {MOST_ANCHORS}")
        return [_read_anchor(anchor, clean) for anchor in told]
    return None if told is None else _read_accepts(told, clean)


def _read_anchor(anchor: Any, clean: Callable[[Any], Any]) -> Any:
    if not isinstance(anchor, dict) or not isinstance(anchor.get("path"), str):
        raise ValueError("an anchor has no path")
    return clean(anchor)


def _read_accepts(told: Any, clean: Callable[[Any], Any]) -> Any:
    if not isinstance(told, dict):
        raise ValueError("accepts is no object")
    rule, fingerprint = told.get("rule"), told.get("fingerprint")
    count = told.get("count", 1)
    if not isinstance(rule, str) or not isinstance(fingerprint, str):
        raise ValueError("accepts has no rule and fingerprint")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise ValueError("count of accepts is no number")
    return clean(told)


def clean_json(told: Any, depth: int = 0) -> Any:
    """Return what JSON held, with texts that can be written.

    Raises
    ------
    ValueError
        Where it goes too deep.
    """
    if depth > _DEEPEST:
        raise ValueError("nested too deep")
    if isinstance(told, str):
        return told if told.isascii() else told.encode("utf-8", "replace").decode("utf-8")
    if isinstance(told, dict):
        return {clean_json(k, depth): clean_json(each, depth + 1) for k, each in told.items()}
    if isinstance(told, list | tuple):
        return [clean_json(each, depth + 1) for each in told]
    return told


def check_depth(told: Any) -> Any:
    """Return what JSON held, all of whose texts can be written.

    Raises
    ------
    ValueError
        Where it goes too deep.
    """
    held = [told]
    for _ in range(_DEEPEST + 1):
        inner: list[Any] = []
        for each in held:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        held = [each for each in inner if isinstance(each, dict | list)]
        if not held:
            return told
    raise ValueError("nested too deep")


def _read_uuid(told: Mapping[str, Any], name: str) -> str:
    text = told.get(name)
    if isinstance(text, str) and len(text) <= 45:
        if _UUID.fullmatch(text) is not None:  # as it is written, and nearly always read
            return text
        try:
            return str(uuid.UUID(text))
        except ValueError:
            pass
    raise ValueError(f"{name} is no UUID")


def _read_turn(turn: Any) -> int:
    if isinstance(turn, int) and not isinstance(turn, bool) and 0 < turn <= _LATEST_TURN:
        return turn
    raise ValueError("turn is no number from 1")


def _read_time(text: Any) -> datetime:
    if isinstance(text, str) and _TIME.fullmatch(text):
        try:
            at = datetime.fromisoformat(text)
            return at if at.tzinfo is UTC else at.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    raise ValueError("at is no time such as 2026-11-23T17:31:02Z")
