"""A Scene as the browser gets it: whole, or only what is new since the scene before.

A scene is a tree of **levels**. A level is the inside of one open item: the boxes of its
children, the edges between them, and the ports on the item's own border. It is written in
coordinates of its own, from the item's top left corner (the scene's, for the root), so that
it need not be sent again when it has only moved, and 32-bit floats stay exact in pictures
millions of pixels high.

Levels never change. An open item whose inside has changed in any way, deep inside too, has a
new level with a new id. So a scene is given by the id of its root level, and opening a group
brings new levels for that group and the items around it, and no others. Most levels look alike
(the same blocks again and again): what they share, everything but names, is a **form**.

A message has a JSON header and three buffers: floats (f32), integers (i32), names (UTF-8),
little-endian. Header fields:

=========== ==========================================================================
field       content
=========== ==========================================================================
version     5
number      number of this scene; each scene of an explorer has a larger one
since       number of the scene before, whose forms, levels, faces and labels must have
            been kept; null where the scene is whole. Who has not kept them (a second tab)
            asks for ``{"type": "scene"}``, which always gives a whole one
width,      of the scene, in pixels
height
direction   ``TB`` or ``LR``
wrapped     whether something in it is cut into columns (LR: rows) that are read like a page
extreme     whether something is so long that this should be offered, or is so cut already
notices     what the user should know
root        id of the root level
counts      boxes, ports, drawn edges of the whole scene, and ``levels`` in it
faces       new faces; their indexes go on from those of the scene before
labels      new texts of edge labels, likewise
forms      new forms: ``[id, boxes, ports, edges, numbers, bundles]`` each, in the order of
            the buffers; ``numbers`` counts the coordinates of all edges' points, ``bundles``
            the edges that several values flow along
levels      count of new levels
=========== ==========================================================================

Floats, for each new form in turn: per box x, y, width, height; per port x, y; per edge its
label's centre x, y; then the points of all edges.

Integers, for each new form in turn: per box path, key, face, flags, first row, count of rows;
per port path; per edge path, label (-1: none), source, target, flags, first number of its points
among the form's points, count of numbers; per bundle its edge, and first name and count of the
paths of all its values. An edge without points is not drawn, and not counted: what flows there
does so along another between the same boxes, whose bundle has its path. Then for each new level:
id, form, first byte and count of bytes of its names, count of inner levels, and the ids of these:
one for each box of the form that is open (flag 1), in order. A level comes after the levels
inside it.

Names: for each level a JSON list of strings, of the paths of boxes, ports, edges and rows.
``path`` and ``key`` are indexes into the list of the level that has the form. ``first row``
and ``count`` say which part of that list are the paths of the box's constants, in the order of
its face's ``targets``. ``source`` and ``target`` number the level's boxes; -1 is the open item
that the level is the inside of (at the root: nothing).

Box flags: 1 open, 2 can be opened, 4 node, 8 group, 16 input, 32 output, 64 constant,
128 stub, 256 repeat, 512 group that is said to be a block of some kind. In place of constants an
open repeat has rows of another kind: the number of repetitions; which one is shown, counted from
0, -1 where all are; and the path of that one where the box stands for it, since it has none of
its own inside. An open call has one row: the path of the function. Stubs, inputs and outputs that
stand for several values have the paths of all of them.
Edge flags: 1 arrow, 2 captured, 4 control, 8 with 4 what only an older model has, 16 what only a
newer one has, 32 what is of the main stream, 64 back edge of a loop, in two pieces that both begin
and end at the open item itself.

After a scene the browser keeps what its root reaches and may forget all else: what a scene does
not reach, a later one sends again. Faces and labels are kept until a whole scene comes.

Beside scenes, messages tell what is going on. ``{"type": "busy", "id", "message", "share"}``
comes when a request takes longer than half a second, and again about five times a second:
``share`` of it is done, from 0 to 1 (null: unknown), ``message`` says of what; ``id`` is that of
the request, null for what Python asked for. ``{"type": "idle", "id"}`` ends it where no answer
with that id does. The request ``{"type": "cancel", "target": id}`` (without target: whatever
is under way) ends it at any moment; the request is then answered by an error
``the layout was cancelled`` with ``"cancelled": true``, and what was open before is open again.
``{"type": "wrap", "wrap": true | false | number}`` cuts long pictures into columns, or not, and
is answered by a scene with ``fit``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.layout import Scene, SceneLevel
from netloupe.explorer.view import Item

from .face import Face
from .tables import LevelTables, TableWriter, join_names

VERSION = 5
#: tables of smaller levels are not kept: they are soon written anew
_LEAST_KEPT = 40


@dataclass(slots=True)
class _Form:
    """Everything about a level but its names, encoded; and how many known levels have it."""

    id: int
    key: Hashable
    counts: tuple[int, int, int, int, int]
    floats: bytes
    integers: bytes
    users: int = 0


@dataclass(slots=True)
class _Known:
    """A level that the browser has."""

    level: SceneLevel
    form: _Form
    names: bytes
    tables: LevelTables | None


@dataclass(slots=True)
class _News:
    """What one message brings."""

    forms: list[_Form] = field(default_factory=list)
    levels: list[_Known] = field(default_factory=list)


class SceneEncoder:
    """Encodes the scenes of one explorer, each by what is new since the one before.

    Parameters
    ----------
    face_of
        Gives the face of an item.
    """

    def __init__(self, face_of: Callable[[Item], Face]) -> None:
        self._face_of = face_of
        self._number = 0
        self._forget()

    def _forget(self) -> None:
        self._root: SceneLevel | None = None
        self._levels: dict[int, _Known] = {}
        #: the level known last of each item
        self._last: dict[int, _Known] = {}
        self._forms: dict[Hashable, _Form] = {}
        self._writer = TableWriter(self._face_of)
        self._form_count = 0

    def encode(self, scene: Scene, *, whole: bool = False) -> tuple[dict[str, Any], list[bytes]]:
        """Return the header and the buffers (floats, integers, names) of a scene.

        Parameters
        ----------
        scene
            A scene that a composer made.
        whole
            Whether to send everything, for a browser that has nothing yet.
        """
        root = scene.root
        if root is None:
            raise ValueError("a scene without levels cannot be sent")
        since: int | None = self._number
        if whole or self._root is None:
            self._forget()
            since = None
        self._number += 1
        news = _News()
        shared = self._add_levels(root, news)
        self._drop_levels(shared)
        self._root = root
        header = {
            "version": VERSION,
            "number": self._number,
            "since": since,
            "width": scene.width,
            "height": scene.height,
            "direction": scene.direction,
            "wrapped": root.is_wrapped,
            "extreme": scene.is_extreme,
            "notices": scene.notices,
            "root": root.id,
            "counts": {
                "boxes": root.boxes_total,
                "ports": root.ports_total,
                "edges": root.edges_total,
                "levels": root.levels_total,
            },
            "faces": [encode_face(face) for face in self._writer.faces.take_news()],
            "labels": self._writer.labels.take_news(),
            "forms": [[form.id, *form.counts] for form in news.forms],
            "levels": len(news.levels),
        }
        return header, _write_buffers(news)

    def _add_levels(self, root: SceneLevel, news: _News) -> set[int]:
        """Encode what the browser does not have; return the ids of levels that it keeps."""
        shared: set[int] = set()
        order: list[SceneLevel] = []
        pending = [root]
        while pending:
            level = pending.pop()
            if level.id in self._levels:
                shared.add(level.id)
                continue
            order.append(level)
            pending.extend(level.inner.values())
        for level in reversed(order):
            known = self._encode_level(level, news)
            self._levels[level.id] = self._last[id(level.item)] = known
            known.form.users += 1
            news.levels.append(known)
        shared.update(level.id for level in order)
        return shared

    def _drop_levels(self, kept: set[int]) -> None:
        """Forget the levels of the scene before that the new one does not reach."""
        pending = [self._root] if self._root is not None else []
        while pending:
            level = pending.pop()
            if level.id in kept:
                continue
            known = self._levels.pop(level.id)
            if self._last[id(level.item)] is known:
                del self._last[id(level.item)]
            known.form.users -= 1
            if not known.form.users:
                del self._forms[known.form.key]
            pending.extend(level.inner.values())

    def _encode_level(self, level: SceneLevel, news: _News) -> _Known:
        last = self._last.get(id(level.item))
        before = (last.level, last.tables) if last is not None and last.tables else None
        tables = self._writer.write(level, before)
        written = (tables.boxes, tables.ports, tables.edges, tables.bundles)
        integers = b"".join(_little_endian(table, "<i4") for table in written)
        key = (id(level.inside), integers)
        form = self._forms.get(key)
        if form is None:
            self._form_count += 1
            sizes = (
                *(len(level.children), len(level.ports), len(level.edges)),
                *(2 * len(level.inside.curves.points), len(tables.bundles)),
            )
            form = _Form(self._form_count, key, sizes, _list_floats(level), integers)
            self._forms[key] = form
            news.forms.append(form)
        kept = tables if len(level.children) >= _LEAST_KEPT else None
        return _Known(level, form, join_names(tables), kept)


def encode_scene(
    scene: Scene, face_of: Callable[[Item], Face]
) -> tuple[dict[str, Any], list[bytes]]:
    """Return the header and the buffers of a whole scene."""
    return SceneEncoder(face_of).encode(scene, whole=True)


def _list_floats(level: SceneLevel) -> bytes:
    inside = level.inside
    places = np.where(np.isnan(level.places), 0.0, level.places)
    return b"".join(
        _little_endian(table, "<f4")
        for table in (inside.boxes, inside.ports, places, inside.curves.points)
    )


def _little_endian(table: NDArray[Any], kind: str) -> bytes:
    return table.astype(kind).tobytes()


def _write_buffers(news: _News) -> list[bytes]:
    integers: list[int] = []
    start = 0
    for known in news.levels:
        level = known.level
        inner = [level.inner[number].id for number in sorted(level.inner)]
        integers.extend((level.id, known.form.id, start, len(known.names), len(inner), *inner))
        start += len(known.names)
    forms = b"".join([form.integers for form in news.forms])
    return [
        b"".join([form.floats for form in news.forms]),
        forms + _little_endian(np.array(integers, np.int64), "<i4"),
        b"".join([known.names for known in news.levels]),
    ]


def encode_face(face: Face) -> dict[str, Any]:
    """Return a face as the header of a scene has it."""
    return {
        **({"aside": face.aside} if face.aside else {}),  # few have it
        "outline": face.outline,
        "category": face.category,
        "width": face.width,
        "height": face.height,
        "header": face.header,
        "rules": face.rules,
        "stack": face.stack,
        "targets": face.targets,
        "title": face.title,
        "bar": list(face.bar) if face.bar is not None else None,
        "texts": [[run.x, run.y, run.text, run.style, run.anchor] for run in face.texts],
        "badges": [[b.x, b.y, b.width, b.height, b.text, int(b.is_chip)] for b in face.badges],
    }
