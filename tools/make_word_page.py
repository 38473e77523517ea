"""Write docs/figure_words.md, the page on the words of figures, from where the code has them.

Usage: python tools/make_word_page.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT))  # this tree, and not one that is installed

from netloupe.explorer.patterns.figure_word import FigureWord  # noqa: E402
from netloupe.explorer.patterns.figure_words import FIGURE_WORDS  # noqa: E402

PAGE = _ROOT / "docs" / "figure_words.md"

_HEAD = """# Words of figures

What boxes, the groups round them, the sentence and insets say: one thing has one word everywhere,
the one that papers have. A closed box says what it is, or else what it is made of: its chain, or
the parts that tell most. Norms, activations, sums and what only moves data are left out where there
is more to tell. Over a stack it is told what changes: widths, dilation, what the first or the last
block has that the others have not.

Words of a [pattern](patterns.md) link to how it is recognised, and to its source.

This page is written by `python tools/make_word_page.py` from `explorer/patterns/figure_words.py`.
"""


def write_page() -> str:
    """Return the page."""
    sections = (f"\n## {title}\n\n{_write(words)}" for title, words in FIGURE_WORDS.items())
    return _HEAD + "".join(sections)


def _write(words: Iterable[FigureWord]) -> str:
    rows = (f"| {_link(word)} | {word.meaning} |\n" for word in words)
    return "| word | what is called so |\n|---|---|\n" + "".join(rows)


def _link(word: FigureWord) -> str:
    return f"[{word.word}](patterns.md#{word.pattern})" if word.pattern else word.word


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
