"""Repeats: closed, open with one repetition, unrolled; and what crosses their borders."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from netloupe.explorer.errors import ViewError
from netloupe.explorer.model import Model
from tests.graph_strategies import random_models
from tests.trees import Change, make_view, random_changes
from tests.wiring_check import check_items, find_lost_edges


@settings(max_examples=300, deadline=None)
@given(random_models(), random_changes(), st.data())
def test_random_steps_lose_no_edge(model: Model, change: Change, data: st.DataObject) -> None:
    view = make_view(model, change)
    elements = [*view.graph.nodes, *view.graph.values.values()]
    assert find_lost_edges(view) == []
    for _ in range(data.draw(st.integers(1, 10))):
        items = [item for item in view.items.values() if item.openable and item is not view.root]
        items.sort(key=lambda item: item.key)
        action = data.draw(st.sampled_from(["open", "unroll", "show", "reveal", "shapes"]))
        repeats = [item for item in items if item.repeat is not None]
        if action == "open" and items:
            item = data.draw(st.sampled_from(items))
            (view.close if item.is_open else view.open)(item.key)
        elif action == "unroll" and repeats:
            item = data.draw(st.sampled_from(repeats))
            (view.fold if item.is_unrolled else view.unroll)(item.key)
        elif action == "show" and repeats:
            item = data.draw(st.sampled_from(repeats))
            assert item.repeat is not None
            index = data.draw(st.integers(0, len(item.repeat.children) - 1))
            assert view.show_repetition(item.key, index).shown == index
        elif action == "reveal" and elements:
            path = data.draw(st.sampled_from(elements)).path
            before = view.shown(path)
            try:
                item = view.reveal(path)
            except ViewError:
                assert before is None or before is view.root, path
            else:
                assert view.shown(path) is item
        elif action == "shapes":
            view.unfold_shapes()
        check_items(view)
        assert find_lost_edges(view) == []
