"""Several values at once: what is said of all of them together, and of each."""

from __future__ import annotations

import onnx.parser
import pytest

import netloupe
from netloupe.explorer.describe import describe_values, format_text, to_json

_TEXT = """<ir_version: 8, opset_import: ["": 18]>
g (float[N, 2] x) => (float[N, 2] y) {
    [split] v0, v1, v2 = Split <axis = 1> (x)
    [a] p = Add (v0, v1)
    [b] q = Add (v0, v1)
    [c] r = Add (v0, p)
    [d] y = Sum (v0, q, r)
}"""


def test_each_value_and_all_ends_are_told() -> None:
    model = netloupe.load(onnx.parser.parse_model(_TEXT))
    paths = ["main/%v0", "main/%v1", "main/%v2", "main/%x", "main/%y"]
    description = describe_values(model, paths)
    assert description.kind == "values"
    assert description.title == "v0 … y"
    assert description.subtitle == "5 values, 2 producers, 5 consumers"
    values, producers, consumers = description.sections
    assert [(row.name, row.path, row.note) for row in values.rows] == [
        ("v0", "main/%v0", "main/split → main/a, main/b, … 2 more"),
        ("v1", "main/%v1", "main/split → main/a, main/b"),
        ("v2", "main/%v2", "main/split → nothing"),
        ("x", "main/%x", "input of the graph → main/split"),
        ("y", "main/%y", "main/d → output of the graph"),
    ]
    assert values.rows[3].value == "float32[N, 2]"
    assert [row.path for row in producers.rows] == ["main/split", "main/d"]
    assert {row.path for row in consumers.rows} == {f"main/{n}" for n in ("a", "b", "c", "d")} | {
        "main/split"
    }
    assert "main/a, main/b" in format_text(description)
    told = to_json(description)
    assert [value["path"] for value in told["values"]] == paths
    assert describe_values(model, paths[:3]).title == "v*"


def test_a_path_without_a_value_is_refused() -> None:
    model = netloupe.load(onnx.parser.parse_model(_TEXT))
    for path in ("main/a", "main/%nothing"):
        with pytest.raises(netloupe.NotFoundError, match=path.rsplit("/", 1)[-1]):
            describe_values(model, ["main/%x", path])
