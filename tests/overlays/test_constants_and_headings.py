"""Numbers of nodes that have no box, and columns by the headings of their file."""

from __future__ import annotations

from pathlib import Path

import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.overlays import overlay
from tests.onnx_text import load_text


@pytest.fixture
def model() -> Model:
    layers = " ".join(
        f"""
        ["/enc/layers.{n}/c"] c{n} = Constant <value = float[2] {{1, 2}}> ()
        ["/enc/layers.{n}/add"] a{n} = Add ({f"r{n - 1}" if n else "x"}, c{n})
        ["/enc/layers.{n}/relu"] r{n} = Relu (a{n})
        """
        for n in range(3)
    )
    return load_text(f"main (float[2] x) => (float[2] y) {{ {layers} y = Neg (r2) }}")


def test_sums_of_groups_have_the_constants_that_the_whole_has(model: Model) -> None:
    times = {node.path: float(2**place) for place, node in enumerate(model.graph.nodes)}
    laid = overlay(model, times, aggregation="sum")
    constants = [node for node in model.graph.nodes if node.op_type == "Constant"]
    assert len(constants) == 3
    assert laid.measure("main").value == laid.whole == sum(times.values())
    assert [laid.measure(f"main/enc/layers.{n}/").value for n in range(3)][:2] == [7, 56]


@pytest.mark.parametrize("heading", ["latency_ms", "latency", "latency (ms)"])
def test_a_column_is_found_by_the_heading_of_its_file(
    model: Model, heading: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    rows = "".join(f"{node.path},{place},7\n" for place, node in enumerate(model.graph.nodes))
    path.write_text(f"node,latency_ms,memory_mb\n{rows}")
    laid = overlay(model, f"{path}:{heading}")
    assert laid.column.unit == "ms"
    assert laid.measure(model.graph.nodes[4].path).value == 4
