"""A column laid over a model: what each box has of it, in which tone, and what the legend says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.errors import NotFoundError, OverlayError
from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.grouping.lookup import find_group, find_tree
from netloupe.explorer.model import Graph, Model, Node
from netloupe.explorer.model.paths import find_element, nodes_named
from netloupe.explorer.render.legend import Entry
from netloupe.explorer.render.paint import Paint
from netloupe.explorer.render.text import clean_label
from netloupe.explorer.view import Item, View

from .amounts import Amounts, Measured
from .column import Column, ModelColumn
from .comparing import Comparison, compare_columns
from .formats.node_data import write_node_data
from .placed_column import Numbers, PlacedColumn, Unplaced, place_column
from .ranking import MOST_OF_IT, RankedNode, choose_most, rank_nodes
from .scales import CATEGORIES, OTHER_WORDS, Scale, ScaleRow, make_scale
from .units import write_amount_of
from .wording import (
    LONGEST_LABEL,
    break_lines,
    describe_column,
    describe_placement,
    describe_ranking,
    write_measured,
    write_spread,
)

if TYPE_CHECKING:
    from os import PathLike

MISSING = "missing"


@explain_methods()
class Overlay:
    """A column on a model.

    Attributes
    ----------
    model
        What it is laid over.
    column
        What is laid over it.

    Notes
    -----
    Names are looked up in one pass over the column; sums are made for the boxes that are shown.
    """

    def __init__(self, model: Model, column: Column) -> None:
        self.model = model
        self.column = column

        def has_group(path: str) -> bool:
            with suppress(NotFoundError):
                return bool(find_group(model, path))
            return False

        self.placement: PlacedColumn = place_column(model, column, has_group)
        self._amounts = Amounts(model, column, self.placement)

    @property
    def name(self) -> str:
        """What is shown: the name of the column."""
        return self.column.name

    @property
    def unplaced(self) -> list[Unplaced]:
        """What has no place in the model, and why; the first thousand of it."""
        return self.placement.unplaced

    @property
    def whole(self) -> float | None:
        """What everything has together, of sums; else None."""
        return self._amounts.whole

    # what a box has

    def measure(self, path: str) -> Measured:
        """Return what a node or a group has.

        Parameters
        ----------
        path
            Of a node, a graph or a group (``main/encoder/``), or the name of a node.

        Raises
        ------
        NotFoundError
            Where neither is there.
        """
        found = find_element(self.model, path)
        if found is None and len(named := nodes_named(self.model, path)) == 1:
            found, path = named[0], named[0].path
        if isinstance(found, Node):
            prefix = _cut_end(path, found)
            measured = self._amounts.of_node(prefix, found)
            tree = find_tree(self.model, found.graph)
            return self._share_in(measured, prefix, tree.group_of(found), tree)
        if isinstance(found, Graph):
            return self._amounts.of_graph(found.path, found)
        group = find_group(self.model, path)
        prefix = path.rstrip("/")
        end = group.path[len(group.graph.path) :].rstrip("/")
        prefix = prefix[: -len(end)] if end and prefix.endswith(end) else group.graph.path
        tree = find_tree(self.model, group.graph)
        measured = self._of_group(prefix, group, tree)
        return self._share_in(measured, prefix, group.parent, tree)

    def _share_in(
        self, measured: Measured, prefix: str, parent: Group | None, tree: GroupTree
    ) -> Measured:
        if measured.share is None or parent is None or not isinstance(measured.value, float):
            return measured
        around = self._amounts.of_group(prefix, parent, tree).value
        if not isinstance(around, float) or around <= 0:
            return measured
        return replace(measured, share_of_parent=measured.value / around)

    def _of_group(self, prefix: str, group: Group, tree: GroupTree) -> Measured:
        measured = self._amounts.of_group(prefix, group, tree)
        if group.kind != "repeat":
            return measured
        return replace(measured, spread=self._amounts.spread_of(prefix, group, tree))

    def _measure_item(self, view: View, item: Item) -> Measured | None:
        """Return what a box has; None for one that takes no part, as stubs and branches."""
        element, occurrence = item.element, item.instance.occurrence
        if item.kind == "group" and isinstance(element, Group):
            tree = view.borders(element.graph).tree
            return self._of_group(occurrence.prefix, element, tree)
        if item.kind == "node" and isinstance(element, Node):
            return self._amounts.of_node(occurrence.prefix, element)
        if item.is_terminal:
            value = self.placement.values.get(item.path)
            return None if value is None else Measured(value)
        if item.kind == "branch" and isinstance(element, Graph):
            return self._amounts.of_graph(item.path, element)
        return None

    def list_measured(self) -> Iterator[tuple[Node, Measured]]:
        """Yield the nodes of the main graph, and what each has."""
        graph = self.model.graph
        for node in graph.nodes:
            yield node, self._amounts.of_node(graph.path, node)

    # colours

    def paint(self, view: View, items: Iterable[Item]) -> dict[str, Paint]:
        """Return how boxes are painted: costs what is shown.

        Parameters
        ----------
        view
            The view that the boxes are of.
        items
            What is drawn.

        Returns
        -------
        dict
            By path. Boxes without a number are hatched. Of what is open repeats alone are
            painted, whose pill says how their repetitions differ.
        """
        paints: dict[str, Paint] = {}
        for item in items:
            measured = self._measure_item(view, item)
            if measured is None or item.path in paints:
                continue
            paint = self._paint_open(measured) if item.is_open else self.paint_of(measured)
            if paint is not None:
                paints[item.path] = paint
        return paints

    def paint_path(self, view: View, path: str) -> tuple[Paint | None, Paint | None]:
        """Return how what is at a path of a view is painted closed, and open; None for not.

        Parameters
        ----------
        view
            The view that the path is of.
        path
            Of a node or a group.
        """
        measured = self._measure_path(view, path)
        if measured is None:
            return None, None
        return self.paint_of(measured), self._paint_open(measured)

    def _measure_path(self, view: View, path: str) -> Measured | None:
        if path.endswith("/"):
            group = view.group_at(path)
            if group is None:
                return None
            end = group.path[len(group.graph.path) :]
            prefix = path.removesuffix(end) if path.endswith(end) else group.graph.path
            return self._of_group(prefix, group, view.borders(group.graph).tree)
        found = find_element(self.model, path)
        if isinstance(found, Node):
            return self._amounts.of_node(_cut_end(path, found), found)
        if isinstance(found, Graph) and found.parent_node is not None:
            return self._amounts.of_graph(path, found)
        value = self.placement.values.get(path)
        return None if value is None else Measured(value)

    def _paint_open(self, measured: Measured) -> Paint | None:
        """Return how an open box is painted: of a repeat its border, with what others have."""
        if measured.spread is None:
            return None
        return Paint(self._tone(measured.value), write_spread(measured.spread, self.column))

    def paint_of(self, measured: Measured) -> Paint:
        """Return how a closed box is painted.

        Parameters
        ----------
        measured
            What it has: :meth:`measure` returns that.
        """
        tone = measured.tone or self._tone(measured.value)
        if measured.value is None:
            text = (
                f"{write_amount_of(measured.shared, self.column.unit)} shared"
                if measured.shared
                else ""
            )
            return Paint(MISSING, text, hatched=True)
        # many a node adds nothing to a sum, and need not say so
        is_nothing = measured.value == 0 and self.column.aggregation == "sum"
        return Paint(tone, "" if is_nothing else write_measured(measured, self.column))

    def _tone(self, value: float | str | None) -> str:
        if value is None:
            return MISSING
        if isinstance(value, str):
            return self._word_tones.get(value, OTHER_WORDS)
        return self.scale.tone(value)

    @cached_property
    def scale(self) -> Scale:
        """Which tone a number has."""
        needs_numbers = self.column.scale not in ("auto", "share")
        numbers = self._list_numbers(count=needs_numbers or self.column.aggregation != "sum")
        return make_scale(self.column, numbers, self.whole)

    @cached_property
    def _word_tones(self) -> dict[str, str]:
        counts = np.zeros(len(self.placement.vocabulary), np.int64)
        for codes in self.placement.words.values():
            counts += np.bincount(codes[codes >= 0], minlength=len(counts))
        order = [self.placement.vocabulary[code] for code in np.argsort(-counts, kind="stable")]
        tones = dict(zip(order, CATEGORIES, strict=False))
        return {word: self.column.tones.get(word, tones.get(word, OTHER_WORDS)) for word in order}

    def _list_numbers(self, *, count: bool = True) -> Numbers:
        """Return the finite numbers of all nodes, and of sets; in no order."""
        column = self.column
        if isinstance(column, ModelColumn) and column.count is not None:
            if not count:
                return np.empty(0)
            found = (column.count([node]) for node in self.model.graph.nodes)
            return np.array([number for number in found if number is not None], np.float64)
        arrays = [*self.placement.numbers.values()]
        sets = np.array([one.number for one in self.placement.sets], np.float64)
        every = np.concatenate([*arrays, sets]) if arrays or len(sets) else sets
        return every[~np.isnan(every)]

    # what is said

    def list_rows(self) -> list[ScaleRow]:
        """Return what the legend says of colours: a tone and the numbers or the word it is for."""
        if self.column.has_words:
            tones = self._word_tones
            listed = [*tones.items()][: len(CATEGORIES)]
            rows = [ScaleRow(tone, clean_label(word, LONGEST_LABEL)) for word, tone in listed]
            others = len(tones) - len(listed)
            return [*rows, *([ScaleRow(OTHER_WORDS, f"{others:,} other words")] if others else [])]
        return self.scale.list_rows()

    def describe(self) -> str:
        """Return name, unit, direction, and how groups add up and numbers become colours."""
        return describe_column(self.column, "" if self.column.has_words else self.scale.kind)

    def describe_placement(self) -> list[str]:
        """Return how much could be placed, what could not, why, and what to do.

        Returns
        -------
        list of str
            A line each; of sums the share is that of their amount (``96.4 % of 12.3 ms``).
        """
        return describe_placement(self.column, self.placement, self._amounts.placed, self.whole)

    def list_legend(self) -> list[Entry]:
        """Return the lines of a legend: what is shown, the colours, what is missing."""
        entries = [Entry("heading", "", text) for text in break_lines(self.describe())]
        entries += [Entry("painted", tone, text) for tone, text in self.list_rows()]
        entries.append(
            Entry("painted", MISSING, "no number" if not self.column.has_words else "no word")
        )
        count = self.placement.unplaced_count
        is_own = isinstance(self.column, ModelColumn)
        lines = self.describe_placement()[: None if is_own else 1]
        if count:
            lines.append(f"{count:,} not placed")
        top = self.describe_ranking(names=False)
        return entries + [
            Entry("heading", "", line) for text in [*lines, *top] for line in break_lines(text)
        ]

    # what has most

    def rank(self, most: int | None = None) -> list[RankedNode]:
        """Return the nodes of the main graph by what they have, the worst first.

        Parameters
        ----------
        most
            So many at most; all where None.

        Raises
        ------
        OverlayError
            For words, which have no order.
        """
        if self.column.has_words:
            raise OverlayError(f"{self.name!r} has words, which cannot be ranked.")
        return self._ranking[:most]

    @cached_property
    def _ranking(self) -> list[RankedNode]:
        return rank_nodes(self.model.graph, self.column, self.placement, self.whole)

    def find_most(self, part: float = MOST_OF_IT) -> list[RankedNode]:
        """Return the fewest nodes that have a part of the whole together; of sums alone.

        Parameters
        ----------
        part
            Of the whole, 0 to 1.

        Returns
        -------
        list of RankedNode
            Nothing where this is no sum, where a number is negative, or where all that was placed
            is less.
        """
        whole = self.whole
        if self.column.aggregation != "sum" or self.column.has_words or not whole or whole < 0:
            return []
        ranking, column = self._ranking, self.column
        if not ranking or ranking[0].cumulative is not None or not isinstance(column, ModelColumn):
            return choose_most(ranking, part)
        nodes = [self.model.node(one.path) for one in sorted(ranking, key=lambda one: -one.value)]

        def count(first: int) -> float | None:
            number = column.count(nodes[:first]) if column.count is not None else None
            return None if number is None else number / whole

        return choose_most(ranking, part, count)

    def describe_ranking(self, *, names: bool = True) -> list[str]:
        """Return where most of it is: ``80 % is in 12 of 341 nodes: main/Conv_1, …``.

        Parameters
        ----------
        names
            Whether the nodes are named.
        """
        return describe_ranking(self.find_most(), len(self.model.graph.nodes), names=names)

    def compare(self, old: Overlay, how: Comparison = "difference") -> Overlay:
        """Return how this differs from another overlay, of this model or another one.

        Parameters
        ----------
        old
            What it is compared with, in the same unit.
        how
            ``difference``: this less the other; ``ratio``: this over the other, of groups that of
            their sums. Nodes of two models are paired as :func:`netloupe.diff` does it.

        Raises
        ------
        OverlayError
            For words, for other units, or where nothing is in both.
        """
        return Overlay(self.model, compare_columns(old, self, how))

    def to_node_data(self, path: str | PathLike[str] | None = None) -> str:
        """Return it as node data of Model Explorer, a JSON text; write it to ``path`` where given.

        Results are by the names of the nodes' first outputs. Model Explorer colours a closed group
        by how many nodes in it have each colour, and not by their sum.

        Parameters
        ----------
        path
            A file to write, whose name ends in ``.json``.

        Raises
        ------
        OutputError
            Where the file cannot be written, or its name does not end in ``.json``.
        """
        return write_node_data(self, path)

    def __repr__(self) -> str:
        return f"<Overlay {self.describe()!r} of {self.model.source!r}>"


def _cut_end(path: str, node: Node) -> str:
    """Return what a path begins with, up to the end that a node has in its graph."""
    end = node.path[len(node.graph.path) :]
    return path.removesuffix(end) if path.endswith(end) else node.graph.path
