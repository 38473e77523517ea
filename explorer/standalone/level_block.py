"""The levels of a page: what every item shows when it is opened, and where.

Integers and texts of the block (see :mod:`.blocks`); coordinates are in quarters of a pixel.
What is alike is written once: many levels have one **form** (everything but names), many forms
one **placement**. Columns named ``…_counts`` say how many entries of the columns behind them
belong to each level, form or placement; entries follow each other in the same order.

=================== ===============================================================
column              content
=================== ===============================================================
``texts``           all names and labels; other columns hold their numbers. Those of a block
                    for another direction go on from the texts of the first block
``faces``           as in the header of a scene (:mod:`..render.wire`)
``notices``         what is to be said of the layouts
``levels``          of each its form, the face of its frame (-1: the root has none), and of a
                    repeat the number of the level with the next repetition (-1: none), after
                    the last that with all of them
``level_counts``    names, insides, rows
``names``           texts that the tables of the form refer to
``insides``         for each box that can be opened the number of its level, of a repeat
                    that with the first repetition, -1 where it is not in this file; and which
                    repetition is shown when it is opened
``rows``            what else is told of the open item itself: see ``rows`` of a scene
``forms``           whether it is that of several inputs or outputs in one box, inputs,
                    those of them that something inside uses, which come first, outputs, those
                    of them that something inside gives, which come first
``form_counts``     boxes, rows of boxes, edges, bundled values, ports, placements
``boxes``           path, key, face, flags, count of rows; the first four as in a scene
``box_rows``        names
``edges``           path, source, target, flags, then at the source and at the target the
                    value's name there, or the number of the port where that end is the
                    border (-1), count of bundled values, times; flags as in a scene, but
                    for the arrow
``bundled``         names
``ports``           names, inputs first
``placed``          numbers of the form's placements: the first has everything closed
``placements``      width, height
``placement_counts`` boxes, inputs, outputs, edges, labels, open boxes
``centres``         x, y of boxes, then of inputs, then of outputs
``point_counts``    points of each edge
``points``          x, y: the first of an edge, then each from the one before
``labels``          edge, text, x, y, how many values are said to flow there (1: a type)
``opened``          box, width, height of those that were open
=================== ===============================================================
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from netloupe.explorer.layout.plan import Plan, path_of_value
from netloupe.explorer.layout.prepared import Prepared
from netloupe.explorer.model import Value
from netloupe.explorer.render.face import Face
from netloupe.explorer.render.tables import box_flags, edge_flags, row_texts
from netloupe.explorer.render.wire import encode_face
from netloupe.explorer.view import Item

from .blocks import write_block
from .renaming import Renaming

#: so many constants of one node can be found where it stands; its face shows fewer
_MOST_ROWS = 2_000
#: coordinates are written in so many parts of a pixel
PARTS = 4


class IntegerColumns:
    """Columns that grow entry by entry."""

    def __init__(self, *names: str) -> None:
        self.integers: dict[str, list[int]] = {name: [] for name in names}

    def add(self, name: str, numbers: Iterable[int]) -> None:
        """Append numbers to a column."""
        self.integers[name].extend(numbers)


class Numbers:
    """Numbers for entries in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def number(self, entry: Hashable) -> int:
        """Return the number of an entry."""
        return self._numbers.setdefault(entry, len(self._numbers))

    def number_all(self, entries: Sequence[Hashable]) -> Iterable[int]:
        """Return the numbers of entries."""
        numbers = self._numbers
        for entry in dict.fromkeys(entries):
            numbers.setdefault(entry, len(numbers))
        return map(numbers.__getitem__, entries)

    def __len__(self) -> int:
        return len(self._numbers)

    def list(self) -> list[Any]:
        """Return all entries."""
        return [*self._numbers]


class WrittenLevel(NamedTuple):
    """A level as it is written.

    Parameters
    ----------
    key, state, depth
        Of the item that is open; how many others are around it.
    form, frame
        Their numbers.
    rows, names
        What else is told of the item, and the texts that the form refers to.
    keys
        Those of the texts that are keys of boxes, and no paths.
    openable
        Keys of the boxes that can be opened, and which repetition is shown then.
    """

    key: str
    state: int
    depth: int
    form: int
    frame: int
    rows: list[str]
    names: list[str]
    keys: frozenset[str]
    openable: list[tuple[str, int]]
    box_count: int

    def renamed(self, renaming: Renaming) -> WrittenLevel:
        """Return the level of another repetition that is the same but for names."""
        rename = renaming.rename
        return self._replace(
            key=rename(self.key),
            rows=[*map(rename, self.rows)],
            names=[*map(rename, self.names)],
            keys=frozenset(map(rename, self.keys)),
            openable=[(rename(key), shown) for key, shown in self.openable],
        )


class LevelWriter:
    """Collects the levels of a page.

    Parameters
    ----------
    face_of
        Gives the face of an item, as it is drawn now.
    texts
        Of levels written before, whose block is read first; the new ones go behind them.
    """

    def __init__(self, face_of: Callable[[Item], Face], texts: Numbers) -> None:
        self._face_of = face_of
        self._texts, self._faces = texts, Numbers()
        self._texts_before = len(texts)
        self._forms, self._placements = Numbers(), Numbers()
        self._columns = IntegerColumns(
            *("levels", "level_counts", "names", "rows"),
            *("forms", "form_counts", "boxes", "box_rows", "edges", "bundled", "ports", "placed"),
            *("placements", "placement_counts", "centres", "point_counts", "points"),
            *("labels", "opened"),
        )
        #: by key and state the number of the level
        self._numbers: dict[tuple[str, int], int] = {}
        #: by key the level that was added last
        self._last: dict[str, int] = {}
        self.levels: list[WrittenLevel] = []
        #: what a form is written as, until all placements of it are known
        self._tables: list[dict[str, list[int]]] = []
        self._placed: list[list[int]] = []

    def add(self, state: int, plan: Plan, prepared: Prepared) -> list[tuple[int, str]]:
        """Add a level: what an item shows that is open now, in one of its states.

        Returns
        -------
        list of tuple
            Numbers of the texts in it, paths among them, and these; without keys of boxes.
        """
        item = plan.item
        local = Numbers()
        table = self._write_form(plan, local)
        key = tuple((name, tuple(column)) for name, column in table.items())
        placement = self._place(prepared)
        form = self._forms.number((key, placement))
        if form == len(self._tables):
            self._tables.append(table)
            self._placed.append([placement])
        frame, rows = self._tell_frame(item)
        openable = [(child.key, child.shown) for child in item.children if child.openable]
        return self._append(
            WrittenLevel(
                *(item.key, state, _depth_of(item), form, frame, rows),
                names=local.list(),
                keys=frozenset(child.key for child in item.children if child.key != child.path),
                openable=openable,
                box_count=len(item.children),
            )
        )

    def copy(self, item: Item, levels: Sequence[WrittenLevel]) -> Iterator[list[tuple[int, str]]]:
        """Add the level of an open item, and those inside of it, that are known from others.

        Parameters
        ----------
        item
            What is open now.
        levels
            Its level, but for the frame and the rows, and those inside.

        Yields
        ------
        list of tuple
            For each level what :meth:`add` returns.
        """
        frame, rows = self._tell_frame(item)
        for number, level in enumerate(levels):
            yield self._append(level if number else level._replace(frame=frame, rows=rows))

    def _tell_frame(self, item: Item) -> tuple[int, list[str]]:
        """Return the number of the face of an open item's frame, and its rows."""
        if item.kind == "root":
            return -1, []
        return self._faces.number(self._face_of(item)), row_texts(item)

    def _append(self, level: WrittenLevel) -> list[tuple[int, str]]:
        number = self._numbers[level.key, level.state] = len(self.levels)
        last = self._last.get(level.key)
        if last is not None:
            self._columns.integers["levels"][3 * last + 2] = number
        self._last[level.key] = number
        self.levels.append(level)
        columns = self._columns
        columns.add("levels", (level.form, level.frame, -1))
        columns.add("level_counts", (len(level.names), len(level.openable), len(level.rows)))
        numbers = [*self._texts.number_all(level.names)]
        columns.add("names", numbers)
        columns.add("rows", self._texts.number_all(level.rows))
        named = zip(numbers, level.names, strict=True)
        return [(number, name) for number, name in named if name not in level.keys]

    def have_one_table(self, level: WrittenLevel, other: WrittenLevel) -> bool:
        """Return whether the forms of two levels differ in nothing but where things are."""
        return self._tables[level.form] == self._tables[other.form]

    def list_inside(self, key: str, state: int) -> list[WrittenLevel]:
        """Return a level and all inside of it; none where it was not added."""
        first = self._numbers.get((key, state))
        if first is None:
            return []
        end = first + 1
        while end < len(self.levels) and self.levels[end].depth > self.levels[first].depth:
            end += 1
        return self.levels[first:end]

    def add_placement(self, key: str, state: int, prepared: Prepared) -> None:
        """Add another placement of a level, with some boxes inside it open."""
        level = self._numbers.get((key, state))
        if level is None:
            return
        form = self._columns.integers["levels"][3 * level]
        number = self._place(prepared)
        if number not in self._placed[form]:
            self._placed[form].append(number)

    def write(self, notices: Iterable[str]) -> bytes:
        """Return the block."""
        columns = self._columns
        for table, placed in zip(self._tables, self._placed, strict=True):
            counts = [len(table[name]) // width for name, width in _FORM_COLUMNS.items()]
            columns.add("forms", table["forms"])
            columns.add("form_counts", (*counts, len(placed)))
            for name in _FORM_COLUMNS:
                columns.add(name, table[name])
            columns.add("placed", placed)
        insides = [
            number
            for level in self.levels
            for key, usual in level.openable
            for number in (self._numbers.get((key, 0), -1), usual)
        ]
        integers = {**columns.integers, "insides": insides}
        faces = [encode_face(face) for face in self._faces.list()]
        values = {"faces": faces, "notices": [*notices]}
        return write_block(integers, values, self._texts.list()[self._texts_before :])

    def _write_form(self, plan: Plan, local: Numbers) -> dict[str, list[int]]:
        item = plan.item
        body = item.body
        assert body is not None  # noqa: S101 - open items have a body
        table: dict[str, list[int]] = {name: [] for name in ("forms", *_FORM_COLUMNS)}
        inputs, outputs = plan.borders.inputs, plan.borders.outputs
        ports = [*inputs, *outputs] if item.kind != "root" else []
        used = sum(value not in plan.borders.idle for value in inputs)
        given = len(plan.ports) - used if ports else 0
        table["forms"] += (int(item.is_terminal), len(inputs), used, len(outputs), given)
        table["ports"] += (local.number(path_of_value(value, item.instance)) for value in ports)

        def name_end(value: Value | None, end: int, ports: Mapping[Value, int]) -> int:
            assert value is not None  # noqa: S101 - links of items have both
            return ports[value] if end < 0 else local.number(path_of_value(value, body))

        for child in item.children:
            rows = row_texts(child, _MOST_ROWS)
            face = self._faces.number(self._face_of(child))
            path, key = local.number(child.path), local.number(child.key)
            table["boxes"] += (path, key, face, box_flags(child), len(rows))
            table["box_rows"] += map(local.number, rows)
        for edge in plan.single:
            path = local.number(edge.path)
            table["edges"] += (path, edge.source, edge.target, edge_flags(edge) & ~1)
            table["edges"] += (
                name_end(edge.source_value, edge.source, plan.borders.inputs),
                name_end(edge.target_value, edge.target, plan.borders.outputs),
                *(len(edge.bundle), edge.times),
            )
            table["bundled"] += map(local.number, edge.bundle)
        return table

    def _place(self, prepared: Prepared) -> int:
        places, level = prepared.places, prepared.level
        centres = np.concatenate([places.boxes, places.inputs, places.outputs])
        points = _write_points(places.edges.points, places.edges.starts)
        labels = self._list_labels(prepared)
        opened = [
            number
            for child in prepared.opened
            for number in (child, *_parts(level.children[child][:2]))
        ]
        sizes = (len(places.boxes), len(places.inputs), len(places.outputs), len(places.edges))
        entry = (
            tuple(_parts((places.width, places.height))),
            (*sizes, len(labels) // 5, len(opened) // 3),
            tuple(_parts(centres.ravel())),
            tuple(places.edges.counts.tolist()),
            tuple(points),
            tuple(labels),
            tuple(opened),
        )
        count = len(self._placements)
        number = self._placements.number(entry)
        if number == count:
            for name, part in zip(_PLACEMENT_COLUMNS, entry, strict=True):
                self._columns.add(name, part)
        return number

    def _list_labels(self, prepared: Prepared) -> list[int]:
        texts, places = prepared.texts, prepared.labels
        found: list[int] = []
        for edge in np.flatnonzero(~np.isnan(places[:, 0])).tolist():
            text = texts.strings[edge]
            values = prepared.level.wires[edge].values if texts.counted[edge] else 1
            found += (edge, self._texts.number(text), *_parts(places[edge]), values)
        return found


def _depth_of(item: Item) -> int:
    depth = 0
    while item.parent is not None:
        item, depth = item.parent, depth + 1
    return depth


_FORM_COLUMNS = {"boxes": 5, "box_rows": 1, "edges": 8, "bundled": 1, "ports": 1}
_PLACEMENT_COLUMNS = (
    *("placements", "placement_counts", "centres", "point_counts", "points", "labels", "opened"),
)


def _parts(lengths: Iterable[float]) -> list[int]:
    """Return lengths as they are written."""
    numbers: list[int] = np.rint(np.asarray(lengths, np.float64) * PARTS).astype(np.int64).tolist()
    return numbers


def _write_points(points: np.ndarray, starts: np.ndarray) -> list[int]:
    """Return points, of each edge the first, then the step from each to the next."""
    numbers = np.rint(points * PARTS).astype(np.int64)
    steps = numbers.copy()
    steps[1:] -= numbers[:-1]
    first = starts[:-1][starts[:-1] < starts[1:]]
    steps[first] = numbers[first]
    listed: list[int] = steps.ravel().tolist()
    return listed
