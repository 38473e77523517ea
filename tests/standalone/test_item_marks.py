"""Pages mark items as a kernel does, also after notes were written and removed in them."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.model import Graph, Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.paint import encode_paints
from netloupe.explorer.review import LEVELS, ReviewItem, mark_items, paint_places, place_items
from netloupe.explorer.standalone.levels import write_levels
from netloupe.explorer.standalone.review_block import encode_places
from netloupe.explorer.view import View
from tests.corpus import corpus_file
from tests.standalone.composing import Script, open_script
from tests.standalone.test_searching import write_page

_STYLES = [{"name": name, "sign": style.sign, "tone": style.tone} for name, style in LEVELS.items()]
_RANKS = {name: rank for rank, name in enumerate(LEVELS)}


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Script]:
    with open_script(tmp_path_factory.mktemp("marks"), "mark_items") as script:
        yield script


def make_items(model: Model, chance: random.Random) -> list[ReviewItem]:
    """Return items of every level on nodes, values and weights of all graphs; some accepted."""
    paths = [node.path for graph in model.graphs for node in graph.nodes]
    paths += [value.path for graph in model.graphs for value in graph.values.values()]
    return [
        ReviewItem(
            *("finding", level, "title", "", "NL-X"),
            tuple(chance.sample(paths, min(len(paths), chance.randint(1, 9)))),
            accepted=chance.choice(("", "", "known")),
        )
        for level in [*LEVELS] * 4
    ]


def make_note(*paths: str) -> ReviewItem:
    return ReviewItem("note", "noted", "title", "", "note", paths)


class Marking:
    """The picture of a model, by which a page and a kernel mark items."""

    def __init__(self, script: Script, model: Model) -> None:
        self.script, self.model = script, model
        self.view = View(model)

    def find_tree(self, graph: Graph) -> GroupTree:
        return self.view.borders(graph).tree

    def ask(self, *asked: dict[str, Any]) -> list[dict[str, Any]]:
        levels, search = write_page(View(self.model))
        blocks = {
            name: base64.b64encode(block).decode()
            for name, block in (("levels", levels), ("search", search))
        }
        written = self.script.ask({**blocks, "styles": _STYLES, "asked": asked})
        return [json.loads(line) for line in written]


@pytest.mark.parametrize(
    "name",
    ["exported/gpt2.legacy.onnx", "exported/condloop.dynamo.onnx", "exported/unet.dynamo.onnx"],
)
def test_a_page_marks_what_is_left_of_its_items(name: str, script: Script) -> None:
    marking = Marking(script, load(corpus_file(name)))
    items = dict(enumerate(make_items(marking.model, random.Random(name))))
    places = place_items(items, marking.model, marking.find_tree)
    wanted, asked = [], []
    for skipped in (set[int](), {0, 3, 5, 8, 13, 21}, {*items}):
        left = {number: item for number, item in items.items() if number not in skipped}
        wanted.append(encode_paints(paint_places(places, left)))
        # of what is left the same is marked as if nothing else had been there
        assert paint_places(places, left) == mark_items(
            [*left.values()], marking.model, marking.find_tree
        )
        levels = [
            -1 if number in skipped or item.accepted else _RANKS[item.level]
            for number, item in items.items()
        ]
        asked.append({"places": encode_places(places), "levels": levels, "notes": []})
    assert marking.ask(*asked) == wanted
    assert wanted[0]
    assert not wanted[2]


@pytest.mark.parametrize(
    "name",
    [
        "exported/gpt2.legacy.onnx",
        "exported/unet.dynamo.onnx",
        "exported/condloop.dynamo.onnx",
        "features/control_flow_3deep.onnx",
    ],
)
def test_a_page_marks_a_new_note_as_a_kernel_does(name: str, script: Script) -> None:
    model = load(corpus_file(name))
    marking = Marking(script, model)
    chance = random.Random(name)
    drawn: set[str] = set()
    write_levels(View(model), Labels(), look=lambda _number, path, _around, _depth: drawn.add(path))
    nodes = [node.path for node in model.graph.nodes if node.path in drawn]
    values = [
        value.path
        for node in model.graph.nodes
        if node.path in drawn
        for value in node.outputs
        if value is not None
    ]
    inputs = [value.path for value in model.graph.inputs]
    tree = marking.find_tree(model.graph)
    groups = [path for path in tree.groups if path in drawn]
    notes = [
        *([path] for path in chance.sample(groups, min(len(groups), 2000))),
        *([path] for path in chance.sample(nodes, min(len(nodes), 20))),
        *([path] for path in chance.sample(values, min(len(values), 10))),
        *([path] for path in inputs[:3]),
        chance.sample(nodes, min(len(nodes), 5)),
        ["main/no such thing"],
    ]
    none = {"marked": {}, "holders": {}, "repeats": {}}
    level = [_RANKS["noted"]]
    found = marking.ask(*({"places": none, "levels": level, "notes": [note]} for note in notes))
    for paths, marks in zip(notes, found, strict=True):
        wanted = encode_paints(mark_items([make_note(*paths)], model, marking.find_tree))
        assert marks == wanted, paths
    assert found[0]
    assert not found[-1]


def test_a_note_counts_with_what_else_is_there(script: Script) -> None:
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    marking = Marking(script, model)
    path = "main/model/transformer/h.3/attn/Transpose"
    error = ReviewItem("finding", "error", "title", "", "NL-X", (path,))
    places = encode_places(place_items({0: error}, model, marking.find_tree))
    both, alone = marking.ask(
        {"places": places, "levels": [0, _RANKS["noted"]], "notes": [[path]]},
        {"places": places, "levels": [-1, _RANKS["noted"]], "notes": [[path]]},
    )
    assert both[path] == ["", "", "error", "2"]
    assert both == encode_paints(mark_items([error, make_note(path)], model, marking.find_tree))
    assert alone == encode_paints(mark_items([make_note(path)], model, marking.find_tree))


def test_a_note_on_what_is_not_drawn_is_counted_around_it(script: Script) -> None:
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    marking = Marking(script, model)
    path = "main/model/transformer/h.7/attn/Unsqueeze_7"
    group = marking.find_tree(model.graph).group_of(model.node(path))
    assert group is not None
    assert group.kind == "shape"  # which no page draws as boxes
    wanted = encode_paints(mark_items([make_note(path)], model, marking.find_tree))
    del wanted[group.path]
    none = {"marked": {}, "holders": {}, "repeats": {}}
    asked = {"places": none, "levels": [_RANKS["noted"]], "notes": [[path]]}
    assert marking.ask(asked) == [wanted]
