"""A model that is one closed box is open, however many boxes there are in a figure."""

from __future__ import annotations

from functools import partial

import pytest

from netloupe.explorer.layout import Composer, FirstView
from netloupe.explorer.model import Model
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import View
from tests.layout.test_shut_ideas import Scoped

ACTIVATIONS = ("Relu", "Tanh", "Sigmoid", "Softplus", "Elu", "Selu", "LeakyRelu", "Softsign")


def _write_branches(builder: Scoped, x: str, count: int) -> str:
    """Write unlike branches of one value, each in a module of its own, and their sums."""
    total = x
    for number in range(count):
        name = f"{'abcdefghijklmnopqrstuvwxyz'[number % 26]}{'way' * (1 + number // 26)}"

        def branch(x: str = x, number: int = number) -> str:
            made = builder.linear(x)
            for step in range(1 + number % 3):
                made = builder.add(ACTIVATIONS[(number + step) % len(ACTIVATIONS)], made)
            return builder.add("Mul", made, builder.linear(x))

        total = builder.add("Mul", total, builder.within(name, branch))
    return total


def make_body(branches: int) -> Model:
    """Return a model that is one module of many branches, with a layer behind it."""
    builder = Scoped()
    made = builder.within("body", partial(_write_branches, builder, "x", branches))
    head = builder.within("head", lambda: builder.linear(made))
    return builder.load(head).model


def list_opened(model: Model, *, with_insets: bool) -> list[str]:
    view = View(model)
    first = FirstView(Composer(), Labels())
    if with_insets:
        first.open_with_insets(view, "TB", 60)
    else:
        first.open(view, "TB", 60)
    return [item.label for item in view.open_items() if item.parent is not None]


@pytest.mark.parametrize("with_insets", [False, True])
@pytest.mark.parametrize("branches", [29, 30])
def test_a_module_around_all_of_a_model_is_open(branches: int, *, with_insets: bool) -> None:
    assert "body" in list_opened(make_body(branches), with_insets=with_insets)


@pytest.mark.parametrize("with_insets", [False, True])
def test_one_of_far_too_many_boxes_stays_closed(*, with_insets: bool) -> None:
    assert "body" not in list_opened(make_body(50), with_insets=with_insets)
