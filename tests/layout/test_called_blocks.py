"""Stacks of calls of one function are opened as stacks of modules are."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.parser
import pytest

from netloupe.explorer.layout import LayoutEngine
from netloupe.explorer.layout.opening_worth import find_only_block, is_called_block
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from tests.layout.test_shut_ideas import draw, list_open

_LAYERS = 12
_BODY = {
    "Mixer": "h = MatMul (x, w) g = Sin (h) k = MatMul (g, w) m = Mul (h, k) y = Add (m, x)",
    "Layer": "y = MatMul (x, w)",
}


def _make(function: str) -> Model:
    """Return a row of calls of a function, as an exporter names those in modules of a list."""
    calls = "\n".join(
        f"h{number + 1} = local.{function} (h{number}, w{number})" for number in range(_LAYERS)
    )
    weights = ", ".join(
        f"float[2, 2] w{number} = {{{number}, 2, 3, 4}}" for number in range(_LAYERS)
    )
    text = f"""
        <ir_version: 9, opset_import: ["" : 18, "local" : 1]>
        agraph (float[4, 2] h0) => (float[4, 2] h{_LAYERS}) <{weights}>
        {{
            {calls}
        }}
        <domain: "local", opset_import: ["" : 18]>
        {function} (x, w) => (y) {{ {_BODY[function]} }}
    """
    proto = onnx.parser.parse_model(text)
    for number, node in enumerate(proto.graph.node):
        node.name = f"/model/layers.{number}/{function}"
    return load(proto)


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def test_one_of_many_calls_is_open(engine: LayoutEngine) -> None:
    picture = draw(_make("Mixer"), engine)
    opened = [box.item for box in picture.scene.boxes if box.item.is_open]
    assert [len(item.repeat.children) for item in opened if item.repeat] == [_LAYERS]
    assert any(item.element.op_type == "Mixer" for item in opened if not item.repeat)


def test_calls_of_one_layer_stay_closed(engine: LayoutEngine) -> None:
    assert not list_open(draw(_make("Layer"), engine))


def test_only_a_call_that_shows_something_is_a_block() -> None:
    calls = {}
    for function in _BODY:
        nodes = _make(function).graph.nodes
        calls[function] = next(node for node in nodes if node.op_type == function)
    assert [*map(is_called_block, calls.values())] == [True, False]
    assert find_only_block([calls["Mixer"]]) is calls["Mixer"]
    assert find_only_block([calls["Layer"]]) is None
    assert find_only_block([calls["Mixer"]] * 2) is None
