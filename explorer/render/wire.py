"""A Scene as the browser gets it: one JSON header and two binary buffers.

Header: ``version``, ``width``, ``height``, ``direction``, ``notices``, ``strings`` (every
path, key and label once), ``faces`` (every distinct face once), ``rows`` (for each box with
constants its number and their paths, in the order of the face's ``targets``) and ``counts``.
Numbers refer to ``strings`` and ``faces`` by index. All buffers are little-endian.

========== ======= =================================================================
buffer      type    content
========== ======= =================================================================
floats      f32     per box x, y, width, height; then per port x, y; then per edge
                    label x, y; then the points of all edges
integers    i32     per box: path, key, face, parent, depth, flags;
                    per port: box, path;
                    per edge: path, label (-1: none), source, target, flags,
                    first number of its points in the points part, count of numbers
========== ======= =================================================================

Box flags: 1 open, 2 can be opened, 4 node, 8 group, 16 input, 32 output, 64 constant,
128 stub.
Edge flags: 1 arrow, 2 captured, 4 control.
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
        "badges": [[b.x, b.y, b.width, b.height, b.text, int(b.is_chip)] for b in face.badges],
    }


def _little_endian(buffer: array[Any]) -> bytes:
    import sys

    if sys.byteorder == "big":
        buffer = array(buffer.typecode, buffer)
        buffer.byteswap()
    return buffer.tobytes()
