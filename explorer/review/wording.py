"""How places and evidence are written in a list: short, cleaned of hidden characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloupe.explorer.describe.file_text import write_line, write_list, write_text
from netloupe.explorer.notation import write_bytes, write_number

_LONGEST_PLACE = 120
_LONGEST = 300
_LONGEST_TEXT = 4_000
_MOST_ENTRIES = 8


def write_where(paths: Sequence[str], count: int = 1) -> str:
    """Return the first of some paths without the name of the main graph, and how many others."""
    if not paths:
        return ""
    first = paths[0]
    for beginning in ("main/", "%"):
        first = first.removeprefix(beginning) or first
    others = f" and {count - 1:,} more" if count > 1 else ""
    return write_line(first, _LONGEST_PLACE) + others


def write_evidence(evidence: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return labels and texts of the values that show something; names of keys are words."""
    return tuple(
        (write_line(str(name).replace("_", " "), _LONGEST_PLACE), _write_value(str(name), value))
        for name, value in evidence.items()
    )


def _write_value(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        is_size = name == "bytes" or name.endswith("_bytes")
        return write_bytes(value) if is_size and value >= 0 else f"{value:,}"
    if isinstance(value, float):
        return write_number(value)
    if isinstance(value, str):
        return write_message(value)
    if isinstance(value, Mapping):
        entries = list(value.items())
        told = [f"{key}: {_write_value(str(key), each)}" for key, each in entries[:_MOST_ENTRIES]]
        more = [f"… {len(entries) - len(told):,} more"] if len(entries) > len(told) else []
        return write_line(", ".join(told + more), _LONGEST)
    if isinstance(value, list | tuple):
        return write_list(value, _MOST_ENTRIES)
    return "none" if value is None else write_line(str(value), _LONGEST)


def write_message(text: str) -> str:
    """Return a message in which names of a model may stand, with its lines."""
    return write_text(text, _LONGEST_TEXT)
