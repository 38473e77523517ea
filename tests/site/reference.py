"""What the sources of the reference document, read without building it."""

from __future__ import annotations

import re
from pathlib import Path

_PAGES = Path(__file__).resolve().parents[2] / "docs" / "reference" / "python"
_CLASS = re.compile(r"^\.\. auto(?:class|exception):: (?P<path>[\w.]+)", re.MULTILINE)


def list_documented_classes() -> list[str]:
    """Return the names of the classes in the reference."""
    text = "\n".join(page.read_text("utf-8") for page in sorted(_PAGES.glob("*.rst")))
    return [match["path"].rpartition(".")[2] for match in _CLASS.finditer(text)]
