"""Unwrapping: a source out of its containers, which are gzip and the forms of text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from netloupe.explorer.errors import ModelFormatError

from .containers import GZIP_MAGIC, decode_marked_text, unpack_gzip
from .format import Content, TextForm, TextRoot
from .impostors import refuse_impostors
from .source import Source
from .text.roots import PROTOBUF_JSON, PROTOBUF_TEXT


def unwrap_source(
    source: Source, text_forms: Iterable[TextForm], roots: Iterable[TextRoot]
) -> Content:
    """Return what a source holds in any container: gzip, text, JSON.

    Parameters
    ----------
    source
        The bytes.
    text_forms
        Those that single formats have; they are looked for before those of protobuf.
    roots
        The messages that protobuf text and JSON may describe.

    Raises
    ------
    ModelFormatError
        Where the bytes are known to be something else, or the container is damaged.
    """
    if source.head[:2] != GZIP_MAGIC:
        return _unwrap_text(source, text_forms, roots)
    unpacked = unpack_gzip(source.data, source.name)
    inner = Source(f"{source.name} (unpacked from gzip)", unpacked, source.files)
    if inner.head[:2] == GZIP_MAGIC:
        raise ModelFormatError(f"{source.name}: is gzip within gzip. Unpack it with gunzip first.")
    content = _unwrap_text(inner, text_forms, roots)
    return replace(content, container=f"{content.container} in gzip")


def _unwrap_text(
    source: Source, text_forms: Iterable[TextForm], roots: Iterable[TextRoot]
) -> Content:
    """Return the content of what is not compressed."""
    refuse_impostors(source)
    head = decode_marked_text(source.head)
    for form in (*text_forms, PROTOBUF_JSON, PROTOBUF_TEXT):
        if form.begins(head):
            return form.unwrap(source, roots)
    return Content(source)
