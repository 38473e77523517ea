"""Pages of what Graphviz does not finish: waited for once, not for each direction and pane."""

from __future__ import annotations

from typing import Any

import pytest

import netloupe
from netloupe.explorer.layout import LayoutEngine
from netloupe.explorer.panes.page import draw_panes
from netloupe.explorer.standalone.page import draw_page
from netloupe.proto import onnx_pb2


def make_cycle(count: int) -> bytes:
    """Return nodes in a ring, of which each takes what the one before it gives."""
    model = onnx_pb2.ModelProto(ir_version=10)
    model.opset_import.add(domain="", version=21)
    for number in range(count):
        inputs = [f"v{(number - 1) % count}", f"v{(number - 7) % count}"]
        model.graph.node.add(op_type="Mul", name=f"n{number}", input=inputs, output=[f"v{number}"])
    return model.SerializeToString()


@pytest.mark.parametrize("panes", [1, 2])
def test_a_layout_that_took_too_long_is_not_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, panes: int
) -> None:
    waits: list[int] = []
    wait = LayoutEngine._wait

    def stop(engine: LayoutEngine, process: Any, number: int, *_: object) -> dict[str, Any]:
        waits.append(number)
        return wait(engine, process, number, 0.0, None)

    monkeypatch.setattr(LayoutEngine, "_wait", stop)
    model = netloupe.load(make_cycle(40))
    page = draw_page(model) if panes == 1 else draw_panes(netloupe.diff(model, model))
    assert len(waits) == 1
    assert b"Shown with a simpler layout: the layout took too long and was stopped." in page
