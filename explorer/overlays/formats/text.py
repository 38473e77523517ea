"""The text of a file and the JSON in it, bounded and checked."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from netloupe.explorer.errors import OverlayError

#: larger files are refused, in bytes; JSON takes about ten times as much memory as text
LARGEST_TEXT = 2**30
LARGEST_JSON = 2**27
#: characters of a name or word that is kept
LONGEST_WORD = 4_096


def read_file_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file.

    Raises
    ------
    OverlayError
        Where it is missing, no regular file, too large, not to be read, or no UTF-8.
    """
    name = os.fsdecode(path)
    try:
        status = Path(name).stat()  # asked before opening: a FIFO would block for ever
    except FileNotFoundError:
        raise OverlayError(f"{name}: there is no such file. Check the name.") from None
    except ValueError as error:
        raise OverlayError(f"{name[:200]!r}: is no path that a file can have.") from error
    except OSError as error:
        raise _say_unreadable(name, error) from error
    if stat.S_ISDIR(status.st_mode):
        raise OverlayError(f"{name}: is a directory. Give a file.")
    if not stat.S_ISREG(status.st_mode):
        raise OverlayError(f"{name}: is no regular file. Copy its content to one first.")
    if status.st_size > LARGEST_TEXT:
        raise OverlayError(
            f"{name}: has {status.st_size:,} bytes, more than the {LARGEST_TEXT:,} that are "
            "read. Cut it into parts."
        )
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise _say_unreadable(name, error) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OverlayError(
            f"{name}: byte {error.start:,} is no UTF-8, so that this is no text file. Give CSV or "
            "JSON in UTF-8."
        ) from error


def _say_unreadable(name: str, error: OSError) -> OverlayError:
    reason = (error.strerror or str(error)).lower()
    return OverlayError(f"{name}: cannot be read ({reason}). Check its permissions.")


def parse_json(text: str, name: str) -> Any:
    """Return what a JSON text says.

    Raises
    ------
    OverlayError
        Where it is no JSON, too large or nested too deeply.
    """
    if len(text) > LARGEST_JSON:
        raise OverlayError(
            f"{name}: has {len(text):,} characters of JSON, more than the {LARGEST_JSON:,} that "
            "are read at once. Write it as CSV, or leave out what is not needed."
        )
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise OverlayError(
            f"{name}: is no valid JSON: {error.msg} in line {error.lineno:,}, column "
            f"{error.colno:,}. Write it anew."
        ) from error
    except RecursionError as error:
        raise OverlayError(f"{name}: the JSON is nested too deeply to be read.") from error
    except ValueError as error:  # an integer of thousands of digits
        raise OverlayError(f"{name}: the JSON cannot be read ({error}).") from error


def take_number(value: Any) -> float | None:
    """Return a number as JSON has it; None for anything else. True and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def read_cell(value: Any) -> float | str | None:
    """Return a number or a word; None for anything else."""
    if isinstance(value, str):
        return value[:LONGEST_WORD]
    if isinstance(value, bool):
        return "true" if value else "false"
    return take_number(value)


def list_fields(entry: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the fields of an entry that are numbers."""
    for name, value in entry.items():
        number = take_number(value)
        if number is not None:
            yield name, number
