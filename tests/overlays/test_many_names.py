"""Of very many names most are told by how they end to be no element's: nothing else changes."""

from __future__ import annotations

import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.overlays import name_lookup, placed_column
from netloupe.explorer.overlays.column import Column
from netloupe.explorer.overlays.name_lookup import NO_ELEMENT, NameFinder
from netloupe.explorer.overlays.placed_column import place_column
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
    monkeypatch.setattr(name_lookup, "_MANY_NAMES", 0)
    finder = NameFinder(model, lambda _: False, expected=10**9)
    assert [finder.find(name) for name in names] == expected
    assert any(finder.rules_out(name) for name in names)
    assert sum(place != NO_ELEMENT for place in expected) > len(model.graph.nodes)


@pytest.mark.parametrize("first", [0, 3])
def test_very_many_entries_are_placed_as_one_by_one(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = shared_model(MODELS[0])
    numbers = (0.1, -2.5, 1e300, float("nan"), 7, float("inf"), 1e-3)
    names = [*list_names(model), *(f"nothing{n}" for n in range(900)), "no/", "x()", "a/x()"]
    values = {name: numbers[n % 7] for n, name in enumerate(names[first:] + names[:first])}
    column = Column("times", values, "ms", aggregation="sum")
    monkeypatch.setattr(placed_column, "_MOST_NORMALISED", 5)
    expected = place_column(model, column, lambda path: path == "main/")
    monkeypatch.setattr(name_lookup, "_MANY_NAMES", 0)
    asked: list[str] = []
    place = placed_column._Placer._place_entry
    monkeypatch.setattr(
        placed_column._Placer,
        "_place_entry",
        lambda self, *entry: asked.append("") or place(self, *entry),
    )
    begin = NameFinder.__init__
    monkeypatch.setattr(
        NameFinder, "__init__", lambda *given, expected: begin(*given, expected=10**9)
    )
    placed = place_column(model, column, lambda path: path == "main/")
    assert len(asked) < len(values) - 300  # the others went quickly
    assert placed.unplaced_sum == expected.unplaced_sum != 0
    for field in ("unplaced", "reasons", "unplaced_count", "placed_count", "values", "groups"):
        assert repr(getattr(placed, field)) == repr(getattr(expected, field)), field
    assert {k: v.tobytes() for k, v in placed.numbers.items()} == {
        k: v.tobytes() for k, v in expected.numbers.items()
    }


def test_names_with_slashes_are_found_by_their_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_lookup, "_MANY_NAMES", 0)
    model = load_text('g (float[1] x) => (float[1] "y/z") { ["a/b"] "y/z" = Relu(x) }')
    finder = NameFinder(model, lambda _: False, expected=10**9)
    for name in ("a/b", "main/a/b", "y/z", "%y/z", "main/%y/z", "x", "%x"):
        assert finder.find(name) != NO_ELEMENT, name
    assert finder.find("b") == finder.find("z") == NO_ELEMENT


def test_few_names_are_looked_up_as_they_are() -> None:
    model = shared_model(MODELS[2])
    assert NameFinder(model, lambda _: False, expected=100)._ends is None
    assert NameFinder(model, lambda _: False, expected=10**6)._ends is not None
