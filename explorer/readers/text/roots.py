"""Roots of text: which message a protobuf text or JSON file describes, judged by its names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.readers.containers import decode_marked_text
from netloupe.explorer.readers.format import Content, TextForm, TextRoot
from netloupe.explorer.readers.impostors import refuse_foreign_names
from netloupe.explorer.readers.source import Source

if TYPE_CHECKING:
    from .protobuf_text import ParsedText


_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_NAME_FIRST = rb"(?:[\s]++|#[^\n]*+)*+(?:[A-Za-z_]\w*|\d+)\s*+[:{<]"


def is_json(head: bytes) -> bool:
    """Return whether the first bytes are those of a JSON object or list."""
    return re.match(rb"\s*+[\[{]\s*+[\"{\[\]}\d]", head) is not None and not _CONTROL.search(head)


def is_text(head: bytes) -> bool:
    """Return whether the first bytes are text: protobuf text, or some other that is no model."""
    if _CONTROL.search(head):
        return False
    return bool(re.match(_NAME_FIRST, head)) or len(head.decode("utf-8", "ignore")) > len(head) // 5


def unwrap_protobuf_text(source: Source, roots: Iterable[TextRoot]) -> Content:
    """Turn protobuf text of whatever message we know into its bytes.

    Parameters
    ----------
    source
        The text.
    roots
        The messages.

    Raises
    ------
    ModelFormatError
        Where it is none, or damaged.
    """
    from .protobuf_text import TextError, list_top_names, parse_text

    text, name = decode_marked_text(source.data), source.name
    if not re.match(_NAME_FIRST, text[:4096]):
        raise ModelFormatError(f"{name}: is text, but no ONNX model. Check which file it is.")
    names = list_top_names(text[: 2**20])
    problem = ""
    for root in _rank_roots(names, roots, name, "text"):
        try:
            return _wrap_parsed(source, "protobuf text", parse_text(text, root.message), root)
        except TextError as error:
            problem = problem or f"{error}{_say_where(source, error.written, root)}"
    raise ModelFormatError(f"{name}: is protobuf text with an error: {problem}. Correct it.")


def unwrap_protobuf_json(source: Source, roots: Iterable[TextRoot]) -> Content:
    """Turn protobuf JSON of whatever message we know into its bytes; raises as the text does."""
    from .protobuf_json import JsonError, convert_json, load_json

    name = source.name
    try:
        value = load_json(decode_marked_text(source.data))
    except JsonError as error:
        raise ModelFormatError(
            f"{name}: is JSON that cannot be read: {error}. Export or download it again."
        ) from None
    if not isinstance(value, dict):
        raise ModelFormatError(f"{name}: is a JSON list, not a model. Check which file it is.")
    problem = ""
    for root in _rank_roots(value, roots, name, "JSON"):
        try:
            return _wrap_parsed(source, "protobuf JSON", convert_json(value, root.message), root)
        except JsonError as error:
            problem = problem or f"{error}{_say_where(source, error.written, root)}"
    raise ModelFormatError(f"{name}: is protobuf JSON with an error: {problem}. Correct it.")


def _wrap_parsed(source: Source, container: str, parsed: ParsedText, root: TextRoot) -> Content:
    binary = Source(source.name, parsed.data, source.files)
    return Content(binary, container, parsed.unknown, root.message.full_name)


def _say_where(source: Source, written: bytes, root: TextRoot) -> str:
    """Return the element in which a message ends that was written up to an error."""
    from netloupe.explorer.readers.protobuf.damage import say_where

    begun = Source(source.name, written, source.files)
    return say_where(begun, root.message, root.elements)


def _rank_roots(
    names: Iterable[str], roots: Iterable[TextRoot], name: str, form: str
) -> list[TextRoot]:
    """Return the messages whose fields the names are, the likeliest first."""
    from .message_writer import fields_of

    given = set(names)
    refuse_foreign_names(given, name)
    scores = []
    for root in roots:
        fields = fields_of(root.message)
        known = {fields[name].name for name in given if name in fields}
        if known & root.signs:
            scores.append((2 * len(known) - len(given), root))
    if not scores:
        shown = ", ".join(sorted(given)[:5])
        shown = " ".join(shown.split())[:100]
        raise ModelFormatError(
            f"{name}: is {form}, but no model: it begins with {shown or 'nothing'}. "
            "Check which file it is."
        )
    best = max(score for score, _ in scores)
    return [root for score, root in sorted(scores, key=lambda s: -s[0]) if score >= best - 1]


PROTOBUF_JSON = TextForm(is_json, unwrap_protobuf_json)
PROTOBUF_TEXT = TextForm(is_text, unwrap_protobuf_text)
