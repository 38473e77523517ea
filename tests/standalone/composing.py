"""States of views, composed by the front end in Node.js, and read back as scenes."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from netloupe.explorer.layout import Scene, SceneBox, SceneEdge, ScenePort
from netloupe.explorer.layout.scene import Flat
from netloupe.explorer.standalone.legend_block import write_legend
from netloupe.explorer.standalone.levels import state_of
from netloupe.explorer.standalone.walk import list_states
from netloupe.explorer.view import Item, View
from netloupe.explorer.view.item import NOTHING_CARRIED
from tests.wire_reader import SceneReader

_FRONT_END = Path(__file__).resolve().parents[2] / "widgets" / "frontend"
#: seconds that an answer may take
_MOST_WAITED = 120
_KINDS = {0: "data", 2: "captured", 4: "control"}


class Script:
    """A script of the front end's tests in Node.js, which answers one request after another.

    Parameters
    ----------
    path
        Of the script, bundled.
    errors
        What it writes to its standard error.
    """

    def __init__(self, path: Path, errors: IO[str]) -> None:
        self._errors = errors
        self._process = subprocess.Popen(
            ["node", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )

    def ask(self, asked: Any) -> list[str]:
        """Return the lines that it writes when it is given something as JSON."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(_MOST_WAITED, process.kill)
        timer.start()
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(f"{json.dumps(asked)}\n")
                process.stdin.flush()
            count = process.stdout.readline()
            lines = [process.stdout.readline() for _ in range(int(count or 0))]
        finally:
            timer.cancel()
        self._errors.seek(0)
        assert count, self._errors.read() or f"it took more than {_MOST_WAITED} s"
        return [line.removesuffix("\n") for line in lines]

    def close(self) -> None:
        """End it."""
        with self._process as process:
            process.kill()


@contextmanager
def open_script(folder: Path, name: str) -> Iterator[Script]:
    """Bundle a script of the front end's tests for Node.js, and start it."""
    esbuild = _FRONT_END / "node_modules" / ".bin" / "esbuild"
    if not esbuild.exists() or shutil.which("node") is None:
        assert not os.environ.get("CI"), "Node.js and the packages of the front end are missing"
        pytest.skip("Node.js or the packages of the front end are missing")
    path = folder / f"{name}.mjs"
    source = _FRONT_END / "test" / "standalone" / f"{name}.ts"
    options = ["--bundle", "--platform=node", "--format=esm", "--log-level=error"]
    subprocess.run([esbuild, source, *options, f"--outfile={path}"], check=True)
    with (folder / f"{name}.txt").open("w+") as errors:
        script = Script(path, errors)
        try:
            yield script
        finally:
            script.close()


def compose_states(script: Script, block: bytes, direction: str, states: list[Any]) -> list[Scene]:
    """Return the scenes that the front end composes of some states."""
    asked = {"block": base64.b64encode(block).decode(), "direction": direction, "states": states}
    reader = SceneReader()
    scenes = []
    for line in script.ask(asked):
        header, buffers, _ = json.loads(line)
        reader.read(header, [base64.b64decode(buffer) for buffer in buffers])
        scenes.append(read_scene(reader))
    return scenes


def list_legends(
    script: Script, block: bytes, states: list[Any], paints: dict[str, tuple[str, str]]
) -> list[list[dict[str, str]]]:
    """Return what the legend of a page says in some states, in dark."""
    encoded = {"block": block, "legend": write_legend()}
    asked = {name: base64.b64encode(part).decode() for name, part in encoded.items()}
    written = script.ask({**asked, "direction": "TB", "states": states, "paints": paints})
    return [json.loads(line)[2] for line in written]


def search_page(
    script: Script, levels: bytes, search: bytes, queries: Sequence[tuple[str, bool]]
) -> list[dict[str, Any]]:
    """Return what a page answers to searches, everything closed; see ``search_page.ts``."""
    blocks = {"levels": levels, "search": search}
    asked = {name: base64.b64encode(block).decode() for name, block in blocks.items()}
    return [json.loads(line)[0] for line in script.ask({**asked, "queries": queries})]


def write_state(item: Item) -> dict[str, Any]:
    """Return what is open inside an item, by keys."""
    return {
        child.key: [state_of(child), write_state(child)] for child in item.children if child.is_open
    }


def open_at_random(view: View, chance: random.Random, count: int) -> None:
    """Open some of what can be opened; repeats in any of their states."""
    for _ in range(count):
        choices = [
            child
            for item in view.open_items()
            for child in item.children
            if child.openable and not child.is_open
        ]
        if not choices:
            return
        item = chance.choice(choices)
        if item.repeat is None:
            view.open_item(item)
            continue
        state = chance.choice(list_states(item))
        if state < 0:
            view.unroll(item.key)
        else:
            view.show_repetition(item.key, state)


def read_scene(reader: SceneReader) -> Scene:
    """Return a scene as the browser has it; its items are no items, but know what is asked."""
    boxes: list[SceneBox] = []
    edges: list[SceneEdge] = []
    ports: list[ScenePort] = []
    pending = [(reader.header["root"], 0.0, 0.0, -1, 0)]
    while pending:
        number, left, top, parent, depth = pending.pop()
        level = reader.levels[number]
        form, names, first = level.form, level.names, len(boxes)
        inner, below = iter(level.inner), []
        rows = zip(form.boxes.tolist(), form.box_table.tolist(), strict=True)
        for place, ((x, y, width, height), row) in enumerate(rows):
            path, key, _, flags, at, count = row
            item: Any = SimpleNamespace(
                key=names[key],
                path=names[path],
                is_open=bool(flags & 1),
                flags=flags,
                rows=tuple(names[at : at + count]),
                body=None,
                outputs=(),
                carried=NOTHING_CARRIED,
            )
            boxes.append(SceneBox(item, left + x, top + y, width, height, parent, depth))
            if flags & 1:
                below.append((next(inner), left + x, top + y, first + place, depth + 1))
        bundles = {edge: names[at : at + count] for edge, at, count in form.bundles.tolist()}
        for edge, row in enumerate(form.edge_table.tolist()):
            path, label, source, target, flags, at, count = row
            if not count:
                continue
            points = form.points[at : at + count].astype(float)
            points[0::2] += left
            points[1::2] += top
            label_x, label_y = form.labels[edge].tolist()
            edges.append(
                SceneEdge(
                    None,  # type: ignore[arg-type] # the browser knows paths alone
                    names[path],
                    parent if source < 0 else first + source,
                    parent if target < 0 else first + target,
                    tuple(points.tolist()),
                    _KINDS[flags & 6],  # type: ignore[arg-type]
                    bool(flags & 1),
                    reader.labels[label] if label >= 0 else "",
                    left + label_x,
                    top + label_y,
                    tuple(bundles.get(edge, ())),
                )
            )
        for (x, y), (name,) in zip(form.ports.tolist(), form.port_table.tolist(), strict=True):
            ports.append(ScenePort(left + x, top + y, parent, names[name]))
        pending += reversed(below)
    header = reader.header
    return Scene(
        header["width"],
        header["height"],
        header["direction"],
        by_hand=Flat(tuple(boxes), tuple(edges), tuple(ports)),
    )
