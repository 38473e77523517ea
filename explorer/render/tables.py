"""What is written of one level of a scene: numbers of its boxes, ports and edges, and names.

As long as an open item has the same children, its tables differ in few rows from those of the
level before: what is written of the others is copied as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.arrays import sort_distinct
from netloupe.explorer.grouping import Group
from netloupe.explorer.layout import LevelEdge, SceneLevel
from netloupe.explorer.view import Item

from .called import called_function
from .face import Face
from .json_text import write_json

Integers = NDArray[np.int64]
Entry = TypeVar("Entry")

_KIND_FLAGS = {
    "node": 4,
    "group": 8,
    "branch": 8,
    "input": 16,
    "output": 32,
    "constant": 64,
    "stub": 128,
}
_REPEAT = 256
#: says of a group what it was recognised as
_NAMED = 512
#: says of an edge that it is of the main stream
_STREAM = 32
_EDGE_FLAGS = {"data": 0, "captured": 2, "control": 4, "former": 12, "newer": 16, "loop": 64}


class Numbering(Generic[Entry]):
    """Numbers for entries, and which of them are new since anyone has asked."""

    def __init__(self) -> None:
        self._numbers: dict[Entry, int] = {}
        self._news: list[Entry] = []

    def number(self, entry: Entry) -> int:
        """Return the number of an entry."""
        number = self._numbers.get(entry)
        if number is None:
            number = self._numbers[entry] = len(self._numbers)
            self._news.append(entry)
        return number

    def take_news(self) -> list[Entry]:
        """Return the entries that have got their numbers since the last time, in order."""
        news, self._news = self._news, []
        return news


@dataclass(slots=True)
class LevelTables:
    """What is written of a level, as long as the item has the same children.

    Parameters
    ----------
    boxes
        Shape (boxes, 6), ports (ports,), edges (edges, 7), bundles (bundles, 3): as in the
        buffers.
    texts
        For each edge the number of its text among ``distinct``.
    distinct
        The texts beside edges.
    rows
        For each box the paths of its rows.
    bundled
        The paths of the values of all bundles.
    names
        All other names, encoded, and how many they are.
    """

    boxes: Integers
    ports: Integers
    edges: Integers
    bundles: Integers
    texts: Integers
    distinct: list[str]
    rows: list[list[str]]
    bundled: list[str]
    names: bytes
    name_count: int


class TableWriter:
    """Writes the tables of levels.

    Parameters
    ----------
    face_of
        Gives the face of an item.
    """

    def __init__(self, face_of: Callable[[Item], Face]) -> None:
        self._face_of = face_of
        self.faces: Numbering[Face] = Numbering()
        self.labels: Numbering[str] = Numbering()

    def write(
        self, level: SceneLevel, before: tuple[SceneLevel, LevelTables] | None
    ) -> LevelTables:
        """Return the tables of a level.

        Parameters
        ----------
        level
            A level.
        before
            Another level of the same item, and its tables; None where there is none.
        """
        if before is not None and _is_renewed(level, before[0]):
            tables = self._renew(level, *before)
        else:
            tables = self._write(level)
        curves = level.inside.curves
        tables.edges[:, 1] = self._number_texts(level, tables)
        tables.edges[:, 5] = 2 * curves.starts[:-1]
        tables.edges[:, 6] = 2 * curves.counts
        rows = tables.boxes[:, 5]
        tables.boxes[:, 4] = tables.name_count + rows.cumsum() - rows
        sizes = tables.bundles[:, 2]
        tables.bundles[:, 1] = tables.name_count + rows.sum() + sizes.cumsum() - sizes
        return tables

    def _write(self, level: SceneLevel) -> LevelTables:
        names: dict[str, int] = {}
        rows = []
        boxes: list[int] = []
        for child in level.children:
            texts = row_texts(child)
            rows.append(texts)
            face, flags = self._write_box(child)
            path = names.setdefault(child.path, len(names))
            boxes += (path, names.setdefault(child.key, len(names)), face, flags, 0, len(texts))
        ports = [names.setdefault(path, len(names)) for path in level.ports]
        edges: list[int] = []
        bundles: list[tuple[int, int, int]] = []
        bundled: list[str] = []
        for number, edge in enumerate(level.edges):
            if edge.bundle:
                bundles.append((number, 0, len(edge.bundle)))
                bundled += edge.bundle
            path = names.setdefault(edge.path, len(names))
            edges += (path, 0, edge.source, edge.target, edge_flags(edge), 0, 0)
        distinct: dict[str, int] = {}
        numbers = [distinct.setdefault(text, len(distinct)) for text in level.texts]
        return LevelTables(
            np.array(boxes, np.int64).reshape(-1, 6),
            np.array(ports, np.int64),
            np.array(edges, np.int64).reshape(-1, 7),
            np.array(bundles, np.int64).reshape(-1, 3),
            np.array(numbers, np.int64),
            list(distinct),
            rows,
            bundled,
            write_json(list(names)),
            len(names),
        )

    def _renew(self, level: SceneLevel, last: SceneLevel, old: LevelTables) -> LevelTables:
        """Return the tables of a level that differs from one before in some children alone."""
        boxes, edges, rows = old.boxes.copy(), old.edges.copy(), old.rows.copy()
        for number in _differences(level.revisions, last.revisions):
            child = level.children[number]
            boxes[number, 2:4] = self._write_box(child)
            rows[number] = row_texts(child)
            boxes[number, 5] = len(rows[number])
        for number in _differences(level.edges, last.edges):
            edges[number, 4] = edge_flags(level.edges[number])
        bundles = old.bundles.copy()
        return replace(old, boxes=boxes, edges=edges, bundles=bundles, rows=rows)

    def _write_box(self, child: Item) -> tuple[int, int]:
        """Return the number of a box's face and its flags."""
        return self.faces.number(self._face_of(child)), box_flags(child)

    def _number_texts(self, level: SceneLevel, tables: LevelTables) -> Integers | int:
        """Return for each edge the number of its label; -1 where there is no room for any."""
        placed = ~np.isnan(level.places[:, 0])
        if not placed.any():
            return -1
        numbers = np.full(len(tables.distinct), -1)
        for text in sort_distinct(tables.texts[placed]).tolist():
            numbers[text] = self.labels.number(tables.distinct[text])
        return np.where(placed, numbers[tables.texts], -1)


def box_flags(item: Item) -> int:
    """Return what a scene tells of a box in one number."""
    flags = _KIND_FLAGS.get(item.kind, 0) | item.is_open | (item.openable << 1)
    flags |= _REPEAT if item.repeat is not None else 0
    if isinstance(item.element, Group) and item.element.recognised is not None:
        flags |= _NAMED
    return flags


def row_texts(item: Item, most: int | None = None) -> list[str]:
    """Return what the rows of an item stand for, the first so many."""
    if item.kind == "stub" or item.is_terminal:
        is_listed = item.merged and not item.is_selected_whole
        return [*islice(item.value_paths(), most)] if is_listed else []
    if not item.is_open:
        return [row.path for row in islice(item.constants, most)]
    if item.repeat is None:
        called = called_function(item)
        return [called.path] if called is not None else []
    entries = [str(len(item.repeat.children)), str(-1 if item.is_unrolled else item.shown)]
    return [*entries, item.repetition_path] if item.repetition_path else entries


def _is_renewed(level: SceneLevel, last: SceneLevel) -> bool:
    """Return whether a level has the very children, ports and wires of one before."""
    if level.item is not last.item or level.ports is not last.ports:
        return False
    return level.children is last.children and _has_bundles_of(level, last)


def _has_bundles_of(level: SceneLevel, last: SceneLevel) -> bool:
    """Return whether the edges of a level stand for the same values as those of one before."""
    changed = _differences(level.edges, last.edges)
    return all(level.edges[number].bundle == last.edges[number].bundle for number in changed)


def _differences(new: Sequence[object], old: Sequence[object]) -> list[int]:
    pairs = zip(new, old, strict=True)
    return [number for number, (a, b) in enumerate(pairs) if a is not b and a != b]


def edge_flags(edge: LevelEdge) -> int:
    """Return what a scene tells of an edge in one number."""
    return int(edge.arrow) | _EDGE_FLAGS[edge.kind] | (_STREAM if edge.is_stream else 0)


def join_names(tables: LevelTables) -> bytes:
    """Return all names of a level as a JSON list: those of rows, then of bundles, come last."""
    rows = [text for texts in tables.rows for text in texts] + tables.bundled
    if not rows:
        return tables.names
    written = write_json(rows)
    return tables.names[:-1] + b"," + written[1:] if tables.name_count else written
