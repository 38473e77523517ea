"""Pages compose what a kernel would show: the same boxes, edges and ports, with nothing astray."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from netloupe.explorer.layout import Composer, Scene
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.tables import box_flags, row_texts
from netloupe.explorer.standalone.levels import write_levels
from netloupe.explorer.view import View, ViewOptions
from tests.corpus import shared_model
from tests.scene_check import find_geometry_faults
from tests.standalone.composing import (
    Script,
    compose_states,
    open_at_random,
    open_script,
    write_state,
)

MODELS = [
    "exported/gpt2.legacy.onnx",
    "exported/unet.dynamo.onnx",
    "exported/t5.legacy.onnx",
    "exported/condloop.dynamo.onnx",
    "exported/lstm.legacy-functions.onnx",
    "exported/detr.legacy.onnx",
    "exported/clip.dynamo.onnx",
    "exported/mobilenetv3.legacy.onnx",
    "exported/distilgpt2_merged.legacy.onnx",
    "quantized/bert.qdq.onnx",
    "features/control_flow_3deep.onnx",
    "features/functions_nested_transformer.onnx",
]
#: of the first view's places, which pages know to a quarter of a pixel, in boxes inside boxes
_ROUNDING = 0.6


@pytest.fixture(scope="module")
def composer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Script]:
    with open_script(tmp_path_factory.mktemp("composer"), "compose_states") as script:
        yield script


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("name", MODELS)
def test_random_states_are_as_a_kernel_shows_them(
    composer: Script, name: str, direction: str
) -> None:
    model = shared_model(name)
    options = ViewOptions.parse({"direction": direction})
    labels = Labels(direction=options.direction)
    layout = Composer()
    first, _ = make_view(model, options)
    shown = layout.compose(first, labels, options.direction)
    block = write_levels(View(model), labels, options.direction, layout.recall(first))
    chance = random.Random(name)
    views = [first]
    for count in (0, 1, 2, 4, 8, 20):
        views.append(View(model))
        open_at_random(views[-1], chance, count)
    states = [write_state(view.root) for view in views]
    scenes = compose_states(composer, block, direction, states)
    for view, scene in zip(views, scenes, strict=True):
        kernel = layout.compose(view, labels, options.direction)
        assert list_boxes(scene) == list_boxes(kernel)
        assert list_edges(scene) == list_edges(kernel)
        assert list_ports(scene) == list_ports(kernel)
        faults = [line for line in find_geometry_faults(scene) if not line.startswith("nothing ")]
        assert faults == []
    places = {box.item.key: box[1:5] for box in shown.boxes}
    for box in scenes[0].boxes:
        assert box[1:5] == pytest.approx(places[box.item.key], abs=_ROUNDING)


def list_boxes(scene: Scene) -> list[tuple[Any, ...]]:
    """Return what a scene says of its boxes, but for their places."""
    found = []
    for box in scene.boxes:
        item: Any = box.item
        is_read = hasattr(item, "flags")
        flags = item.flags if is_read else box_flags(item)
        rows = item.rows if is_read else tuple(row_texts(item))
        parent = scene.boxes[box.parent].item.key if box.parent >= 0 else ""
        found.append((item.key, item.path, flags, rows, parent))
    return sorted(found)


def list_edges(scene: Scene) -> list[tuple[Any, ...]]:
    """Return what a scene says of its edges, but for their ways and labels."""
    return sorted(
        (
            edge.path,
            *(scene.boxes[end].item.key if end >= 0 else "" for end in (edge.source, edge.target)),
            edge.kind,
            edge.arrow,
            tuple(edge.bundle),
        )
        for edge in scene.edges
    )


def list_ports(scene: Scene) -> list[tuple[str, str]]:
    """Return which values pass which walls."""
    return sorted((port.path, scene.boxes[port.box].item.key) for port in scene.ports)
