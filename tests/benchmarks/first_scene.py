"""From file to first Scene: netloupe beside ``onnx.load`` and plain ``dot`` on the flat graph.

Run ``python tests/benchmarks/first_scene.py [MODEL …]``; without arguments it takes models
that the ``onnx`` package ships, the demo models, and those of ../shared/corpus where that
folder exists. All are measured in one run; imports and the start of the layout worker are
left out. ``dot`` gets its default settings, 60 seconds and 8 GB.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import onnx

from netloupe.explorer.errors import LayoutError
from netloupe.explorer.layout import Composer, LayoutEngine, shared_engine
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import ViewOptions

ROOT = Path(__file__).resolve().parents[2]
DOT_SECONDS = 60.0
#: netloupe gives Graphviz far less
DOT_MEMORY = 8 * 2**30
REPEATS = 5


def default_models() -> list[Path]:
    """Return the models that are measured when none is named."""
    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    corpus = ROOT.parent / "shared" / "corpus" / "exported"
    names = ("light_resnet50.onnx", "light_inception_v2.onnx", "light_densenet121.onnx")
    models = [light / name for name in names]
    models += sorted((ROOT / "demo_notebooks" / "models").glob("*.onnx"))
    models += [corpus / f"{name}.onnx" for name in ("bert.dynamo", "gpt2.legacy", "unet.dynamo")]
    return [model for model in models if model.exists()]


def median_seconds(action: Callable[[], object]) -> float:
    """Return the median wall-clock time of an action."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def flat_dot(model: onnx.ModelProto) -> str:
    """Return the main graph in the DOT language, a box for each node."""
    producers = {name: i for i, node in enumerate(model.graph.node) for name in node.output}
    lines = ["digraph {", "node [shape=box]"]
    edges = 0
    for index, node in enumerate(model.graph.node):
        lines.append(f'n{index} [label="{node.op_type}"]')
        for name in node.input:
            if name in producers:
                lines.append(f'n{producers[name]} -> n{index} [id="{edges}"]')
                edges += 1
    return "\n".join([*lines, "}"])


def dot_seconds(engine: LayoutEngine, model: onnx.ModelProto) -> float | None:
    """Return how long plain ``dot`` takes; None where it is not done in time."""
    dot = flat_dot(model)
    engine.start()
    start = time.perf_counter()
    try:
        engine.place(dot, DOT_SECONDS)
    except LayoutError:
        return None
    return time.perf_counter() - start


def first_scene(path: Path) -> int:
    """Read a model, lay out its first view, and return the number of boxes."""
    picture = make_picture(load(path), ViewOptions(), composer=Composer())
    return len(picture.scene.boxes)


def main(arguments: list[str]) -> int:
    """Print one line for each model."""
    models = [Path(argument) for argument in arguments] or default_models()
    shared_engine().start()
    first_scene(models[0])
    plain = LayoutEngine(most_memory=DOT_MEMORY)
    print(
        f"{'model':28} {'nodes':>6} {'boxes':>6} {'netloupe':>10} {'onnx.load':>10} "
        f"{'ratio':>6} {'plain dot':>10} {'ratio':>7}"
    )
    for path in models:
        seconds = median_seconds(lambda path=path: first_scene(path))  # type: ignore[misc]
        loading = median_seconds(lambda path=path: onnx.load(path))  # type: ignore[misc]
        model = onnx.load(path)
        flat = dot_seconds(plain, model)
        flat_text = f"{flat * 1e3:8.1f}ms" if flat is not None else f"> {DOT_SECONDS:.0f} s"
        flat_ratio = f"{flat / seconds:6.1f}x" if flat is not None else "-"
        print(
            f"{path.name:28} {len(model.graph.node):6} {first_scene(path):6} "
            f"{seconds * 1e3:8.1f}ms {loading * 1e3:8.1f}ms {seconds / loading:5.1f}x "
            f"{flat_text:>10} {flat_ratio:>7}"
        )
    plain.stop()
    print(
        "\nratio: netloupe / onnx.load (lower is better), plain dot / netloupe (higher is better)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
