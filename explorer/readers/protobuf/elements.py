"""What the elements of a message are called when one of them cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from netloupe.explorer.notation import clip_text

_LONGEST_NAME = 80
_LONGEST_PATH = 200


class Element(NamedTuple):
    """How a message is called that is the value of a field.

    Parameters
    ----------
    kind
        The word for it; "" where it is only on the way to what it holds.
    names
        The fields of text that name it.
    operator
        The field that says what it does, for an element without a name.
    opens
        Where it is in a graph of its own, the path of that: ``{graph}`` is the path of the graph
        around, ``{inside}`` the names of the elements since that one began, ``{own}`` the
        element's own name and ``{index}`` its place in a list.
    """

    kind: str = ""
    names: tuple[str, ...] = ("name",)
    operator: str = ""
    opens: str = ""


#: by the name of a message and of its field; by that of an outermost message and ""
Elements = Mapping[tuple[str, str], Element]


@dataclass(frozen=True, slots=True)
class Nesting:
    """One message on the way to what cannot be read.

    Parameters
    ----------
    message, field
        The name of the message around, and of its field that holds this one.
    index
        Its place among the values of the field; -1 where there is one at most.
    texts
        What its fields say that name it.
    """

    message: str
    field: str
    index: int
    texts: Mapping[str, str]


def write_place(nestings: Iterable[Nesting], elements: Elements) -> str:
    """Return the innermost element and what it belongs to: ``attribute 'k' of node 'n' in main``.

    Parameters
    ----------
    nestings
        From the outermost message inwards; that one has the field "".
    elements
        How the elements of the format are called; others by their fields.
    """
    graph = ""
    kinds: list[str] = []
    inside: list[str] = []
    for nesting in nestings:
        key = (nesting.message, nesting.field)
        element = elements.get(key)
        if element is None:
            if not nesting.field:
                continue
            element = Element(nesting.field.replace("_", " ").removesuffix(" proto"))
        given = [nesting.texts.get(name, "") for name in element.names]
        own = "::".join(given) if any(given) else ""
        operator = nesting.texts.get(element.operator, "")
        if element.opens:
            path = element.opens.format(
                graph=graph,
                inside=".".join(inside),
                own=own or f"#{nesting.index}",
                index=nesting.index,
            )
            graph, kinds, inside = path, [], []
        if element.kind:
            kinds.append(f"{element.kind} {_write_label(own, nesting.index, operator)}".rstrip())
            short = f"#{nesting.index}:{operator}" if operator else str(max(nesting.index, 0))
            inside.append(own.lstrip("/") or short)
    around = _clean(graph, _LONGEST_PATH)
    if not kinds:
        return around
    return " of ".join(reversed(kinds)) + (f" in {around}" if around else "")


def _write_label(name: str, index: int, operator: str = "") -> str:
    """Return ``'Conv_12'``, or ``'#3:Conv'`` or ``#3`` of an element without a name."""
    if not name and operator:
        name = f"#{max(index, 0)}:{operator}"
    if name:
        return f"'{_clean(name, _LONGEST_NAME)}'"
    return f"#{index}" if index >= 0 else ""


def _clean(text: str, most: int) -> str:
    text = clip_text(text, most)
    return text if text.isprintable() else repr(text)[1:-1]
