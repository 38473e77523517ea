"""JSON is cut: lists, objects and texts, at any depth, each with how much there is."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netloupe.commands.cli import main
from netloupe.explorer.describe.encoding import Listing, encode_json
from tests.hostile_models import annotations, empty_nodes, graph_inputs, metadata, string_fill


def test_what_is_cut_is_told_by_json_pointers() -> None:
    told = {
        "list": list(range(9)),
        "short": list(range(8)),
        "a/b~": [{"entries": tuple(range(9))}],
        "object": {str(number): number for number in range(9)},
        "text": "x" * 81,
        "bytes": b"x" * 81,
        "array": np.zeros((1, 9)),
    }
    encoded = encode_json(told, most=8)
    first = list(range(8))
    assert encoded["list"] == encoded["short"] == first
    assert encoded["a/b~"] == [{"entries": first}]
    assert list(encoded["object"].values()) == first
    assert encoded["text"] == "x" * 80
    assert base64.b64decode(encoded["bytes"]["base64"]) == b"x" * 80
    assert encoded["array"] == [[0.0] * 8]
    assert encoded["cut"] == {
        "/list": {"shown": 8, "total": 9},
        "/a~1b~0/0/entries": {"shown": 8, "total": 9},
        "/object": {"shown": 8, "total": 9},
        "/text": {"shown": 80, "total": 81},
        "/bytes": {"shown": 80, "total": 81},
        "/array/0": {"shown": 8, "total": 9},
    }


def test_nothing_is_cut_where_all_is_asked_for() -> None:
    told = {"list": list(range(5_000)), "text": "x" * 50_000}
    assert encode_json(told, most=None) == told | {"cut": {}}


def test_what_is_not_shown_is_not_looked_at() -> None:
    looked: list[int] = []

    def count() -> Iterator[int]:
        for number in range(100):
            looked.append(number)
            yield number

    encoded = encode_json({"list": Listing(count(), str, 100)}, most=3)
    assert encoded["list"] == ["0", "1", "2"]
    assert looked == [0, 1, 2]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(arguments) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


@pytest.mark.parametrize("command", ["info", "inspect"])
def test_json_of_the_shell_is_cut_unless_all_is_asked_for(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(graph_inputs(1_200))
    arguments = [command, str(file), *(["main/join"] if command == "inspect" else [])]
    told = run(capsys, *arguments, "--json")
    assert len(told["inputs"]) == 1_000
    assert told["cut"]["/inputs"] == {"shown": 1_000, "total": 1_200}
    told = run(capsys, *arguments, "--json", "--all")
    assert len(told["inputs"]) == 1_200
    assert told["cut"] == {}


def test_a_summary_for_people_counts_what_json_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.onnx"
    for made, said in ((graph_inputs(1_200), "1,188 more"), (metadata(1_200), "1,188 more")):
        file.write_bytes(made)
        assert main(["info", str(file)]) == 0
        assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("make", "name", "place"),
    [
        (metadata, "main/join", "/metadata"),
        (metadata, "main", "/metadata"),
        (annotations, "model.onnx", "/warnings"),
    ],
)
def test_length_of_json_does_not_grow_with_the_model(
    make: Any, name: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lengths = []
    for count in (1_500, 3_000):
        file = tmp_path / "model.onnx"
        file.write_bytes(make(count))
        if place == "/warnings":
            assert main(["info", str(file), "--json"]) == 0
        else:
            assert main(["inspect", str(file), name, "--json"]) == 0
        text = capsys.readouterr().out
        assert json.loads(text)["cut"][place]["shown"] == 1_000
        lengths.append(len(text))
    assert lengths[1] < 1.01 * lengths[0]


def test_warnings_that_are_counted_do_not_grow_with_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for count in (1_500, 3_000):
        file = tmp_path / "model.onnx"
        file.write_bytes(empty_nodes(count))
        told.append(run(capsys, "info", str(file), "--json"))
        rest = {"path": "main", "message": f"{count - 100:,} more nodes have the same warning: "}
        rest["message"] += "has no op_type"
        assert rest in told[-1]["warnings"]
        assert "/warnings" not in told[-1].get("cut", {})
    assert len(told[0]["warnings"]) == len(told[1]["warnings"]) < 110


def test_strings_of_a_tensor_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "init.pb"
    file.write_bytes(string_fill(1_100))
    told = run(capsys, "inspect", str(file), "w", "--json")
    assert len(told["strings"]) == 1_000
    assert told["cut"]["/strings"] == {"shown": 1_000, "total": 1_100}
