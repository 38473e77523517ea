"""Of very many names most are told by how they end to be no element's: nothing else changes."""

from __future__ import annotations

import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.overlays import finding
from netloupe.explorer.overlays.finding import NO_ELEMENT, NameFinder
from tests.corpus import also_beside, shared_model
from tests.onnx_text import load_text

MODELS = also_beside(
    [
        "exported/condloop.dynamo.onnx",
        "exported/lstm.legacy-functions.onnx",
        "exported/gpt2.legacy.onnx",
        "features/control_flow_3deep.onnx",
    ]
)


def list_names(model: Model) -> list[str]:
    """Return every path and name of a model, in other forms as well, and some of nothing."""
    names = [*model]
    for graph in model.graphs:
        names += [graph.path, *(node.name for node in graph.nodes), *graph.values]
        names += [f"%{name}" for name in graph.values]
        for node in graph.nodes:
            if node.function is not None:
                names += [f"{node.path}()", f"{node.path}()/{node.function.nodes[0].name}"]
    return [form for name in names for form in (name, f"{name}_", f"x/{name}", name[:-1])]


@pytest.mark.parametrize("name", MODELS)
def test_the_places_are_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = shared_model(name)
    names = list_names(model)
    finder = NameFinder(model, lambda _: False)
    expected = [finder.find(name) for name in names]
    # what was asked before changes nothing
    for name, place in [*zip(names, expected, strict=True)][::97]:
        assert NameFinder(model, lambda _: False).find(name) == place
    monkeypatch.setattr(finding, "_MANY_NAMES", 0)
    finder = NameFinder(model, lambda _: False, expected=10**9)
    assert [finder.find(name) for name in names] == expected
    assert any(finder._is_no_end(name) for name in names)
    assert sum(place != NO_ELEMENT for place in expected) > len(model.graph.nodes)


def test_names_with_slashes_are_found_by_their_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "_MANY_NAMES", 0)
    model = load_text('g (float[1] x) => (float[1] "y/z") { ["a/b"] "y/z" = Relu(x) }')
    finder = NameFinder(model, lambda _: False, expected=10**9)
    for name in ("a/b", "main/a/b", "y/z", "%y/z", "main/%y/z", "x", "%x"):
        assert finder.find(name) != NO_ELEMENT, name
    assert finder.find("b") == finder.find("z") == NO_ELEMENT


def test_few_names_are_looked_up_as_they_are() -> None:
    model = shared_model(MODELS[2])
    assert NameFinder(model, lambda _: False, expected=100)._ends is None
    assert NameFinder(model, lambda _: False, expected=10**6)._ends is not None
