"""What is said of one element of a model, in a form that text, HTML and JSON are made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Model, ModelWarning, Node, SparseTensor, Tensor, Value

Element = Model | Graph | Node | Value | Tensor | SparseTensor | Group
Kind = Literal[
    "model", "graph", "function", "group", "node", "value", "values", "tensor", "elements"
]

#: a section shows no more rows than this and says how many there are
MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class Row:
    """One fact.

    Parameters
    ----------
    name
        What it is about; may be empty.
    value
        The fact in words; may have several lines.
    note
        What qualifies it: ``int, default``, ``float32[64, 3, 7, 7] · constant``.
    path
        The element that a click leads to, or "".
    inferred
        The part of value or note that does not stand in the file but follows from it, or "".
        It is set apart where there is a way to do so.
    """

    name: str
    value: str
    note: str = ""
    path: str = ""
    inferred: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Facts under one title, and a longer text after them.

    ``is_hidden`` advises to show the title alone at first; ``is_markdown`` says how the text is
    written.
    """

    title: str
    rows: tuple[Row, ...]
    text: str = ""
    is_hidden: bool = False
    is_markdown: bool = False


@dataclass(frozen=True, slots=True)
class Description:
    """Everything that the model says about one element.

    Parameters
    ----------
    path
        The element's path as it was asked for: inside an open call, that of the occurrence.
    title, subtitle
        Its name or operator, and what is most worth knowing.
    element
        The element itself; a tuple of several.
    sections
        The facts, what matters most first.
    tensor
        The stored elements that belong to it, for statistics and a histogram.
    value
        The value that they are the elements of, for its quantization.
    inferred
        The part of the subtitle that does not stand in the file but follows from it, or "".
    """

    path: str
    kind: Kind
    title: str
    subtitle: str
    element: Element | tuple[Element, ...]
    sections: tuple[Section, ...]
    tensor: Tensor | SparseTensor | None = None
    value: Value | None = None
    warnings: tuple[ModelWarning, ...] = ()
    inferred: str = ""


def make_section(
    title: str,
    rows: Iterable[Row],
    text: str = "",
    *,
    total: int | None = None,
    most: int = MOST_ROWS,
    is_hidden: bool = False,
) -> Section:
    """Return a section of the rows that say something, ``most`` of them at most.

    ``total`` is the number of rows that there would be, where ``rows`` was cut short already.
    """
    given = [row for row in rows if row.value]
    kept = given[:most]
    hidden = max(len(given), total or 0) - len(kept)
    if hidden > 0:
        kept.append(Row("…", f"{hidden:,} more"))
    return Section(title, tuple(kept), text, is_hidden)


def keep_sections(sections: Iterable[Section | None]) -> tuple[Section, ...]:
    """Return the sections that hold anything."""
    return tuple(
        section for section in sections if section is not None and (section.rows or section.text)
    )
