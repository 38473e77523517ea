"""A forked child lays out with a worker of its own."""

from __future__ import annotations

import multiprocessing
import sys

import pytest

from netloupe.explorer.layout.engine import shared_engine
from tests.onnx_text import load_text

_MODEL = "main (float[2] x) => (float[2] y) { a = Relu (x) y = Neg (a) }"


def _draw(_turn: int = 0) -> tuple[str, int | None]:
    return load_text(_MODEL).to_svg(), shared_engine().process_id


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="children are not forked there")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_draws_while_the_lock_is_held() -> None:
    drawn, own = _draw()
    with shared_engine()._lock, multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(_draw, [0, 1]).get(timeout=300)
    assert [picture for picture, _ in found] == [drawn, drawn]
    assert own not in {number for _, number in found}
    assert _draw() == (drawn, own)  # the parent's goes on
