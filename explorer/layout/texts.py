"""What is written beside edges: types, where they say something new."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.model import Value
from netloupe.explorer.view import Item

from .placement import Floats, Integers
from .scene import LevelEdge


@dataclass(slots=True, eq=False)
class Texts:
    """The labels of a level's edges, before there is room for them.

    Parameters
    ----------
    strings
        The text beside each edge; "" for none.
    widths
        Of the texts, in pixels.
    flows
        A number that edges of one value have in common: one of them has the label.
    wanted
        Whether an edge should have a label: there is a text, and its source is not open.
    """

    strings: list[str]
    widths: Floats
    flows: Integers
    wanted: NDArray[np.bool_]

    def renewed(
        self, edges: list[LevelEdge], children: list[Item], changed: Iterable[int]
    ) -> Texts:
        """Return the labels after some children were opened or closed.

        Parameters
        ----------
        edges, children
            As for :func:`choose_texts`.
        changed
            The edges at these children.
        """
        wanted = self.wanted.copy()
        for number in changed:
            wanted[number] = bool(self.strings[number]) and _is_wanted(edges[number], children)
        return Texts(self.strings, self.widths, self.flows, wanted)


def choose_texts(
    edges: list[LevelEdge], children: list[Item], label_of: Callable[[Value], tuple[str, float]]
) -> Texts:
    """Return the text of each edge's label where it says something new.

    An edge has a label where its type differs from those of the edges that enter its source,
    and only one of the edges of a value has it. Edges at inputs and outputs of the graph have
    none: the type stands on the box.

    Parameters
    ----------
    edges
        Of a level.
    children
        The level's boxes.
    label_of
        Gives the type of a value as text, and its width in pixels.
    """
    labels = [label_of(edge.value) for edge in edges]
    entering: dict[int, set[str]] = {}
    for edge, (text, _) in zip(edges, labels, strict=True):
        entering.setdefault(edge.target, set()).add(text)
    flows: dict[str, int] = {}
    strings, widths, numbers, wanted = [], [], [], []
    for edge, (text, width) in zip(edges, labels, strict=True):
        shown = text if text and _is_news(edge, children, text, entering) else ""
        strings.append(shown)
        widths.append(width if shown else 0.0)
        numbers.append(flows.setdefault(edge.path, len(flows)) if shown else -1)
        wanted.append(bool(shown) and _is_wanted(edge, children))
    return Texts(
        strings,
        np.array(widths, np.float64),
        np.array(numbers, np.int64),
        np.array(wanted, np.bool_),
    )


def _is_news(
    edge: LevelEdge, children: list[Item], text: str, entering: dict[int, set[str]]
) -> bool:
    if edge.source < 0 or edge.kind == "control" or children[edge.source].kind == "input":
        return False
    if edge.target >= 0 and children[edge.target].kind == "output":
        return False
    return text not in entering.get(edge.source, ())


def _is_wanted(edge: LevelEdge, children: list[Item]) -> bool:
    """Return whether the source is closed; what leaves an open box has its label inside."""
    return not children[edge.source].is_open
