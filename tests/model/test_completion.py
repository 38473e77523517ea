"""What completion, ``dir()`` and ``help()`` show: all that is public, whether read or not."""

from __future__ import annotations

import pydoc
from collections.abc import Callable

import pytest

from netloupe.explorer.model import Function, Graph, Model, Node, Tensor, Value
from tests.onnx_text import load_text

MODEL = """g (float[2] x) => (float[2] y) <float[2] weight = {2.0, 3.0}> {
    [conv] h = Mul (x, weight)
    y = Relu (h)
}"""
LATE = ["annotations", "doc", "initializers", "inputs", "metadata", "nodes", "outputs"]
LATE += ["sparse_initializers", "values", "warnings"]


def public(thing: object) -> list[str]:
    return [name for name in dir(thing) if not name.startswith("_")]


def test_a_graph_shows_what_it_holds_before_it_is_read() -> None:
    model = load_text(MODEL)
    before = public(model.graph)
    assert model.graph._filler is not None  # asking for the names has read nothing
    assert set(LATE) <= set(before)
    assert len(model.graph.nodes) == 2
    assert public(model.graph) == before == public(Graph)
    assert set(before) < set(public(Function))


def test_exactly_these_names_of_a_graph_are_public() -> None:
    others = [
        "dialect",
        "index_of",
        "kind",
        "model",
        "name",
        "net",
        "opset_imports",
        "opset_version",
    ]
    others += ["parent_attribute", "parent_node", "path", "subgraphs", "unknown_fields", "wiring"]
    others += ["to_dot", "to_html", "to_pdf", "to_png", "to_svg"]
    assert public(Graph) == sorted([*LATE, *others])


@pytest.mark.parametrize("internal", ["add_user", "connect", "places_of", "attribute_key"])
def test_what_readers_need_is_no_public_name_of_nodes_and_values(internal: str) -> None:
    assert internal not in {*public(Node), *public(Value), *public(Model)}


def test_what_readers_need_is_no_public_name_of_models_and_tensors() -> None:
    assert not {"add_function", "path_index", "is_plain"} & {*public(Model), *public(Tensor)}


@pytest.mark.parametrize("kind", [Model, Graph, Function, Node, Value])
def test_help_tells_what_each_name_is(kind: type) -> None:
    text = pydoc.plain(pydoc.render_doc(kind))
    for name in public(kind):
        at = text.find(f" |  {name}")
        assert at > 0, name
        lines = [line.strip(" |") for line in text[at:].splitlines()[1:4]]
        assert any(lines) or f"{name}(" in text, name


def test_help_of_an_element_is_that_of_its_class() -> None:
    graph = load_text(MODEL).graph
    text = pydoc.plain(pydoc.render_doc(graph))
    assert "class Graph(" in text
    assert "The nodes in file order." in text


@pytest.fixture
def complete() -> Callable[..., list[str]]:
    """Return a function that gives what IPython offers behind a beginning, without jedi."""
    completer = pytest.importorskip("IPython.core.completer")

    def complete(text: str, **names: object) -> list[str]:
        shell = completer.IPCompleter(shell=None, namespace=names, use_jedi=False)
        shell.matchers  # noqa: B018 - they are made when first asked for
        with completer.provisionalcompleter():
            return [match.text.lstrip(".") for match in shell.completions(text, len(text))]

    return complete


def test_ipython_completes_attributes_of_a_graph(complete: Callable[..., list[str]]) -> None:
    names = {"m": load_text(MODEL)}
    assert set(LATE) <= set(complete("m.graph.", **names))
    assert complete("m.graph.no", **names) == ["nodes"]


def test_ipython_completes_paths_and_names_of_a_model(
    complete: Callable[..., list[str]],
) -> None:
    names = {"m": load_text(MODEL)}
    assert set(complete('m["', **names)) >= {"main", "main/conv", "main/%x", "conv", "weight"}
    assert complete('m["main/c', **names) == ["main/conv"]
    assert complete('m["wei', **names) == ["weight"]


def test_offered_keys_lead_somewhere_and_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_text(MODEL)
    keys = model._ipython_key_completions_()
    assert len(keys) == len(set(keys)) == len(model) + 2
    assert all(model[key] is not None for key in keys)
    monkeypatch.setattr("netloupe.explorer.model.lookup.MOST_OFFERED", 3)
    assert len(model._ipython_key_completions_()) == 3
