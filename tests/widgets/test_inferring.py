"""Types that come in the background while a model is explored."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import ipywidgets
import onnx
import onnx.parser
import pytest

import netloupe
from netloupe.explorer.describe import describe_value, format_text
from netloupe.explorer.errors import InferenceError
from netloupe.explorer.inference import infer_shapes as infer
from netloupe.explorer.inference import lacks_types
from netloupe.explorer.model import Model
from netloupe.explorer.model.inference import Inference
from netloupe.explorer.page.description_html import write_description
from netloupe.explorer.progress import Cancelled, step
from netloupe.explorer.session import inferring
from netloupe.widgets import Explorer
from tests.widgets.test_overview import PATIENCE, Gate, ask_first_scene

TEXT = """<ir_version: 8, opset_import: ["": 17]>
g (float[N, 2] x) => (y) <float[3, 2] w = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}> {
    [relu] r = Relu (x)
    [gemm] y = Gemm <transB = 1> (r, w)
}"""


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Shapes are inferred when the gate is open."""
    gate = Gate()

    def infer_at_gate(model: Model) -> Inference:
        gate.reached.set()
        while not gate.wait(0.01):
            step()
        return infer(model)

    monkeypatch.setattr(inferring, "lacks_types", lacks_types)
    monkeypatch.setattr(inferring, "infer_shapes", infer_at_gate)
    yield gate
    gate.set()


@pytest.fixture
def explorer() -> Iterator[Explorer]:
    explorer = netloupe.explore(onnx.parser.parse_model(TEXT))
    yield explorer
    explorer.close()


def shown(explorer: Explorer) -> str:
    description = explorer.inspector.description
    assert description is not None
    return write_description(description)


def wait_started(explorer: Explorer) -> None:
    """Wait until the first request is answered."""
    done = threading.Event()
    explorer._requests.pool.submit(done.set)
    assert done.wait(PATIENCE)


def test_types_come_in_italics_once_the_first_picture_is_there(
    gate: Gate, explorer: Explorer
) -> None:
    explorer.select("%y")
    assert "type unknown" in shown(explorer)
    assert explorer._requests.scene.result(PATIENCE)
    assert not gate.reached.is_set()  # nobody has asked for the picture yet
    ask_first_scene(explorer)
    assert gate.reached.wait(PATIENCE)
    explorer.select("%r")
    assert "shapes are being inferred" in shown(explorer)
    gate.set()
    assert explorer._inferring.wait(PATIENCE)
    assert "<i>float32[N, 2]</i>" in shown(explorer)
    assert "being inferred" not in shown(explorer)
    explorer.select("gemm")
    assert "<i>float32[N, 3]</i>" in shown(explorer)


def test_the_page_of_the_model_tells_them_too(gate: Gate, explorer: Explorer) -> None:
    ask_first_scene(explorer)
    assert gate.reached.wait(PATIENCE)
    gate.set()
    assert explorer._inferring.wait(PATIENCE)
    assert "<i>float32[N, 3]</i>, inferred" in shown(explorer)


def test_no_widget_is_made_and_the_tensor_that_is_shown_stays(
    gate: Gate, explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.select("gemm")
    ask_first_scene(explorer)
    assert gate.reached.wait(PATIENCE)
    explorer.select("%w")
    panel, made = explorer.inspector._panel, []
    monkeypatch.setattr(ipywidgets.Widget, "open", lambda self: made.append(self))
    for name in ("expect", "read"):
        monkeypatch.setattr(panel, name, lambda *given: made.append(given))
    gate.set()
    assert explorer._inferring.wait(PATIENCE)
    assert explorer.model.value("y").inferred_type is not None
    assert explorer.inspector._panel is panel
    assert made == []


def test_the_picture_stays_as_it_is(
    gate: Gate, explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_first_scene(explorer)
    assert gate.reached.wait(PATIENCE)
    before = explorer._session.picture(explorer._requests.scene.result(PATIENCE))
    sent: list[object] = []
    monkeypatch.setattr(explorer.canvas, "push_scene", lambda *given, **more: sent.append(given))
    gate.set()
    assert explorer._inferring.wait(PATIENCE)
    assert explorer._requests.scene.result(PATIENCE) is before.scene
    assert sent == []


def test_closing_the_explorer_ends_it(gate: Gate, explorer: Explorer) -> None:
    ask_first_scene(explorer)
    assert gate.reached.wait(PATIENCE)
    explorer.close()
    assert explorer._inferring.wait(PATIENCE)
    assert explorer.model.value("y").inferred_type is None
    assert "being inferred" not in format_text(describe_value(explorer.model.value("y")))


def test_without_onnx_the_type_says_how_to_get_it(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(model: Model) -> Inference:
        raise InferenceError(f"{model.source}: onnx is not installed. Install it.")

    monkeypatch.setattr(inferring, "lacks_types", lacks_types)
    monkeypatch.setattr(inferring, "infer_shapes", refuse)
    explorer.select("%y")
    ask_first_scene(explorer)
    wait_started(explorer)
    assert explorer._inferring.wait(PATIENCE)
    assert "the file states none. Onnx is not installed. Install it." in shown(explorer)
    assert "nl-inspector-error" not in shown(explorer)


def test_a_model_that_states_all_types_starts_nothing(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TEXT.replace("=> (y)", "=> (float[N, 3] y)").replace(
        "<float[3", "<float[N, 2] r, float[3"
    )
    explorer = netloupe.explore(onnx.parser.parse_model(text))
    ask_first_scene(explorer)
    wait_started(explorer)
    assert explorer._inferring.wait(PATIENCE)
    assert not gate.reached.is_set()
    explorer.close()


def test_what_ends_it_is_no_error(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(model: Model) -> Inference:
        raise Cancelled

    monkeypatch.setattr(inferring, "lacks_types", lacks_types)
    monkeypatch.setattr(inferring, "infer_shapes", end)
    ask_first_scene(explorer)
    wait_started(explorer)
    assert explorer._inferring.wait(PATIENCE)
    assert "failed" not in shown(explorer)
