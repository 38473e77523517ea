"""What is written beside edges: how many values they have, and sizes where they change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.view import Item

from .placement import Floats, Integers
from .scene import LevelEdge

Flags = NDArray[np.bool_]


class LabelMeasure(Protocol):
    """What is asked of whoever writes labels."""

    def label(self, text: str) -> tuple[str, float]:
        """Return a text as it stands beside an edge, and its width in pixels."""
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
        Whether an edge should have a label: there is a text.
    counted
        Whether the text says how many values an edge has, or what goes to other repetitions, and
        so must be seen.
    named
        Whether it says what goes to other repetitions.
    sizes
        The size beside each edge where it is drawn alone, its width and flow.
    skips
        The edges that have what is said of skips instead of the number of their values.
    """

    strings: list[str]
    widths: Floats
    flows: Integers
    wanted: Flags
    counted: Flags
    named: Flags
    sizes: list[tuple[str, float, int]]
    skips: frozenset[int] = frozenset()

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
            self.named,
            self.sizes,
            self.skips,
        )
        for number in changed:
            found.write(number, edges[number], children, measure)
        return found

    def write(
        self, number: int, edge: LevelEdge, children: list[Item], measure: LabelMeasure
    ) -> None:
        """Choose the label of one edge: how many values it has, or its size."""
        text, width, flow = self.sizes[number]
        count = 0 if number in self.skips else count_written(edge, children)
        if count > 1:
            text, width = measure.count_label(count)
            flow = len(self.sizes) + number  # which no other edge has
        self.strings[number], self.widths[number], self.flows[number] = text, width, flow
        self.counted[number] = count > 1 or bool(edge.name)
        self.wanted[number] = bool(text)


def choose_texts(
    edges: list[LevelEdge],
    children: list[Item],
    measure: LabelMeasure,
    changes: Mapping[int, str] | None = None,
    skips: Mapping[int, str] | None = None,
) -> Texts:
    """Return the text of each edge's label where it says something new.

    An edge of several values says how many, unless a box at one of its ends does. Another has a
    label where the size of the main stream changes.

    Parameters
    ----------
    edges
        Of a level, as they are drawn.
    children
        The level's boxes.
    measure
        Gives widths of texts.
    changes
        The sizes by the number of the edge that they stand beside.
    skips
        What is said of skips, likewise.
    """
    written = {**(changes or {}), **(skips or {})}
    sizes = [("", 0.0, -1)] * len(edges)
    for flow, (number, text) in enumerate(written.items()):
        sizes[number] = (*measure.label(text), flow)
    named = np.array([bool(edge.name) for edge in edges], np.bool_)
    for number in np.flatnonzero(named).tolist():
        sizes[number] = (*measure.label(edges[number].name), len(edges) + number)
    found = Texts(
        [text for text, _, _ in sizes],
        np.array([width for _, width, _ in sizes], np.float64),
        np.array([flow for _, _, flow in sizes], np.int64),
        np.array([bool(text) for text, _, _ in sizes], np.bool_),
        named.copy(),
        named,
        sizes,
        frozenset(skips or ()),
    )
    for number, edge in enumerate(edges):
        if edge.times > 1:
            found.write(number, edge, children, measure)
    return found


def count_written(edge: LevelEdge, children: list[Item]) -> int:
    """Return how many values the label of an edge says that it has; 0 where it says none.

    It is silent where the box of an input or output at one of its ends says that number.
    """
    if edge.times < 2:
        return 0
    ends = [children[end] for end in (edge.source, edge.target) if end >= 0]
    said = [sum(map(len, end.merged.values())) for end in ends if end.is_terminal]
    return 0 if edge.times in said else edge.times
