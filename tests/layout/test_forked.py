"""A forked child lays out with a worker of its own."""

from __future__ import annotations

import multiprocessing
import sys

import pytest

from netloupe.explorer.layout.engine import Drawing, shared_engine


def _lay_out(_turn: int = 0) -> tuple[Drawing, int | None]:
    drawing = shared_engine().place("digraph { a -> b [id=e] }", 300)
    return drawing, shared_engine().process_id


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="children are not forked there")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_draws_while_the_lock_is_held() -> None:
    drawn, own = _lay_out()
    with multiprocessing.get_context("fork").Pool(2) as before:
        with shared_engine()._lock, multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map_async(_lay_out, [0, 1]).get(timeout=300)
        found += before.map_async(_lay_out, [0, 1]).get(timeout=300)
    assert [drawing for drawing, _ in found] == [drawn] * 4
    assert own is not None
    assert own not in {number for _, number in found}
    assert _lay_out() == (drawn, own)  # the parent's goes on
