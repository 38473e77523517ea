"""Models written inline in the text syntax of ONNX."""

from __future__ import annotations

import onnx.parser

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load

_HEADER = '<ir_version: 10, opset_import: ["": 21, "local": 1]>\n'


def load_text(text: str) -> Model:
    """Return the model of a text; a header is put before a text that begins with a name."""
    if not text.lstrip().startswith("<"):
        text = _HEADER + text
    return load(onnx.parser.parse_model(text))
