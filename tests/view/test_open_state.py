"""What is open is kept: in the repetitions of a repeat, and apart from the view."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netloupe.explorer.model import Model
from netloupe.explorer.view import View
from netloupe.explorer.view.open_state import list_open
from tests.graph_strategies import random_models
from tests.layered import make_layers
from tests.trees import Change, make_view, random_changes, take_random_step
from tests.wiring_check import check_items, find_lost_edges

STACK = "main/layers.0-3/"


def opened(view: View) -> list[str]:
    """Return the keys of what is open inside the stack."""
    return [item.key.removeprefix("main/") for item in list_open(view.items[STACK].children)]


def stack(extra_in: int = -1) -> View:
    view = View(make_layers(extra_in=extra_in))
    view.show_repetition(STACK, 0)
    return view


def test_what_is_open_in_a_repetition_is_open_in_the_next_one() -> None:
    view = stack()
    view.open("main/layers.0/attn/")
    view.show_repetition(STACK, 1)
    assert opened(view) == ["layers.1/attn/"]
    view.show_repetition(STACK, 2)
    assert opened(view) == ["layers.2/attn/"]
    check_items(view)
    assert find_lost_edges(view) == []


@pytest.mark.parametrize("extra_in", [1, 0])
def test_repetitions_that_differ_are_aligned(extra_in: int) -> None:
    view = stack(extra_in)
    view.open("main/layers.0/mlp/")
    view.show_repetition(STACK, 1)
    assert opened(view) == ["layers.1/mlp/"]


def test_a_repetition_that_is_shown_again_is_as_it_was_left() -> None:
    view = stack()
    view.open("main/layers.0/attn/")
    view.show_repetition(STACK, 1)
    view.close("main/layers.1/attn/")
    view.open("main/layers.1/mlp/")
    view.show_repetition(STACK, 0)
    assert opened(view) == ["layers.0/attn/"]
    view.show_repetition(STACK, 1)
    assert opened(view) == ["layers.1/mlp/"]


def test_a_repetition_that_was_only_passed_follows_the_one_before() -> None:
    view = stack()
    for index in (1, 2):
        view.show_repetition(STACK, index)
    view.open("main/layers.2/attn/")
    view.show_repetition(STACK, 1)
    assert opened(view) == ["layers.1/attn/"]
    view.show_repetition(STACK, 0)  # this one was not passed but opened
    assert opened(view) == []


def test_going_to_an_element_in_another_repetition_closes_nothing() -> None:
    view = stack()
    view.open("main/layers.0/attn/")
    view.reveal("main/layers.3/mlp/Abs")
    assert opened(view) == ["layers.3/attn/", "layers.3/mlp/"]
    view.reveal("main/layers.0/attn/Tanh")
    assert opened(view) == ["layers.0/attn/"]


def test_unrolling_keeps_the_repetition_open_that_was_shown() -> None:
    view = stack()
    view.show_repetition(STACK, 2)
    view.open("main/layers.2/attn/")
    view.unroll(STACK)
    assert opened(view) == ["layers.2/", "layers.2/attn/"]
    view.open("main/layers.3/mlp/")
    view.fold(STACK)
    assert opened(view) == ["layers.2/attn/"]
    view.show_repetition(STACK, 3)
    assert opened(view) == ["layers.3/mlp/"]


def test_a_repeat_that_is_closed_forgets_what_was_open_in_it() -> None:
    view = stack()
    view.open("main/layers.0/attn/")
    view.show_repetition(STACK, 1)
    view.close(STACK)
    view.open(STACK)
    assert opened(view) == []
    view.show_repetition(STACK, 0)
    assert opened(view) == []


def test_what_was_open_is_opened_again() -> None:
    view = stack()
    view.open("main/layers.0/attn/")
    first = view.open_state()
    view.show_repetition(STACK, 2)
    view.open("main/layers.2/mlp/")
    second = view.open_state()
    view.unroll(STACK)
    third = view.open_state()
    for wanted in (first, third, second, first, second, third):
        view.reopen(wanted)
        assert view.open_state() == wanted
        check_items(view)
    other = View(view.model)
    other.reopen(second)
    assert other.open_state() == second
    assert opened(other) == ["layers.2/attn/", "layers.2/mlp/"]
    other.show_repetition(STACK, 0)
    assert opened(other) == ["layers.0/attn/"]


def test_what_stays_open_is_not_made_anew() -> None:
    view = stack()
    view.open("main/layers.0/attn/")
    before = view.open_state()
    attention = view.items["main/layers.0/attn/"]
    revision = attention.revision
    view.open("main/layers.0/mlp/")
    view.reopen(before)
    assert view.items["main/layers.0/attn/"] is attention
    assert attention.revision == revision


@given(model=random_models(), change=random_changes(), data=st.data())
@settings(max_examples=30, deadline=None)
def test_any_state_is_reached_from_any_other(
    model: Model, change: Change, data: st.DataObject
) -> None:
    view = make_view(model, change, "none")
    states = [view.open_state()]
    for _ in range(8):
        take_random_step(view, data)
        states.append(view.open_state())
    for wanted in reversed(states):
        view.reopen(wanted)
        assert view.open_state() == wanted
        check_items(view)
        assert find_lost_edges(view) == []
    other = make_view(model, change, "none")
    other.reopen(states[-1])
    assert other.open_state() == states[-1]
