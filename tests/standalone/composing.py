"""States of views, composed by the front end in Node.js, and read back as scenes."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from netloupe.explorer.layout import Scene, SceneBox, SceneEdge, ScenePort
from netloupe.explorer.layout.scene import Flat
from netloupe.explorer.standalone.legend_block import write_legend
from netloupe.explorer.standalone.levels import state_of
from netloupe.explorer.standalone.walk import list_states
from netloupe.explorer.view import Item, View
from tests.wire_reader import SceneReader

_FRONT_END = Path(__file__).resolve().parents[2] / "widgets" / "frontend"
_KINDS = {0: "data", 2: "captured", 4: "control"}


def build_script(folder: Path, name: str) -> Path:
    """Return a script of the front end's tests for Node.js, bundled."""
    esbuild = _FRONT_END / "node_modules" / ".bin" / "esbuild"
    if not esbuild.exists() or shutil.which("node") is None:
        assert not os.environ.get("CI"), "Node.js and the packages of the front end are missing"
        pytest.skip("Node.js or the packages of the front end are missing")
    script = folder / f"{name}.mjs"
    source = _FRONT_END / "test" / "standalone" / f"{name}.ts"
    options = ["--bundle", "--platform=node", "--format=esm", "--log-level=error"]
    subprocess.run([esbuild, source, *options, f"--outfile={script}"], check=True)
    return script


def run_script(script: Path, asked: Any) -> str:
    """Return what a script writes when it is given something as JSON."""
    done = subprocess.run(
        ["node", script], input=json.dumps(asked), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def compose_states(script: Path, block: bytes, direction: str, states: list[Any]) -> list[Scene]:
    """Return the scenes that the front end composes of some states."""
    asked = {"block": base64.b64encode(block).decode(), "direction": direction, "states": states}
    reader = SceneReader()
    scenes = []
    for line in run_script(script, asked).splitlines():
        header, buffers, _ = json.loads(line)
        reader.read(header, [base64.b64decode(buffer) for buffer in buffers])
        scenes.append(read_scene(reader))
    return scenes


def list_legends(
    script: Path, block: bytes, states: list[Any], paints: dict[str, tuple[str, str]]
) -> list[list[dict[str, str]]]:
    """Return what the legend of a page says in some states, in dark."""
    encoded = {"block": block, "legend": write_legend()}
    asked = {name: base64.b64encode(part).decode() for name, part in encoded.items()}
    written = run_script(script, {**asked, "direction": "TB", "states": states, "paints": paints})
    return [json.loads(line)[2] for line in written.splitlines()]


def search_page(
    script: Path, levels: bytes, search: bytes, queries: Sequence[tuple[str, bool]]
) -> list[dict[str, Any]]:
    """Return what a page answers to searches, everything closed; see ``search_page.ts``."""
    blocks = {"levels": levels, "search": search}
    asked = {name: base64.b64encode(block).decode() for name, block in blocks.items()}
    written = run_script(script, {**asked, "queries": queries})
    return [json.loads(line)[0] for line in written.splitlines()]


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
