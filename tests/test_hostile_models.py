"""Models that hold very many of one thing: nothing asked of them takes the square of the time.

``tests/benchmarks/hostile_models.py`` measures them at their full size.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from netloupe.explorer.cli import main
from tests import hostile_models

#: four times the model takes at most so many times the time; the square would be 16
MOST_GROWTH = 9.0
COMMANDS = ("info", "inspect", "svg")
#: how many of its thing the smaller model of each kind holds, and what is inspected
SIZES: dict[Callable[[int], bytes], tuple[int, str]] = {
    hostile_models.graph_inputs: (1_500, "main/join"),
    hostile_models.undefined_inputs: (4_000, "main/join"),
    hostile_models.equal_inputs: (20_000, "main/join"),
    hostile_models.outputs: (1_500, "main/join"),
    hostile_models.empty_nodes: (3_000, "main"),
    hostile_models.functions: (1_500, "main/join"),
    hostile_models.graph_attribute: (800, "main/join"),
    hostile_models.attributes: (1_500, "main/join"),
    hostile_models.equal_attributes: (1_000, "main/join"),
    hostile_models.metadata: (4_000, "main/join"),
    hostile_models.initializers: (2_500, "main/join"),
    hostile_models.opset_imports: (5_000, "main/join"),
    hostile_models.op_types: (1_000, "main"),
    hostile_models.annotations: (2_000, "main"),
    hostile_models.consumers: (2_000, "main/%x"),
    hostile_models.redefined_values: (1_500, "main"),
    hostile_models.captures: (1_500, "main/branch"),
    hostile_models.long_names: (20_000, "main"),
}


def run(command: str, model: Path, name: str) -> None:
    if command == "svg":
        arguments = ["render", str(model), "-o", str(model.with_suffix(".svg"))]
    else:
        arguments = [command, str(model), "--json", *([name] if command == "inspect" else [])]
    assert main(arguments) == 0


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("make", SIZES, ids=lambda make: make.__name__)
def test_time_grows_with_the_model(
    make: Callable[[int], bytes],
    command: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    count, name = SIZES[make]
    warm = tmp_path / "warm.onnx"
    warm.write_bytes(make(20))
    run(command, warm, name)  # everything is imported now
    times, lengths = [], []
    for size in (count, 4 * count):
        model = tmp_path / f"model_{size}.onnx"
        model.write_bytes(make(size))
        taken = []
        for _ in range(2):
            capsys.readouterr()
            started = time.process_time()
            run(command, model, name)
            taken.append(time.process_time() - started)
        times.append(min(taken))
        svg = model.with_suffix(".svg")
        lengths.append(
            len(capsys.readouterr().out) + (len(svg.read_bytes()) if svg.exists() else 0)
        )
    assert times[1] < MOST_GROWTH * times[0] + 0.05
    assert lengths[1] < 2_000_000
