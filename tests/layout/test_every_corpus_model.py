"""Every model of the corpus that opens: no overlaps, all inside its frame, and no edge lost.

But for exports of torch, of which :mod:`tests.layout.test_every_export` has all.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from netloupe.explorer.layout import LayoutEngine
from tests.layout.every_model import FOLDERS, find_faults


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if folder != "exported"])
def test_geometry_and_edges(engine: LayoutEngine, folder: str) -> None:
    assert find_faults(folder, engine) == {}
