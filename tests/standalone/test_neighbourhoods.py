"""Pages show the same nodes and edges around an element as a kernel does, with nothing astray."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from netloupe.explorer.layout import Scene
from netloupe.explorer.model import Model
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.standalone.levels import write_levels
from netloupe.explorer.standalone.link_block import write_links
from netloupe.explorer.view import Item, View, ViewOptions, expand_view
from tests.corpus import shared_model
from tests.scene_check import find_geometry_faults
from tests.standalone.composing import Script, open_script, read_scene
from tests.wire_reader import SceneReader

MODELS = [
    "exported/gpt2.legacy.onnx",
    "exported/unet.dynamo.onnx",
    "exported/t5.legacy.onnx",
    "exported/condloop.dynamo.onnx",
    "exported/resnet50.legacy.onnx",
    "exported/detr.legacy.onnx",
    "quantized/bert.qdq.onnx",
    "features/functions_nested_transformer.onnx",
]


@pytest.fixture(scope="module")
def composer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Script]:
    with open_script(tmp_path_factory.mktemp("composer"), "compose_neighbourhoods") as script:
        yield script


class Page:
    """The blocks of a page's levels and links."""

    def __init__(self, model: Model, direction: str) -> None:
        self.model = model
        self._direction = direction
        numbers: dict[str, int] = {}

        def note(number: int, path: str, _around: Item, _depth: int) -> None:
            numbers[path] = number

        view = View(model)
        self.borders = view.borders(model.graph)
        labels = Labels(direction=direction)  # type: ignore[arg-type]
        self._block = write_levels(view, labels, direction, look=note)  # type: ignore[arg-type]
        self._links = write_links(view, numbers)
        self.paths = [*numbers]

    def compose(
        self, script: Script, asked: list[tuple[str, int]], *, opened: bool
    ) -> Iterator[tuple[Scene, list[str]]]:
        """Yield neighbourhoods, and what in them is outside."""
        blocks = {"block": self._block, "links": self._links}
        told: dict[str, Any] = {n: base64.b64encode(b).decode() for n, b in blocks.items()}
        told |= {"before": [], "direction": self._direction, "asked": asked, "opened": opened}
        for line in script.ask(told):
            header, buffers, outside = json.loads(line)
            reader = SceneReader()
            reader.read(header, [base64.b64decode(buffer) for buffer in buffers])
            yield read_scene(reader), outside


@cache
def make_page(name: str, direction: str) -> Page:
    """Return the page of a model, which all tests share."""
    return Page(shared_model(name), direction)


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    """Keep nothing when the tests of this module are through."""
    yield
    make_page.cache_clear()


def choose(page: Page, chance: random.Random, count: int) -> list[tuple[str, int]]:
    """Return some nodes, groups and values of a model that a kernel can show, and hops."""
    borders = page.borders
    tree = borders.tree
    nodes = [node for node in page.model.graph.nodes if tree.group_of(node) is not None]
    nodes = [node for node in nodes if borders.hidden_group(node) is None]
    elements: list[Any] = chance.sample(nodes, min(count, len(nodes)))
    elements += [v for node in elements[: count // 3] for v in node.outputs if v is not None]
    groups = [group for group in tree.groups.values() if group.parent is not None]
    groups = [group for group in groups if group.kind != "shape"]
    elements += chance.sample(groups, min(count // 3, len(groups)))
    return [(element.path, chance.randint(1, 4)) for element in elements]


Taken = set[tuple[str, str]]


def list_kernel(view: View, is_hidden: set[str]) -> tuple[set[str], Taken]:
    """Return the nodes of a kernel's view, and with each the values that it takes from edges.

    What a page never draws, the arithmetic on shapes, is left out.
    """
    graph = view.model.graph
    items = [i for i in view.items.values() if i.kind == "node" and i.instance.graph is graph]
    items = [item for item in items if item.path not in is_hidden]
    taken = set()
    for item in items:
        for value in item.inputs:
            if value.producer is None or value.producer.path not in is_hidden:
                taken.add((item.path, value.path))
    return {item.path for item in items}, taken


def list_ours(scene: Scene, outside: set[str], nodes: set[str]) -> tuple[set[str], Taken]:
    """Return the nodes of a page's picture that are not outside, and what they take from edges."""
    paths = [box.item.path for box in scene.boxes]
    shown = {path for path in paths if path in nodes and path not in outside}
    taken = set()
    for edge in scene.edges:
        is_out = edge.source >= 0 and scene.boxes[edge.source].parent == edge.target
        if edge.target >= 0 and paths[edge.target] in shown and not is_out:
            taken |= {(paths[edge.target], path) for path in edge.bundle or (edge.path,)}
    return shown, taken


def list_hidden(page: Page) -> set[str]:
    """Return the nodes that no picture draws while the arithmetic on shapes is folded."""
    borders = page.borders
    return {
        node.path
        for node in page.model.graph.nodes
        if borders.tree.group_of(node) is None or borders.hidden_group(node) is not None
    }


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("name", MODELS)
def test_a_neighbourhood_is_that_of_a_kernel(composer: Script, name: str, direction: str) -> None:
    page = make_page(name, direction)
    model = page.model
    known = set(page.paths)
    nodes = {node.path for node in model.graph.nodes}
    hidden = list_hidden(page)
    asked = [each for each in choose(page, random.Random(name), 9) if each[0] in known]
    assert len(asked) > 4
    for (path, hops), (scene, outside) in zip(
        asked, page.compose(composer, asked, opened=True), strict=True
    ):
        options = ViewOptions.parse({"focus": path, "hops": hops, "expand": "none"})
        view, _ = make_view(model, options)
        expand_view(view, "all")
        assert list_ours(scene, {*outside}, nodes) == list_kernel(view, hidden), (path, hops)
        sources = {scene.boxes[edge.source].item.path for edge in scene.edges if edge.source >= 0}
        assert sources >= {*outside}  # what is outside is shown for what it gives
        assert not any(box.item.is_open and box.item.path in outside for box in scene.boxes)


@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("name", MODELS)
def test_nothing_is_astray_in_a_neighbourhood(composer: Script, name: str, direction: str) -> None:
    page = make_page(name, direction)
    asked = [
        each for each in choose(page, random.Random(f"{name} too"), 12) if each[0] in page.paths
    ]
    for opened in (False, True):
        for scene, _ in page.compose(composer, asked, opened=opened):
            faults = [f for f in find_geometry_faults(scene) if not f.startswith("nothing ")]
            assert faults == []
