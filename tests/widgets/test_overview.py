"""What the inspector says of a model, small and large, while nothing is selected."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import ipywidgets
import onnx
import pytest
from onnx import TensorProto, helper

import netloupe
from netloupe.explorer.describe import Description, describe_model, describe_outline
from netloupe.explorer.model import Model, Tensor
from netloupe.explorer.progress import step
from netloupe.explorer.readers.load import load
from netloupe.explorer.session import overview
from netloupe.widgets import Explorer
from tests.test_progress import make_model

PATIENCE = 30.0


def make_weights() -> onnx.ModelProto:
    """Return a chain of additions, each with a weight of its own."""
    nodes = [
        helper.make_node("Add", [f"v{k}", f"w{k}"], [f"v{k + 1}"], f"add{k}") for k in range(20)
    ]
    weights = [helper.make_tensor(f"w{k}", TensorProto.FLOAT, [3], [k, 1, 2]) for k in range(20)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("v0", "v20")]
    return helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:], weights))


def ask_first_scene(explorer: Explorer) -> None:
    """Ask as the browser does when it shows the canvas, and tell that it is painted."""
    explorer._requests.receive({"id": "1", "type": "scene"}, [])
    explorer._requests.receive({"id": "2", "type": "painted"}, [])


def titles(explorer: Explorer) -> list[str]:
    return [section.title for section in explorer.inspector.description.sections]


class Gate(threading.Event):
    """Something that is waited at; tells that somebody does."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Every model counts as large, and is read in full only when the gate is open."""
    gate = Gate()

    def describe(model: Model) -> Description:
        gate.reached.set()
        assert gate.wait(PATIENCE)
        step()
        return describe_model(model)

    monkeypatch.setattr(overview, "_MOST_AT_ONCE", 0)
    monkeypatch.setattr(overview, "describe_model", describe)
    yield gate
    gate.set()


def test_a_small_model_is_described_once_its_picture_is_painted() -> None:
    explorer = netloupe.explore(make_model())
    assert explorer.inspector.description is None
    ask_first_scene(explorer)
    assert explorer._details.overview.wait(PATIENCE)
    assert explorer.inspector.description == describe_model(explorer.model)
    explorer.close()


def test_a_large_one_first_in_outline(gate: Gate) -> None:
    explorer = netloupe.explore(make_model())
    ask_first_scene(explorer)
    assert gate.reached.wait(PATIENCE)
    assert titles(explorer) == ["Model", "Contents", "Operator sets", "Inputs", "Outputs", "More"]
    gate.set()
    assert explorer._details.overview.wait(PATIENCE)
    assert explorer.inspector.description == describe_model(explorer.model)
    explorer.close()


def test_what_is_selected_meanwhile_stays(gate: Gate) -> None:
    explorer = netloupe.explore(make_model(), expand="all")
    ask_first_scene(explorer)
    node = explorer.model.graph.nodes[0].path
    explorer.select(node)
    gate.set()
    assert explorer._details.overview.wait(PATIENCE)
    assert explorer.inspector.description.path == node
    explorer.select(None)
    assert explorer.inspector.description == describe_model(explorer.model)
    explorer.close()


def test_until_the_browser_asks_nothing_is_read_and_no_widget_opened(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a page hears before it has read all widgets' states, it waits two seconds for."""
    gate.set()
    explorer = netloupe.explore(make_weights())
    opened: list[ipywidgets.Widget] = []
    real = ipywidgets.Widget.open

    def note(widget: ipywidgets.Widget) -> None:
        if widget.comm is None:
            opened.append(widget)
        real(widget)

    monkeypatch.setattr(ipywidgets.Widget, "open", note)
    explorer._requests.scene.result(timeout=PATIENCE)
    explorer.select(explorer.model.graph.nodes[0].path)
    explorer.select("main/%w7")
    explorer._requests.pool.submit(lambda: None).result(timeout=PATIENCE)
    assert opened == []
    assert not gate.reached.is_set()
    ask_first_scene(explorer)
    assert gate.reached.wait(PATIENCE)
    assert explorer._details.overview.wait(PATIENCE)
    explorer._requests.pool.submit(lambda: None).result(timeout=PATIENCE)
    assert opened  # the panel of the weight that is selected
    ask_first_scene(explorer)  # another page: nothing is read or opened twice
    explorer._requests.pool.submit(lambda: None).result(timeout=PATIENCE)
    assert explorer._details.overview._reading.wait(PATIENCE)
    count = len(opened)
    for number in range(20):
        explorer.select(f"main/%w{number}")
        explorer.select(f"main/add{number}")
    assert len(opened) == count
    explorer.close()


def test_nothing_is_read_further_for_an_explorer_that_is_closed(gate: Gate) -> None:
    explorer = netloupe.explore(make_model())
    ask_first_scene(explorer)
    assert gate.reached.wait(PATIENCE)
    explorer.close()
    gate.set()
    assert explorer._details.overview._reading.wait(PATIENCE)
    assert not explorer._details.overview.wait(0)


def test_the_outline_reads_no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    weight = helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0])
    graph = helper.make_graph([helper.make_node("Relu", ["w"], ["y"])], "g", [], [], [weight])
    model = load(helper.make_model(graph))
    monkeypatch.setattr(Tensor, "stored_bytes", property(lambda _: 1 / 0))
    assert describe_outline(model).subtitle == "ONNX model, 1 node"
    with pytest.raises(ZeroDivisionError):
        describe_model(model)
