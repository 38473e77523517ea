"""A Scene as the browser gets it: whole, or only what is new since the scene before.

A scene is a tree of **layers**. A layer is the inside of one open item: the boxes of its
children, the edges between them, and the ports on the item's own border. It is written in
coordinates of its own, from the item's top left corner (the scene's, for the root), so that
it need not be sent again when it has only moved, and 32-bit floats stay exact in pictures
millions of pixels high.

Layers never change. An open item whose inside has changed in any way, deep inside too, has a
new layer with a new id. So a scene is given by the id of its root layer, and opening a group
brings new layers for that group and the items around it, and no others. Most layers look alike
(the same blocks again and again): what they share, everything but names, is a **shape**.

A message has a JSON header and three buffers: floats (f32), integers (i32), names (UTF-8),
little-endian. Header fields:

=========== ==========================================================================
field       content
=========== ==========================================================================
version     2
number      number of this scene; each scene of an explorer has a larger one
since       number of the scene before, whose shapes, layers, faces and labels must have
            been kept; null where the scene is whole. Who has not kept them (a second tab)
            asks for ``{"type": "scene"}``, which always gives a whole one
width,      of the scene, in pixels
height
direction   ``TB`` or ``LR``
wrapped     number of columns (TB) or rows (LR) that the outermost level is cut into; 1 for
            none
extreme     whether the picture is so long that wrapping it should be offered
notices     what the user should know
root        id of the root layer
counts      boxes, ports, edges of the whole scene, and ``layers`` in it
faces       new faces; their indexes go on from those of the scene before
labels      new texts of edge labels, likewise
shapes      new shapes: ``[id, boxes, ports, edges, numbers]`` each, in the order of the
            buffers; ``numbers`` counts the coordinates of all edges' points
layers      count of new layers
=========== ==========================================================================

Floats, for each new shape in turn: per box x, y, width, height; per port x, y; per edge its
label's centre x, y; then the points of all edges.

Integers, for each new shape in turn: per box path, key, face, flags, first row, count of rows;
per port path; per edge path, label (-1: none), source, target, flags, first number of its points
among the shape's points, count of numbers. Then for each new layer: id, shape, first byte and
count of bytes of its names, count of inner layers, and the ids of these: one for each box of
the shape that is open (flag 1), in order. A layer comes after the layers inside it.

Names: for each layer a JSON list of strings, of the paths of boxes, ports, edges and rows.
``path`` and ``key`` are indexes into the list of the layer that has the shape. ``first row``
and ``count`` say which part of that list are the paths of the box's constants, in the order of
its face's ``targets``. ``source`` and ``target`` number the layer's boxes; -1 is the open item
that the layer is the inside of (at the root: nothing).

Box flags: 1 open, 2 can be opened, 4 node, 8 group, 16 input, 32 output, 64 constant,
128 stub.
Edge flags: 1 arrow, 2 captured, 4 control.

After a scene the browser keeps what its root reaches and may forget all else: what a scene does
not reach, a later one sends again. Faces and labels are kept until a whole scene comes.

Beside scenes, messages tell what is going on. ``{"type": "busy", "id", "message", "done",
"total"}`` comes when a request takes longer than half a second, and again about five times a
second: ``done`` of ``total`` (0: unknown) are ready, ``message`` says of what; ``id`` is that of
the request, null for what Python asked for. ``{"type": "idle", "id"}`` ends it where no answer
with that id does. The request ``{"type": "cancel", "target": id}`` (without target: whatever
is under way) ends it at any moment; the request is then answered by an error
``the layout was cancelled`` with ``"cancelled": true``, and what was open before is open again.
``{"type": "wrap", "wrap": "auto" | true | false | number}`` cuts long pictures into columns and is
answered by a scene, with ``fit``.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from netloupe.explorer.layout import Scene
from netloupe.explorer.view import Item

from .face import Face

VERSION = 1
_KIND_FLAGS = {
    "node": 4,
    "group": 8,
    "branch": 8,
    "input": 16,
    "output": 32,
    "constant": 64,
    "stub": 128,
}
_EDGE_FLAGS = {"data": 0, "captured": 2, "control": 4}


class _Table:
    """Distinct entries with their indexes."""

    def __init__(self) -> None:
        self.indexes: dict[Any, int] = {}

    def index(self, entry: Any) -> int:
        return self.indexes.setdefault(entry, len(self.indexes))


def encode_scene(
    scene: Scene, face_of: Callable[[Item], Face]
) -> tuple[dict[str, Any], list[bytes]]:
    """Return the header and the two buffers (floats, integers) of a scene."""
    strings, faces = _Table(), _Table()
    floats, labels, points = array("f"), array("f"), array("f")
    integers = array("i")
    rows = []
    for number, box in enumerate(scene.boxes):
        item = box.item
        if item.constants and not item.is_open:
            rows.append([number, *(strings.index(row.path) for row in item.constants)])
        flags = _KIND_FLAGS.get(item.kind, 0) | item.is_open | (item.openable << 1)
        floats.extend((box.x, box.y, box.width, box.height))
        integers.extend(
            (
                strings.index(item.path),
                strings.index(item.key),
                faces.index(face_of(item)),
                box.parent,
                box.depth,
                flags,
            )
        )
    for port in scene.ports:
        floats.extend((port.x, port.y))
        integers.extend((port.box, strings.index(port.path)))
    for edge in scene.edges:
        labels.extend((edge.label_x, edge.label_y))
        integers.extend(
            (
                strings.index(edge.path),
                strings.index(edge.label) if edge.label else -1,
                edge.source,
                edge.target,
                int(edge.arrow) | _EDGE_FLAGS[edge.kind],
                len(points),
                len(edge.points),
            )
        )
        points.extend(edge.points)
    header = {
        "version": VERSION,
        "width": scene.width,
        "height": scene.height,
        "direction": scene.direction,
        "notices": scene.notices,
        "counts": {
            "boxes": len(scene.boxes),
            "ports": len(scene.ports),
            "edges": len(scene.edges),
        },
        "rows": rows,
        "strings": list(strings.indexes),
        "faces": [_encode_face(face) for face in faces.indexes],
    }
    return header, [_little_endian(floats + labels + points), _little_endian(integers)]


def _encode_face(face: Face) -> dict[str, Any]:
    return {
        "shape": face.shape,
        "category": face.category,
        "width": face.width,
        "height": face.height,
        "header": face.header,
        "rules": face.rules,
        "stack": face.stack,
        "targets": face.targets,
        "texts": [[run.x, run.y, run.text, run.style, run.anchor] for run in face.texts],
        "badges": [[b.x, b.y, b.width, b.height, b.text] for b in face.badges],
    }


def _little_endian(buffer: array[Any]) -> bytes:
    import sys

    if sys.byteorder == "big":
        buffer = array(buffer.typecode, buffer)
        buffer.byteswap()
    return buffer.tobytes()
