"""A scene is a product: nothing in it changes, and it holds nothing of what made it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest

from netloupe.explorer.layout import Composer, LayoutEngine, Scene, SceneLevel
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import View
from tests.layout.test_geometry import chain_of_layers


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


@pytest.fixture
def view() -> View:
    view = View(chain_of_layers(4))
    view.unroll("main/layer0-3/")
    return view


def list_parts(scene: Scene) -> list[Any]:
    assert scene.root is not None
    layers: list[SceneLevel] = [scene.root]
    for layer in layers:
        layers += layer.inner.values()
    parts: list[Any] = [scene, *layers, *(layer.inside for layer in layers)]
    return [*parts, *layers[0].edges[:1], *scene.boxes[:1], *scene.edges[:1]]


def test_nothing_in_a_scene_can_be_set(engine: LayoutEngine, view: View) -> None:
    for part in list_parts(Composer(engine).compose(view, Labels())):
        names = getattr(part, "_fields", None) or [field.name for field in fields(part)]
        for name in names:
            with pytest.raises((FrozenInstanceError, AttributeError)):
                setattr(part, name, getattr(part, name))


def test_places_cannot_be_written(engine: LayoutEngine, view: View) -> None:
    root = Composer(engine).compose(view, Labels()).root
    assert root is not None
    for places in (root.inside.boxes, root.inside.ports, root.inside.curves.points, root.places):
        with pytest.raises(ValueError, match="read-only"):
            places[...] = 0.0


def test_a_scene_stays_as_it_was_when_the_next_is_made(engine: LayoutEngine, view: View) -> None:
    composer, labels = Composer(engine), Labels()
    before = composer.compose(view, labels)
    boxes, root = before.boxes, before.root
    assert root is not None
    curves = root.inside.curves.points.copy()
    view.open("main/layer1/")
    after = composer.compose(view, labels)
    assert len(after.boxes) > len(boxes)
    assert before.boxes is boxes
    assert before.root is root
    np.testing.assert_array_equal(root.inside.curves.points, curves)


def test_another_notice_makes_another_scene(engine: LayoutEngine, view: View) -> None:
    scene = Composer(engine).compose(view, Labels())
    said = replace(scene, notices=("It is large.",))
    assert (scene.notices, said.notices) == ((), ("It is large.",))
    assert said.boxes == scene.boxes
