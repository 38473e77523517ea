"""What is written beside edges: types, where they say something new."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.model import Value
from netloupe.explorer.view import Item

from .placement import Floats, Integers
from .scene import LevelEdge

Flags = NDArray[np.bool_]


class LabelMeasure(Protocol):
    """What is asked of whoever writes labels."""

    def label(self, value: Value) -> tuple[str, float]:
        """Return the type of a value as text and its width in pixels; "" for none."""
        ...

    def count_label(self, count: int) -> tuple[str, float]:
        """Return the text beside an edge of several values, and its width."""
        ...


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
        Whether an edge should have a label: there is a text, and its source is not open or
        several values flow along it.
    counted
        Whether the text says how many values an edge has, and so must be seen.
    types
        The text beside each edge where it is drawn alone, its width and flow.
    """

    strings: list[str]
    widths: Floats
    flows: Integers
    wanted: Flags
    counted: Flags
    types: list[tuple[str, float, int]]

    def renewed(
        self,
        edges: list[LevelEdge],
        children: list[Item],
        changed: Iterable[int],
        measure: LabelMeasure,
    ) -> Texts:
        """Return the labels after some children were opened or closed.

        Parameters
        ----------
        edges, children, measure
            As for :func:`choose_texts`.
        changed
            The edges at these children.
        """
        found = Texts(
            self.strings.copy(),
            self.widths.copy(),
            self.flows.copy(),
            self.wanted.copy(),
            self.counted.copy(),
            self.types,
        )
        for number in changed:
            found.write(number, edges[number], children, measure)
        return found

    def write(
        self, number: int, edge: LevelEdge, children: list[Item], measure: LabelMeasure
    ) -> None:
        """Choose the label of one edge: how many values it has, or their type."""
        text, width, flow = self.types[number]
        count = count_written(edge, children)
        if count > 1:
            text, width = measure.count_label(count)
            flow = len(self.types) + number  # which no other edge has
        self.strings[number], self.widths[number], self.flows[number] = text, width, flow
        self.counted[number] = count > 1
        self.wanted[number] = count > 1 or (bool(text) and not children[edge.source].is_open)


def choose_texts(edges: list[LevelEdge], children: list[Item], measure: LabelMeasure) -> Texts:
    """Return the text of each edge's label where it says something new.

    An edge of several values says how many, unless a box at one of its ends does. Another has a
    label where its type differs from those of the edges that enter its source, and only one of
    the edges of a value has it. Edges at inputs and outputs of the graph do not tell their type:
    it stands on the box. Nor do those of stubs, which are too short to have something beside them.

    Parameters
    ----------
    edges
        Of a level, as they are drawn.
    children
        The level's boxes.
    measure
        Gives texts and their widths.
    """
    labels = [measure.label(edge.value) for edge in edges]
    entering: dict[int, set[str]] = {}
    for edge, (text, _) in zip(edges, labels, strict=True):
        entering.setdefault(edge.target, set()).add(text)
    flows: dict[str, int] = {}
    types = [
        (text, width, flows.setdefault(edge.path, len(flows)))
        if text and _is_news(edge, children, text, entering)
        else ("", 0.0, -1)
        for edge, (text, width) in zip(edges, labels, strict=True)
    ]
    strings = [text for text, _, _ in types]
    found = Texts(
        strings,
        np.array([width for _, width, _ in types], np.float64),
        np.array([flow for _, _, flow in types], np.int64),
        np.array(
            [
                bool(text) and not children[edge.source].is_open
                for edge, text in zip(edges, strings, strict=True)
            ],
            np.bool_,
        ),
        np.zeros(len(edges), np.bool_),
        types,
    )
    for number, edge in enumerate(edges):
        if edge.times > 1:
            found.write(number, edge, children, measure)
    return found


def _is_news(
    edge: LevelEdge, children: list[Item], text: str, entering: dict[int, set[str]]
) -> bool:
    if edge.source < 0 or edge.kind in ("control", "former"):
        return False
    if children[edge.source].kind in ("input", "stub"):
        return False
    if edge.target >= 0 and children[edge.target].kind == "output":
        return False
    return text not in entering.get(edge.source, ())


def count_written(edge: LevelEdge, children: list[Item]) -> int:
    """Return how many values the label of an edge says that it has; 0 where it says none.

    It is silent where the box of an input or output at one of its ends says that number.
    """
    if edge.times < 2:
        return 0
    ends = [children[end] for end in (edge.source, edge.target) if end >= 0]
    said = [sum(map(len, end.merged.values())) for end in ends if end.is_terminal]
    return 0 if edge.times in said else edge.times
