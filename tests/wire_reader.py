"""Reads scenes as the browser gets them, by the format's description alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class ReadForm:
    """A form as numbers."""

    boxes: np.ndarray
    box_table: np.ndarray
    ports: np.ndarray
    port_table: np.ndarray
    labels: np.ndarray
    edge_table: np.ndarray
    points: np.ndarray
    bundles: np.ndarray


@dataclass
class ReadLevel:
    """A level with its form and the ids of its inner levels."""

    form: ReadForm
    names: list[str]
    inner: list[int]


class SceneReader:
    """Keeps what scenes bring, and forgets what the last one does not reach."""

    def __init__(self) -> None:
        self.header: dict[str, Any] = {}
        self.levels: dict[int, ReadLevel] = {}
        self.forms: dict[int, ReadForm] = {}
        self.faces: list[Any] = []
        self.labels: list[str] = []

    def read(self, header: dict[str, Any], buffers: list[bytes]) -> None:
        """Take a message in."""
        assert header["version"] == 5
        if header["since"] is None:
            self.__init__()  # type: ignore[misc] # begins anew
        else:
            assert header["since"] == self.header["number"]
        self.header = header
        self.faces += header["faces"]
        self.labels += header["labels"]
        floats = np.frombuffer(buffers[0], "<f4")
        integers = np.frombuffer(buffers[1], "<i4")

        def take(part: str, rows: int, columns: int) -> np.ndarray:
            source, at = (floats, positions[0]) if part == "f" else (integers, positions[1])
            positions["fi".index(part)] += rows * columns
            found = source[at : at + rows * columns]
            assert len(found) == rows * columns
            return found.reshape(rows, columns)

        positions = [0, 0]
        for identity, boxes, ports, edges, numbers, bundles in header["forms"]:
            self.forms[identity] = ReadForm(
                boxes=take("f", boxes, 4),
                box_table=take("i", boxes, 6),
                ports=take("f", ports, 2),
                port_table=take("i", ports, 1),
                labels=take("f", edges, 2),
                edge_table=take("i", edges, 7),
                points=take("f", numbers, 1)[:, 0],
                bundles=take("i", bundles, 3),
            )
        for _ in range(header["levels"]):
            identity, form, start, length, inner = take("i", 1, 5)[0].tolist()
            names = json.loads(buffers[2][start : start + length].decode("utf-8"))
            ids = take("i", inner, 1)[:, 0].tolist()
            assert all(each in self.levels for each in ids)
            self.levels[identity] = ReadLevel(self.forms[form], names, ids)
        assert positions == [len(floats), len(integers)]
        self._forget()

    def _forget(self) -> None:
        reached: dict[int, ReadLevel] = {}
        pending = [self.header["root"]]
        while pending:
            identity = pending.pop()
            reached[identity] = self.levels[identity]
            pending += self.levels[identity].inner
        self.levels = reached
        used = {id(level.form) for level in reached.values()}
        self.forms = {i: form for i, form in self.forms.items() if id(form) in used}

    def paths(self) -> set[str]:
        """Return the names in the scene."""
        return {name for level in self.levels.values() for name in level.names}

    def keys(self) -> list[str]:
        """Return the keys of all boxes, outer ones first."""
        return [box[0] for box in self.boxes()]

    def boxes(self) -> list[tuple[str, float, float, float, float, int, int, list[str]]]:
        """Return key, place, size, parent, flags and rows of every box."""
        boxes: list[Any] = []
        pending = [(self.header["root"], 0.0, 0.0, -1)]
        while pending:
            identity, left, top, parent = pending.pop()
            level = self.levels[identity]
            first = len(boxes)
            table = level.form.box_table.tolist()
            inner = iter(level.inner)
            below = []
            for number, ((x, y, width, height), row) in enumerate(
                zip(level.form.boxes.tolist(), table, strict=True)
            ):
                _, key, _, flags, at, count = row
                rows = level.names[at : at + count]
                boxes.append(
                    (level.names[key], left + x, top + y, width, height, parent, flags, rows)
                )
                if flags & 1:
                    below.append((next(inner), left + x, top + y, first + number))
            assert next(inner, None) is None
            pending += reversed(below)
        return boxes

    def bundles(self) -> list[list[str]]:
        """Return the paths of the values of every drawn edge along which several flow."""
        return [
            level.names[first : first + count]
            for level in self.levels.values()
            for edge, first, count in level.form.bundles.tolist()
            if level.form.edge_table[edge, 6]
        ]

    def edges(self) -> list[tuple[str, str, bool, list[float]]]:
        """Return path, label, whether there is an arrow, and the points of every edge."""
        edges: list[Any] = []
        pending = [(self.header["root"], 0.0, 0.0)]
        while pending:
            identity, left, top = pending.pop()
            level = self.levels[identity]
            for path, label, source, target, flags, at, count in level.form.edge_table.tolist():
                assert -1 <= source < len(level.form.boxes)
                assert -1 <= target < len(level.form.boxes)
                if not count:  # it runs along another
                    continue
                points = level.form.points[at : at + count].astype(float)
                points[0::2] += left
                points[1::2] += top
                text = self.labels[label] if label >= 0 else ""
                edges.append((level.names[path], text, bool(flags & 1), points.tolist()))
            opened = [n for n, row in enumerate(level.form.box_table.tolist()) if row[3] & 1]
            below = []
            for number, inner in zip(opened, level.inner, strict=True):
                x, y = level.form.boxes[number, :2].tolist()
                below.append((inner, left + x, top + y))
            pending += reversed(below)
        return edges
