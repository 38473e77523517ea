"""A column laid over a model: what each box has of it, in which tone, and what the legend says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloupe.explorer.errors import NotFoundError, OverlayError
from netloupe.explorer.grouping import Group, GroupTree
from netloupe.explorer.grouping.lookup import find_group, find_tree
from netloupe.explorer.model import Graph, Model, Node
from netloupe.explorer.model.paths import find_element, nodes_named
from netloupe.explorer.notation import write_count
from netloupe.explorer.render.legend import Entry
from netloupe.explorer.render.paint import Paint
from netloupe.explorer.render.text import clean_label
from netloupe.explorer.view import Item, View

from .amounts import STANDS_OUT, Amounts, Measured, RepeatSpread
from .column import Column, ModelColumn
from .comparing import Comparison, compare_columns
from .formats.node_data import write_node_data
from .placing import Numbers, PlacedColumn, Unplaced, place_column
from .scales import CATEGORIES, OTHER_WORDS, Scale, ScaleRow, make_scale
from .units import write_amount_of, write_part, write_three

if TYPE_CHECKING:
    from os import PathLike

MISSING = "missing"
#: the list of what has most goes up to this part of the whole
MOST_OF_IT = 0.8
_LONGEST_LABEL = 48
_MOST_NAMED = 3


class RankedNode(NamedTuple):
    """One of the nodes that have most.

    Parameters
    ----------
    path
        Of the node; of the first where several have the number together.
    value
        What it has.
    share, cumulative
        Of sums: which part of the whole it is, and it together with all before it; else None.
    nodes
        How many nodes have it together.
    """

    path: str
    value: float
    share: float | None
    cumulative: float | None
    nodes: int = 1


class Overlay:
    """A column on a model.

    Parameters
    ----------
    model, column
        What is laid over what.

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
        """Return what a node, by path or name, or a group has.

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
        """Return how what is at a path of a view is painted closed, and open; None for not."""
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
        return Paint(self._tone(measured.value), self._write_spread(measured.spread))

    def paint_of(self, measured: Measured) -> Paint:
        """Return how a closed box is painted that has this."""
        tone = measured.tone or self._tone(measured.value)
        if measured.value is None:
            text = f"{self._says(measured.shared)} shared" if measured.shared else ""
            return Paint(MISSING, text, hatched=True)
        # many a node adds nothing to a sum, and need not say so
        is_nothing = measured.value == 0 and self.column.aggregation == "sum"
        return Paint(tone, "" if is_nothing else self._write(measured))

    def _tone(self, value: float | str | None) -> str:
        if value is None:
            return MISSING
        if isinstance(value, str):
            return self._word_tones.get(value, OTHER_WORDS)
        return self.scale.tone(value)

    def _write(self, measured: Measured) -> str:
        value = measured.value
        if isinstance(value, str):
            text = clean_label(value, _LONGEST_LABEL)
            total = sum(count for _, count in measured.words)
            own = dict(measured.words).get(value, 0)
            return f"{text} {write_part(own / total)}" if len(measured.words) > 1 else text
        assert value is not None  # noqa: S101 - who asks has looked
        if measured.spread is not None:
            return self._write_spread(measured.spread, value, measured.share)
        text = write_amount_of(value, self.column.unit)
        if measured.in_set:
            return f"{text} for {measured.in_set} nodes"
        if measured.share is not None and measured.count > 1:
            text = f"{text} · {write_part(measured.share)}"
        return f"{text} + {self._says(measured.shared)} shared" if measured.shared else text

    def _write_spread(
        self, spread: RepeatSpread, value: float | None = None, share: float | None = None
    ) -> str:
        """Return what the repetitions have.

        Of a closed box, which has its own number: ``14 ms · 34 %; layer.17: 2.3× median``. Of an
        open one, which shows one for all: ``mean 1.2 ms, 1.1 to 2.8 ms; layer.17: 2.3× median``.
        """
        ratio, label = spread.ratio, clean_label(spread.worst, 20)
        stands_out = ratio is not None and not 1 / STANDS_OUT < ratio < STANDS_OUT
        worst = f"{label}: {write_three(ratio)}× median" if stands_out and ratio else ""
        if spread.least == spread.most:
            spans = f"{self._says(spread.mean)} each"
        elif value is None:
            low, high = self._says(spread.least), self._says(spread.most)
            spans = f"mean {self._says(spread.mean)}, {low} to {high}"
        else:
            spans = "" if worst else f"{self._says(spread.least)} to {self._says(spread.most)} each"
        own = ""
        if value is not None and self.column.aggregation == "sum":
            own = self._says(value) + (f" · {write_part(share)}" if share is not None else "")
        return "; ".join(filter(None, (own, spans, worst)))

    def _says(self, number: float) -> str:
        return write_amount_of(number, self.column.unit)

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
            rows = [ScaleRow(tone, clean_label(word, _LONGEST_LABEL)) for word, tone in listed]
            others = len(tones) - len(listed)
            return [*rows, *([ScaleRow(OTHER_WORDS, f"{others:,} other words")] if others else [])]
        return self.scale.list_rows()

    def describe(self) -> str:
        """Return name, unit, direction, and how groups add up and numbers become colours."""
        column = self.column
        words = {"higher": "↑ better", "lower": "↓ better"}
        name = clean_label(column.name, _LONGEST_LABEL)
        if column.unit and column.unit not in name:
            name += f" ({column.unit})"
        if column.better:
            name += f", {words[column.better]}"
        if column.has_words:
            order = ", ".join(column.order)
            first = f"first inside of {order}" if order else "most frequent inside"
            return f"{name}; groups: {clean_label(first, 80)}"
        inside = {"sum": "sum", "mean": "mean", "max": "largest", "min": "smallest"}
        weighed = " weighted" if column.weights and column.aggregation == "mean" else ""
        return (
            f"{name}; groups:{weighed} {inside[column.aggregation]} inside; "
            f"{self._describe_scale()}"
        )

    def _describe_scale(self) -> str:
        kind = self.scale.kind
        if kind == "share":
            return "colour: share of the whole"
        text = f"{kind} colours"
        clip = self.column.clip
        if kind in ("linear", "log", "diverging") and clip is not None:
            text += f", clipped at p{clip[0]:g} and p{clip[1]:g}"
        return text

    def describe_placement(self) -> list[str]:
        """Return how much could be placed, what could not, why, and what to do.

        Returns
        -------
        list of str
            A line each; of sums the share is that of their amount (``96.4 % of 12.3 ms``).
        """
        column, placement = self.column, self.placement
        if isinstance(column, ModelColumn):
            return [*column.notes]
        total = placement.placed_count + placement.unplaced_count
        if not total:
            return [f"{self.name}: there is nothing in it", *column.notes]
        lines = [self._say_placed(total)]
        if placement.normalised_count:
            lines.append(
                f"{placement.normalised_count:,} placed by names that differ in case or signs, or "
                "by the end of the path of a group"
            )
        if placement.unplaced_count:
            lines += self._say_unplaced()
        return [*lines, *column.notes]

    def _say_placed(self, total: int) -> str:
        placement, whole = self.placement, self.whole
        entries = f"{placement.placed_count:,} of {total:,} entries placed"
        if self.column.aggregation == "sum" and whole and whole > 0 and not self.column.has_words:
            share = min(max(self._amounts.placed / whole, 0.0), 1.0)
            return f"{write_part(share)} of {self._says(whole)} placed; {entries}"
        return entries

    def _say_unplaced(self) -> list[str]:
        placement = self.placement
        lines = []
        for reason, count in placement.reasons.most_common():
            named = [
                clean_label(one.name, 60) for one in placement.unplaced if one.reason == reason
            ][:_MOST_NAMED]
            more = f" and {count - len(named):,} more" if count > len(named) else ""
            lines.append(f"{count:,} not placed: {reason}: {', '.join(named)}{more}")
        if self.column.remedy:
            lines.append(self.column.remedy)
        return lines

    def list_legend(self) -> list[Entry]:
        """Return the lines of a legend: what is shown, the colours, what is missing."""
        entries = [Entry("heading", "", text) for text in _break(self.describe())]
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
            Entry("heading", "", line) for text in [*lines, *top] for line in _break(text)
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
        column, graph = self.column, self.model.graph
        if column.has_words:
            raise OverlayError(f"{column.name!r} has words, which cannot be ranked.")
        entries = [*self._list_main(graph)]
        entries.sort(key=lambda entry: entry[0], reverse=column.better != "higher")
        whole = self.whole
        is_sum = column.aggregation == "sum" and whole is not None and whole > 0
        ranked: list[RankedNode] = []
        total = 0.0
        for value, index, nodes in entries[:most]:
            total += value
            share = value / whole if is_sum and whole else None
            cumulative = total / whole if is_sum and whole else None
            ranked.append(RankedNode(graph.nodes[index].path, value, share, cumulative, nodes))
        return ranked

    def _list_main(self, graph: Graph) -> Iterator[tuple[float, int, int]]:
        """Yield number, index of node and count of nodes of all that the main graph has."""
        column = self.column
        if isinstance(column, ModelColumn) and column.count is not None:
            for node in graph.nodes:
                number = column.count([node])
                if number is not None:
                    yield float(number), node.index, 1
            return
        numbers = self.placement.numbers.get(graph.path)
        if numbers is not None:
            for index in np.flatnonzero(~np.isnan(numbers)).tolist():
                yield float(numbers[index]), index, 1
        for one in self.placement.sets:
            if one.prefix == graph.path:
                yield one.number, one.indices[0], len(one.indices)

    def find_most(self, part: float = MOST_OF_IT) -> list[RankedNode]:
        """Return the fewest nodes that have a part of the whole together; of sums alone.

        Returns
        -------
        list of RankedNode
            Nothing where this is no sum, or where all that was placed is less.
        """
        whole = self.whole
        if self.column.aggregation != "sum" or self.column.has_words or not whole or whole < 0:
            return []
        ranked = self.rank()
        for count, one in enumerate(ranked, 1):
            if one.cumulative is not None and one.cumulative >= part - 1e-12:
                return ranked[:count]
        return []

    def describe_ranking(self, *, names: bool = True) -> list[str]:
        """Return where most of it is: ``80 % is in 12 of 341 nodes: main/Conv_1, …``."""
        found = self.find_most()
        if not found:
            return []
        count = sum(one.nodes for one in found)
        last = found[-1].cumulative or 0.0
        text = (
            f"{write_part(last)} is in {count:,} of "
            f"{write_count(len(self.model.graph.nodes), 'node')}"
        )
        if not names:
            return [text]
        named = ", ".join(clean_label(one.path, 80) for one in found[:_MOST_NAMED])
        more = f" and {len(found) - _MOST_NAMED:,} more" if len(found) > _MOST_NAMED else ""
        return [f"{text}: {named}{more}"]

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


def _break(text: str, most: int = 60) -> list[str]:
    """Return a text in lines of so many letters at most, broken between words."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) <= most or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
