"""The legend of a page says of a picture what a kernel's legend does."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from netloupe import Paint
from netloupe.explorer.layout import Composer
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.legend import list_legend
from netloupe.explorer.render.paint import check_paints
from netloupe.explorer.render.svg import draw_sample
from netloupe.explorer.standalone.levels import write_levels
from netloupe.explorer.view import View, expand_view
from tests.corpus import corpus_file
from tests.standalone.composing import (
    Script,
    list_legends,
    open_at_random,
    open_script,
    write_state,
)


@pytest.fixture(scope="module")
def composer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Script]:
    with open_script(tmp_path_factory.mktemp("composer"), "compose_states") as script:
        yield script


@pytest.mark.parametrize(
    "name",
    [
        "exported/gpt2.legacy.onnx",
        "exported/unet.dynamo.onnx",
        "exported/condloop.dynamo.onnx",
        "quantized/bert.qdq.onnx",
        "features/control_flow_3deep.onnx",
    ],
)
def test_it_explains_what_occurs(composer: Script, name: str) -> None:
    model = load(corpus_file(name))
    labels, layout = Labels(), Composer()
    views, chance = [], random.Random(name)
    for count in (0, 2, 6, 30):
        views.append(View(model))
        open_at_random(views[-1], chance, count)
    shown = views[-1].root.children
    edge = next(value for node in model.graph.nodes for value in node.outputs if value)
    paints = check_paints(
        {
            shown[len(shown) // 2].path: Paint("warning", "odd"),
            shown[-1].path: Paint("scale-3", "much"),
            edge.path: Paint("note", "here"),
        }
    )
    told = {path: (paint.tone, paint.text) for path, paint in paints.items()}
    block = write_levels(View(model), labels, "TB")
    legends = list_legends(composer, block, [write_state(view.root) for view in views], told)
    for view, legend in zip(views, legends, strict=True):
        scene = layout.compose(view, labels, "TB")
        entries = list_legend(scene, labels.draw, paints)
        assert legend == [
            {"text": entry.text, "svg": draw_sample(entry, "dark")} for entry in entries
        ]


def test_it_explains_what_is_painted_in_the_body_of_an_open_call(composer: Script) -> None:
    model = load(corpus_file("features/functions_nested_transformer.onnx"))
    painted = model.functions[0].nodes[0].path
    view, labels = View(model), Labels()
    expand_view(view, "all")
    block = write_levels(View(model), labels, "TB")
    states = [write_state(View(model).root), write_state(view.root)]
    closed, opened = list_legends(composer, block, states, {painted: ("warning", "odd")})
    scene = Composer().compose(view, labels)
    entries = list_legend(scene, labels.draw, {painted: Paint("warning", "odd")})
    assert "warning" in [entry.key for entry in entries]
    assert [entry.text for entry in entries] == [entry["text"] for entry in opened]
    assert len(closed) < len(opened)
