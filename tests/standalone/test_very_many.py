"""Pages of models that hold very many of one thing: bounded, and honest about it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

import netloupe
from netloupe.explorer.model import Model, Value
from netloupe.explorer.panes.page import make_panes
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.standalone import limits
from netloupe.explorer.standalone.content import EVERYTHING
from netloupe.explorer.standalone.facts import FactWriter
from netloupe.explorer.standalone.levels import write_levels
from netloupe.explorer.standalone.limits import OF_THE_LARGEST, USUAL, choose_limits
from netloupe.explorer.standalone.page import make_page
from netloupe.explorer.standalone.walk import list_opened_items
from netloupe.explorer.view import Item, View, ViewOptions
from tests.corpus import corpus_file
from tests.hostile_models import (
    branches,
    captures,
    consumers,
    empty_nodes,
    functions,
    graph_attribute,
    graph_inputs,
    initializers,
    op_types,
    redefined_values,
    undefined_inputs,
)


def count_calls(action: Callable[[], object]) -> int:
    """Return how many functions an action calls in this thread, every step of a generator too."""
    count = 0

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def test_a_page_takes_as_much_for_each_of_more_functions() -> None:
    def count(number: int) -> int:
        model = load(functions(number))
        return count_calls(lambda: make_page(model, ViewOptions()))

    assert (count(600) - count(200)) / 400 < 500


def test_boxes_of_very_many_inputs_stay_closed() -> None:
    view = View(load(undefined_inputs(150)))
    for listed, is_open in ((150, True), (149, False)):
        left_closed: set[str] = set()
        within = replace(USUAL, listed=listed)
        opened = [item.key for item, _ in list_opened_items(view, within, left_closed)]
        stub = next(child.key for child in view.root.children if child.is_terminal)
        assert (stub in opened) == is_open
        assert left_closed == (set() if is_open else {stub})


@pytest.mark.parametrize("make", [empty_nodes, branches])
def test_a_repeat_of_very_many_repetitions_stays_closed(make: Callable[[int], bytes]) -> None:
    view = View(load(make(150)))
    for repetitions, is_open in ((150, True), (149, False)):
        left_closed: set[str] = set()
        within = replace(USUAL, repetitions=repetitions)
        opened = [*list_opened_items(view, within, left_closed)]
        assert sum(item.repeat is not None for item, _ in opened) == (151 if is_open else 0)
        assert len(left_closed) == (not is_open)


def test_what_would_show_more_boxes_than_a_page_holds_stays_closed() -> None:
    view = View(load(graph_attribute(150)))  # each graph is in a box, and each gives something
    outside = len(view.root.children)
    for more, is_open in ((301, True), (300, False), (200, False), (100, False)):
        left_closed: set[str] = set()
        opened = list_opened_items(view, replace(USUAL, boxes=outside + more), left_closed)
        sizes = {item.key: len(item.children) for item, _ in opened}
        assert sizes.get("main/join") == (301 if is_open else None)
        assert ("main/join" in left_closed) == (not is_open)
        assert not view.open_state().keys


def test_links_are_not_followed_through_what_stays_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "USUAL", replace(USUAL, repetitions=100))

    def count_linked(model: Model) -> int:
        counts: list[int] = []
        add_linked = FactWriter.add_linked

        def count(*given: Any) -> list[str]:
            linked = add_linked(*given)
            counts.append(len(linked))
            return linked

        with monkeypatch.context() as patch:
            patch.setattr(FactWriter, "add_linked", count)
            make_page(model, ViewOptions())
        return sum(counts)

    few, many = (count_linked(load(redefined_values(count))) for count in (1_000, 2_000))
    assert 0 < few == many


def test_both_models_of_panes_share_what_a_page_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(consumers(300))
    monkeypatch.setattr(limits, "_MANY", 200)
    monkeypatch.setattr(limits, "OF_THE_LARGEST", replace(OF_THE_LARGEST, elements=41, findable=70))
    told = "The model is so large that this page holds a part of it: descriptions are of {} "
    told += "elements, a search looks at the first {} elements."
    assert make_page(model, ViewOptions())[1] == [told.format(41, 70)]
    assert make_page(model, ViewOptions(), models=2)[1] == [told.format(20, 35)]
    notices = make_panes(netloupe.diff(model, model), ViewOptions(), EVERYTHING)[1]
    assert [notice.partition(": ")[2] for notice in notices] == [told.format(20, 35)] * 2
    assert choose_limits(load(consumers(20)), 2) is USUAL


def test_a_page_says_that_not_everything_can_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(graph_inputs(100))
    assert make_page(model, ViewOptions())[1] == []
    monkeypatch.setattr(limits, "USUAL", replace(USUAL, listed=99))
    assert make_page(model, ViewOptions())[1] == [
        "The model is so large that this page holds a part of it: not everything can be opened."
    ]


def test_a_page_says_what_is_not_described_nor_found(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(consumers(300))
    monkeypatch.setattr(limits, "USUAL", replace(USUAL, elements=40, findable=70))
    (notice,) = make_page(model, ViewOptions())[1]
    assert notice == (
        "The model is so large that this page holds a part of it: "
        "descriptions are of 40 elements, a search looks at the first 70 elements."
    )


@pytest.mark.parametrize("make", [undefined_inputs, graph_inputs, graph_attribute, op_types])
def test_very_many_values_or_graphs_are_told_in_part(
    make: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_MANY", 500)
    monkeypatch.setattr(limits, "_MANY_GRAPHS", 90)
    monkeypatch.setattr(limits, "_MANY_OPERATORS", 100)
    assert choose_limits(load(make(80))) is USUAL
    assert choose_limits(load(make(600))) is OF_THE_LARGEST


def test_what_takes_very_many_values_stays_closed() -> None:
    view = View(load(captures(50)))
    for listed, is_open in ((60, True), (40, False)):
        left_closed: set[str] = set()
        opened = list_opened_items(view, replace(USUAL, listed=listed), left_closed)
        assert ("main/branch" in [item.key for item, _ in opened]) == is_open
        assert ("main/branch" in left_closed) == (not is_open)


def test_of_very_many_constants_of_a_node_the_first_can_be_found() -> None:
    model = load(initializers(3_000))
    found: list[str] = []
    view = View(model)
    write_levels(view, Labels(), look=lambda _number, path, *_: found.append(path))
    assert "main/%w1999" in found
    assert "main/%w2000" not in found
    (face,) = [Labels().faces.face(item) for item in view.root.children if item.constants]
    assert "… 2998 more" in [run.text for run in face.texts]


@pytest.mark.parametrize("name", ["gpt2.legacy", "distilgpt2_merged.legacy"])
def test_a_view_is_as_before_once_everything_in_it_was_opened(name: str) -> None:
    view = View(load(corpus_file(f"exported/{name}.onnx")))

    def tell() -> list[object]:
        items = view.items.values()
        return [(item.key, item.is_open, item.shown, item.is_unrolled) for item in items]

    before = tell()
    for _ in list_opened_items(view, USUAL):
        pass
    assert tell() == before
    assert view.open_state() == View(view.model).open_state()


def test_what_one_of_many_repetitions_has_no_part_in_is_told_from_its_own_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = View(load(branches(150)))
    told: list[int] = []
    look = Item.members

    def members(item: Item, port: Value) -> tuple[Value, ...]:
        values = look(item, port)
        told.append(len(values))
        return values

    monkeypatch.setattr(Item, "members", members)
    shown = sum(state >= 0 for item, state in list_opened_items(view, USUAL) if item.repeat)
    assert shown == 150
    assert sum(told) < 40 * shown  # the repeat has 150 inputs in a family
