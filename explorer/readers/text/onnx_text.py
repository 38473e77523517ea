"""ONNX's own text syntax, read by the parser of the ``onnx`` package where it is installed.

https://onnx.ai/onnx/repo-docs/Syntax.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.readers.containers import decode_marked_text
from netloupe.explorer.readers.format import Content, TextForm, TextRoot
from netloupe.explorer.readers.source import Source

_COMMENTS = rb"(?:\s++|#[^\n]*+)*+"
#: a header in angle brackets, or the name of a graph before its parameters and results
_BEGINNING = re.compile(
    _COMMENTS
    + rb"(?:<" + _COMMENTS + rb"(?:ir_version|opset_import|producer_name|producer_version|domain"
    rb"|model_version|doc_string|metadata_props)\s*:"
    rb"|[A-Za-z_][\w.]*\s*\([^(){}]*\)\s*=>\s*\()"
)  # fmt: skip
_STRINGS_AND_COMMENTS = re.compile(rb"\"(?:[^\"\\]++|\\.)*+\"?|#[^\n]*+", re.DOTALL)
_BRACKETS = rb"[{(\[]|[})\]]"

#: the parser works by recursion on the C stack, which a hostile text could exhaust
_DEEPEST = 500


def is_onnx_text(head: bytes) -> bool:
    """Return whether text begins as ONNX's syntax does."""
    return _BEGINNING.match(head) is not None


def parse_onnx_text(text: bytes, name: str) -> bytes:
    """Return the ModelProto, serialized, that ONNX text describes.

    Parameters
    ----------
    text
        UTF-8.
    name
        What to call it in messages.

    Raises
    ------
    ModelFormatError
        Where the ``onnx`` package is not installed, or the text is not what it understands.
    """
    try:
        import onnx.parser
    except ImportError:
        raise ModelFormatError(
            f"{name}: is ONNX text, which the onnx package reads, and it is not installed. "
            "Install it with `pip install onnx`."
        ) from None
    if _measure_depth(text) > _DEEPEST:
        raise ModelFormatError(
            f"{name}: is ONNX text nested deeper than {_DEEPEST} brackets. Give it as protobuf."
        )
    try:
        model = onnx.parser.parse_model(text.decode("utf-8"))
        return bytes(model.SerializeToString())
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    except Exception as error:  # the parser's own, or protobuf's where it is nested too deep
        reason = _find_reason(str(error))
    raise ModelFormatError(
        f"{name}: is ONNX text that the onnx package does not understand: {reason}. "
        "Correct it or give the model as protobuf."
    )


def _measure_depth(text: bytes) -> int:
    depth = deepest = 0
    for bracket in re.findall(_BRACKETS, _STRINGS_AND_COMMENTS.sub(b" ", text)):
        depth += 1 if bracket in b"{([" else -1
        deepest = max(deepest, depth)
    return deepest


def _find_reason(message: str) -> str:
    """Return the useful parts of the parser's message: where it stopped and why."""
    if "MaxDepth" in message or "recursion" in message.lower():
        return "it is nested too deep"
    place = re.search(r"line:?\s*(\d+)\s*column:?\s*(\d+)", message)
    # the package gives the repr of a byte string, its lines separated by a written "\\n"
    cause = re.split(r"\\n|\n", message)[-1].strip("'\". ")[:200]
    return f"line {place[1]}, column {place[2]}: {cause}" if place else cause


def _unwrap_onnx_text(source: Source, roots: Iterable[TextRoot]) -> Content:
    data = parse_onnx_text(decode_marked_text(source.data), source.name)
    return Content(Source(source.name, data, source.files), "ONNX text")


ONNX_TEXT = TextForm(is_onnx_text, _unwrap_onnx_text)
