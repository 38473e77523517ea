"""Strings of messages, which need not be UTF-8."""

from __future__ import annotations

from netloupe.explorer.model import EscapedText


def read_text(text: str | bytes) -> str:
    """Return a protobuf string; bytes that are not UTF-8 become backslash escapes."""
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return EscapedText(text.decode("utf-8", "backslashreplace"))


def read_bytes(data: bytes) -> str | bytes:
    """Return a string that may hold anything as str, or as bytes where it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data
