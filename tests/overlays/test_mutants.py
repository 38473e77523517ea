"""Mutants of every file with numbers: columns come out, or one error that says what is wrong."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import netloupe
from netloupe import Column, OverlayError
from netloupe.explorer.overlays import read_column_file
from tests.overlays.profiles import chain, event, profile_of, run_of

_WORDS = ("conv", "relu", "add", "mul")
_NODE_DATA: Any = {
    "main": {
        "name": "time (ms)",
        "results": {
            word: {"value": place, "bgColor": "#ff0000"} for place, word in enumerate(_WORDS)
        },
        "thresholds": [{"value": 1, "bgColor": "red"}, {"value": 9, "bgColor": "#00ff00"}],
        "gradient": [{"stop": 0, "bgColor": "#000"}, {"stop": 1, "bgColor": "rgb(1,2,3)"}],
    }
}
_LAYERS: Any = {
    "Layers": [
        {
            "Name": "conv + relu",
            "Metadata": "[ONNX Layer: conv]\x1e[ONNX Layer: relu]",
            "Outputs": [{"Format/Datatype": "Int8"}],
        }
    ],
    "Bindings": [],
}
FILES = {
    "csv": "name,time_ms,kind\nconv,1.5,a\nrelu,2,b\nTotal,3.5,c\n",
    "records": json.dumps([{"name": word, "value": 1.5} for word in _WORDS]),
    "node data": json.dumps(_NODE_DATA),
    "profile": profile_of(
        [
            [
                *run_of([(word, 7, "Relu") for word in _WORDS], 1000 * number),
                event('a "b" \\c', 1000 * number + 60, 3, "Loop"),
            ]
            for number in (1, 2, 3)
        ]
    ),
    "trt profile": json.dumps([{"count": 2}, {"name": "conv + relu", "averageMs": 0.5}]),
    "trt layers": json.dumps(_LAYERS),
    "qonnx": json.dumps({"node_cost": {"conv": {"op_mac_INT8_INT8": 3, "total_bops": 9}}}),
}
_PIECES = (
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "1e999",
    "-",
    "\\",
    "\x00",
    "é",
    "\n",
    "9" * 40,
)


def mutate(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.randint(0, 12))
        match rng.randrange(4):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:at] + rng.choice(_PIECES) + text[at:]
            case 2:
                text = text[:at] + text[at:end] * rng.randint(2, 5) + text[end:]
            case _:
                text = text[:at]
    return text


def mutate_value(value: Any, rng: random.Random) -> Any:
    """Return JSON with one value somewhere in it replaced by one of another kind."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice([*value])
        return {**value, key: mutate_value(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [*value[:at], mutate_value(value[at], rng), *value[at + 1 :]]
    return rng.choice(
        [None, True, -1, 1e308, "", "x" * 50, [], {}, [[]], {"value": {}}, float("nan")]
    )


def look(path: Path) -> None:
    columns: list[Column] = []
    message = str(path)
    try:
        columns = read_column_file(path)
    except OverlayError as error:
        message = str(error)
    assert str(path) in message
    assert "\n" not in message
    for column in columns:
        overlay = netloupe.overlay(chain(), column)
        overlay.describe()
        overlay.describe_placement()
        overlay.list_legend()
        overlay.measure("main")
        for _, measured in overlay.list_measured():
            overlay.paint_of(measured)


@pytest.mark.parametrize("name", FILES)
def test_nothing_but_an_overlay_error_comes_of_a_mutant(name: str, tmp_path: Path) -> None:
    rng = random.Random(name)
    path = tmp_path / "mutant"
    for _ in range(150):
        path.write_text(mutate(FILES[name], rng), "utf-8")
        look(path)
    if name in ("csv", "profile"):
        return
    for _ in range(150):
        path.write_text(json.dumps(mutate_value(json.loads(FILES[name]), rng)), "utf-8")
        look(path)
