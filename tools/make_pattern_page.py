"""Write docs/patterns.md, the page on the kinds of block that are recognised, from the registry.

Usage: python tools/make_pattern_page.py
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from inspect import getdoc
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT))  # this tree, and not one that is installed

from netloupe.explorer.patterns import Pattern  # noqa: E402
from netloupe.explorer.patterns.known_patterns import (  # noqa: E402
    ARITHMETIC,
    IDEAS,
    PARTS,
    PATTERNS,
    WHOLES,
)
from netloupe.explorer.patterns.pattern_examples import EXAMPLES  # noqa: E402
from netloupe.explorer.patterns.registry import find_block_family  # noqa: E402

PAGE = _ROOT / "docs" / "patterns.md"

_HEAD = """# Patterns

Kinds of block that the field knows, and that netloupe recognises by how nodes are wired, whatever
they are called: so groups are named, nodes without names are put into boxes, and heads, widths and
kernels are told. [Words of figures](figure_words.md) says what the words mean, and
[patterns of your own](own_patterns.md) can be added.

What only changes type, precision or layout, such as Cast, Reshape, Transpose and QuantizeLinear, is
not counted among the operations of a block, nor is what follows from constants and shapes alone. So
a block is recognised with or without it.

Each pattern has an id, the kinds that its blocks are of, which other patterns ask for, and the
families of operators that they are coloured as. Its example is a whole model in ONNX's text form:
saved as `example.onnxtxt`, it opens with `netloupe open example.onnxtxt`. Below it stands what its
graph is told to be. Where some nodes have names, in brackets before them, these are the block, and
the others have to be around it.

This page is written by `python tools/make_pattern_page.py` from
`explorer/patterns/known_patterns.py`, the docstrings of what finds each pattern, and
`explorer/patterns/pattern_examples.py`.
"""

_PARTS = """
## Found among other operations

In this order: what others are put together from comes first. The extent of these patterns is
`part`.
"""

_SMALL = """
## Found among a few nodes

Between groups, where nodes are left over. The extent of these patterns is `part`, too.
"""

_WHOLES = """
## Told of all operations together

Of a group, a function or a graph, after parts were found in it; the first that fits is told. The
extent of these patterns is `whole`.
"""

_IDEAS = """
## Ideas of papers

Where nothing of the above tells what operations are: a group that is one of these altogether is
called so, and any other closed group tells which of them it is made of. The extent of these
patterns is `part`.
"""

_ARITHMETIC = """
## Arithmetic between layers

Operations without weights that are none of the above; also what stands between the layers of a
program and has no group. The extent of these patterns is `whole`.
"""


def write_page() -> str:
    """Return the page."""
    others = (*PARTS, *WHOLES, *IDEAS, *ARITHMETIC)
    small = [pattern for pattern in PATTERNS if pattern not in others]
    sections = (
        *((_PARTS, PARTS), (_SMALL, small), (_WHOLES, WHOLES), (_IDEAS, IDEAS)),
        (_ARITHMETIC, ARITHMETIC),
    )
    return _HEAD + "".join(head + "".join(_write_patterns(patterns)) for head, patterns in sections)


def _write_patterns(patterns: Iterable[Pattern]) -> Iterable[str]:
    for pattern in patterns:
        families = list(dict.fromkeys(map(find_block_family, pattern.kinds)))
        yield (
            f"\n### {pattern.id}\n\n{_describe(pattern)}\n\n"
            f"Kinds: {_list(pattern.kinds)}. Coloured as: {_list(families)}.\n\n"
            f"```text\n{EXAMPLES[pattern.id][0]}\n```\n\n"
            f"It is told to be **{EXAMPLES[pattern.id][1]}**.\n"
        )


def _describe(pattern: Pattern) -> str:
    """Return what is found, with the source of the module where the finder itself names none."""
    text = pattern.description.replace("``", "`")
    if not _has_year(text):
        paragraphs = (getdoc(sys.modules[pattern.find.__module__]) or "").split("\n\n")
        text = "\n\n".join([text, *filter(_has_year, paragraphs)])
    return text


def _has_year(text: str) -> bool:
    return re.search(r"\b(19|20)\d\d\b", text) is not None


def _list(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
