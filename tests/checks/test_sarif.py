"""SARIF 2.1.0 as the specification has it, and as GitHub takes it."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

from netloupe.explorer.checks import check
from netloupe.explorer.describe.findings import encode_findings
from netloupe.explorer.describe.sarif import encode_sarif
from netloupe.explorer.readers.load import load
from tests.checks.ruling import parse
from tests.corpus import corpus_file

_LEVELS = ("none", "note", "warning", "error")


def judge(told: dict[str, Any]) -> dict[str, Any]:
    """Look at what GitHub needs (SARIF support for code scanning); return the only run."""
    assert told["$schema"].endswith("sarif-2.1.0.json")
    assert told["version"] == "2.1.0"
    assert set(told) == {"$schema", "version", "runs"}
    (run,) = told["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "netloupe"
    assert run["automationDetails"]["id"].endswith("/")
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert rule["help"]["text"]
        assert rule["help"]["markdown"]
        assert rule["defaultConfiguration"]["level"] in _LEVELS
        assert rule["properties"]["precision"] in ("very-high", "high", "medium", "low")
        assert rule["properties"]["problem.severity"] in ("error", "warning", "recommendation")
        assert len(rule["properties"]["tags"]) <= 10
    seen = set()
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in _LEVELS
        assert result["message"]["text"]
        assert result["occurrenceCount"] >= 1
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        uri = physical["artifactLocation"]["uri"]
        assert not uri.startswith(("/", ".."))
        assert " " not in uri
        assert physical["region"]["startLine"] >= 1
        names = [each["fullyQualifiedName"] for each in location["logicalLocations"]]
        assert 1 <= len(names) <= 100
        assert names[0] in result["message"]["text"]
        assert {each["kind"] for each in location["logicalLocations"]} == {"element"}
        key = uri, result["partialFingerprints"]["primaryLocationLineHash"]
        assert key not in seen
        seen.add(key)
    for invocation in run["invocations"]:
        notices = invocation["toolExecutionNotifications"]
        assert invocation["executionSuccessful"] == (not notices)
    json.dumps(told, allow_nan=False)
    return run


def find_schema() -> Any:
    """Return the schema of SARIF 2.1.0 (OASIS, sarif-schema-2.1.0.json), as classes made of it."""
    if importlib.util.find_spec("pydantic_sarif") is None:
        message = "pydantic-sarif is not installed; `pip install pydantic-sarif` provides it"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema

    return StaticAnalysisResultsFormatSarifVersion210JsonSchema


def test_it_is_valid_by_the_schema(tmp_path: Path) -> None:
    schema = find_schema()
    models = [load(corpus_file(name)) for name in _REAL]
    known = tmp_path / "known.json"
    known.write_text(json.dumps(encode_findings(check(models[0]))))
    cut = parse("g (float[N] x) => (float[N] y) { y = Relu(x) }")()
    tensor = cut.graph.initializer.add(name="w", data_type=1, dims=[2], data_location=1)
    tensor.external_data.add(key="location", value="gone.bin")
    checked = [check(models[0], baseline=known), check(models[1]), check(load(cut))]
    told = encode_sarif(checked, "0.1.0", [*_REAL, "gone.onnx"])
    text = json.dumps(told)
    schema.model_validate_json(text)
    assert '"suppressions"' in text
    assert '"toolExecutionNotifications"' in text
    # the schema judges: what it does not know is refused
    for spoiled in (
        {**told, "cut": {}},
        {**told, "version": "2.0.0"},
        {"version": "2.1.0"},
        json.loads(text.replace('"startLine": 1', '"startLine": 0')),
        json.loads(text.replace('"occurrenceCount"', '"occurences"')),
        json.loads(text.replace('"kind": "external"', '"kind": "outside"')),
    ):
        with pytest.raises(ValueError, match="validation error"):
            schema.model_validate_json(json.dumps(spoiled))


_REAL = ("quantized/resnet50.qdq.onnx", "exported/gpt2.legacy.onnx")


@pytest.mark.parametrize("name", _REAL)
def test_findings_of_real_models(name: str) -> None:
    run = judge(encode_sarif([check(load(corpus_file(name)))], "0.1.0"))
    assert run["results"]


def test_places_are_relative_and_encoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    proto = parse("g (float[N] x) => (float[N] y) { a = Abs(x) y = Relu(x) }")()
    (tmp_path / "my models").mkdir()
    path = tmp_path / "my models" / "größe.onnx"
    path.write_bytes(proto.SerializeToString())
    for given in (path, path.relative_to(tmp_path)):
        run = judge(encode_sarif([check(load(given))], "0.1.0"))
        place = run["results"][0]["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "my%20models/gr%C3%B6%C3%9Fe.onnx"
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    judge(encode_sarif([check(load(path))], "0.1.0"))


def test_what_was_not_seen_and_not_read_is_said() -> None:
    proto = parse("g (float[N] x) => (float[N] y) { y = Relu(x) }")()
    tensor = proto.graph.initializer.add(name="w", data_type=1, dims=[2])
    tensor.data_location = 1
    tensor.external_data.add(key="location", value="gone.bin")
    run = judge(encode_sarif([check(load(proto))], "0.1.0", ["gone.onnx"]))
    notices = run["invocations"][0]["toolExecutionNotifications"]
    assert {notice["level"] for notice in notices} == {"warning", "error"}
    assert "gone.onnx could not be read" in notices[-1]["message"]["text"]


def test_what_a_baseline_has_is_suppressed(tmp_path: Path) -> None:
    model = load(parse("g (float[N] x) => (float[N] y) { a = Abs(x) y = Relu(x) }")())
    known = tmp_path / "known.json"
    known.write_text(json.dumps(encode_findings(check(model))))
    run = judge(encode_sarif([check(model, baseline=known)], "0.1.0"))
    assert run["results"][0]["suppressions"] == [
        {"kind": "external", "justification": "in the baseline"}
    ]
