"""The garbage collector stands aside, and comes back."""

from __future__ import annotations

import gc

import pytest

from netloupe.explorer.model.collector import collector_paused


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
