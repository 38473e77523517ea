"""An example of each pattern: a model in ONNX's text form, and what its graph is told to be."""

from __future__ import annotations

from collections import defaultdict

EXAMPLES: dict[str, tuple[str, str]] = defaultdict(lambda: ("", ""))
