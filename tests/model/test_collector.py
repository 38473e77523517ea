"""The garbage collector stands aside, and comes back."""

from __future__ import annotations

import gc
from weakref import ref

import pytest

from netloupe.explorer.model import collector
from netloupe.explorer.model.collector import collector_paused
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import ViewOptions
from tests.corpus import shared_model
from tests.onnx_text import load_text


def test_it_is_off_inside_and_on_again() -> None:
    assert gc.isenabled()
    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_was_made_counts_as_old_and_is_still_garbage_in_its_time() -> None:
    class Ring:
        def __init__(self) -> None:
            self.ring = self

    with collector_paused():
        ring = Ring()
    assert any(found is ring for found in gc.get_objects(generation=2))
    assert gc.get_freeze_count() == 0
    del ring
    gc.collect()
    assert not any(isinstance(found, Ring) for found in gc.get_objects())


def test_errors_turn_it_on_again() -> None:
    with pytest.raises(ValueError, match="no"), collector_paused():
        raise ValueError("no")
    assert gc.isenabled()


def test_who_turned_it_off_keeps_it_off() -> None:
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_models_and_pictures_that_nobody_has_do_not_pile_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(collector, "MOST_MADE", 2_000)
    monkeypatch.setattr(collector, "MOST_DRAWN", 2_000)
    shared_model.cache_clear()  # of more objects Python searches the older ones less often
    gc.collect()
    text = "g (float[1] x) => (float[1] y) { a = Relu(x) b = Relu(a) y = Relu(b) }"
    models, views = [], []
    for _ in range(100):
        model = load_text(text)
        models.append(ref(model))
    del model
    alive = [model for model in models if model() is not None]
    assert 0 < len(alive) < 60
    model = load_text(text)
    for _ in range(40):
        picture = make_picture(model, ViewOptions())
        views.append(ref(picture.view))
    alive = [view for view in views if view() is not None]
    assert 0 < len(alive) < 30
    assert model.graph.nodes


def test_a_model_is_not_searched_while_its_pictures_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(collector, "MOST_MADE", 2_000)
    monkeypatch.setattr(collector, "MOST_DRAWN", 2_500)

    def count() -> int:
        return int(gc.get_stats()[-1]["collections"])

    gc.collect()
    with collector_paused(reads_model=True):
        model = [[number] for number in range(5_000)]
    searches = count()
    with collector_paused():
        picture = [[number] for number in range(1_000)]
    with collector_paused():
        assert count() == searches
        picture += [[number] for number in range(2_000)]
    with collector_paused():
        assert count() == searches + 1  # enough for pictures
    with collector_paused(reads_model=True):
        assert count() == searches + 1  # and nothing more was made
        model += [[number] for number in range(5_000)]
    with collector_paused(reads_model=True):
        assert count() == searches + 2
    assert len(model) == 10_000
    assert len(picture) == 3_000
